"""DecisionTreeClassifier: a greedy decision tree that is differentially private."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.core import Guarantee, ParameterError
from sordino.core.parameters import choice, exact, number, positive, whole
from sordino.engines import Engine, connect
from sordino.learn.choices import DrawnChoices
from sordino.learn.contingency import CellCounter, MemoryRows
from sordino.learn.encoding import encode_classes, encode_rows
from sordino.learn.export import export_text, plot_tree
from sordino.learn.grow import TreePlan, grow
from sordino.learn.path_shares import divide_epsilon
from sordino.learn.relation import Relation, select_codes
from sordino.learn.schema import as_schema
from sordino.learn.scikit import PrivateClassifier
from sordino.learn.splitting import make_splitter
from sordino.learn.tree import Tree
from sordino.ledger.library_payment import AccountName, LedgerSource
from sordino.mechanisms.names import CriterionName, DirectionName, LeafName, MechanismName
from sordino.mechanisms.selection import MAJORITY_MECHANISMS

LEAVES = ("counts", *MAJORITY_MECHANISMS)
MAX_ROWS_IS_MISSING = (
    "max_rows= is missing: give a public bound on the number of rows, for example the size of the population; "
    "the number of rows itself is private"
)


class DecisionTreeClassifier(PrivateClassifier):
    """A decision tree grown greedily (ID3) with a private choice at every split.

    Parameters
    ----------
    epsilon : the privacy budget of one fit.
    schema : the public domain of every column: a mapping, a JSON file, or declared categorical dtypes
        (`sordino.learn.as_schema`). Never read from the data.
    classes : the public class labels.
    max_rows : a public bound on the number of rows, at most that many may be given.
    max_depth : how many splits a path may have.
    criterion : gini, max_operator or information_gain; auto takes gini where max_rows·ε ≥ 2000, else max_operator.
    selection : the mechanism that chooses attributes: permute_and_flip, exponential, local_dampening,
        shifted_dampening, smooth_noisy_max, report_noisy_max or inverse_sensitivity.
    leaves : what a leaf releases: counts (noisy rows per class, the default), or one label by permute_and_flip,
        exponential, local_dampening or smooth_noisy_max.
    shares : of ε, for "selection", "count" and "leaf" along a path.
    class_prior : public probabilities of the classes that empty or drowned leaves fall back on; even if None.
    direction : of shifted dampening, plus or minus.
    adjacency : add_remove (one row added or removed), or replace, which halves what ε buys.
    ledger, account : who pays for every fit, clones included: a Ledger or its file, and (data set, analyst).

    Attributes
    ----------
    tree_ : the released `Tree`. classes_ : the classes, sorted. guarantee_ : of the last fit. spent_ : of all fits of
    this object and of its clones, for one replaced row if any of them was. private_ : False if the last fit was
    seeded, which all of these then say; spent_ says it from the first seeded fit on.

    **Guarantee**: ε-DP for one training row added or removed (or replaced), see `sordino.learn.grow`.

    >>> from sordino.learn import DecisionTreeClassifier
    >>> rows = [["no", 30.0], ["yes", 70.0]] * 200
    >>> model = DecisionTreeClassifier(
    ...     epsilon=100.0,  # so large that one answer is all but certain
    ...     schema={"member": ["no", "yes"], "age": {"bounds": [0, 100], "bins": 4}},
    ...     classes=["left", "stayed"],
    ...     max_rows=1000,
    ... )
    >>> model.fit(rows, ["left", "stayed"] * 200).predict(rows[:2]).tolist()
    ['left', 'stayed']
    >>> str(model.guarantee_.loss)
    'ε = 100'
    """

    def __init__(
        self,
        epsilon: Any = 1.0,
        *,
        schema: Any = None,
        classes: Any = None,
        max_rows: Any = None,
        max_depth: Any = 5,
        criterion: CriterionName = "auto",
        selection: MechanismName = "permute_and_flip",
        leaves: LeafName = "counts",
        shares: Mapping[str, float] | None = None,
        class_prior: ArrayLike | None = None,
        direction: DirectionName = "plus",
        adjacency: str = "add_remove",
        ledger: LedgerSource | None = None,
        account: AccountName | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.classes = classes
        self.max_rows = max_rows
        self.max_depth = max_depth
        self.criterion = criterion
        self.selection = selection
        self.leaves = leaves
        self.shares = shares
        self.class_prior = class_prior
        self.direction = direction
        self.adjacency = adjacency
        self.ledger = ledger
        self.account = account

    def fit(self, X: Any, y: Any) -> DecisionTreeClassifier:
        """Grow the tree on rows in memory: a 2-d array in the schema's order, or a data frame with its names."""
        plan, choices = self._prepared()
        rows = self._rows(X, columns=len(plan.schema.names))
        codes = encode_rows(rows, plan.schema)
        labels = encode_classes(self._labels(y, len(codes)), plan.classes)
        return self._grown(MemoryRows(codes, labels, plan.schema.sizes, len(plan.classes)), plan, choices)

    def fit_table(self, engine: Any, table: str, *, target: str) -> DecisionTreeClassifier:
        """Grow the tree on a table of a database, by GROUP BY inside it: rows never come here.

        ``engine``: what `sordino.engines.connect` gives, or takes (a database URL, a file, a folder, a connection).
        One query per level, all of them in one snapshot. With the same randomness the tree is that of `fit`.
        """
        plan, choices = self._prepared()
        opened: Engine = connect(engine)
        # an engine that was opened here is closed here
        with nullcontext() if opened is engine else opened, opened.snapshot() as snapshot:
            coded = select_codes(opened, table, target, plan.schema, plan.classes)
            source = Relation(snapshot, coded, plan.schema, len(plan.classes))
            self._name_features(plan.schema)
            return self._grown(source, plan, choices)

    def fit_source(self, source: CellCounter) -> DecisionTreeClassifier:
        """Grow the tree on whatever can count rows by their codes (`sordino.learn.contingency.CellCounter`)."""
        plan, choices = self._prepared()
        self._name_features(plan.schema)
        return self._grown(source, plan, choices)

    def hold(self, tree: Tree, guarantee: Guarantee) -> DecisionTreeClassifier:
        """Take a tree that was released before; what it cost was counted then and is no part of ``spent_``."""
        self._hold(tree.schema, tree.classes, guarantee)
        self.tree_: Tree = tree
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of every class, computed from what was released at the leaf of each row."""
        rows = self._rows(X)
        return self.tree_.probabilities[self.tree_.leaf_of(encode_rows(rows, self.tree_.schema))]

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The leaf of every row."""
        rows = self._rows(X)
        return self.tree_.leaf_of(encode_rows(rows, self.tree_.schema))

    def export_text(self, *, max_depth: int = 10) -> str:
        """The tree as indented text."""
        self._require_fit()
        return export_text(self.tree_, max_depth=max_depth)

    def plot(self, path: str | Path | None = None, *, max_depth: int | None = None) -> Any:
        """Draw the tree's first levels; saved to ``path`` if one is given. Returns the matplotlib figure."""
        self._require_fit()
        return plot_tree(self.tree_, path, max_depth=max_depth)

    def _grown(self, source: CellCounter, plan: TreePlan, choices: DrawnChoices) -> DecisionTreeClassifier:
        criterion = choices.splitter.criterion.name
        theorem = f"private decision tree ({criterion}, {self.selection}, leaves by {self.leaves})"
        self._charge(theorem, exact("epsilon", self.epsilon))
        self.tree_ = grow(source, plan, choices)
        self.classes_ = plan.classes
        return self

    def _prepared(self) -> tuple[TreePlan, DrawnChoices]:
        """Check every public parameter, before any data is looked at."""
        positive("epsilon", self.epsilon)
        max_depth = whole("max_depth", self.max_depth, least=1)
        choice("leaves", self.leaves, LEAVES)
        schema, classes = as_schema(self.schema), self._public_classes()
        if self.max_rows is None:
            raise ParameterError(MAX_ROWS_IS_MISSING)
        max_rows = whole("max_rows", self.max_rows, least=1)
        _, changes = self._unit()
        plan = TreePlan(
            schema=schema,
            classes=classes,
            max_rows=max_rows,
            max_depth=max_depth,
            shares=divide_epsilon(exact("epsilon", self.epsilon) / changes, max_depth, self.shares),
            release_counts=self.leaves == "counts",
            prior=check_prior(self.class_prior, len(classes)),
        )
        chosen = make_splitter(self.criterion, self.selection, max_rows, self.direction, float(self.epsilon))
        return plan, DrawnChoices(chosen, "permute_and_flip" if self.leaves == "counts" else self.leaves)


def check_prior(given: ArrayLike | None, classes: int) -> NDArray[np.float64]:
    """Public class probabilities, even where none are given."""
    if given is None:
        return np.full(classes, 1 / classes)
    try:
        prior = np.asarray([number("class_prior", value) for value in given])  # type: ignore[union-attr]
    except (TypeError, ParameterError):
        prior = np.zeros(0)
    if prior.shape != (classes,) or not (prior > 0).all() or not np.isclose(prior.sum(), 1):
        raise ParameterError(
            f"class_prior must be {classes} numbers > 0 that sum to 1, in the order of the sorted classes, "
            f"got {given!r}"
        )
    return prior
