"""UUID keys: read as text of one form, so they are owners, join keys and filters, on every engine alike."""

from __future__ import annotations

from sordino.curator import connect

IDS = [f"{i:08x}-0000-4000-8000-00000000000a" for i in range(4)]
CREATE = (
    "CREATE TABLE customers (id UUID PRIMARY KEY, city VARCHAR(9)); "
    "CREATE TABLE orders (cid UUID REFERENCES customers (id), amount INT)"
)
# Written in upper case and without hyphens too: the same values.
FILL = [
    *(f"INSERT INTO customers VALUES ('{key.upper()}', 'a')" for key in IDS),
    *(f"INSERT INTO orders VALUES ('{IDS[i % 3]}', {i})" for i in range(7)),
    "INSERT INTO orders VALUES (NULL, 9)",
]
TABLES = {
    "customers": {"columns": {"city": {"domain": ["a"]}}},
    "orders": {"columns": {"amount": {"bounds": [0, 9]}}},
}
BY_ROW = {"version": 1, "dataset": "uuids", "tables": TABLES}
BY_USER = BY_ROW | {
    "protects": "user",
    "users": "customers.id",
    "tables": TABLES | {"orders": {**TABLES["orders"], "foreign_keys": {"cid": "customers.id"}}},
}
ANSWERS = {
    "SELECT COUNT(*) FROM customers c JOIN orders o ON o.cid = c.id": 7,
    f"SELECT SUM(amount) FROM orders WHERE cid = '{IDS[1]}'": 1 + 4,
    f"SELECT COUNT(*) FROM orders WHERE cid IN ('{IDS[0]}', 'no key')": 3,
    "SELECT COUNT(DISTINCT cid) FROM orders": 3,
}
OF_USERS = {
    "SELECT COUNT(*) FROM customers c LEFT JOIN orders o ON o.cid = c.id": 8,
    "SELECT SUM(n) AS n FROM (SELECT cid, COUNT(*) AS n FROM orders GROUP BY cid) t WHERE n > 2": 3,
}


def check_uuids(engine):
    """Exact answers at row level and at user level."""
    assert engine.catalogue()["orders"].columns[0].type == "text"
    assert engine.catalogue()["customers"].keys == (("id",),)
    for policy, asked in ((BY_ROW, ANSWERS), (BY_USER, ANSWERS | OF_USERS)):
        with connect(engine, policy=policy) as curator:
            for sql, exact in asked.items():
                assert curator.explain(sql, 1).reveal()["exact"] == exact, sql
