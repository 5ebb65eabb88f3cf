"""Trees of a session are private for one row of its table, whatever the rows hold and however many there are.

All tables of a few rows are read as a session reads them; the law of the tree on what was read is that of the code that
runs.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import duckdb
import numpy as np
import pytest

import sordino as sd
from sordino.audit import prove
from sordino.curator.questions.attributes import find_attributes
from sordino.curator.questions.tree import TreeQuestion
from sordino.learn.contingency import CutCounter

from .tree_laws import Cells, tree_law

EPSILON = Fraction(9, 10)
POLICY = {
    "version": 1,
    "dataset": "tiny",
    "tables": {
        "t": {"columns": {"a": {"domain": [0, 1]}, "x": {"bounds": [0, 1]}, "y": {"domain": ["n", "p"]}}}
    },
    "budgets": {"ann": {"epsilon": 1}},
}
KINDS = [
    ("0", "0", "'n'"),
    ("0", "1", "'p'"),
    ("1", "0", "'p'"),
    ("NULL", "'inf'", "'p'"),
    ("7", "'nan'", "'n'"),
    ("1", "NULL", "'p'"),
    ("0", "-9", "'maybe'"),
    ("1", "1", "NULL"),
]
TABLES = [rows for size in range(4) for rows in combinations_with_replacement(range(len(KINDS)), size)]


def added_or_removed(rows):
    if len(rows) < 3:
        yield from (tuple(sorted((*rows, kind))) for kind in range(len(KINDS)))
    yield from (rows[:i] + rows[i + 1 :] for i in range(len(rows)))


@pytest.fixture(scope="module")
def read():
    """The codes and labels that a session reads of every table."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (a INTEGER, x DOUBLE, y VARCHAR)")
    found = {}
    with sd.connect(connection, policy=POLICY) as curator:
        attributes = find_attributes(curator.data, "t", "y", None, 2, None)
        for rows in TABLES:
            connection.execute("DELETE FROM t")
            if rows:
                values = ", ".join(f"({', '.join(KINDS[kind])})" for kind in rows)
                connection.execute(f"INSERT INTO t VALUES {values}")
            with curator.data.engine.snapshot() as snapshot:
                coded = snapshot.aggregate(attributes.codes()).to_pylist()
            codes = np.array([[row["a0"], row["a1"]] for row in coded], dtype=np.int32).reshape(-1, 2)
            found[rows] = codes, np.array([row["label"] for row in coded], dtype=np.int32)
    return attributes, found


def test_every_row_is_coded_by_itself(read):
    _, found = read
    assert [found[(kind,)][0].tolist() for kind in range(len(KINDS))] == [
        [[0, 0]], [[0, 1]], [[1, 0]], [[2, 1]], [[2, 2]], [[1, 2]], [], []
    ]  # fmt: skip
    for rows, (codes, labels) in found.items():
        alone = sorted(
            (*found[(kind,)][0][0].tolist(), int(found[(kind,)][1][0]))
            for kind in rows
            if len(found[(kind,)][0])
        )
        assert (
            sorted((*code, label) for code, label in zip(codes.tolist(), labels.tolist(), strict=True))
            == alone
        )


ASKED = [
    {"criterion": "gini"},
    {"criterion": "max_operator", "selection": "exponential", "leaves": "permute_and_flip"},
    {"criterion": "gini", "max_rows": 1},
    {"criterion": "information_gain", "max_rows": 1},
    {"criterion": "information_gain", "max_rows": 1, "selection": "shifted_dampening"},
    {"criterion": "gini", "max_rows": 1, "selection": "local_dampening", "leaves": "permute_and_flip"},
]


def proved(read, asked, counted, epsilon=EPSILON):
    attributes, found = read
    question = TreeQuestion("t", "y", epsilon, None, 1, bins=2, **asked)
    sizes, classes = attributes.schema.sizes, len(attributes.classes)
    criterion, told = question._criterion(max(sizes) * classes, Fraction(1))
    model = question._model(attributes, criterion, told, epsilon)
    return prove(
        lambda rows: tree_law(
            model,
            found[rows],
            cells=Cells(1, 2),
            counted=lambda source: counted(source, sizes, classes, told),
        ),
        TABLES,
        added_or_removed,
        float(EPSILON),
    )


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_one_row_changes_the_law_by_no_more_than_epsilon(read, asked):
    """With max_rows=1 every table of two rows or three holds more."""
    found = proved(read, asked, CutCounter)
    assert found, found
    assert found.pairs == 2 * len(KINDS) * sum(len(rows) < 3 for rows in TABLES)


def test_a_row_that_takes_the_place_of_another_would_cost_twice(read):
    """The control: to keep the first rows instead of cutting counts replaces one row by another."""

    def first_rows_only(source, sizes, classes, told):
        kept = np.lexsort((source.labels, *source.codes.T))[:2]
        source.codes, source.labels, source.node = source.codes[kept], source.labels[kept], source.node[kept]
        return source

    found = proved(read, {"criterion": "max_operator"}, first_rows_only)
    assert not found
    assert found.worst_epsilon > 1.2 * EPSILON


def test_a_smaller_claim_is_refused(read):
    assert not proved(read, {"criterion": "max_operator"}, CutCounter, epsilon=EPSILON * Fraction(101, 100))
