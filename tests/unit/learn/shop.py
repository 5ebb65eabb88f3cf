"""A small table of customers with its public domain, and classifiers for it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sordino.learn import DecisionTreeClassifier, RandomForestClassifier

SCHEMA = {
    "colour": ["red", "green", "blue"],
    "age": {"bounds": [0, 100], "bins": 4},
    "member": [False, True],
}
PUBLIC = {"schema": SCHEMA, "classes": ["no", "yes"], "max_rows": 1000}
ESTIMATORS = [DecisionTreeClassifier, RandomForestClassifier]


def customers(rows=300, seed=7):
    """(X, y): members and the young buy, the others do not."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "colour": rng.choice(SCHEMA["colour"], rows),
            "age": rng.uniform(0, 100, rows),
            "member": rng.random(rows) < 0.4,
        }
    )
    y = pd.Series(np.where(X["member"] | (X["age"] < 25), "yes", "no"))
    return X, y


def tree(**changes):
    return DecisionTreeClassifier(**{"epsilon": 20.0, "max_depth": 2} | PUBLIC | changes)


def forest(**changes):
    return RandomForestClassifier(**{"epsilon": 20.0, "n_estimators": 8, "max_depth": 4} | PUBLIC | changes)


MODELS = [tree, forest]
