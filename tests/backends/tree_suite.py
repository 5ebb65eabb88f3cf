"""What every engine must do for a growing tree: the same counts, so the same tree from the same seed as in memory."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from sordino.core import ParameterError, PrivateDataError, UnsupportedError
from sordino.learn import DecisionTreeClassifier
from sordino.testing import seeded

EDGES = np.linspace(-1.0, 2.0, 8)
SCHEMA = {
    "colour": {"values": ["red", "O'Neil", "Red", ""], "missing": True},
    "level": [3, 1, 2],
    "member": {"values": [True, False], "missing": True},
    "height": {"bounds": [-1.0, 2.0], "bins": 7, "missing": True},
    "steps": {"bounds": [0, 10], "bins": 4, "clip": True},
    "speed": {"bounds": [0.0, 9.0], "bins": 3, "clip": True, "missing": True},
    "dose": {"values": [0.1, 0.5, 1e-7], "missing": True},
}
PUBLIC = {"schema": SCHEMA, "classes": ["no", "yes"], "max_rows": 1000}
FIELDS = ("attribute", "first_child", "size", "counts", "epsilon", "label", "probabilities")


def table(rows=400, seed=1) -> pa.Table:
    """NULLs, NaNs, texts that differ little, and numbers at the edges of bins and one step beside them."""
    rng = np.random.default_rng(seed)

    def some(values):
        return [values[place] for place in rng.integers(len(values), size=rows)]

    beside = [math.nextafter(edge, toward) for edge in EDGES.tolist() for toward in (-9, 9)]
    heights = [*EDGES.tolist(), *(h for h in beside if -1.0 <= h <= 2.0), None, math.nan]
    columns = {
        "colour": pa.array(some(["red", "O'Neil", "Red", "", None]), pa.string()),
        "level": pa.array(some([1, 2, 3]), pa.int64()),
        "member": pa.array(some([True, False, None]), pa.bool_()),
        "height": pa.array(some(heights), pa.float64()),
        "steps": pa.array(some([-3, 0, 2, 3, 5, 7, 10, 999]), pa.int64()),
        "speed": pa.array(some([-math.inf, 1.0, 3.0, 8.0, math.inf, math.nan]), pa.float64()),
        "dose": pa.array(some([0.1, 0.5, 1e-7, None, math.nan]), pa.float64()),
    }
    level, steps = columns["level"].to_numpy(), columns["steps"].to_numpy()
    answer = (level > 1) ^ (steps > 4) ^ (rng.random(rows) < 0.1)
    columns["answer"] = pa.array(np.where(answer, "yes", "no").tolist(), pa.string())
    return pa.table(columns)


def grown(fit, seed, **changes):
    model = DecisionTreeClassifier(**{"epsilon": 30.0, "max_depth": 3} | PUBLIC | changes)
    with seeded(seed):
        return fit(model)


def same(one, other) -> bool:
    return all(
        np.array_equal(getattr(one.tree_, field), getattr(other.tree_, field), equal_nan=True)
        if getattr(one.tree_, field).dtype.kind == "f"
        else np.array_equal(getattr(one.tree_, field), getattr(other.tree_, field))
        for field in FIELDS
    )


CASES = [
    {},
    {"criterion": "information_gain", "selection": "shifted_dampening", "leaves": "permute_and_flip"},
    {"criterion": "max_operator", "max_depth": 1, "adjacency": "replace"},
]


def check_trees(load, cases=CASES, *, values=True) -> None:
    """The same tree as in memory, for a few kinds of trees; and what is refused.

    ``values=False`` leaves out the refusals that take a query each, where queries are slow.
    """
    rows = table()
    with load({"t": rows}) as engine:
        for seed, changes in enumerate(cases):
            here = grown(
                lambda model: model.fit(rows.drop_columns("answer"), rows["answer"]), seed, **changes
            )
            there = grown(lambda model: model.fit_table(engine, "t", target="answer"), seed, **changes)
            assert same(here, there)
            assert there.tree_.leaves >= 3
            assert there.spent_ == here.spent_
            assert there.feature_names_in_.tolist() == list(SCHEMA)
            frame = rows.drop_columns("answer").to_pandas()
            assert (there.predict(frame) == here.predict(rows.drop_columns("answer"))).all()
        check_errors(engine, values)


def check_errors(engine, values) -> None:
    """Over a loaded table ``t``: names and types before any query, values without showing them."""

    def refused(kind, message, name="t", target="answer", **changes):
        with pytest.raises(kind, match=message) as error:
            grown(lambda model: model.fit_table(engine, name, target=target), 0, **changes)
        assert "O'Neil" not in str(error.value)

    refused(ParameterError, "there is no table 'tt'; did you mean 't'", name="tt")
    refused(ParameterError, "table 't' has no column 'anser'; did you mean 'answer'", target="anser")
    refused(ParameterError, "no column 'colours'; did you mean 'colour'", schema={"colours": ["a", "b"]})
    refused(
        ParameterError,
        "'level' is integer in the database, its domain lists strs",
        schema={"level": ["1", "2"]},
    )
    refused(
        ParameterError,
        "'member' is boolean in the database, its domain lists ints",
        schema={"member": [0, 1]},
    )
    refused(ParameterError, "'colour' is text .* declared continuous", schema={"colour": {"bounds": [0, 1]}})
    refused(ParameterError, "'answer' is text in the database, its domain lists ints", classes=[0, 1])
    refused(
        PrivateDataError, "'level' has values that are missing or outside", schema=SCHEMA | {"level": [1, 2]}
    )
    if not values:
        return
    refused(
        PrivateDataError,
        "'height' has values that are missing or outside",
        schema=SCHEMA | {"height": {"bounds": [-1.0, 2.0]}},
    )
    refused(
        PrivateDataError,
        "'height' has values that are missing or outside",
        schema=SCHEMA | {"height": {"bounds": [-1.0, 1.5], "missing": True}},
    )
    refused(PrivateDataError, "target has values that are missing or not among", classes=["maybe", "no"])
    refused(PrivateDataError, "more rows than max_rows = 100: give a larger bound", max_rows=100)


def check_unsupported(load) -> None:
    """A column of a type without literals of ours."""
    days = pa.table({"day": pa.array([0, 1], pa.date32()), "answer": ["no", "yes"]})
    engine = load({"days": days})
    with pytest.raises(
        UnsupportedError, match="'day' is of type date: cast it to text or a number in a view"
    ):
        grown(
            lambda model: model.fit_table(engine, "days", target="answer"),
            0,
            schema={"day": ["1970-01-01", "x"]},
        )
