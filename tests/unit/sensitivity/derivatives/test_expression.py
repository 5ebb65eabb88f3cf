"""Expressions: numbers of the specification, the forms that are recognised, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sordino as sd
from sordino.sensitivity import expression
from sordino.sensitivity.derivatives.algebra import Arrays
from sordino.sensitivity.derivatives.column import PlainColumn
from sordino.sensitivity.derivatives.functions import Power, Sigmoid
from sordino.sensitivity.derivatives.product import Product
from sordino.sensitivity.interval import Interval
from tests.oracles.test_oracles import agrees, golden

ALL = Interval(-math.inf, math.inf)
STAFF = {"salary": np.array([50.0, 80, 30, 100]), "hours": np.array([45.0, 38, 41, 20])}
LIMITS = {"salary": (0, 100), "hours": (0, 80)}


def staff(alpha: float):
    return expression(f"salary * sigmoid(hours - 40, {alpha})", norm="l1(0.1*salary, hours)", bounds=LIMITS)


def holds(name: str, found: object) -> bool:
    return agrees(found, golden("values", name))


def test_powers_and_filters():
    assert holds("cube_size", float(Power(3.0).size(Arrays(), 1.0, 0.5, ALL)))
    assert holds("cube_slope", float(expression("x**3", norm="x").bound({"x": 1}, 0.5)))
    # rates are per unit of the argument of σ, which is 4x
    assert holds("sigmoid_size", float(Sigmoid().size(Arrays(), -2.0, 0.25, ALL)))
    assert holds("sigmoid_slope", float(expression("sigmoid(x, 4)", norm="x").bound({"x": 1}, 1)))
    assert holds("tauoid_slope", float(expression("tauoid(x, 2)", norm="x").bound({"x": 0}, 1)))


def test_the_rows_of_the_report_are_above(monkeypatch):
    """Table 10 for β < α: 1 and αe^(βx)/(e^(βx) + 1)² for the sigmoid, and α·sech(βx) for the tauoid."""
    assert holds("sigmoid_slope_report", 4 * math.e / (math.e + 1) ** 2)
    assert holds("tauoid_slope_simple", 2 / math.cosh(0))
    exact = [
        expression("sigmoid(x, 4)", norm="x").bound({"x": 1}, 1),
        Sigmoid().size(Arrays(), -2.0, 0.25, ALL),
    ]
    assert exact[0] < golden("values", "sigmoid_slope_report")["value"]
    assert exact[1] < golden("values", "sigmoid_size_report")["value"]
    monkeypatch.setattr(Sigmoid, "size", lambda self, algebra, term, rate, inside: 1.0)
    monkeypatch.setattr(
        Sigmoid,
        "slope",
        lambda self, algebra, t, rate, inside: np.exp(rate * t) / (np.exp(rate * t) + 1) ** 2,
    )
    assert holds("sigmoid_size_report", Sigmoid().size(Arrays(), -2.0, 0.25, ALL))
    assert holds("staff_bound_report", staff(1).total_bound(STAFF).at(0.1))


def test_products():
    assert holds("product", float(expression("x*y", norm="l1(x, y)").bound({"x": 3, "y": 3}, 0.1)))
    column = PlainColumn("x", ALL)
    shared = Product((column, column)).slopes(Arrays(), {"x": 3.0}, {"x": 0.1})
    assert holds("shared_product", float(shared["x"]))
    # x·x is read as a square
    assert holds("square", float(expression("x*x", norm="x").bound({"x": 3}, 0.1)))


@pytest.mark.parametrize("beta", ["0.01", "0.02", "0.05", "0.1", "0.15"])
def test_the_sum_of_the_staff(beta):
    assert holds(f"staff_bound_{beta}", staff(1).total_bound(STAFF).at(float(beta)))


def test_the_answers_of_the_staff():
    assert holds("staff_answer_1", float(staff(1).value(STAFF).sum()))
    assert holds("staff_answer_0.1", float(staff(0.1).value(STAFF).sum()))
    assert holds("staff_bound_flat", staff(0.1).total_bound(STAFF).at(0.1))
    terms = golden("values", "staff_terms")["value"]
    assert np.allclose(staff(1).bound(STAFF, 0.1), np.max(terms, axis=1), atol=5e-7)


@pytest.mark.parametrize("case", ["ships_near", "ships_far", "ships_far_flat"])
def test_example_3_9(case):
    """min over ships of √(x² + y²)/v with l1(l2(x, y), ζ·log(v)) at β = 1/ζ."""
    entry = golden("values", case)
    zeta, ships = entry["inputs"]["zeta"], np.array(entry["inputs"]["ships"], dtype=float)
    time = expression("sqrt(x**2 + y**2)/v", norm=f"l1(l2(x, y), {zeta}*log(v))", bounds={"v": (1, 100)})
    rows = {"x": ships[:, 0], "y": ships[:, 1], "v": ships[:, 2]}
    # β a little above 1/ζ, so that 1/v is smooth by itself in spite of rounding
    assert agrees(float(time.bound(rows, (1 + 1e-9) / zeta).max()), entry)


def test_ramps_on_whole_numbers_are_exact():
    ages = np.array([12.0, 17, 18, 25, 70])
    adult = expression("ramp(age - 17.5, 1)", norm="age", bounds={"age": (0, 120)})
    assert adult.value({"age": ages}).sum() == 3
    for beta in (0.01, 0.1, 1.0, 10.0):
        assert adult.total_bound({"age": ages}).at(beta) == pytest.approx(1.0)
    assert holds("ages_far", adult.total_bound({"age": np.array([5.0, 40, 70])}).at(0.1))
    assert holds("ages_added", adult.total_bound({"age": ages}, exponent=math.inf).at(0.1))


def test_the_bound_is_at_most_the_global_one_for_filters_and_products():
    inside, largest = staff(1).global_bounds()
    assert (inside.low, inside.high) == (0.0, pytest.approx(100.0))
    assert largest == pytest.approx(25.0)
    assert (staff(1).bound(STAFF, 0.1) <= largest).all()


def test_cells_are_clipped():
    made = staff(1)
    inside = made.value({"salary": 100.0, "hours": 80.0})
    assert made.value({"salary": 1e9, "hours": 1e9}) == inside
    assert made.bound({"salary": 1e9, "hours": 1e9}, 0.1) == made.bound({"salary": 100.0, "hours": 80.0}, 0.1)


def test_a_noise_takes_the_bound():
    bound = staff(1).total_bound(STAFF)
    assert bound.kind == "derivative"
    assert "0.1*salary" in str(bound.distance)
    release = sd.add_noise(80, bound, epsilon=1.0, noise="cauchy", step=1)
    assert release.guarantee.epsilon == 1


def test_categories():
    made = expression(
        "x*(flag == 'EE') + 3*(flag != 'EE')",
        norm="l1(x, 2*is(flag))",
        bounds={"x": (0, 10)},
        domains={"flag": ("EE", "FI", "other")},
    )
    rows = {"x": np.array([4.0, 4.0]), "flag": np.array(["EE", "FI"], dtype=object)}
    assert made.value(rows).tolist() == [4.0, 3.0]
    first, second = made.bound(rows, 0.5)
    assert first == second >= 1.0


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("x + nothing", 5, "no column 'nothing'"),
        ("x/(y - 1)", 1, "without 0"),
        ("sqrt(y)", 1, "without 0"),
        ("ln(y)", 1, "above 0"),
        ("x**y", 1, "exponent is a number"),
        ("sigmoid(x)", 1, "2 arguments"),
        ("sigmoid(x, y)", 1, "number > 0"),
        ("sigmoid(x, -1)", 1, "number > 0"),
        ("sinus(x)", 1, "no function"),
        ("flag", 1, "category"),
        ("flag == 'XX'", 1, "categories of flag are"),
        ("x == 3", 1, "no category"),
        ("x and y", 1, "not understood"),
        ("x + ) y", 5, "cannot be read"),
        ("x @ y", 1, "operators"),
        ("1e200*1e200*x", 1, "too large"),
        ("'a'", 1, "category"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_place(text, column, said):
    with pytest.raises(sd.ParameterError, match=said) as caught:
        expression(
            text, norm="l1(x, y, is(flag))", bounds={"x": (0, 1), "y": (0, 4)}, domains={"flag": ("EE", "FI")}
        )
    assert caught.value.place.column == column


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"norm": "log(x)"}, "bounds above 0"),
        ({"norm": "log(x)", "bounds": {"x": (0, 1)}}, "bounds above 0"),
        ({"norm": "x", "bounds": {"x": (1, 0)}}, "low < high"),
        ({"norm": "x", "bounds": {"z": (1, 2)}}, "not in the norm"),
        ({"norm": "l1(x, is(flag))"}, "categories"),
        ({"norm": "x", "bounds": {"x": 3}}, "pair"),
    ],
)
def test_what_is_missing_is_said(arguments, said):
    with pytest.raises(sd.ParameterError, match=said):
        expression("x", **arguments)


def test_an_unbounded_product_needs_bounds_at_once_or_is_finite():
    with pytest.raises(sd.ParameterError, match="give bounds"):
        expression("exp(x)", norm="x")
    assert math.isfinite(expression("x**2", norm="x").bound({"x": 3}, 0.1))


def test_rows_with_categories_are_added_up():
    made = expression(
        "x*(flag == 'EE')", norm="l1(x, is(flag))", bounds={"x": (0, 1)}, domains={"flag": ("EE", "FI")}
    )
    with pytest.raises(sd.UnsupportedError, match="added up"):
        made.total_bound({"x": [0.5], "flag": ["EE"]}, exponent=2.0)
