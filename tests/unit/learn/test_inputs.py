"""The same rows as arrays, pandas, polars and Arrow tables: the same codes; missing values where they are allowed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sordino.core import PrivateDataError
from sordino.engines import connect
from sordino.learn import as_schema
from sordino.learn.encoding import encode_classes, encode_rows
from sordino.learn.random_forest import encode_forest_rows
from sordino.testing import seeded

from .shop import MODELS, SCHEMA, customers, forest, tree

DOMAIN = as_schema(
    {
        "colour": ["red", "green", "blue"],
        "size": [1, 2, 3],
        "member": [False, True],
        "age": {"bounds": [0, 100], "bins": 4},
    }
)
ROWS = {
    "colour": ["red", "blue", "green", "blue"],
    "size": [3, 1, 2, 2],
    "member": [True, False, False, True],
    "age": [0.0, 25.0, 99.5, 100.0],
}
CODES = [[0, 2, 1, 0], [2, 0, 0, 1], [1, 1, 0, 3], [2, 1, 1, 3]]

PANDAS = pd.DataFrame(ROWS)
TABLES = {
    "object array": PANDAS.astype(object).to_numpy(),
    "list of lists": PANDAS.astype(object).to_numpy().tolist(),
    "pandas": PANDAS,
    "pandas objects": PANDAS.astype(object),
    "pandas categories": PANDAS.astype(
        {"colour": pd.CategoricalDtype(["blue", "green", "red"]), "size": pd.CategoricalDtype([2, 3, 1])}
    ),
    "pandas nullable": PANDAS.astype(
        {"colour": "string", "size": "Int64", "member": "boolean", "age": "Float64"}
    ),
    "pandas on arrow": PANDAS.convert_dtypes(dtype_backend="pyarrow"),
    "pandas small numbers": PANDAS.astype({"size": "uint8", "age": "float32"}),
    "pandas other order": PANDAS[["age", "member", "size", "colour"]],
    "polars": pl.DataFrame(ROWS),
    "polars enum": pl.DataFrame(ROWS).with_columns(pl.col("colour").cast(pl.Enum(["blue", "red", "green"]))),
    "polars categories": pl.DataFrame(ROWS).with_columns(pl.col("colour").cast(pl.Categorical)),
    "polars small numbers": pl.DataFrame(ROWS).with_columns(pl.col("size").cast(pl.Int8)),
    "arrow": pa.table(ROWS),
    "arrow dictionary": pa.table(ROWS | {"colour": pa.array(ROWS["colour"]).dictionary_encode()}),
    "arrow chunks": pa.concat_tables([pa.table(ROWS).slice(0, 1), pa.table(ROWS).slice(1)]),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_kind_of_table_has_the_same_codes(name):
    assert encode_rows(TABLES[name], DOMAIN).tolist() == CODES
    assert encode_forest_rows(TABLES[name], DOMAIN)[:, :3].tolist() == [row[:3] for row in CODES]


def test_numbers_in_an_array_are_values_of_the_domain_whatever_their_type():
    domain = as_schema({"a": [0, 1, 5], "b": [0.5, 2]})
    for kind in (np.float64, np.float32, object):
        array = np.array([[5, 0.5], [0, 2], [1, 2.0]], dtype=kind)
        assert encode_rows(array, domain).tolist() == [[2, 0], [0, 1], [1, 1]]
    assert encode_rows(np.array([[1, 2], [0, 2]]), domain).tolist() == [[1, 1], [0, 1]]


def test_texts_are_not_numbers():
    domain = as_schema({"a": [0, 1]})
    with pytest.raises(PrivateDataError, match="outside its public domain"):
        encode_rows(np.array([["0"], ["1"]]), domain)
    with pytest.raises(PrivateDataError, match="outside its public domain"):
        encode_rows(np.array([[0], [1]]), as_schema({"a": ["0", "1"]}))


WITH_NULLS = {"colour": ["red", None, "blue"], "size": [None, 1, 3], "age": [50.0, None, 100.0]}
MISSING = as_schema(
    {
        "colour": {"values": ["red", "green", "blue"], "missing": True},
        "size": {"values": [1, 2, 3], "missing": True},
        "age": {"bounds": [0, 100], "bins": 4, "missing": True},
    }
)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(WITH_NULLS),
        pd.DataFrame(WITH_NULLS).astype(object),
        pd.DataFrame(WITH_NULLS).astype({"colour": "category", "size": "Int64", "age": "Float64"}),
        pd.DataFrame(WITH_NULLS).convert_dtypes(dtype_backend="pyarrow"),
        pd.DataFrame(WITH_NULLS).astype(object).to_numpy(),
        pl.DataFrame(WITH_NULLS),
        pl.DataFrame(WITH_NULLS).with_columns(pl.col("age").fill_null(float("nan"))),
        pa.table(WITH_NULLS),
    ],
    ids=["pandas", "objects", "nullable", "arrow types", "array", "polars", "polars NaN", "arrow"],
)
def test_a_missing_value_is_one_more_category(table):
    assert encode_rows(table, MISSING).tolist() == [[0, 3, 2], [3, 0, 4], [2, 2, 3]]
    for place, attribute in enumerate(MISSING.attributes):
        assert attribute.label(attribute.size - 1) == "missing"
        assert attribute.size == (4, 4, 5)[place]


def test_a_forest_puts_missing_numbers_behind_all_others():
    codes = encode_forest_rows(pl.DataFrame(WITH_NULLS), MISSING)
    assert codes[:, 2].argmax() == 1
    assert codes[:, 2].tolist() == [1 << 15, 1 << 16, (1 << 16) - 1]


def test_values_at_the_edges_belong_to_the_bin_above_and_the_last_to_the_last():
    domain = as_schema({"a": {"bounds": [0, 1], "bins": 3}})
    edges = domain.attributes[0].edges
    below = np.nextafter(edges, 0)
    values = np.array([0.0, *below, *edges, 1.0])[:, None]
    assert encode_rows(values, domain).ravel().tolist() == [0, 0, 1, 1, 2, 2]


def test_clipping_moves_what_is_outside_to_the_nearer_end():
    domain = as_schema({"a": {"bounds": [0, 1], "bins": 2, "clip": True}})
    assert encode_rows(np.array([[-np.inf], [-5.0], [0.5], [7.0], [np.inf]]), domain).ravel().tolist() == [
        0,
        0,
        1,
        1,
        1,
    ]


def test_a_schema_is_read_from_declared_categories_alone():
    frame = pd.DataFrame(
        {"colour": pd.Categorical(["red"], ["blue", "red"]), "n": pd.Categorical([1], [3, 1, 2])}
    )
    assert as_schema(frame) == as_schema(frame[:0])
    assert [one.values for one in as_schema(frame).attributes] == [("blue", "red"), (3, 1, 2)]
    enum = pl.DataFrame({"colour": ["red"]}, schema={"colour": pl.Enum(["blue", "red"])})
    assert as_schema(enum).attributes[0].values == ("blue", "red")
    assert as_schema({"colour": enum.schema["colour"]}) == as_schema(enum)


@pytest.mark.parametrize(
    "labels",
    [
        ["yes", "no", "yes"],
        np.array(["yes", "no", "yes"]),
        pd.Series(["yes", "no", "yes"], dtype="category"),
        pl.Series(["yes", "no", "yes"], dtype=pl.Enum(["yes", "no"])),
        pa.chunked_array([["yes"], ["no", "yes"]]),
    ],
    ids=["list", "array", "pandas", "polars", "arrow"],
)
def test_labels_of_every_kind_have_the_same_codes(labels):
    assert encode_classes(labels, np.array(["no", "yes"])).tolist() == [1, 0, 1]


@pytest.mark.parametrize("model", MODELS)
def test_a_seed_gives_the_same_model_from_every_kind_of_table(model):
    X, y = customers()
    kinds = [X, X.astype(object).to_numpy(), pl.from_pandas(X), pa.Table.from_pandas(X, preserve_index=False)]
    chances = []
    for table in kinds:
        with seeded(6):
            chances.append(model().fit(table, y).predict_proba(table))
    assert all((one == chances[0]).all() for one in chances)


@pytest.mark.parametrize("model", MODELS)
def test_classes_may_be_numbers_booleans_or_texts_in_any_order(model):
    X, y = customers()
    bought = y == "yes"
    for classes, labels in (([1, 0], bought.astype(int)), ([True, False], bought), (["yes", "no"], y)):
        fitted = model(classes=classes, schema=SCHEMA).fit(X, labels)
        assert fitted.classes_.tolist() == sorted(classes)
        assert fitted.score(X, labels) > 0.85


X, Y = customers(5)
NO_ROWS = {
    "array": (np.empty((0, 3)), np.empty(0)),
    "object array": (X[:0].to_numpy(), Y[:0].to_numpy()),
    "lists": ([], []),
    "tuples": ((), ()),
    "pandas": (X[:0], Y[:0]),
    "pandas without types": (pd.DataFrame({name: [] for name in SCHEMA}), pd.Series([], dtype=object)),
    "polars": (pl.from_pandas(X[:0]), pl.from_pandas(Y[:0])),
    "polars without types": (pl.DataFrame({name: [] for name in SCHEMA}), pl.Series([])),
    "arrow": (pa.Table.from_pandas(X[:0]), Y[:0]),
    "arrow without types": (pa.table({name: pa.array([], pa.null()) for name in SCHEMA}), []),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize("name", NO_ROWS)
def test_a_table_without_rows_is_a_table(name, adjacency, model):
    """It is the neighbour of every table of one row, which is answered."""
    rows, labels = NO_ROWS[name]
    fitted = model(epsilon=1, adjacency=adjacency).fit(rows, labels)
    assert fitted.guarantee_.epsilon == 1
    assert np.allclose(fitted.predict_proba(X if hasattr(rows, "columns") else X.to_numpy()).sum(axis=1), 1)
    with seeded(3):
        one = model(epsilon=1).fit(rows, labels)
    with seeded(3):
        other = model(epsilon=1).fit(X[:0], Y[:0])
    if model is tree:
        assert (one.tree_.counts == other.tree_.counts).all()
    else:
        assert (one.forest_.counts == other.forest_.counts).all()


@pytest.mark.parametrize(
    "changes",
    [
        *({"selection": selection, "criterion": "gini"} for selection in (
            "permute_and_flip", "exponential", "local_dampening", "shifted_dampening", "smooth_noisy_max",
            "report_noisy_max", "inverse_sensitivity",
        )),
        {"selection": "smooth_noisy_max", "criterion": "max_operator"},
        {"selection": "shifted_dampening", "criterion": "information_gain"},
        *({"leaves": leaves} for leaves in ("permute_and_flip", "exponential", "local_dampening", "smooth_noisy_max")),
    ],
)  # fmt: skip
def test_no_rows_and_one_row_are_answered_whatever_is_asked(changes):
    for rows in (0, 1):
        assert tree(**changes).fit(X[:rows], Y[:rows]).tree_.nodes > 1
        if "leaves" in changes:
            forest(**changes).fit(X[:rows], Y[:rows])


def test_without_rows_memory_and_a_database_give_the_same_tree():
    table = pa.Table.from_pandas(X.assign(bought=Y), preserve_index=False).slice(0, 0)
    with seeded(9):
        here = tree(epsilon=1).fit(X[:0], Y[:0])
    with connect({"shop": table}) as engine, seeded(9):
        there = tree(epsilon=1).fit_table(engine, "shop", target="bought")
    assert (here.tree_.attribute == there.tree_.attribute).all()
    assert (here.tree_.counts == there.tree_.counts).all()


@pytest.mark.parametrize("model", MODELS)
def test_predicting_nothing_gives_nothing(model):
    fitted = model().fit(X, Y)
    assert fitted.predict_proba(X[:0]).shape == (0, 2)
    assert fitted.predict(X[:0]).shape == (0,)
