"""The sparse vector's law: against plain sums, and its loss over whole universes of users."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from tests.oracles.units.contributions import units_above
from tests.oracles.units.sparse_vector import (
    laplace_at_least,
    laplace_mass,
    stopping_law,
    transcript_probability,
    worst_ratio,
)

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
GRID = (1, 2, 4)


def test_noise_by_hand():
    assert [laplace_mass(k, HALF) for k in (-2, 0, 1)] == [Fraction(1, 12), Fraction(1, 3), Fraction(1, 6)]
    assert [laplace_at_least(k, HALF) for k in (-1, 0, 1, 2)] == [
        Fraction(5, 6),
        Fraction(2, 3),
        Fraction(1, 3),
        Fraction(1, 6),
    ]
    assert [laplace_mass(k, Fraction(0)) for k in (-1, 0)] == [0, 1]


def test_one_question_by_hand():
    """Without noise on the answer: below 0 + T exactly when T >= 1, which has probability r/(1 + r)."""
    law = stopping_law([0], threshold=0, threshold_ratio=HALF, query_ratio=Fraction(0))
    assert law == [Fraction(1, 3), Fraction(2, 3)]
    # noise on both sides of ratio 1/2: P(v < T) = (1 - P(v = T))/2, and the sum of squares (1/9)(1 + 2/3) is 5/27
    law = stopping_law([0], threshold=0, threshold_ratio=HALF, query_ratio=HALF)
    assert law == [Fraction(11, 27), Fraction(16, 27)]


def plain_sum(answers, above, threshold, threshold_ratio, query_ratio, reach=60):
    """The definition with t and all noises cut at `reach`: off by no more than the noise beyond it."""
    noise = {k: laplace_mass(k, query_ratio) for k in range(-2 * reach, 2 * reach + 1)}
    total = Fraction(0)
    for t in range(threshold - reach, threshold + reach + 1):
        term = laplace_mass(t - threshold, threshold_ratio)
        for q, is_above in zip(answers, above, strict=True):
            term *= sum(p for k, p in noise.items() if (q + k >= t) == is_above)
        total += term
    return total


@pytest.mark.parametrize(
    ("answers", "above", "threshold"),
    [((3, -1), (True, False), 0), ((-4, 2, 0), (False, True, True), 1), ((5,), (False,), -3), ((), (), 2)],
)
@pytest.mark.parametrize("query_ratio", [HALF, QUARTER, Fraction(0)])
def test_closed_form_agrees_with_the_plain_sum(answers, above, threshold, query_ratio):
    exact = transcript_probability(
        answers, above, threshold=threshold, threshold_ratio=HALF, query_ratio=query_ratio
    )
    assert abs(exact - plain_sum(answers, above, threshold, HALF, query_ratio)) < Fraction(1, 2**55)


def test_every_law_adds_up_to_one():
    for answers in itertools.product((-3, 0, 2), repeat=3):
        law = stopping_law(answers, threshold=1, threshold_ratio=HALF, query_ratio=Fraction(3, 4))
        assert sum(law) == 1
        assert min(law) > 0


def user_pairs():
    """N on the grid for every histogram of up to three users with totals up to four, and with one user less."""
    pairs = set()
    for size in range(1, 4):
        for totals in itertools.combinations_with_replacement(range(1, 5), size):
            for i in range(size):
                rest = totals[:i] + totals[i + 1 :]
                pairs.add(tuple(tuple(units_above(c, tau) for tau in GRID) for c in (totals, rest)))
    return pairs


@pytest.mark.parametrize("threshold", [-1, 0, 2])
@pytest.mark.parametrize(("first", "second"), [(HALF, HALF), (Fraction(9, 10), HALF), (HALF, Fraction(3, 4))])
def test_monotone_answers_cost_both_noises_once(first, second, threshold):
    worst = max(
        worst_ratio(
            *(
                stopping_law(answers, threshold=threshold, threshold_ratio=first, query_ratio=second)
                for answers in pair
            )
        )
        for pair in user_pairs()
    )
    assert 1 < worst <= 1 / (first * second)


def test_monotone_loss_is_nearly_reached_on_a_long_grid():
    """Nobody there against one unit above sixteen grid points: the stop after them says almost everything."""
    laws = [
        stopping_law(answers, threshold=2, threshold_ratio=HALF, query_ratio=HALF)
        for answers in ([0] * 17, [1] * 16 + [0])
    ]
    assert 3.9999 < worst_ratio(*laws) < 4


def worst_over_moves(moves, *, values=(-2, 0, 2), length=3):
    """The worst ratio over answers from `values` and every change of each answer by one of `moves`."""
    law = {}
    for answers in itertools.product(
        range(min(values) + min(moves), max(values) + max(moves) + 1), repeat=length
    ):
        law[answers] = stopping_law(answers, threshold=0, threshold_ratio=HALF, query_ratio=HALF)
    return max(
        worst_ratio(law[answers], law[tuple(a + d for a, d in zip(answers, change, strict=True))])
        for answers in itertools.product(values, repeat=length)
        for change in itertools.product(moves, repeat=length)
    )


def test_answers_that_move_both_ways_cost_the_query_noise_twice():
    """Ratio 1/2 per step on the answers is e^(-epsilon2/2): epsilon1 + epsilon2 is three times ln 2."""
    assert 4 < worst_over_moves((-1, 0, 1)) <= 8
    laws = [
        stopping_law(answers, threshold=0, threshold_ratio=HALF, query_ratio=HALF)
        for answers in ([-6] * 8 + [9], [-5] * 8 + [8])
    ]
    assert 7.9999 < worst_ratio(*laws) < 8


def test_an_uneven_range_costs_its_width_on_the_answers_and_its_longer_side_on_the_threshold():
    """Changes within [-1, 2] cost 2 on the threshold and 3 on the answer, not 2 and 4 as changes within [-2, 2] do."""
    assert 8 < worst_over_moves((-1, 0, 2)) <= 2 ** (2 + 3)
    laws = [
        stopping_law(answers, threshold=0, threshold_ratio=HALF, query_ratio=HALF)
        for answers in ([-9] * 8 + [12], [-7] * 8 + [11])
    ]
    assert 2**5 - 0.001 < worst_ratio(*laws) < 2**5


def test_ratios_near_an_irrational_one_give_the_law_of_the_continuous_parameter():
    """epsilon = 1/2 with e^-epsilon as the nearest float: the laws of neighbours stay within e^(1/2 + 1/2)."""
    ratio = Fraction(math.exp(-0.5))
    laws = [
        stopping_law(a, threshold=0, threshold_ratio=ratio, query_ratio=ratio) for a in ((2, 1, 0), (3, 2, 0))
    ]
    assert 0 < math.log(worst_ratio(*laws)) < 1
