"""Components: goldens of the report and of the specification, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from sordino.core import ParameterError, UnsupportedError
from sordino.workflow import FiniteSpace, LinearSpace, combine_coordinates

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/workflow.json").read_text())


def line(*places):
    return FiniteSpace([[abs(one - other) for other in places] for one in places], names=map(str, places))


def test_example_3_3_of_the_report():
    golden = GOLDEN["example_3_3"]
    space, parity = line(*golden["points"]), [place % 2 for place in golden["points"]]
    rho = [["0", "11"], ["2", "9"]]
    assert space.constants(parity, rho, "A").value == golden["A"]
    assert space.constants(parity, rho, "C").value == golden["A"]
    assert space.constants(parity, rho, "C", "max").value == pytest.approx(1 / 9)
    assert space.friends("0", ["2", "9"]) == ("2",)


def test_a_complement_that_does_not_exist():
    space = FiniteSpace([[0, 1, 1], [1, 0, 1], [1, 1, 0]], names="abc")
    assert space.complement([["a", "b"], ["c"]]) is None
    square = FiniteSpace([[0, 1, 1, 2], [1, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0]], names="abcd")
    assert square.complement(["ab", "cd"]) == (frozenset({0, 2}), frozenset({1, 3}))


@pytest.mark.parametrize("case", GOLDEN["class_distances"], ids=str)
def test_class_distances(case):
    for norm, expected in zip((1, 2, math.inf), case["distances"], strict=True):
        space = LinearSpace(case["A"], norm=norm)
        assert space.class_distance({case["fixed"]: 1.0}) == pytest.approx(expected, abs=5e-7)


def test_linear_sensitivities():
    found = LinearSpace([[1, 1, 1]]).sensitivity([1, 2, 3], [0])
    assert found.value == 4
    assert found.others["printed, for matches"] == found.others["independent columns, for matches"] == 4
    without = LinearSpace([[1, 1, 0, 0.5], [0, 1, 1, 0.25]])
    assert without.pivots() is None
    assert without.sensitivity([1, 1, 1, 1], [3]).rule == "independent columns, for matches"
    pivoted = LinearSpace([[1, 0.4, 0.3]])
    assert pivoted.pivots() == (0,)
    assert pivoted.sensitivity([2, 1, 5], [1]).value == pytest.approx(1.285714, abs=5e-7)
    assert pivoted.sensitivity([2, 1, 5], [2]).value == pytest.approx(4.307692, abs=5e-7)
    assert pivoted.sensitivity([2, 1, 5], [2]).rule == "pivots, for friends"
    assert pivoted.class_distance({1: 1}) == pytest.approx(1.4)
    assert pivoted.dual_sensitivity([2, 1, 5], [1]).value == 5


def test_the_dual_of_a_norm():
    assert combine_coordinates([3, 4], norm=1).value == 4
    assert combine_coordinates([3, 4], norm=2).value == 5
    assert combine_coordinates([3, 4], norm=math.inf).rule == "sum"
    assert combine_coordinates([1, 1], norm=2).value >= math.sqrt(2)


def test_distances_that_were_rounded_are_shortened_to_a_metric():
    space = FiniteSpace([[0, 0.1, 0.1 + 0.2], [0.1, 0, 0.2], [0.1 + 0.2, 0.2, 0]])
    assert float(space.distance(0, 2)) == 0.3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FiniteSpace([[0, 1], [2, 0]]), "symmetric: points 0 and 1 are 1 apart, and 2"),
        (lambda: FiniteSpace([[0, 0], [0, 0]]), "must be > 0 apart"),
        (lambda: FiniteSpace([[1]]), "to itself must be 0"),
        (lambda: FiniteSpace([[0, 1, 5], [1, 0, 1], [5, 1, 0]], names="abc"),
         "triangle inequality fails: a and c are 5 apart, and 2 by way of b"),
        (lambda: FiniteSpace([[0, 1]]), "square"),
        (lambda: FiniteSpace([[0, math.nan], [math.nan, 0]]), "finite"),
        (lambda: FiniteSpace([[0]], names="ab"), "names must be 1"),
        (lambda: line(0, 1, 2).equidistant([["0"], ["1"]]), "point 2 is in no class"),
        (lambda: line(0, 1).equidistant([["0"], ["1", "0"]]), "point 0 is in two places"),
        (lambda: line(0, 1).equidistant([["0"], ["7"]]), "no point '7'"),
        (lambda: line(0, 1).constants([1], [["0"], ["1"]]), "a value for each of the 2 points"),
        (lambda: line(0, 1).constants([1, 2], [["0"], ["1"]], "E"), "kind must be one of"),
        (lambda: LinearSpace([[1, 1], [2, 2]]), "not independent"),
        (lambda: LinearSpace([[1, 1]], norm=3), "norm must be 1, 2 or inf"),
        (lambda: LinearSpace([[1, 0]]).class_distance({0: 1}), "no such class"),
        (lambda: LinearSpace([[1, 1]]).class_distance({5: 1}), "no coordinate 5"),
        (lambda: LinearSpace([[1, 1]]).sensitivity([1], [0]), "c must have 2 numbers"),
        (lambda: LinearSpace([[1, 1]]).sensitivity([1, -1], [0]), "c\\[1\\] = -1"),
        (lambda: LinearSpace([[1, 1]]).sensitivity([1, 1], []), "must name a coordinate"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_large_classes_have_too_many_friendly_subsets():
    space = line(*range(26))
    halves = [list(map(str, range(13))), list(map(str, range(13, 26)))]
    with pytest.raises(UnsupportedError, match="at most 12"):
        space.constants([0] * 26, halves, "C", "max")
