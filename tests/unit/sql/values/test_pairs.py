"""Joins by protected conditions alone: how large they are, and refusals before anything is spent."""

from __future__ import annotations

import itertools

import pyarrow as pa
import pytest

import sordino as sd
from sordino.curator.questions.sql import plan_sql
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.values.pairs import count_pairs, find_parts

PUBLIC = {"type": "integer", "public": True}
POLICY = {
    "version": 1,
    "dataset": "ships",
    "protects": "values",
    "budgets": {"ann": {"epsilon": 10}},
    "tables": {
        "ship": {
            "norm": "x",
            "key": "id",
            "columns": {"id": PUBLIC, "port": PUBLIC, "x": {"type": "integer", "bounds": [0, 99]}},
        },
        "buoy": {"private": False, "columns": {"nr": PUBLIC, "place": PUBLIC | {"bounds": [0, 99]}}},
    },
}
SHIPS = [(1, 0, 3), (2, 0, 50), (3, 1, 7), (4, 1, 8), (5, 2, 90)]
BUOYS = [(1, 10), (2, 60), (3, 80)]
ROWS = {
    "ship": pa.table(dict(zip(("id", "port", "x"), zip(*SHIPS, strict=True), strict=True))),
    "buoy": pa.table(dict(zip(("nr", "place"), zip(*BUOYS, strict=True), strict=True))),
}
# FROM and WHERE, the parts, and which rows are combined, by definition
JOINS = [
    ("ship AS a JOIN ship AS b ON a.id < b.id WHERE a.x > b.x", 2, lambda: itertools.product(SHIPS, SHIPS)),
    ("ship AS a JOIN buoy AS b ON a.x > b.place", 2, lambda: itertools.product(SHIPS, BUOYS)),
    ("ship AS a, ship AS b WHERE a.x > b.x AND a.port = 0 AND b.id <> 3", 2,
     lambda: itertools.product([s for s in SHIPS if s[1] == 0], [s for s in SHIPS if s[0] != 3])),
    ("ship AS a JOIN ship AS b ON a.port = b.port JOIN buoy AS c ON a.x > c.place", 2,
     lambda: ((a, b, c) for a in SHIPS for b in SHIPS for c in BUOYS if a[1] == b[1])),
    ("ship AS a JOIN ship AS b ON a.port = b.port AND a.x > b.x", 1,
     lambda: ((a, b) for a in SHIPS for b in SHIPS if a[1] == b[1])),
    ("ship AS a JOIN ship AS b ON a.id + 1 = b.id AND a.x > b.x", 1,
     lambda: ((a, b) for a in SHIPS for b in SHIPS if a[0] + 1 == b[0])),
    ("ship AS a JOIN ship AS b ON a.id = b.id OR a.port = b.port WHERE a.x > b.x", 2,
     lambda: itertools.product(SHIPS, SHIPS)),
    ("ship AS a JOIN ship AS b ON a.x = b.x", 2, lambda: itertools.product(SHIPS, SHIPS)),
]  # fmt: skip


@pytest.mark.parametrize(("join", "parts", "rows"), JOINS)
def test_the_size_is_the_number_of_combinations(join, parts, rows):
    with sd.connect(ROWS, policy=POLICY) as curator:
        plan = plan_sql(curator.data, f"SELECT COUNT(*) FROM {join}", AnswerOptions.checked(1, 0))
        assert len(find_parts(plan.statement.join)) == parts
        with curator.data.engine.snapshot() as snapshot:
            assert count_pairs(snapshot, plan.statement.join) == len(list(rows()))


@pytest.mark.parametrize(("most", "refused"), [(24, True), (25, False)])
def test_beyond_the_limit_nothing_is_spent(most, refused):
    sql = "SELECT COUNT(*) FROM ship AS a JOIN ship AS b ON a.x > b.x"
    with sd.connect(ROWS, policy=POLICY | {"most_pairs": most}) as curator:
        session = curator.session("ann")
        if not refused:
            session.query(sql, epsilon=1)
            return
        with pytest.raises(
            sd.UnsupportedError, match=r"each of 25 combinations.*at most 24.*most_pairs"
        ) as told:
            session.query(sql, epsilon=1)
        assert "a.k = b.k" in str(told.value)
        assert told.value.place.column == sql.index("JOIN") + 1
        assert str(session.budget()) == "epsilon 10 left of epsilon 10"
        # an equality of public columns is enough
        session.query(sql.replace("ON", "ON a.port = b.port AND"), epsilon=1)


def test_what_was_answered_is_served_again_under_another_limit(tmp_path):
    sql, ledger = "SELECT COUNT(*) FROM ship AS a JOIN ship AS b ON a.x > b.x", tmp_path / "ledger.sqlite"
    values = []
    for most in (10**8, 10**3):
        with sd.connect(ROWS, policy=POLICY | {"most_pairs": most}, ledger=ledger) as curator:
            values.append(curator.session("ann").query(sql, epsilon=1, reuse=True).value)
    assert values[0] == values[1]


def test_where_rows_come_and_go_their_number_refuses_nothing():
    """A refusal would tell how many there are."""
    policy = POLICY | {"protects": "row+values"}
    with sd.connect(ROWS, policy=policy) as curator:
        object.__setattr__(curator.data.policy, "most_pairs", 1)
        curator.session("ann").query(
            "SELECT SUM(a.x*b.x) FROM ship AS a JOIN ship AS b ON a.id < b.id", epsilon=1
        )
    with pytest.raises(sd.ParameterError, match="most_pairs is for 'protects: values'"):
        sd.Policy.load(policy | {"most_pairs": 5})


@pytest.mark.parametrize("most", [0, -1, 2.5, True, "many"])
def test_a_limit_that_is_none_is_refused(most):
    with pytest.raises(sd.ParameterError, match="most_pairs must be a whole number of at least 1"):
        sd.Policy.load(POLICY | {"most_pairs": most})
