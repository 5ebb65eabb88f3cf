"""Trees from PostgreSQL: the tree of the rows in memory."""

from __future__ import annotations

import numpy as np
import polars as pl

from sordino.curator.curator import Curator
from sordino.curator.questions.attributes import find_attributes
from sordino.learn import DecisionTreeClassifier
from sordino.sql.policy import Policy

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


def test_a_session_reads_numbers_that_no_double_holds_and_padded_texts(postgresql_backend):
    """NaN and what is beyond 10^38 are missing, an infinity of a double is in the last bin, padding is no text."""
    owner, engine = postgresql_backend.owner, postgresql_backend.load({})
    owner.execute("CREATE TYPE mood AS ENUM ('good', 'bad')")
    owner.execute("CREATE TABLE v (n numeric, f real, c char(6), m mood, y boolean)")
    numbers = ["0", "0.26", "1e-300", "1e400", "-1e400", "'NaN'", "NULL"]
    floats = ["0", "'Infinity'", "'-Infinity'", "'NaN'", "NULL", "1e30", "0.6"]
    for n, f in zip(numbers, floats, strict=True):
        owner.execute(f"INSERT INTO v VALUES ({n}, {f}, 'a', 'bad', true)")
    columns = {"n": {"bounds": [0, 1]}, "f": {"bounds": [0, 1]}, "c": {"domain": ["a", "b"]}}
    columns |= {"m": {"domain": ["good"]}, "y": {"domain": [False, True]}}
    policy = {"version": 1, "dataset": "odd", "tables": {"v": {"columns": columns}}}
    curator = Curator(engine, Policy.load(policy), None, owned=False)
    attributes = find_attributes(curator.data, "v", "y", None, 4, None)
    with engine.snapshot() as snapshot:
        rows = [tuple(row.values()) for row in snapshot.aggregate(attributes.codes()).to_pylist()]
        codes, labels = attributes.count_rows(snapshot)
    n, f = [0, 1, 0, 4, 4, 4, 4], [0, 3, 0, 4, 4, 3, 2]
    assert sorted(rows) == sorted((a, b, 0, 1, 1) for a, b in zip(n, f, strict=True))
    steps = {0: 0, 1: int(0.26 * 2**16), 2: int(np.float32(0.6) * 2**16), 3: 2**16 - 1, 4: 2**16}
    assert sorted(map(tuple, codes.tolist())) == sorted(
        (steps[a], steps[b], 0, 1) for a, b in zip(n, f, strict=True)
    )
    assert labels.tolist() == [1] * 7
