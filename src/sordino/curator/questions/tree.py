"""A decision tree on the rows of a private table, as a question to a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.core import Guarantee, Loss, ParameterError, Release, add_remove_row
from sordino.core.loss import round_down
from sordino.core.parameters import choice, positive, whole
from sordino.curator.dataset import DataSet
from sordino.curator.questions.attributes import Attributes, find_attributes
from sordino.curator.questions.workload import WorkloadQuote, quote_workload
from sordino.learn import DecisionTreeClassifier, Tree
from sordino.learn.contingency import CellCounter, CutCounter, MemoryRows
from sordino.learn.criteria import MOST_ROWS
from sordino.learn.forest_depth import MOST_LEVELS
from sordino.learn.relation import Relation
from sordino.learn.schema import DEFAULT_BINS
from sordino.learn.splitting import SELECTIONS, choose_criterion, most_rows
from sordino.learn.stored import restore_tree, store_tree
from sordino.mechanisms.names import CriterionName, LeafName, MechanismName

# Where a criterion looks numbers up in a table of so many: half a gigabyte.
_MOST_TABLED = 1 << 24


@dataclass(frozen=True, slots=True)
class TreeQuestion:
    """A tree that tells ``target`` by ``features``: `sordino.learn.DecisionTreeClassifier` on a table.

    ``max_rows`` is no promise: counts are cut (`sordino.learn.contingency.CutCounter`), so a table of more rows is
    answered and protected like any other. The criterion is told of ``max_rows`` times the cells of the largest
    attribute (values times classes), and every cell is cut where these would be exceeded, at ``max_rows`` or more:
    nothing is cut while there are no more rows than that. Without ``max_rows`` the criterion is told of 2³⁰ rows:
    Gini's sensitivity stays below 2.00001 and the max operator's is 1. Information gain, whose sensitivity grows with
    the logarithm of the rows, and Gini with mechanisms that follow the data look numbers up in tables of so many, and
    need ``max_rows``.
    """

    table: str
    target: str
    epsilon: Any
    features: Sequence[str] | None = None
    max_depth: int = 5
    criterion: CriterionName = "auto"
    selection: MechanismName = "permute_and_flip"
    leaves: LeafName = "counts"
    bins: int = DEFAULT_BINS
    max_rows: int | None = None
    where: str | None = None

    def quote(self, data: DataSet) -> WorkloadQuote[CellCounter]:
        """Domains, bounds and classes are the policy's; the engine counts once per level."""
        attributes = find_attributes(data, self.table, self.target, self.features, self.bins, self.where)
        sizes, classes = attributes.schema.sizes, len(attributes.classes)
        criterion, told = self._criterion(max(sizes) * classes, attributes.table.weight)

        def ask(source: CellCounter, per_row: Fraction) -> Release:
            model = self._model(attributes, criterion, told, per_row)
            model.fit_source(CutCounter(source, sizes, classes, told))
            theorem = model.guarantee_.theorem
            guarantee = Guarantee(Loss(epsilon=round_down(per_row)), add_remove_row(), theorem)
            return Release(store_tree(model.tree_), guarantee, "decision tree", private=model.private_)

        return quote_workload(
            data,
            attributes.table,
            text=f"TREE OF {attributes.text}",
            parameters={
                "max_depth": int(self.max_depth),
                "criterion": criterion,
                "selection": self.selection,
                "leaves": self.leaves,
                "bins": int(self.bins),
                "rows": told,
            },
            epsilon=self.epsilon,
            nothing=MemoryRows(np.empty((0, len(sizes)), np.int32), np.empty(0, np.int32), sizes, classes),
            read=lambda snapshot: Relation(snapshot, attributes.codes(), attributes.schema, classes),
            ask=ask,
        )

    def fitted(self, release: Release) -> DecisionTreeClassifier:
        """The classifier of a release, as far as it was stored."""
        tree: Tree = restore_tree(release.value)
        model = DecisionTreeClassifier(
            self.epsilon,
            schema=tree.schema,
            classes=tree.classes.tolist(),
            max_rows=MOST_ROWS if self.max_rows is None else self.max_rows,
            max_depth=self.max_depth,
            criterion=self.criterion,
            selection=self.selection,
            leaves=self.leaves,
        )
        return model.hold(tree, release.guarantee)

    def _model(
        self, attributes: Attributes, criterion: CriterionName, told: int, epsilon: Fraction
    ) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(
            epsilon,
            schema=attributes.schema,
            classes=attributes.classes.tolist(),
            max_rows=told,
            max_depth=self.max_depth,
            criterion=criterion,
            selection=self.selection,
            leaves=self.leaves,
        )

    def _criterion(self, cells: int, weight: Fraction) -> tuple[CriterionName, int]:
        """The criterion, and how many rows it is told of."""
        if whole("max_depth", self.max_depth, least=1) > MOST_LEVELS:
            raise ParameterError(f"max_depth must be at most {MOST_LEVELS}, got {self.max_depth}")
        choice("selection", self.selection, SELECTIONS)
        rows = MOST_ROWS if self.max_rows is None else whole("max_rows", self.max_rows, least=1)
        criterion = choose_criterion(self.criterion, rows, positive("epsilon", self.epsilon) * float(weight))
        if most_rows(criterion, self.selection) >= MOST_ROWS:
            return criterion, min(MOST_ROWS, rows * cells)
        if rows * cells > _MOST_TABLED:
            wanted = "is missing" if self.max_rows is None else f"= {self.max_rows} is too large"
            raise ParameterError(
                f"max_rows {wanted}: {criterion} with {self.selection} takes at most {_MOST_TABLED // cells} here, a "
                "public number that counts are cut at; criterion='gini' with selection='permute_and_flip' needs none"
            )
        return criterion, rows * cells
