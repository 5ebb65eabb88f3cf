"""A random forest on the rows of a private table, as a question to a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.core import Guarantee, Loss, ParameterError, Release, add_remove_row
from sordino.core.loss import round_down
from sordino.core.parameters import as_written, positive
from sordino.curator.dataset import DataSet
from sordino.curator.questions.attributes import find_attributes
from sordino.curator.questions.workload import WorkloadQuote, quote_workload
from sordino.learn import Forest, RandomForestClassifier, Schema
from sordino.learn.encoding import Codes
from sordino.learn.schema import DEFAULT_BINS
from sordino.learn.stored import restore_forest, store_forest
from sordino.mechanisms.names import LeafName, VotingName

Coded = tuple[Codes, Codes]
# A forest is stored number by number.
_MOST_CELLS = 1 << 18
# No sensitivity follows it: it only keeps trees from being deeper than so many rows can fill.
_MANY_ROWS = 1 << 30


@dataclass(frozen=True, slots=True)
class ForestQuestion:
    """A forest that tells ``target`` by ``features``: `sordino.learn.RandomForestClassifier` on a table.

    ``max_rows`` is no promise and no bound: it chooses the depth where ``max_depth`` does not. Rows are counted in the
    engine by their codes and numbers; what comes back is put into trees at random here, because the draw must be ours.
    """

    table: str
    target: str
    epsilon: Any
    features: Sequence[str] | None = None
    n_estimators: int = 32
    max_depth: int | None = None
    leaves: LeafName = "counts"
    voting: VotingName = "auto"
    max_rows: int | None = None
    where: str | None = None

    def quote(self, data: DataSet) -> WorkloadQuote[Coded]:
        """Domains, bounds and classes are the policy's; the engine counts once."""
        attributes = find_attributes(data, self.table, self.target, self.features, DEFAULT_BINS, self.where)
        schema, classes = attributes.schema, attributes.classes
        positive("epsilon", self.epsilon)
        cells = self._model(
            schema, classes.tolist(), as_written("epsilon", self.epsilon) * attributes.table.weight
        ).count_cells()
        if cells > _MOST_CELLS:
            raise ParameterError(
                f"the trees have {cells} leaves times classes, at most {_MOST_CELLS} are released: give fewer "
                "n_estimators, a smaller max_depth, or max_rows"
            )

        def ask(coded: Coded, per_row: Fraction) -> Release:
            model = self._model(schema, classes.tolist(), per_row).fit_codes(*coded)
            theorem = model.guarantee_.theorem
            guarantee = Guarantee(Loss(epsilon=round_down(per_row)), add_remove_row(), theorem)
            return Release(store_forest(model.forest_), guarantee, "random forest", private=model.private_)

        return quote_workload(
            data,
            attributes.table,
            text=f"FOREST OF {attributes.text}",
            parameters={
                "n_estimators": int(self.n_estimators),
                "max_depth": None if self.max_depth is None else int(self.max_depth),
                "leaves": self.leaves,
                "voting": self.voting,
                "max_rows": None if self.max_rows is None else int(self.max_rows),
            },
            epsilon=self.epsilon,
            nothing=(np.empty((0, len(schema.names)), np.int32), np.empty(0, np.int32)),
            read=attributes.count_rows,
            ask=ask,
        )

    def fitted(self, release: Release) -> RandomForestClassifier:
        """The classifier of a release, as far as it was stored."""
        forest: Forest = restore_forest(release.value)
        model = self._model(forest.schema, forest.classes.tolist(), self.epsilon)
        return model.hold(forest, release.guarantee)

    def _model(self, schema: Schema, classes: list[Any], epsilon: Any) -> RandomForestClassifier:
        return RandomForestClassifier(
            epsilon,
            schema=schema,
            classes=classes,
            max_rows=_MANY_ROWS if self.max_rows is None else self.max_rows,
            n_estimators=self.n_estimators,
            max_depth=self.max_depth,
            leaves=self.leaves,
            voting=self.voting,
        )
