"""Groups of which none has a value: a list without values is no condition that every engine can read."""

from __future__ import annotations

import pyarrow as pa

from sordino.curator import connect

PEOPLE = range(60)
TABLES = {
    "customers": pa.table({"id": pa.array(PEOPLE)}),
    "orders": pa.table({"cid": pa.array(PEOPLE), "word": pa.array([None] * 60, pa.string())}),
}
POLICY = {
    "version": 1,
    "dataset": "nulls",
    "protects": "user",
    "users": "customers.id",
    "min_units": 5,
    "tables": {"customers": {}, "orders": {"foreign_keys": {"cid": "customers.id"}}},
    "budgets": {"ann": {"epsilon": 5000, "delta": 0.5}},
}


def check_null_groups(backend):
    """The only group that enough owners hold is NULL, of a column and of what is computed."""
    with connect(backend.load(TABLES), policy=POLICY) as curator:
        session = curator.session("ann")
        for key in ("word", "LOWER(word)", "CAST(word AS DATE)"):
            sql = f"SELECT {key} AS k, COUNT(*) AS n FROM orders GROUP BY {key}"
            assert session.query(sql, epsilon=1000, delta=1e-4).value == [{"k": None, "n": 60}], key
