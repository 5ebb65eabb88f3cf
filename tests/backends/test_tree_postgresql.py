"""Trees from PostgreSQL: the tree of the rows in memory."""

from __future__ import annotations

import polars as pl

from sordino.learn import DecisionTreeClassifier

from .grove_suite import check_groves
from .tree_suite import check_trees, check_unsupported


def test_a_table_gives_the_same_tree_as_its_rows(postgresql_backend):
    check_trees(postgresql_backend.load)
    check_unsupported(postgresql_backend.load)


def test_a_table_of_another_schema_enumerations_and_numerics(postgresql_backend):
    owner, engine = postgresql_backend.owner, postgresql_backend.load({})
    owner.execute("CREATE SCHEMA other")
    owner.execute("CREATE TYPE colour AS ENUM ('red', 'blue')")
    owner.execute("CREATE TABLE other.u (c colour, n numeric(4, 1), y smallint)")
    owner.execute("INSERT INTO other.u SELECT 'red', 0.5, 1 FROM generate_series(1, 50)")
    owner.execute("INSERT INTO other.u SELECT 'blue', 1.5, 0 FROM generate_series(1, 50)")
    model = DecisionTreeClassifier(
        100.0, schema={"c": ["red", "blue"], "n": [0.5, 1.5]}, classes=[0, 1], max_rows=100, max_depth=1
    )
    model.fit_table(engine, "other.u", target="y")
    assert model.predict(pl.DataFrame({"c": ["red", "blue"], "n": [0.5, 1.5]})).tolist() == [1, 0]


def test_a_session_gives_the_trees_and_forests_of_the_library(postgresql_backend):
    check_groves(postgresql_backend.load)
