"""What the owner learns about rows that do not keep to the policy; every number counted here by hand."""

from __future__ import annotations

import pyarrow as pa

import sordino as sd
from sordino.core import Secret

ROWS = {
    # 1 twice, a NULL
    "customers": pa.table({"id": [1, 1, 2, 3, None], "city": ["Rome", "Oslo", "rome", None, "Rome"]}),
    # order 10 twice, of customers 1 and 2; order 12 leads nowhere, order 13 to NULL
    "orders": pa.table({"nr": [10, 10, 11, 12, 13], "customer": [1, 2, 3, 9, None]}),
    # two rows of order 10; one of an order that is not there
    "items": pa.table({"order": [10, 10, 11, 12, 99], "price": [1.5, 20.5, -3.0, float("nan"), None]}),
    "links": pa.table({"source": [1, 2, None], "target": [1, 3, 1]}),
}
POLICY = {
    "version": 1,
    "dataset": "shop",
    "protects": "user",
    "users": "customers.id",
    "tables": {
        "customers": {
            "key": {"columns": ["id"], "enforced": True},
            "columns": {"city": {"domain": ["Rome", "Oslo"]}},
        },
        "orders": {"key": "nr", "foreign_keys": {"customer": "customers.id"}},
        "items": {
            "foreign_keys": {"order": "orders.nr"},
            "columns": {"price": {"bounds": [0, 20], "granularity": 0.5}},
        },
        "links": {
            "foreign_keys": {"source": "customers.id"},
            "check": "source <> target",
            "columns": {"target": {"hidden": True}},
        },
    },
}


def look(policy, rows=ROWS):
    with sd.connect(rows, policy=policy) as curator:
        return curator.check_rows()


def test_rows_against_every_declaration_are_counted():
    secret = look(POLICY)
    assert isinstance(secret, Secret)
    report = secret.reveal()
    found = {(item.table, item.kind): (item.rows, item.of, item.broken) for item in report.findings}
    assert found == {
        ("customers", "key"): (2, 5, True),
        ("customers", "domain"): (2, 5, False),  # 'rome' is another text, and NULL was not listed
        ("orders", "key"): (2, 5, True),
        ("orders", "foreign_key"): (1, 5, True),
        ("items", "foreign_key"): (1, 5, True),
        ("items", "several_owners"): (2, 5, True),
        ("items", "bounds"): (3, 5, False),  # NaN is above all numbers
        ("links", "foreign_key"): (0, 3, False),
        ("links", "check"): (1, 3, True),
    }
    assert not report.holds
    then = {(item.table, item.kind): item.then for item in report.findings}
    assert then["customers", "key"] == "the guarantee does not hold"
    assert then["orders", "foreign_key"] == "answers leave these rows out"


def test_rows_that_keep_to_the_policy_hold():
    rows = {
        "customers": pa.table({"id": [1, 2], "city": ["Rome", "Oslo"]}),
        "orders": pa.table({"nr": [10, 11], "customer": [1, 1]}),
        "items": pa.table({"order": [10, 10], "price": [0.0, 20.0]}),
        "links": pa.table({"source": [1], "target": [2]}),
    }
    report = look(POLICY, rows).reveal()
    assert report.holds
    assert all(item.rows == 0 for item in report.findings)
    assert report.to_dict()["findings"][0] == {
        "table": "customers", "kind": "key", "declared": "no two rows share id", "rows": 0, "of": 2,
        "then": "the guarantee does not hold", "share": 0.0, "broken": False,
    }  # fmt: skip


def test_a_long_way_to_an_owner_is_followed():
    rows = {
        "a": pa.table({"id": [1, 2]}),
        "b": pa.table({"id": [5, 6, 6], "a": [1, 1, 2]}),
        "c": pa.table({"id": [7, 8, 8], "b": [5, 6, 5]}),
        "d": pa.table({"c": [7, 8, 8, None]}),
    }
    policy = {
        "version": 1, "dataset": "x", "protects": "user", "users": "a.id",
        "tables": {"a": {}, "b": {"foreign_keys": {"a": "a.id"}}, "c": {"foreign_keys": {"b": "b.id"}},
                   "d": {"foreign_keys": {"c": "c.id"}}},
    }  # fmt: skip
    found = {
        item.table: item.rows
        for item in look(policy, rows).reveal().findings
        if item.kind == "several_owners"
    }
    # c: the row of b's 6, which two own; d: both rows of 8, which is owned by 1 and 2
    assert found == {"c": 1, "d": 2}


def test_a_row_level_policy_is_checked_too():
    policy = {
        "version": 1, "dataset": "x", "tables": {"orders": {"key": ["nr", "customer"]}, "items": {}},
    }  # fmt: skip
    report = look(policy).reveal()
    assert [(item.kind, item.rows, item.then) for item in report.findings] == [
        ("key", 0, "nothing rests on it until it is enforced")
    ]
