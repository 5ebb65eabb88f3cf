"""Ways to lose a person's privacy: a pair of neighbours each, and the exact probabilities that tell them apart.

`CLAIMED` is e^epsilon of the claim throughout: 4, from two noises of ratio 1/2, unless a test says otherwise. Every
specimen stands beside the right version on the same pair where there is one, so that the pair alone is no proof.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from tests.oracles.units.contributions import (
    contributions,
    dropped_units,
    truncated_flow,
    truncated_sum,
    units_above,
    without,
)
from tests.oracles.units.key_release import (
    hockey_stick,
    kept_keys,
    release_probabilities,
    shown_law,
    units_per_key,
)
from tests.oracles.units.owners import Join, Result, Schema, joined_results, remove_unit
from tests.oracles.units.sparse_vector import (
    laplace_at_least,
    laplace_mass,
    stopping_law,
    transcript_probability,
    worst_ratio,
)

HALF, EIGHTH, NOTHING = Fraction(1, 2), Fraction(1, 8), Fraction(0)
CLAIMED = 4


def transcripts(one, other, above, first=HALF, second=HALF):
    """P(these comparisons) for two vectors of answers, threshold 0."""
    return [
        transcript_probability(q, above, threshold=0, threshold_ratio=first, query_ratio=second)
        for q in (one, other)
    ]


# The sparse vector's wrong variants, numbered as by Lyu, Su and Li (2017). Answers move by at most one, either way.


@pytest.mark.parametrize("length", [4, 8])
def test_algorithm_3_prints_the_noisy_answer(length):
    """`length` answers below, then the value 0 printed: the threshold was below it, so the others are unlikely.

    (0, ..., 0, 1) against (1, ..., 1, 0). Every term of the sum over t <= 0 has the same ratio, so where the sum is cut
    does not matter: one factor 2 for each answer below, one back for the printed one.
    """

    def mass(below: int, printed: int) -> Fraction:
        return sum(
            laplace_mass(t, HALF) * (1 - laplace_at_least(t - below, HALF)) ** length for t in range(-40, 1)
        ) * laplace_mass(0 - printed, HALF)

    assert mass(0, 1) / mass(1, 0) == 2 ** (length - 1) > CLAIMED


@pytest.mark.parametrize("positives", [1, 2])
def test_algorithm_4_does_not_scale_with_the_number_of_positives(positives):
    """epsilon/4 on the threshold and 3 epsilon/4 on every answer: the loss is (1 + 6c)/4 epsilon, nearly reached."""
    claimed = 16
    above = [False] * 4 + [True] * positives
    one, other = [0] * 4 + [-2] * positives, [1] * 4 + [-3] * positives
    p, q = transcripts(one, other, above, HALF, EIGHTH)
    assert claimed < p / q < 2 ** (1 + 6 * positives)
    assert p / q > Fraction(99, 100) * 2 ** (1 + 6 * positives)


def test_algorithm_5_has_no_noise_on_the_answers():
    """(0, 1) against (1, 0), first below and second above: T = 1 does it, for the other database nothing does."""
    assert transcripts([0, 1], [1, 0], [False, True], HALF, NOTHING) == [Fraction(1, 6), 0]


def test_algorithm_6_never_stops():
    """The same answer for all against one more, then one less: the loss grows with the number of questions."""
    ratios = []
    for m in (2, 4, 6):
        p, q = transcripts([0] * 2 * m, [1] * m + [-1] * m, [False] * m + [True] * m)
        ratios.append(p / q)
    assert CLAIMED < ratios[0] < ratios[1] < ratios[2]
    assert all(ratio >= 2**m for ratio, m in zip(ratios, (2, 4, 6), strict=True))


def test_noise_for_monotone_answers_under_answers_that_are_not():
    one, other = [-6] * 6 + [9], [-5] * 6 + [8]
    laws = [stopping_law(q, threshold=0, threshold_ratio=HALF, query_ratio=HALF) for q in (one, other)]
    assert worst_ratio(*laws) > Fraction(79, 10) > CLAIMED
    root = Fraction(5, 7)  # above the square root of 1/2, so more noise than is needed
    laws = [stopping_law(q, threshold=0, threshold_ratio=HALF, query_ratio=root) for q in (one, other)]
    assert worst_ratio(*laws) < CLAIMED


def test_a_threshold_drawn_anew_for_every_answer_pays_for_every_answer():
    """Nine answers that all grow by one, all of them above: each comparison leaks by itself."""
    fresh = [
        transcript_probability([q], [True], threshold=0, threshold_ratio=HALF, query_ratio=HALF) ** 9
        for q in (-5, -4)
    ]
    assert fresh[1] / fresh[0] > CLAIMED
    p, q = transcripts([-4] * 9, [-5] * 9, [True] * 9)
    assert p / q < CLAIMED


# Truncation.


def test_units_above_tau_under_shared_results():
    """Five leaves with 2 of their own and 1 shared with the hub: without the hub nobody is above 2."""
    leaves = [Result(Fraction(2), frozenset({leaf})) for leaf in "abcde"]
    whole = [*leaves, *(Result(Fraction(1), frozenset({"h", leaf})) for leaf in "abcde")]
    counts = [units_above(contributions(r).values(), 2) for r in (whole, without(whole, "h"))]
    assert counts == [6, 0]
    laws = [stopping_law([n], threshold=0, threshold_ratio=HALF, query_ratio=HALF) for n in counts]
    assert worst_ratio(*laws) > 24 > CLAIMED
    assert dropped_units(whole, 2) - dropped_units(leaves, 2) <= 1


def test_capping_pairs_of_owners_instead_of_each_owner():
    """A hub with four partners, tau = 2 per pair: the total falls from 8 to 0, with noise of scale tau/epsilon."""
    star = [Result(Fraction(9), frozenset({"h", leaf})) for leaf in "abcd"]
    capped = [int(sum(min(r.weight, 2) for r in results)) for results in (star, without(star, "h"))]
    assert capped == [8, 0]
    assert laplace_mass(0, HALF) / laplace_mass(8 - 0, HALF) == 2**8 > CLAIMED
    assert truncated_flow(star, 2) - truncated_flow(without(star, "h"), 2) <= 2


def test_a_contribution_bound_read_from_the_data():
    """tau = largest total: (1) against (1, 4). e^(-epsilon/4) = 1/2, so the ratios are 1/16 and 1/2."""
    claimed = 16

    def mass(totals: tuple[int, ...], outcome: int) -> Fraction:
        tau = max(totals)
        return laplace_mass(outcome - truncated_sum(totals, tau), Fraction(1, 2) ** (4 // tau))

    losses = [mass((1, 4), y) / mass((1,), y) for y in range(6, 12)]
    assert losses[0] > claimed
    assert all(later == 8 * earlier for earlier, later in itertools.pairwise(losses))


def test_a_key_that_is_declared_and_does_not_hold():
    """Two orders with one number, one item: both results go with either customer, yet each is booked to one."""
    schema = Schema(
        {"customer": "id"},
        {"orders": {"customer_id": ("customer", "id")}, "item": {"order_id": ("orders", "id")}},
    )
    data = {
        "customer": [{"id": 1}, {"id": 2}],
        "orders": [{"id": 10, "customer_id": 1}, {"id": 10, "customer_id": 2}],
        "item": [{"order_id": 10}],
    }
    join = Join({"o": "orders", "i": "item"}, [(("o", "id"), ("i", "order_id"))])
    rest = remove_unit(data, schema, ("customer", 1))

    def booked(database) -> list[int]:
        """Totals as if the order's customer were the only owner."""
        held = joined_results(database, schema, join, lambda rows: rows["o"]["customer_id"])
        return [sum(r.value == c["id"] for r in held) for c in database["customer"]]

    assert (truncated_sum(booked(data), 1), truncated_sum(booked(rest), 1)) == (2, 0)
    assert truncated_flow(joined_results(data, schema, join), 1) == 1


# Unknown groups and averages.


def test_delta_that_is_not_divided_over_the_keys_of_a_unit():
    """Three keys of one unit, each shown with probability delta: 271/1000 instead of 1/10, whatever epsilon is."""
    delta = Fraction(1, 10)
    shown = shown_law({"x": 1, "y": 1, "z": 1}, Fraction(2), delta)
    nothing = shown_law({}, Fraction(2), delta)
    assert hockey_stick(shown, nothing, Fraction(1000)) == Fraction(271, 1000) > delta
    divided = shown_law({"x": 1, "y": 1, "z": 1}, Fraction(2), delta / 3)
    assert hockey_stick(divided, nothing, Fraction(1000)) < delta


def test_group_keys_shown_because_they_exist():
    """However noisy the count beside it, the name of a group of one person is there or not."""
    one, none = ({frozenset(keys): Fraction(1)} for keys in ({"rare"}, set()))
    assert hockey_stick(one, none, Fraction(10**9)) == 1


def test_keys_counted_in_rows_instead_of_units():
    """One person with five rows passes for five persons, and is shown for certain."""
    chain = release_probabilities(5, Fraction(2), Fraction(1, 10))
    assert (chain[1], chain[5]) == (Fraction(1, 10), 1)


def test_keys_kept_by_how_common_they_are():
    """A choice that looks at the other units: one more holder of y turns x of all others into y."""

    def common(keys_of):
        held = units_per_key(keys_of)
        return units_per_key(kept_keys(keys_of, 1, lambda key: (-held[key], key)))

    whole = {"a": "y", "b": "xy", "c": "xy", "d": "x", "e": "y"}
    rest = {unit: keys for unit, keys in whole.items() if unit != "a"}
    assert common(whole) == {"y": 4, "x": 1}
    assert common(rest) == {"x": 3, "y": 1}


def test_an_average_with_an_exact_denominator():
    """Noisy sum over n: halves for two units, thirds for three. Odd halves, 4/9 of the time, give two away."""
    reach = 40
    two = {Fraction(2 + k, 2): laplace_mass(k, HALF) for k in range(-reach, reach + 1)}
    thirds = {Fraction(3 + k, 3) for k in range(-3 * reach, 3 * reach + 1)}
    given_away = sum(p for outcome, p in two.items() if outcome not in thirds)
    assert abs(given_away - Fraction(4, 9)) < Fraction(1, 2**reach)
