"""Trees and forests through a session: on every engine those of the library, on rows that a person would code alike."""

from __future__ import annotations

import math
from datetime import date
from random import Random

import numpy as np
import pyarrow as pa

from sordino.curator.curator import Curator
from sordino.curator.questions.forest import ForestQuestion
from sordino.curator.questions.tree import TreeQuestion
from sordino.learn import DecisionTreeClassifier, RandomForestClassifier
from sordino.learn.random_forest import encode_forest_rows
from sordino.learn.schema import as_schema
from sordino.learn.stored import restore_forest, restore_tree
from sordino.sql.policy import Policy
from sordino.testing import seeded

DAYS = [date(2024, 2, 29), date(1999, 12, 31)]
# What the policy says, and what the rows hold beside it: other values, NULL, NaN, infinities, the largest numbers.
DOMAINS = {"colour": ["red", "O'Neil", None], "level": [3, 1, 2**40], "member": [True, False], "day": DAYS}
BOUNDS = {"height": (-1.0, 2.0), "steps": (0, 10)}
HELD = {
    "colour": ["red", "O'Neil", "Red", "red ", "", None],
    "level": [1, 3, 2**40, 2, -(2**63), None],
    "member": [True, False, None],
    "day": [*DAYS, date(1, 1, 1), None],
    "height": [
        -1.0,
        -0.7,
        0.0,
        0.2,
        0.5,
        2.0,
        9.0,
        1e308,
        -1e308,
        5e-324,
        math.inf,
        -math.inf,
        math.nan,
        None,
    ],
    "steps": [0, 1, 5, 10, 11, -(2**63), 2**63 - 1, None],
    "answer": ["yes", "no", "no", "yes", "perhaps", None],
}
KINDS = {"colour": pa.string(), "level": pa.int64(), "member": pa.bool_(), "day": pa.date32(),
         "height": pa.float64(), "steps": pa.int64(), "answer": pa.string()}  # fmt: skip
BINS = 5
POLICY = Policy.load(
    {
        "version": 1,
        "dataset": "clinic",
        "tables": {
            name: {
                "columns": {column: {"domain": values} for column, values in DOMAINS.items()}
                | {column: {"bounds": list(ends), "granularity": 1} for column, ends in BOUNDS.items()}
                | {"answer": {"domain": ["yes", "no", None]}}
            }
            for name in ("t", "none")
        },
        "budgets": {"ann": {"epsilon": 1000}},
    }
)
SCHEMA = as_schema(
    {
        column: {"values": [v for v in DOMAINS[column] if v is not None], "missing": True}
        if column in DOMAINS
        else {"bounds": BOUNDS[column], "bins": BINS, "missing": True, "clip": True}
        for column in HELD
        if column != "answer"
    }
)
CELLS = 2 * max(SCHEMA.sizes)
TREES = [
    {},
    {"criterion": "information_gain", "selection": "shifted_dampening", "max_rows": 500},
    {"criterion": "max_operator", "leaves": "permute_and_flip", "max_depth": 1, "where": "steps > 3"},
    {"features": ["level", "height"], "criterion": "gini", "selection": "local_dampening", "max_rows": 300},
]
FORESTS = [
    {"max_rows": 1000, "n_estimators": 3},
    {"leaves": "permute_and_flip", "max_depth": 2, "n_estimators": 2, "where": "NOT member"},
]


def nasty_rows(count=300, seed=4) -> pa.Table:
    """MemoryRows that hold everything their types allow."""
    chosen = Random(seed)
    rows = [{name: chosen.choice(values) for name, values in HELD.items()} for _ in range(count)]
    return pa.table({name: pa.array([row[name] for row in rows], KINDS[name]) for name in HELD})


def kept_rows(rows, asked) -> list[dict]:
    """The rows that count, as a person would code them: unknown is missing, a number is moved between its bounds."""
    condition = {
        None: lambda row: True,
        "steps > 3": lambda row: row["steps"] is not None and row["steps"] > 3,
        "NOT member": lambda row: row["member"] is False,
    }[asked.get("where")]
    kept = []
    for row in rows.to_pylist():
        if row["answer"] in ("yes", "no") and condition(row):
            coded = {name: row[name] if row[name] in values else None for name, values in DOMAINS.items()}
            for name, (low, high) in BOUNDS.items():
                value = row[name]
                unknown = value is None or math.isnan(value)
                coded[name] = None if unknown else float(min(max(value, low), high))
            kept.append({name: coded[name] for name in SCHEMA.names} | {"answer": row["answer"]})
    return kept


def frame_of(kept, names) -> pa.Table:
    kinds = KINDS | {"steps": pa.float64()}
    return pa.table({name: pa.array([row[name] for row in kept], kinds[name]) for name in names})


def drawn(data, question):
    """What is drawn from one seed: equal laws of equal data draw alike."""
    quote = question.quote(data)
    with data.engine.snapshot() as snapshot, seeded(7):
        return quote.present(quote.draw(quote.measure(snapshot))).value


def library_tree(kept, asked):
    names = asked.get("features", SCHEMA.names)
    schema = [attribute for attribute in SCHEMA.attributes if attribute.name in names]
    given = {name: asked[name] for name in ("criterion", "selection", "leaves", "max_depth") if name in asked}
    rows = asked["max_rows"] * 2 * max(one.size for one in schema) if "max_rows" in asked else 2**30
    model = DecisionTreeClassifier(20, schema=schema, classes=["yes", "no"], max_rows=rows, **given)
    with seeded(7):
        model.fit(frame_of(kept, [one.name for one in schema]), frame_of(kept, ["answer"])["answer"])
    return model.tree_


def library_forest(kept, asked):
    """On the rows in the order of their codes, in which a session puts them."""
    given = {name: asked[name] for name in ("leaves", "max_depth", "n_estimators") if name in asked}
    model = RandomForestClassifier(
        20, schema=SCHEMA, classes=["yes", "no"], max_rows=asked.get("max_rows", 2**30), **given
    )
    rows = frame_of(kept, SCHEMA.names)
    answers = np.array([row["answer"] for row in kept], dtype=object)
    codes = np.column_stack([encode_forest_rows(rows, SCHEMA), answers == "yes"])
    order = np.lexsort(codes.T)
    with seeded(7):
        model.fit(rows.take(order), answers[order])
    return model.forest_


def same_arrays(one, other, fields) -> bool:
    def equal(a, b):
        return (a is None and b is None) or np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")

    return all(equal(getattr(one, name), getattr(other, name)) for name in fields)


TREE_FIELDS = (
    "classes",
    "attribute",
    "first_child",
    "level",
    "size",
    "counts",
    "epsilon",
    "label",
    "probabilities",
)
FOREST_FIELDS = ("classes", "counts", "labels", "votes", "start")


def check_groves(load, trees=TREES, forests=FORESTS) -> None:
    """The same trees and forests as the library's from the same seed; and of no rows at all."""
    rows = nasty_rows()
    with load({"t": rows, "none": rows[:0]}) as engine:
        curator = Curator(engine, POLICY, None, owned=False)
        for asked in trees:
            question = TreeQuestion("t", "answer", 20, **{"bins": BINS} | asked)
            found, kept = restore_tree(drawn(curator.data, question)), kept_rows(rows, asked)
            assert same_arrays(found, library_tree(kept, asked), TREE_FIELDS), asked
            assert found.leaves >= 3
        for asked in forests:
            question = ForestQuestion("t", "answer", 20, **asked)
            found, kept = restore_forest(drawn(curator.data, question)), kept_rows(rows, asked)
            expected = library_forest(kept, asked)
            assert same_arrays(found, expected, FOREST_FIELDS), asked
            assert same_arrays(found.trees, expected.trees, ("attribute", "split", "right"))
        session = curator.session("ann")
        assert session.tree("none", "answer", epsilon=1, max_depth=1).tree_.leaves >= 2
        session.forest("none", "answer", epsilon=1, n_estimators=2, max_depth=1)
        assert not session.budget().suspended
