"""A data set without rows is a data set: whether there are any is private, so nothing may fail by it."""

from __future__ import annotations

import itertools

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import sordino as sd
from sordino.learn import DecisionTreeClassifier, RandomForestClassifier

POLICY = {
    "version": 1,
    "dataset": "shop",
    "tables": {
        "orders": {
            "private": True,
            "columns": {
                "city": {"type": "text", "domain": ["Rome", "Oslo"]},
                "amount": {"type": "float", "bounds": [0, 10], "granularity": 0.5},
                "item": {"type": "integer"},
            },
        },
        "items": {"private": True, "columns": {"item": {"type": "integer"}}},
        "places": {"private": False, "columns": {"city": {"type": "text"}, "land": {"type": "text"}}},
    },
    "budgets": {"ann": {"epsilon": 1000, "delta": 1e-3}},
}
JOIN = "FROM orders JOIN items ON orders.item = items.item"
QUESTIONS = [
    "SELECT COUNT(*) FROM orders",
    "SELECT SUM(amount) FROM orders WHERE city = 'Rome'",
    "SELECT AVG(amount) AS mean, COUNT(*) AS n FROM orders",
    "SELECT city, COUNT(*) AS n, SUM(amount) AS total FROM orders GROUP BY city",
    f"SELECT COUNT(*) {JOIN}",
    f"SELECT SUM(orders.amount) {JOIN}",
    f"SELECT orders.city, COUNT(*) AS n {JOIN} GROUP BY orders.city",
]
SCHEMA = {"city": ["Rome", "Oslo"], "amount": {"bounds": [0, 10], "bins": 4}}
TABLES = {
    "list": ([], []),
    "numpy": (np.empty((0, 2)), np.empty(0)),
    "objects": (np.empty((0, 2), dtype=object), np.empty(0, dtype=object)),
    "pandas": (pandas.DataFrame({"city": [], "amount": []}), pandas.Series([], dtype=object)),
    "polars": (polars.DataFrame({"city": [], "amount": []}), polars.Series([])),
    "arrow": (
        pyarrow.table({"city": pyarrow.nulls(0), "amount": pyarrow.nulls(0)}),
        pyarrow.array([], pyarrow.string()),
    ),
}


@pytest.fixture
def connection():
    with duckdb.connect() as opened:
        opened.execute("CREATE TABLE orders (city VARCHAR, amount DOUBLE, item INTEGER)")
        opened.execute("CREATE TABLE items (item INTEGER)")
        opened.execute("CREATE TABLE places (city VARCHAR, land VARCHAR)")
        yield opened


@pytest.fixture
def session(connection):
    with sd.connect(connection, policy=POLICY) as curator:
        yield curator.session("ann")


@pytest.mark.parametrize("sql", QUESTIONS)
@pytest.mark.parametrize("options", [{}, {"delta": 1e-6}, {"error_share": 0.1}, {"noise": "cauchy"}])
def test_questions_over_tables_without_rows_are_answered(session, sql, options):
    release = session.query(sql, 1.0, **options)
    assert release.private
    assert isinstance(release.value, int | float) or len(release.value) == (2 if "GROUP" in sql else 1)
    assert not session.budget().suspended


def test_groups_of_a_public_table_without_rows_are_refused_before_payment(session):
    sql = "SELECT land, COUNT(*) AS n FROM orders JOIN places ON orders.city = places.city GROUP BY land"
    with pytest.raises(sd.ParameterError, match="no groups"):
        session.query(sql, 1.0)
    assert session.budget().spent.loss == 0
    assert not session.budget().suspended


def test_a_folder_of_files_without_rows_is_answered(tmp_path):
    (tmp_path / "orders.csv").write_text("city,amount,item\n")
    pyarrow.parquet.write_table(
        pyarrow.table({"item": pyarrow.array([], pyarrow.int64())}), tmp_path / "items.parquet"
    )
    policy = POLICY | {"tables": {name: POLICY["tables"][name] for name in ("orders", "items")}}
    with sd.connect(tmp_path, policy=policy) as curator:
        for sql in QUESTIONS:
            assert curator.session("ann").query(sql, 1.0).private


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("estimator", [DecisionTreeClassifier, RandomForestClassifier])
def test_trees_grow_on_no_rows(kind, estimator):
    X, y = TABLES[kind]
    fitted = estimator(1.0, schema=SCHEMA, classes=["no", "yes"], max_rows=100).fit(X, y)
    assert fitted.predict_proba(X).shape == (0, 2)
    one = pandas.DataFrame({"city": ["Rome"], "amount": [3.0]})
    assert fitted.predict(one if hasattr(fitted, "feature_names_in_") else one.to_numpy())[0] in ("no", "yes")


@pytest.mark.parametrize(
    "leaves", ["counts", "permute_and_flip", "exponential", "local_dampening", "smooth_noisy_max"]
)
def test_every_kind_of_tree_grows_on_no_rows(leaves):
    selections = (
        "permute_and_flip",
        "exponential",
        "local_dampening",
        "shifted_dampening",
        "smooth_noisy_max",
    )
    for criterion, selection in itertools.product(("gini", "max_operator", "information_gain"), selections):
        tree = DecisionTreeClassifier(
            1.0,
            schema=SCHEMA,
            classes=["no", "yes"],
            max_rows=100,
            criterion=criterion,
            selection=selection,
            leaves=leaves,
        )
        assert tree.fit([], []).tree_.nodes > 1


def test_a_tree_grows_on_a_table_without_rows(connection):
    tree = DecisionTreeClassifier(1.0, schema=SCHEMA, classes=[0, 1], max_rows=100)
    assert tree.fit_table(connection, "orders", target="item").tree_.nodes > 1
