"""A session on each of the three engines: the same exact answers, the same bounds, the same noise."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sordino as sd
from tests.backends.conftest import duckdb_backend, postgresql_backend, server, spark, spark_backend

__all__ = ["duckdb_backend", "postgresql_backend", "server", "spark", "spark_backend"]  # fixtures

ORDERS = [(1, "Rome", 2.5), (2, "Oslo", 99.0), (2, "Rome", None), (3, None, -7.0), (None, "Oslo", 1.0)]
ITEMS = [(1, 5), (1, 3), (2, 4), (2, None), (9, 1), (None, 2)]
TABLES = {
    "orders": pa.table(
        {
            "id": pa.array([row[0] for row in ORDERS], pa.int64()),
            "city": pa.array([row[1] for row in ORDERS], pa.string()),
            "amount": pa.array([row[2] for row in ORDERS], pa.float64()),
        }
    ),
    "items": pa.table(
        {
            "order_id": pa.array([row[0] for row in ITEMS], pa.int64()),
            "price": pa.array([row[1] for row in ITEMS], pa.int64()),
        }
    ),
}
POLICY = {
    "version": 1,
    "dataset": "shop",
    "tables": {
        "orders": {
            "columns": {
                "city": {"domain": ["Rome", "Oslo", "Lima", None]},
                "amount": {"bounds": [0, 50], "granularity": "0.5"},
            }
        },
        "items": {"columns": {"price": {"bounds": [0, 10]}}},
    },
    "budgets": {"ann": {"epsilon": 10, "delta": 1e-3}},
}
# the question, and its exact answer by hand
QUESTIONS = {
    "SELECT COUNT(*) FROM orders JOIN items ON orders.id = items.order_id": 6,
    "SELECT SUM(price) FROM orders JOIN items ON orders.id = items.order_id": 16,
    "SELECT SUM(amount) FROM orders": 53.5,
    "SELECT COUNT(amount) FROM orders WHERE city <> 'Rome'": 2,
    "SELECT city, COUNT(*) AS n FROM orders GROUP BY city": [
        {"city": "Rome", "n": 2},
        {"city": "Oslo", "n": 2},
        {"city": "Lima", "n": 0},
        {"city": None, "n": 1},
    ],
}
SCALES: dict[str, list[float]] = {}


@pytest.mark.parametrize("backend", ["duckdb_backend", "postgresql_backend", "spark_backend"])
def test_a_session_answers_alike_on_every_engine(request, backend):
    engine = request.getfixturevalue(backend).load(TABLES)
    with sd.connect(engine, policy=POLICY) as curator:
        for sql, answer in QUESTIONS.items():
            facts = curator.explain(sql, 1.0).reveal()
            assert facts["exact"] == answer, sql
            scales = [number["noise_scale"] for number in facts["numbers"]]
            assert SCALES.setdefault(sql, scales) == scales
            assert curator.session("ann").query(sql, 0.5, 1e-5).private
        with pytest.raises(sd.ParameterError, match="never closed"):
            curator.session("ann").query("SELECT COUNT(* FROM orders", 0.5)
        assert curator.session("ann").budget().spent.loss == 2.5


@pytest.mark.parametrize("backend", ["duckdb_backend", "postgresql_backend", "spark_backend"])
def test_rows_are_checked_alike_on_every_engine(request, backend):
    engine = request.getfixturevalue(backend).load(TABLES)
    policy = POLICY | {
        "tables": {
            "orders": POLICY["tables"]["orders"] | {"key": "id", "check": "amount >= 0"},
            "items": POLICY["tables"]["items"] | {"foreign_keys": {"order_id": "orders.id"}},
        }
    }
    with sd.connect(engine, policy=policy) as curator:
        report = curator.check_rows().reveal()
    assert [(finding.kind, finding.rows, finding.of) for finding in report.findings] == [
        ("key", 2, 5),
        ("check", 1, 5),
        ("domain", 0, 5),
        ("bounds", 2, 5),
        ("foreign_key", 1, 6),
        ("bounds", 0, 6),
    ]
