"""ε from a guessing advantage, and back: known values, goals as text, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from sordino.core import ParameterError, PrivateDataError
from sordino.risk import (
    Goal,
    Guess,
    NormalPrior,
    RangePrior,
    SetPrior,
    UnknownPrior,
    advise_epsilon,
    advise_for_rows,
    bound_guessing,
)
from sordino.risk.guessing import GuessingGoal, allow_epsilon, allow_unknown
from sordino.risk.regions import Within

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "risk.json").read_text())
UNIFORM = {"x": RangePrior.of([0, 100])}


@pytest.mark.parametrize(("target", "expected"), GOLDEN["uniform_0_100_within_5_advantage_0.3"]["targets"])
def test_a_uniform_prior_has_the_known_epsilon_at_each_target(target, expected):
    found = advise_epsilon("x within 5", UNIFORM, 0.3, norm="x", where={"x": target})
    assert found.epsilon == pytest.approx(expected, abs=6e-8)


def test_the_worst_target_is_found_without_being_named():
    found = advise_epsilon("|x| within 5", UNIFORM, 0.3, norm="x")
    assert found.epsilon == pytest.approx(GOLDEN["uniform_0_100_within_5_advantage_0.3"]["worst"], abs=6e-8)
    assert dict(found.target)["x"] in (pytest.approx(5, abs=0.01), pytest.approx(95, abs=0.01))
    assert found.posterior == pytest.approx(0.4)
    back = bound_guessing("x within 5", UNIFORM, found.epsilon, norm="x")
    assert back.advantage == pytest.approx(0.3, abs=1e-5)


def test_no_target_of_a_fine_grid_is_worse():
    worst = advise_epsilon(
        "x within 7", {"x": RangePrior.of([0, 10, 50, 100], [0.2, 0.5, 0.3])}, 0.2, norm="x"
    )
    for x in range(0, 101, 8):
        here = advise_epsilon(
            "x within 7",
            {"x": RangePrior.of([0, 10, 50, 100], [0.2, 0.5, 0.3])},
            0.2,
            norm="x",
            where={"x": x},
        )
        assert here.epsilon >= worst.epsilon


def test_categories_and_records_of_ordinary_guarantees():
    one_in_ten = {"flag": SetPrior.of(["a", "b"], [0.1, 0.9])}
    found = advise_epsilon("is(flag)", one_in_ten, 0.3, where={"flag": "a"})
    # "a" may be believed up to 0.4; "not a", which is "b", from 0.9 up to 1
    assert found.epsilon == pytest.approx(GOLDEN["one_tenth_advantage_0.3"], abs=1e-6)
    assert advise_epsilon("is(flag)", one_in_ten, 0.3, units=2, where={"flag": "a"}).epsilon == pytest.approx(
        math.log(6) / 2
    )
    assert advise_epsilon("is(flag)", one_in_ten, 0.3, uses=4, where={"flag": "a"}).epsilon == pytest.approx(
        math.log(6) / 4
    )
    # three values: denying one that is likely gains too
    three = {"flag": SetPrior.of(["a", "b", "c"], [0.8, 0.1, 0.1])}
    denied = math.log(0.8 * (0.2 + 0.05) / (0.2 * (1 - 0.2 - 0.05)))
    assert advise_epsilon("is(flag)", three, 0.05, where={"flag": "a"}).epsilon <= denied + 1e-9


def test_an_unknown_prior_gains_most_in_the_middle():
    for advantage, known, expected in GOLDEN["unknown_prior"]:
        assert allow_unknown(advantage, 1.0, known=known) == pytest.approx(expected, abs=1e-6)
    assert allow_unknown(0.19, 1.0, known=0.8) == 0  # what the region lacks may be all there is to gain
    found = advise_epsilon("is(f)", {"f": UnknownPrior()}, 0.3)
    assert found.epsilon == pytest.approx(GOLDEN["unknown_prior"][0][2], abs=1e-6)
    found = bound_guessing("is(f)", {"f": UnknownPrior()}, 1.0)
    assert found.advantage == pytest.approx(GOLDEN["unknown_prior_advantage_at_1"], abs=1e-6)
    wide = advise_epsilon("x within 5", {"x": UnknownPrior.of_range(0, 100)}, 0.3, norm="0.01*x")
    assert wide.epsilon == pytest.approx(1.238078, abs=1e-6)


def test_the_best_region_is_told():
    middle = advise_epsilon("x within 5", UNIFORM, 0.3, norm="x", where={"x": 50})
    (low, high) = dict(middle.region)["x"]
    assert (high - low) / 2 == pytest.approx(
        GOLDEN["uniform_0_100_within_5_advantage_0.3"]["radius_at_50"], abs=0.01
    )
    worst = advise_epsilon("x within 5", UNIFORM, 0.3, norm="x", where={"x": 5})
    assert dict(worst.region)["x"] == (
        0.0,
        pytest.approx(GOLDEN["uniform_0_100_within_5_advantage_0.3"]["region_at_5"], abs=0.01),
    )
    assert "told apart from x in [0, 59.8" in str(worst)
    assert worst.to_dict()["region"]["x"][0] == 0.0
    # one region alone, all values, is no better than the best
    whole = GuessingGoal((Within("x", UNIFORM["x"], 5.0),), True, lambda moves: moves[0])
    point, all_values = np.array([[50.0]]), np.ones(1)
    assert allow_epsilon(whole.bound(point, point, all_values), 0.3)[0] == pytest.approx(math.log(6) / 55)


@pytest.mark.slow
def test_numbers_may_be_guessed_together():
    both = {"x": RangePrior.of([0, 100]), "y": RangePrior.of([0, 100])}
    at = {"x": 50, "y": 50}
    found = {
        norm: advise_epsilon(f"{norm}(x, y) within 5", both, 0.1, norm="l2(x, y)", where=at)
        for norm in ("l1", "l2", "linf")
    }
    # areas of a diamond, a circle and a square, the largest of bounds that lie 4 % apart
    assert found["l1"].prior == pytest.approx(50e-4, rel=0.04)
    assert found["l2"].prior == pytest.approx(math.pi * 25e-4, rel=0.04)
    assert found["linf"].prior == pytest.approx(0.01)
    assert min(found["l1"].prior - 50e-4, found["l2"].prior - math.pi * 25e-4) > 0
    assert found["l1"].epsilon > found["l2"].epsilon > found["linf"].epsilon
    apart = advise_epsilon("x within 5 AND y within 5", both, 0.1, norm="l2(x, y)", where=at)
    assert found["linf"].epsilon == apart.epsilon
    either = advise_epsilon("l2(x, y) within 5 OR is(f)", both | {"f": SetPrior.of("ab")}, 0.1)
    assert 0 < either.epsilon < math.inf


@pytest.mark.slow
def test_goals_of_many_cells_end():
    three = {name: RangePrior.of([0, 100]) for name in "xyz"}
    small = advise_epsilon("x within 0.1 AND y within 0.1 AND z within 0.1", three, 0.1, norm="l1(x, y, z)")
    assert small.epsilon > 0
    many = {name: SetPrior.of(range(1000)) for name in "ab"}
    found = advise_epsilon("is(a) AND is(b)", many, 0.1)
    assert found.epsilon == pytest.approx(math.log((1 - 1e-6) * (0.1 + 1e-6) / (1e-6 * (0.9 - 1e-6))))


def test_denials_of_several_categories_count():
    likely = {"a": SetPrior.of([0, 1], [0.9, 0.1]), "b": SetPrior.of([0, 1], [0.9, 0.1])}
    found = advise_epsilon("is(a) AND is(b)", likely, 0.05, where={"a": 0, "b": 0})
    denied = math.log(0.81 * 0.24 / (0.19 * 0.76))  # "not both": from 0.19 to 0.24
    assert found.denied
    assert found.epsilon == pytest.approx(denied)
    assert "not a = 0" in str(found)


def test_any_epsilon_is_said_to_be_any():
    found = advise_epsilon("is(f)", {"f": SetPrior.of("ab", [0.9, 0.1])}, 0.95)
    assert str(found) == "any ε: even certainty raises no belief by more than 0.95"


def test_weights_are_rounded_against_the_attackers_odds():
    """Ranges far from 0, where floats are coarse, and gains so small that logarithms would cancel."""
    far = RangePrior.of([1e9, 1e9 + 1])
    leaf = Within("x", far, 0.1)
    point = np.array([[1e9 + 0.5]])
    least, most = leaf.weigh(point, point)
    assert least[0] <= 0.2 <= most[0] <= 0.2 + 1e-6
    tiny = advise_epsilon("is(f)", {"f": SetPrior.of("ab", [0.3, 0.7])}, 1e-13, where={"f": "a"}).epsilon
    exact = math.log1p(1e-13 / (0.7 * (0.3 - 1e-13)))
    assert exact * (1 - 0.02) <= tiny <= exact


def test_several_columns_multiply_their_priors():
    both = {"a": SetPrior.of([0, 1], [0.1, 0.9]), "b": SetPrior.of([0, 1], [0.2, 0.8])}
    at = {"a": 0, "b": 0}
    joint = advise_epsilon("is(a) AND is(b)", both, 0.3, where=at)
    either = advise_epsilon("is(a) OR is(b)", both, 0.3, where=at)
    assert joint.prior == pytest.approx(0.02)
    assert either.prior == pytest.approx(0.28)
    assert joint.epsilon == pytest.approx(math.log(0.98 * 0.32 / (0.02 * 0.68)))
    assert either.epsilon == pytest.approx(math.log(0.72 * 0.58 / (0.28 * 0.42)))
    normed = advise_epsilon("is(a) AND is(b)", both, 0.3, norm="l1(is(a), is(b))", where=at)
    assert normed.epsilon == pytest.approx(joint.epsilon / 2)


def test_goals_are_read_from_text():
    assert Goal.parse("|salary| within 5e2 or is(t.flag)") == Goal(
        (Guess("salary", 500.0), Guess("t.flag")), "OR"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("salary", "column 1: a guess is written"),
        ("salary within", "a guess is written"),
        ("is(a) AND is(A)", "twice"),
        ("is(a) AND is(b) OR is(c)", "column 17: AND and OR"),
        ("is(a) XOR is(b)", "column 7: a guess"),
        ("is(a) AND\n is(", "line 2"),
        ("|x within 5", "a guess is written"),
        ("l2(x, x) within 5", "x stands in the goal twice"),
        ("l2(x) within 5", "a guess is written"),
        ("l3(x, y) within 5", "a guess is written"),
    ],
)
def test_what_is_no_goal_is_refused_with_its_place(text, message):
    with pytest.raises(ParameterError, match=message):
        Goal.parse(text)


@pytest.mark.parametrize(
    ("goal", "prior", "options", "message"),
    [
        ("y within 5", UNIFORM, {}, "of which no prior is known"),
        ("is(x)", UNIFORM, {}, "give a set"),
        ("x within 50", UNIFORM, {}, "always guessed right"),
        ("x within 5", {"x": RangePrior.of([0, 9, 100], [1, 0])}, {}, "always guessed right"),
        ("l2(x, y, z) within 5", UNIFORM | {"y": UNIFORM["x"], "z": UNIFORM["x"]}, {}, "about two columns"),
        ("l2(x, f) within 5", UNIFORM | {"f": SetPrior.of([1, 2])}, {}, "write is"),
        ("is(f) AND x within 5", UNIFORM | {"f": UnknownPrior()}, {}, "declare all of them as unknown"),
        ("f within 5", {"f": SetPrior.of([1, 2])}, {}, "write is"),
        ("x within 5", UNIFORM, {"advantage": 0}, "advantage must be in"),
        ("x within 5", UNIFORM, {"advantage": 1.5}, "advantage must be in"),
        ("x within 5", UNIFORM, {"norm": "y"}, "the same columns"),
        ("x within 5", UNIFORM, {"norm": "log(x)"}, "the norm measures"),
        ("x within 5", UNIFORM, {"uses": 0}, "uses must be"),
        ("x within 5", UNIFORM, {"where": {}}, "where must name"),
    ],
)
def test_questions_that_make_no_sense_are_refused(goal, prior, options, message):
    with pytest.raises(ParameterError, match=message):
        advise_epsilon(goal, prior, options.pop("advantage", 0.3), **options)


def test_priors_that_are_none_are_refused():
    for make in (
        lambda: RangePrior.of([0, 0]),
        lambda: RangePrior.of([0, 1, 2], [0.5, 0.6]),
        lambda: NormalPrior.of(0, 0),
        lambda: SetPrior.of(["a"]),
        lambda: SetPrior.of(["a", "a"]),
        lambda: SetPrior.of(["a", "b"], [0.5, 0.6]),
        lambda: SetPrior.of(["a", "b"], [1.0, 0.0]),
    ):
        with pytest.raises(ParameterError):
            make()


def test_what_depends_on_rows_is_a_secret():
    found = advise_for_rows("x within 5", UNIFORM, 0.3, {"x": [50.0, 60.0, 50.0]}, norm="x")
    assert "0.03" not in repr(found)
    worst = advise_epsilon("x within 5", UNIFORM, 0.3, norm="x")
    assert found.reveal().epsilon > worst.epsilon


@pytest.mark.parametrize(
    ("goal", "prior", "rows"),
    [
        ("is(f)", {"f": SetPrior.of("ab", [0.2, 0.8])}, {"f": ["a", "hushed"]}),
        ("is(f)", {"f": SetPrior.of("ab", [0.2, 0.8])}, {"f": ["a", ["hushed"]]}),
        ("x within 5", UNIFORM, {"x": [1.0, "hushed"]}),
        ("x within 5", UNIFORM, {"x": [1.0, math.nan]}),
        ("x within 5", UNIFORM, {"x": [1.0, None]}),
    ],
)
def test_no_error_about_rows_shows_one(goal, prior, rows):
    with pytest.raises(PrivateDataError) as failed:
        advise_for_rows(goal, prior, 0.1, rows)
    assert not any(word in str(failed.value) for word in ("hushed", "nan", "None"))
    assert failed.value.__suppress_context__
