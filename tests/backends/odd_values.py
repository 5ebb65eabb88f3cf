"""Rows of every oddity, on which nothing may raise, and what DuckDB answers on them: for the other engines."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sordino.curator import connect
from sordino.curator.questions.sql import plan_sql
from sordino.sql.answering.plan import AnswerOptions
from tests.backends.value_suite import CASES, CATEGORIES, FACTOR, ask, ask_groups, count_pairs

NASTY = {
    "version": 1,
    "dataset": "nasty",
    "protects": "values",
    "tables": {
        "t": {
            "norm": "l1(0.5*l2(x, y), log(v), is(k), z, w)",
            "key": "id",
            "columns": {
                "id": {"type": "integer", "public": True},
                "x": {"type": "float", "granularity": 0.001, "bounds": [-1000, 1000]},
                "y": {"type": "integer", "bounds": [-1000, 1000]},
                "z": {"type": "float", "bounds": [-1, 1], "granularity": 0.01},
                "v": {"type": "float", "granularity": 0.01, "bounds": [0.01, 1000]},
                "w": {"type": "float", "granularity": 5, "bounds": [-1000, 1000]},
                "k": {"type": "text", "domain": ["a", "b"]},
            },
        }
    },
}
ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3, 4, 5, 6]),
        "x": pa.array([1e308, -1e308, float("nan"), float("inf"), None, 5e-324]),
        "y": pa.array([2**62, -(2**62), 0, None, 3, -4]),
        "z": pa.array([0.99, -9.99, None, 0.01, 0.0, -0.0]),
        "v": pa.array([0.0, -5.0, float("nan"), 1e-300, None, 700.0]),
        "w": pa.array([5e-324, -5e-324, None, float("nan"), 2.5, 1e-310]),
        "k": pa.array(["a", "b", None, "c", "A", ""]),
    }
)
QUESTIONS = (
    ("SELECT SUM(SQRT(x*x + y*y)/v) AS s FROM t WHERE z > 0", None),
    ("SELECT SUM(EXP(z)*y) AS s FROM t WHERE k = 'a' AND y >= 3", None),
    ("SELECT MIN(POWER(x, 3) + LN(v)) AS s FROM t WHERE x > y", "sigmoid(40)"),
    ("SELECT SUM(EXP(0.1*x)*EXP(0.1*y)*EXP(-200*z)*POWER(0.001*x, 98)*POWER(0.001*y, 98)) AS s FROM t", None),
    ("SELECT SUM(v*w) AS s FROM t WHERE k = 'a'", None),
    ("SELECT SUM(a.x*b.y) AS s FROM t AS a JOIN t AS b ON a.id <= b.id WHERE a.z = b.z", "sigmoid(7)"),
)  # fmt: skip


def measure(engine, sql, filters):
    with connect(engine, policy=NASTY) as curator:
        plan = plan_sql(curator.data, sql, AnswerOptions.checked(1, 0), filters)
        with curator.data.engine.snapshot() as snapshot:
            cell = plan.measure(snapshot)[0]
    step = float(plan.statement.measures[0].step)
    return [cell.exact * step, *(cell.bound.at(beta) * step for beta in cell.betas)]


def check_odd_rows(backend, questions=QUESTIONS):
    """Nothing raises, and numbers and bounds are those of DuckDB."""
    engine = backend.load({"t": ROWS})
    for sql, filters in questions:
        found, wanted = measure(engine, sql, filters), measure({"t": ROWS}, sql, filters)
        assert np.isfinite(found).all()
        # a term that is rounded otherwise differs by a step, 2^-36 of its range
        assert np.allclose(found, wanted, rtol=1e-9, atol=1e-6 * max(abs(wanted[0]), 1.0)), sql


def check_category_groups(backend):
    """Both inequalities in every group of a category, with the numbers of DuckDB."""
    sql = "SELECT db, k, SUM(x*x - 3*x) AS s FROM t GROUP BY db, k"
    distance = CATEGORIES.distances({"t": lambda moves, _: moves[0] + FACTOR * moves[1]})
    tables, policy = CATEGORIES.arrow(), CATEGORIES.policy()
    wanted = ask_groups(tables, policy, sql, len(distance))
    for found, same in zip(ask_groups(backend.load(tables), policy, sql, len(distance)), wanted, strict=True):
        assert count_pairs(found, distance)[1:] == (0, 0)
        assert np.allclose(found.values, same.values, atol=1e-6)
        assert np.allclose(found.bounds, same.bounds, rtol=1e-9)


def check_universe(backend, name):
    """Both inequalities over all pairs of databases."""
    universe, lengths, sql, filters = CASES[name]
    found = ask(backend.load(universe.arrow()), universe.policy(), sql, filters=filters)
    assert count_pairs(found, universe.distances(lengths))[1:] == (0, 0)


COMING = {
    "version": 1,
    "dataset": "coming",
    "protects": "row+values",
    "tables": {
        name: {
            "norm": "x",
            "weight": 3,
            "key": "id",
            "columns": {
                "id": {"type": "integer", "public": True},
                "k": {"type": "integer", "public": True, "domain": [0, 1, 2]},
                "x": {"type": "integer", "bounds": [0, 4]},
            },
        }
        for name in "rs"
    },
}
COMING_ROWS = {
    name: pa.table(
        {
            "id": pa.array([1, 2, 3, None]),
            "k": pa.array([0, 0, 1, None]),
            "x": pa.array([1, 4, third, None]),
        }
    )
    for name, third in (("r", 2), ("s", 0))
}
COMING_QUESTIONS = (
    "SELECT r.k, SUM(r.x*s.x) AS s, COUNT(*) AS n FROM r JOIN s ON r.k = s.k WHERE r.x >= s.x GROUP BY r.k",
    "SELECT MIN(r.x + 7) AS s FROM r WHERE r.k = 2",
)


def measure_coming(engine, sql):
    with connect(engine, policy=COMING) as curator:
        plan = plan_sql(curator.data, sql, AnswerOptions.checked(1, 0), None)
        with curator.data.engine.snapshot() as snapshot:
            cells = plan.measure(snapshot)
    return [[cell.exact, *(cell.bound.at(beta) for beta in cell.betas)] for cell in cells]


def check_rows_that_come_and_go(backend):
    """Numbers and bounds are those of DuckDB."""
    engine = backend.load(COMING_ROWS)
    for sql in COMING_QUESTIONS:
        found, wanted = measure_coming(engine, sql), measure_coming(COMING_ROWS, sql)
        assert np.allclose(found, wanted, rtol=1e-9, atol=1), sql
