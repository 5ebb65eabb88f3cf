"""Slips, each with the sentence it gets; what is wrong with the data is said without showing any of it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sordino.core import ParameterError, PrivateDataError, UnsupportedError
from sordino.learn import Continuous, Discrete, as_schema

from .shop import MODELS, SCHEMA, customers, forest, tree

X, Y = customers(40)


def with_one(column, value):
    changed = X.copy()
    changed[column] = changed[column].astype(object)
    changed.loc[3, column] = value
    return changed


# -- the data breaks what was declared ------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("colour", "mauve-31337", "column 'colour' has values outside its public domain of 3 values: add them to the"),
        ("age", 31337.0, r"column 'age' has values outside its public bounds \(0, 100\), or infinite: widen them or"),
        ("age", np.inf, "or infinite: widen them or declare \"clip\": true"),
        ("age", "old-31337", "column 'age' is declared continuous and holds something that is not a number"),
        ("age", np.nan, r"column 'age' has missing values \(null or NaN\): drop or fill them, or allow them with"),
        ("colour", None, r"column 'colour' has missing values \(null or NaN\)"),
        ("member", np.nan, r"column 'member' has missing values"),
    ],
)  # fmt: skip
def test_a_value_outside_the_public_domain_is_refused_unseen(model, column, value, message):
    with pytest.raises(PrivateDataError, match=message) as at_fit:
        model().fit(with_one(column, value), Y)
    fitted = model().fit(X, Y)
    with pytest.raises(PrivateDataError, match=message) as at_predict:
        fitted.predict(with_one(column, value))
    for refused in (at_fit, at_predict):
        assert "31337" not in str(refused.value)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (Y.replace("yes", "31337"), "labels that are not among the 2 public classes: add them to classes="),
        (Y.where(Y == "yes"), r"the target has missing values \(null or NaN\): drop or fill them"),
        (np.where(Y == "yes", 31337, 0), "labels that are not among the 2 public classes"),
    ],
)
def test_labels_outside_the_public_classes_are_refused_unseen(model, labels, message):
    with pytest.raises(PrivateDataError, match=message) as refused:
        model().fit(X, labels)
    assert "31337" not in str(refused.value)


STRANGE = [
    2**70,
    -(2**70),
    10**400,
    [31337],
    {"a": 31337},
    np.array([31337, 2]),
    b"31337",
    31337j,
    object(),
    pd.NA,
]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("column", ["colour", "age", "member"])
@pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)
def test_a_value_of_any_kind_is_refused_unseen(model, column, value):
    """Whether a value is in the domain is private: it must not end in an error of another kind, whatever it is."""
    rows = X.astype(object)
    rows.at[3, column] = value
    for table in (rows, rows.to_numpy()):
        with pytest.raises(PrivateDataError) as refused:
            model().fit(table, Y)
        assert "31337" not in str(refused.value)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)
def test_a_label_of_any_kind_is_refused_unseen(model, value):
    labels = Y.astype(object)
    labels.at[3] = value
    for target in (labels, labels.to_numpy(), list(labels)):
        with pytest.raises(PrivateDataError) as refused:
            model().fit(X, target)
        assert "31337" not in str(refused.value)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("max_rows", [2**40, 10**30, 10**400])
def test_a_bound_on_the_rows_may_be_any_number(model, max_rows):
    changes = {"criterion": "max_operator"} if model is tree else {"max_depth": None}
    assert model(max_rows=max_rows, **changes).fit(X, Y).guarantee_.epsilon == 20


@pytest.mark.parametrize("model", MODELS)
def test_more_rows_than_the_public_bound_are_refused_without_their_number(model):
    with pytest.raises(
        PrivateDataError, match="more rows than max_rows = 10: give a larger bound"
    ) as refused:
        model(max_rows=10).fit(X, Y)
    assert "40" not in str(refused.value)
    model(max_rows=40).fit(X, Y)


@pytest.mark.parametrize("model", MODELS)
def test_one_label_in_the_data_is_nothing_special(model):
    """That only one class occurs is private, so it must not be an error."""
    fitted = model().fit(X, np.full(40, "yes"))
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert set(fitted.predict(X)) == {"yes"}


# -- the shape of the data ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("table", "labels", "message"),
    [
        (X[["colour", "age"]], Y, "no column 'member', which the schema names; it has colour, age"),
        (X.assign(ssn=1), Y, "a column 'ssn' that the schema does not name: drop it or give its domain"),
        (X.to_numpy()[:, :2], Y, "the data has 2 columns and the schema names 3"),
        (pd.concat([X, X[["age"]]], axis=1), Y, "two columns of one name"),
        (pl.from_pandas(X).lazy(), Y, "a lazy frame: collect it before"),
        (X["age"], Y, r"must be a table \(rows × columns\), got 1 axes. Reshape your data"),
        ({"colour": ["red"]}, Y, r"must be a table \(rows × columns\), got 0 axes"),
        (X[["age"]].to_numpy().astype(complex), Y, "Complex data not supported"),
        (X, Y[:5], "the table and the target have different numbers of rows"),
        (X, None, "requires y to be passed"),
        (X, np.zeros((40, 2)), "y should be a 1d array"),
    ],
)
def test_data_of_another_shape_is_refused(model, table, labels, message):
    with pytest.raises(ValueError, match=message):
        model().fit(table, labels)


def test_the_words_about_shapes_show_no_values():
    for table in (np.array([31337.0, 1.0]), np.array([[31337j, 1, 1]]), {"age": [31337]}):
        with pytest.raises(ValueError, match=r"table|Complex") as refused:
            tree().fit(table, [0])
        assert "31337" not in str(refused.value)


# -- parameters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0}, "epsilon must be > 0, got 0"),
        ({"epsilon": -0.5}, "epsilon must be > 0, got -0.5"),
        ({"epsilon": float("nan")}, "epsilon must be finite, got nan"),
        ({"epsilon": "1"}, "epsilon must be a number"),
        ({"epsilon": 10**400}, "epsilon must be below 1.8e308"),
        ({"epsilon": 1e-13}, r"epsilon = 1e-13 leaves less than 2\^-40 \(about 1e-12\) for one .*: give a larger"),
        ({"epsilon": 5e-324}, r"leaves less than 2\^-40"),
        ({"max_depth": 0}, "max_depth must be >= 1, got 0"),
        ({"max_depth": 1.5}, "max_depth must be a whole number, got 1.5"),
        ({"leaves": "count"}, "leaves must be one of counts, .*, got 'count'; did you mean 'counts'"),
        ({"adjacency": "remove"}, "adjacency must be one of add_remove, replace, .* did you mean 'add_remove'"),
        ({"max_rows": None}, "max_rows= is missing: give a public bound on the number of rows"),
        ({"max_rows": 0}, "max_rows must be >= 1, got 0"),
        ({"max_rows": 1e6}, "max_rows must be a whole number, got 1000000.0"),
        ({"schema": None}, "schema= is missing: .* never read from the data"),
        ({"classes": None}, "classes= is missing: .* for example"),
        ({"classes": ["yes"]}, r"at least two labels, got \['yes'\]"),
        ({"classes": ["yes", "yes"]}, "classes lists a label twice"),
        ({"classes": "yes"}, "classes must be a list of labels, got 'yes'"),
        ({"classes": ["yes", 1]}, "classes must be of one type that can be sorted"),
        ({"classes": ["yes", None]}, "classes must be of one type that can be sorted"),
        ({"classes": [0.0, float("nan")]}, "classes must be of one type that can be sorted"),
        ({"class_prior": [0.5, 0.6]}, r"2 numbers > 0 that sum to 1, .* got \[0.5, 0.6\]"),
        ({"class_prior": [0.5, 0.25, 0.25]}, "class_prior must be 2 numbers"),
        ({"class_prior": [0.0, 1.0]}, "class_prior must be 2 numbers > 0"),
        ({"class_prior": 0.5}, "class_prior must be 2 numbers"),
        ({"class_prior": "even"}, "class_prior must be 2 numbers"),
        ({"class_prior": {"no": 0.5, "yes": 0.5}}, "in the order of the sorted classes"),
    ],
)  # fmt: skip
def test_parameters_outside_what_is_accepted_say_what_would_be(model, changes, message):
    with pytest.raises(ParameterError, match=message):
        model(**changes).fit(X, Y)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"criterion": "ginni"}, "criterion must be one of .*, got 'ginni'; did you mean 'gini'"),
        ({"selection": "permute-and-flip"}, "selection must be one of .* did you mean 'permute_and_flip'"),
        ({"direction": "up"}, "direction must be one of plus, minus, got 'up'"),
        ({"shares": {"selection": 1}}, "shares must say the share of 'count', such as"),
        ({"shares": {"selection": 1, "counts": 1, "leaf": 1}}, "got 'counts'; did you mean 'count'"),
        ({"shares": {"selection": 1, "count": 0, "leaf": 1}}, "share of count must be > 0, got 0"),
        (
            {"shares": {"selection": -1, "count": 1, "leaf": 1}},
            "share of selection must be > 0, got -1",
        ),
        ({"shares": [1, 2, 3]}, r"shares must be a mapping such as .* got \[1, 2, 3\]"),
    ],
)
def test_parameters_of_a_tree(changes, message):
    with pytest.raises(ParameterError, match=message):
        tree(**changes).fit(X, Y)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be >= 1, got 0"),
        ({"max_depth": 40}, "max_depth must be at most 16, got 40"),
        ({"n_estimators": 2**40}, "count .* cells .*: give fewer trees or a smaller max_depth"),
        ({"n_estimators": 2**16, "max_depth": 16}, r"65536 trees of depth 16 count 8589934592 cells"),
        ({"voting": "softt"}, "voting must be one of .* did you mean 'soft'"),
        ({"voting": "soft", "leaves": "exponential"}, "voting='soft' needs leaves='counts'"),
        ({"n_jobs": "all"}, "n_jobs must be a whole number of threads, -1 for all, or None, got 'all'"),
        ({"n_jobs": 0}, "n_jobs must be a whole number of threads"),
    ],
)
def test_parameters_of_a_forest(changes, message):
    with pytest.raises(ParameterError, match=message):
        forest(**changes).fit(X, Y)


def test_what_has_no_sound_answer_names_what_has():
    with pytest.raises(
        UnsupportedError, match=r"up to max_rows = .* criterion='max_operator' has no such limit"
    ):
        tree(max_rows=1 << 40, criterion="information_gain").fit(X, Y)
    with pytest.raises(UnsupportedError, match="permute_and_flip at half the rate: choose that"):
        tree(criterion="max_operator", selection="inverse_sensitivity").fit(X, Y)


def test_parameters_are_checked_before_the_data():
    with pytest.raises(ParameterError, match="epsilon"):
        tree(epsilon=0).fit(with_one("colour", "mauve"), Y)


# -- schemas --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        ({"bins": 4}, "schema of 'a': a continuous column needs public bounds; .* {\"bounds\": \\[lo, hi\\]"),
        ({}, "neither values nor bounds are given"),
        ({"value": [1]}, "field 'value' does not belong here, values, missing do; did you mean 'values'"),
        ({"values": [1], "bins": 3}, "field 'bins' does not belong here"),
        ({"bounds": [0, 1], "values": [1]}, "field 'values' does not belong here"),
        ({"bounds": ["0", "1"]}, "schema of 'a': lower bound must be a number"),
        ({"bounds": [1, 0]}, r"bounds must have lo < hi, got \(1, 0\)"),
        ({"bounds": [-1e308, 1e308]}, "bounds must be less than 1.8e308 apart"),
        ({"bounds": [1, 0, 3]}, r"bounds must be a pair \(lo, hi\)"),
        ({"bounds": [0, 1], "bins": 1}, "bins must be >= 2, got 1"),
        ({"bounds": [0, 1], "bins": "3"}, "bins must be a whole number, got '3'"),
        ({"bounds": [0, 1], "clip": 1}, "clip must be True or False, got 1"),
        ({"values": [0, 1], "missing": "yes"}, "missing must be True or False, got 'yes'"),
        ({"values": "abc"}, "values must be a list, got 'abc'"),
        ({"values": 3}, "values must be a list, got 3"),
        ({"values": [[1], [2]]}, "values must be texts, numbers or booleans"),
        ([], "there must be at least one value"),
        ([1, 1], "a value is listed twice"),
        ([1, True], "a value is listed twice"),
        ([1, None], "a null is not a value; allow it with"),
        (3, "3 is not a domain; give a list"),
        ("float", "'float' is not a domain"),
    ],
)
def test_a_domain_that_cannot_be_read_says_what_is_wrong(tmp_path, domain, message):
    with pytest.raises(ParameterError, match=message):
        as_schema({"a": domain})
    path = tmp_path / "schema.json"
    path.write_text(json.dumps({"a": domain}))
    with pytest.raises(ParameterError, match=message):
        as_schema(path)


def test_schema_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ParameterError, match=r"schema file .*no\.json cannot be read: No such file"):
        as_schema(tmp_path / "no.json")
    with pytest.raises(ParameterError, match="cannot be read: Is a directory"):
        as_schema(str(tmp_path))
    for content in ("{", "\x00", '{"a": [1, 2}'):
        (tmp_path / "bad.json").write_text(content)
        with pytest.raises(ParameterError, match="is not JSON"):
            as_schema(tmp_path / "bad.json")
    (tmp_path / "list.json").write_text("[1]")
    with pytest.raises(ParameterError, match=r"a mapping from column names to domains, .* got list"):
        as_schema(tmp_path / "list.json")


def test_schemas_of_other_kinds_that_are_wrong():
    with pytest.raises(ParameterError, match=r"<.*> is not a domain|float64.* is not a domain"):
        as_schema(X)
    with pytest.raises(ParameterError, match="the categorical dtype has no categories"):
        as_schema({"a": pd.CategoricalDtype()})
    with pytest.raises(ParameterError, match="a mapping from column names"):
        as_schema({})
    with pytest.raises(ParameterError, match="names a column twice: a, a"):
        as_schema([Discrete("a", (1, 2)), Continuous("a", (0, 1))])
    with pytest.raises(ParameterError, match="lo < hi"):
        as_schema([Continuous("a", (1, 0))])
    assert as_schema({"b": Discrete("a", (1, 2))}).names == ("b",)
    assert as_schema(SCHEMA).sizes == (3, 4, 2)
