"""RandomForestClassifier: random trees on disjoint rows, private at their leaves only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.core import Guarantee, ParameterError, PrivateDataError
from sordino.core.parameters import choice, exact, positive, whole
from sordino.learn.decision_tree import LEAVES, MAX_ROWS_IS_MISSING, check_prior
from sordino.learn.encoding import Codes, encode_classes, encode_values, pick_columns, read_numbers
from sordino.learn.forest import VOTING, Forest, count_threads, release_forest
from sordino.learn.forest_depth import MOST_LEVELS, find_affordable_depth, find_fletcher_islam_depth
from sordino.learn.path_shares import require_share
from sordino.learn.random_trees import count_steps, draw_trees
from sordino.learn.schema import Continuous, Schema, as_schema
from sordino.learn.scikit import PrivateClassifier
from sordino.ledger.library_payment import AccountName, LedgerSource
from sordino.mechanisms.names import LeafName, VotingName
from sordino.sampling.source import random_words

_MOST_CELLS = 1 << 30


class RandomForestClassifier(PrivateClassifier):
    """Random trees, each on its own part of the rows: all of ε goes to the leaves.

    Parameters
    ----------
    epsilon, schema, classes, max_rows, class_prior, adjacency, ledger, account : as in `DecisionTreeClassifier`.
    n_estimators : how many trees.
    max_depth : of every tree; None takes the smaller of Fletcher and Islam's rule and what ``max_rows`` rows can fill.
    leaves : what a leaf releases: counts (noisy rows per class, the default), or one label by permute_and_flip,
        exponential, local_dampening or smooth_noisy_max.
    voting : how the trees' leaves are put together: "pooled" (their log-odds against the forest's own class
        frequencies, the default with counts), "soft" (mean probabilities) or "hard" (one vote per tree).
    n_jobs : threads for prediction; None is one, −1 all.

    **Guarantee**: ε-DP for one training row added or removed (or replaced). Structure and depth come from public
    parameters and fresh randomness; every row is put into one tree at random, whatever it holds, and into one leaf of
    it, so all leaves hold disjoint rows and their releases compose in parallel.
    **Source**: Fletcher and Islam 2017; SNM Algorithm 5.

    >>> from sordino.learn import RandomForestClassifier
    >>> rows = [["no", 30.0], ["yes", 70.0]] * 200
    >>> model = RandomForestClassifier(
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
        n_estimators: Any = 32,
        max_depth: Any = None,
        leaves: LeafName = "counts",
        voting: VotingName = "auto",
        class_prior: ArrayLike | None = None,
        adjacency: str = "add_remove",
        n_jobs: int | None = None,
        ledger: LedgerSource | None = None,
        account: AccountName | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.classes = classes
        self.max_rows = max_rows
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.leaves = leaves
        self.voting = voting
        self.class_prior = class_prior
        self.adjacency = adjacency
        self.n_jobs = n_jobs
        self.ledger = ledger
        self.account = account

    def fit(self, X: Any, y: Any) -> RandomForestClassifier:
        """Draw the trees, then fill their leaves: a 2-d array in the schema's order, or a data frame with its names."""
        schema, classes, prior = self._prepared()
        rows = self._rows(X, columns=len(schema.names))
        codes = encode_forest_rows(rows, schema)
        labels = encode_classes(self._labels(y, len(codes)), classes)
        if len(codes) > self.max_rows:
            raise PrivateDataError(
                f"there are more rows than max_rows = {self.max_rows}: give a larger bound"
            )
        return self._planted(codes, labels, schema, classes, prior)

    def fit_codes(self, codes: Codes, labels: Codes) -> RandomForestClassifier:
        """The same for any number of rows that are codes already: of `encode_forest_rows`, and places of classes."""
        schema, classes, prior = self._prepared()
        self._name_features(schema)
        return self._planted(codes, labels, schema, classes, prior)

    def hold(self, forest: Forest, guarantee: Guarantee) -> RandomForestClassifier:
        """Take a forest that was released before; what it cost was counted then and is no part of ``spent_``."""
        self._hold(forest.schema, forest.classes, guarantee)
        self.forest_: Forest = forest
        return self

    def _planted(
        self,
        codes: Codes,
        labels: Codes,
        schema: Schema,
        classes: NDArray[Any],
        prior: NDArray[np.float64],
    ) -> RandomForestClassifier:
        depth = self._depth(schema)
        epsilon = exact("epsilon", self.epsilon)
        self._charge(f"random forest on disjoint rows (leaves by {self.leaves})", epsilon)
        trees = draw_trees(schema, self.n_estimators, depth)
        tree = (random_words(len(codes), np.uint32) % np.uint32(self.n_estimators)).astype(np.int32)
        place = (tree.astype(np.int64) << depth) + trees.leaves(codes, tree)
        cells = np.bincount(
            place * len(classes) + labels, minlength=(self.n_estimators << depth) * len(classes)
        )
        exact_counts = cells.reshape(-1, len(classes))
        self.forest_ = release_forest(
            exact_counts, epsilon / self._unit()[1], trees, schema, classes, prior, self.leaves, self.voting
        )
        self.classes_ = classes
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of every class, put together from what the trees' leaves released."""
        codes = encode_forest_rows(self._rows(X), self.forest_.schema)
        return self.forest_.probabilities(codes, count_threads(self.n_jobs))

    def count_cells(self) -> int:
        """How many numbers are counted: leaves times classes, by public parameters alone."""
        schema, classes, _ = self._prepared()
        return self._cells(schema, classes)

    def _cells(self, schema: Schema, classes: NDArray[Any]) -> int:
        cells: int = (self.n_estimators << self._depth(schema)) * len(classes)
        return cells

    def _depth(self, schema: Schema) -> int:
        if self.max_depth is not None:
            return whole("max_depth", self.max_depth, least=1)
        afforded = find_affordable_depth(
            self.max_rows, self.n_estimators, float(self.epsilon) / self._unit()[1]
        )
        return min(find_fletcher_islam_depth(schema), afforded)

    def _prepared(self) -> tuple[Schema, NDArray[Any], NDArray[np.float64]]:
        """Check every public parameter, before any data is looked at."""
        positive("epsilon", self.epsilon)
        whole("n_estimators", self.n_estimators, least=1)
        if self.max_depth is not None and whole("max_depth", self.max_depth, least=1) > MOST_LEVELS:
            raise ParameterError(f"max_depth must be at most {MOST_LEVELS}, got {self.max_depth!r}")
        choice("leaves", self.leaves, LEAVES)
        choice("voting", self.voting, VOTING)
        count_threads(self.n_jobs)
        if self.voting in ("pooled", "soft") and self.leaves != "counts":
            raise ParameterError(f"voting={self.voting!r} needs leaves='counts'; labels can only be voted on")
        schema, classes = as_schema(self.schema), self._public_classes()
        if self.max_rows is None:
            raise ParameterError(MAX_ROWS_IS_MISSING)
        whole("max_rows", self.max_rows, least=1)
        require_share(exact("epsilon", self.epsilon) / self._unit()[1], "one leaf", self.epsilon)
        cells = self._cells(schema, classes)
        if cells > _MOST_CELLS:
            raise ParameterError(
                f"n_estimators = {self.n_estimators} trees of depth {self._depth(schema)} count {cells} cells (leaves "
                f"times classes), at most {_MOST_CELLS} are accepted: give fewer trees or a smaller max_depth"
            )
        return schema, classes, check_prior(self.class_prior, len(classes))


def encode_forest_rows(data: Any, schema: Schema) -> Codes:
    """Discrete values as their codes, continuous ones as steps between the bounds."""
    columns = pick_columns(data, schema.names)
    codes = np.empty((len(columns[0]), len(columns)), dtype=np.int32)
    for place, (attribute, column) in enumerate(zip(schema.attributes, columns, strict=True)):
        if isinstance(attribute, Continuous):
            codes[:, place] = count_steps(read_numbers(attribute, column), attribute)
        else:
            codes[:, place] = encode_values(attribute, column)
    return codes
