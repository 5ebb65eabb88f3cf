"""Public ranges of expressions: narrower than by intervals alone, never narrower than what cells can make of them."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pyarrow as pa
import pytest

import sordino as sd
from sordino.curator.questions.sql import plan_sql
from sordino.sql.answering.plan import AnswerOptions

COLUMNS = {
    "x": {"bounds": [-2, 3]},
    "y": {"bounds": [1, 4]},
    "k": {"domain": [1, 5, None, -3]},
    "m": {"domain": [1, 2]},
}
CELLS = {"x": range(-2, 4), "y": range(1, 5), "k": (-3, 1, 5), "m": (1, 2)}
ROWS = {"t": pa.table({name: pa.array([1], pa.int64()) for name in COLUMNS})}


def range_of(expression: str, protects: str = "row") -> tuple[Fraction, Fraction]:
    """That of what one row adds to the sum."""
    table = {"columns": {name: {"type": "integer"} | known for name, known in COLUMNS.items()}}
    policy = {"version": 1, "dataset": "d", "protects": protects, "tables": {"t": table}}
    if protects == "user":
        policy["users"] = "t.y"
    with sd.connect(ROWS, policy=policy) as curator:
        plan = plan_sql(curator.data, f"SELECT SUM({expression}) FROM t", AnswerOptions.checked(1, 0), None)
        measure = plan.statement.measures[0]
        return measure.low, measure.high


@pytest.mark.parametrize(
    ("expression", "low", "high"),
    [
        ("x*y", -8, 12),
        ("x - x + y", 1, 4),
        ("x*x", 0, 9),
        ("(x - y)*(x - y)", 0, 36),
        ("2*(x + y) - 2*y", -4, 6),
        ("ROUND(x/y, 1)", -2, 3),
        ("FLOOR(10/y)", 2, 10),
        ("x/2", -1, Fraction(3, 2)),
        ("x/(-2)", Fraction(-3, 2), 1),
        ("ROUND(y/(x - 4), 2)", -4, Fraction(-1, 6)),
        ("k", -3, 5),
        ("k*m", -6, 10),
        ("CASE WHEN x > 0 THEN y - y ELSE m END", 0, 2),
    ],
)
@pytest.mark.parametrize("protects", ["row", "user"])
def test_ranges(expression, low, high, protects):
    found = range_of(expression, protects)
    if expression.startswith("CASE"):  # the parts of a choice are intervals
        assert found == (-3, 3)
    elif "x - 4" in expression:  # outwards to hundredths
        assert found == (-4, Fraction(-16, 100))
    else:
        assert found == (low, high)


FOUND = [
    "x*y*x - y*y",
    "x*(x - y)*(y - 2)",
    "(x + y)*(x + y) - x*x",
    "k*k - k*m",
    "x*x*x - 3*x*y",
    "-(x - k)*(k - x)",
]


@pytest.mark.parametrize("expression", FOUND)
def test_what_cells_make_of_an_expression_is_in_its_range(expression):
    low, high = range_of(expression)
    values = [
        eval(expression, {}, dict(zip(CELLS, cells, strict=True)))
        for cells in itertools.product(*CELLS.values())
    ]
    assert low <= min(values)
    assert max(values) <= high


def test_what_may_be_divided_by_zero_has_no_range():
    for expression in ("ROUND(y/x, 1)", "ROUND(y/(y - 2), 1)", "ROUND(m/k, 1)"):
        with pytest.raises(sd.ParameterError, match="never 0"):
            range_of(expression)
    with pytest.raises(sd.ParameterError, match=r"round it: ROUND\(x, 2\)"):
        range_of("x/y")
    with pytest.raises(sd.ParameterError, match="always 0"):
        range_of("x - x")
