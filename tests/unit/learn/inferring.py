"""Our classifiers with everything public read off the data: not private at all, for scikit-learn's checks only."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sordino.learn import DecisionTreeClassifier, RandomForestClassifier
from sordino.testing import seeded

BINS = 64


def inferred(X, y):
    """Schema, classes and number of rows of whatever is given; a stand-in where that cannot be told."""
    try:
        columns = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
        schema = {str(name): _domain(columns[name]) for name in columns.columns}
        rows = len(columns)
    except (TypeError, ValueError):
        schema, rows = {}, 0
    return {"schema": schema or {"0": [0]}, "classes": _classes(y), "max_rows": max(1, rows)}


def _domain(column):
    try:
        numbers = np.asarray(column).astype(np.float64)
    except (TypeError, ValueError):
        return sorted(set(column.dropna()), key=str)
    finite = numbers[np.isfinite(numbers)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    return {"bounds": [low, high if high > low else low + 1.0], "bins": BINS}


def _classes(y):
    classes = [] if y is None else np.unique(np.asarray(y)).tolist()
    if not classes:
        return [0, 1]
    return classes if len(classes) > 1 else [*classes, "another" if isinstance(classes[0], str) else -1]


class Inferring:
    """Fits one of our classifiers with inferred parameters, and takes over what it has learnt."""

    def fit(self, X, y=None):
        exact = {name: getattr(self, name) for name in self._get_param_names()}
        model = self.private(**exact | inferred(X, y))
        with seeded(4):
            model.fit(X, y)
        vars(self).update({name: value for name, value in vars(model).items() if name.endswith("_")})
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = False
        return tags


class InferringTree(Inferring, DecisionTreeClassifier):
    private = DecisionTreeClassifier

    def __init__(self, epsilon=1e4, max_depth=4):
        super().__init__(epsilon, max_depth=max_depth)


class InferringForest(Inferring, RandomForestClassifier):
    private = RandomForestClassifier

    def __init__(self, epsilon=1e4, n_estimators=4, max_depth=6, n_jobs=None):
        super().__init__(epsilon, n_estimators=n_estimators, max_depth=max_depth, n_jobs=n_jobs)
