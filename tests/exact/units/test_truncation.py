"""Truncated sums over all small sets of users: the limit and the number together are as private as claimed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import sordino as sd
from sordino.units import GaussianPerLimit, LaplacePerLimit, LimitChoice, Truncation
from tests.exact.concentrated import rho_of
from tests.oracles.units.contributions import truncated_sum, units_above
from tests.oracles.units.group_clipping import clip_absolute, clip_euclidean, clipped_totals

EPSILON = Fraction(4, 5)
MOST = 4
USERS = 3


def every_set(contributions):
    return [
        users for size in range(USERS + 1) for users in combinations_with_replacement(contributions, size)
    ]


def one_less(users):
    return {(*users[:i], *users[i + 1 :]) for i in range(len(users))}


def neighbours(contributions):
    """One user removed, or one added with any contribution."""

    def near(users):
        more = [tuple(sorted((*users, c))) for c in contributions] if len(users) < USERS else []
        return [*one_less(users), *more]

    return near


def clip_signed(users, limit):
    return sum(max(-limit, min(limit, c)) for c in users)


def joint_law(truncation, total=clip_signed, above=None):
    def law(users):
        sizes = [abs(c) for c in users]
        counts = above(users) if above else [units_above(sizes, limit) for limit in truncation.grid]
        totals = [total(users, limit) for limit in truncation.grid]
        outcomes, stated = truncation.law(counts, totals, (-USERS * MOST, USERS * MOST))
        return sd.audit.LogLaw(stated.log_probabilities, error=stated.error, outcomes=outcomes)

    return law


POSITIVE = range(MOST + 2)  # one contribution is above the declared bound: it must not matter
SIGNED = (-5, -3, -1, 0, 1, 2, 4)


@pytest.mark.parametrize("contributions", [POSITIVE, SIGNED], ids=["positive", "signed"])
def test_index_and_number_together_cost_epsilon(contributions):
    truncation = Truncation.of(epsilon=EPSILON, most=MOST)
    proof = sd.audit.prove(
        joint_law(truncation), every_set(contributions), neighbours(contributions), float(EPSILON)
    )
    assert proof.holds, str(proof)
    assert proof.slack < 0.12  # the noise costs all it may, and the choice nearly so


def test_totals_are_those_of_the_oracle():
    for users, limit in product(every_set(POSITIVE), range(1, MOST + 1)):
        assert clip_signed(users, limit) == truncated_sum(users, limit)


def refuse(law, contributions=POSITIVE, epsilon=EPSILON):
    assert not sd.audit.prove(law, every_set(contributions), neighbours(contributions), float(epsilon)).holds


def test_mutants_are_refused():
    sound = Truncation.of(epsilon=EPSILON, most=MOST)
    refuse(joint_law(replace(sound, noise=LaplacePerLimit(sound.noise.epsilon * Fraction(6, 5)))))
    eager = LimitChoice.of(sound.grid, epsilon=EPSILON, slope=3)
    refuse(joint_law(replace(sound, choice=eager)))
    # nobody is clipped
    refuse(joint_law(sound, total=lambda users, limit: sum(users)))
    # the limit that is best for these users, and no noise in finding it
    certain = LimitChoice.of(sound.grid, epsilon=Fraction(10**6), slope=1)
    refuse(joint_law(replace(sound, choice=certain)))


def test_answers_that_move_by_two_are_refused():
    choice = LimitChoice.of((1, 2, 3, 4), epsilon=EPSILON, slope=3)

    def law(users):
        return choice_law(choice, [2 * units_above(users, limit) for limit in choice.limits])

    refuse(law)


def choice_law(choice, answers):
    stated = choice.law(answers)
    return sd.audit.LogLaw(stated.log_probabilities, error=stated.error)


@pytest.mark.parametrize("bounded_range", [False, True])
@pytest.mark.parametrize(("fall", "rise"), [(1, 0), (1, 1), (3, 2)])
def test_a_choice_pays_for_the_interval_in_which_answers_move(fall, rise, bounded_range):
    """All answers within 0 … top, and all moves of every answer within [−fall, rise], independently."""
    limits, top = (1, 2, 3), 4
    universe = list(product(range(top + 1), repeat=len(limits)))

    def near(answers):
        moves = product(range(-fall, rise + 1), repeat=len(limits))
        moved = [tuple(a + m for a, m in zip(answers, move, strict=True)) for move in moves]
        back = [tuple(2 * a - b for a, b in zip(answers, other, strict=True)) for other in moved]
        return [other for other in {*moved, *back} if other != answers and all(0 <= a <= top for a in other)]

    def prove(spread):
        choice = LimitChoice.of(limits, epsilon=EPSILON, slope=2, spread=spread, bounded_range=bounded_range)
        return sd.audit.prove(lambda answers: choice_law(choice, answers), universe, near, float(EPSILON))

    assert prove(fall + rise).holds
    if fall + rise > 1:
        assert not prove(fall + rise - 1).holds


def test_the_exponential_choice_has_the_range_that_rho_pays_for():
    choice = LimitChoice.of((1, 2, 3, 4), epsilon=EPSILON, slope=3, bounded_range=True)
    for users in every_set(POSITIVE):
        logs = choice_law(choice, [units_above(users, t) for t in choice.limits]).log_probabilities
        for fewer in one_less(users):
            other = choice_law(choice, [units_above(fewer, t) for t in choice.limits]).log_probabilities
            assert np.ptp(logs - other) <= float(EPSILON) * (1 + 1e-12)


@pytest.mark.parametrize("rho", [Fraction(1, 10), Fraction(2)])
def test_index_and_number_together_cost_rho(rho):
    truncation = Truncation.of_rho(rho=rho, most=MOST)
    law = joint_law(truncation)
    laws = {users: law(users) for users in every_set(POSITIVE)}
    worst = max(rho_between(laws[a], laws[b]) for a in laws for b in one_less(a))
    back = max(rho_between(laws[b], laws[a]) for a in laws for b in one_less(a))
    assert 0.9 * rho < max(worst, back) <= rho * (1 + 1e-9)
    wasteful = replace(truncation, noise=GaussianPerLimit(truncation.noise.rho * Fraction(6, 5)))
    mutant = joint_law(wasteful)
    assert rho_between(mutant((4,)), mutant(())) > rho


def rho_between(one, other):
    return rho_of(one.log_probabilities, other.log_probabilities)


def test_groups_share_one_limit_for_a_rho_too():
    """Two groups, vectors clipped in ℓ₂: the law of the index and of both numbers, on a window of eight σ."""
    rho = Fraction(1, 2)
    truncation = Truncation.of_rho(rho=rho, most=2, numbers=2)
    vectors = [v for v in product(range(3), repeat=2) if any(v)]
    universe = [u for size in range(3) for u in combinations_with_replacement(vectors, size)]

    def worst(clip):
        laws = {users: law_of_pair(truncation, users, clip) for users in universe}
        pairs = [(laws[a], laws[b]) for a in universe for b in one_less(a)]
        return max(max(rho_of(p, q), rho_of(q, p)) for p, q in pairs)

    assert 0.5 * rho < worst(clip_euclidean) <= rho * (1 + 1e-6)
    assert worst(lambda vector, limit: tuple(min(limit, x) for x in vector)) > rho  # each group by itself


def law_of_pair(truncation, users, clip):
    sizes = [sum(x * x for x in vector) for vector in users]
    above = [units_above(sizes, limit * limit) for limit in truncation.grid]
    chosen = truncation.choice.law(above).log_probabilities
    parts = []
    for index, limit in enumerate(truncation.grid):
        reach = 8 * int(truncation.noise.scale(limit)) + 8
        totals = clipped_totals(users, limit, clip) if users else (0, 0)
        one, two = (truncation.noise.law(limit, total).log_masses(-reach, reach) for total in totals)
        parts.append((chosen[index] + one[:, None] + two).ravel())
    return np.concatenate(parts)


def test_groups_share_one_limit_and_each_has_the_noise_of_the_whole():
    """Two groups, vectors clipped in ℓ₁: the law of the index and of both numbers."""
    truncation = Truncation.of(epsilon=EPSILON, most=2, numbers=2)
    vectors = [v for v in product(range(-1, 3), repeat=2) if any(v)]
    universe = [u for size in range(3) for u in combinations_with_replacement(vectors, size)]
    window = np.arange(-5, 6)

    def near(users):
        return [*one_less(users), *([tuple(sorted((*users, v))) for v in vectors] if len(users) < 2 else [])]

    def law_with(truncation, clip):
        def law(users):
            sizes = [sum(map(abs, vector)) for vector in users]
            chosen = truncation.choice.law([units_above(sizes, limit) for limit in truncation.grid])
            parts = []
            for index, limit in enumerate(truncation.grid):
                totals = clipped_totals(users, limit, clip) if users else (0, 0)
                one, two = (truncation.noise.law(limit, total) for total in totals)
                pair = one.log_masses(*window[[0, -1]])[:, None] + two.log_masses(*window[[0, -1]])
                parts.append(chosen.log_probabilities[index] + pair.ravel())
            logs = np.concatenate(parts)
            return sd.audit.LogLaw(np.append(logs, np.log1p(-np.exp(logs).sum())))

        return law

    assert sd.audit.prove(law_with(truncation, clip_absolute), universe, near, float(EPSILON)).holds

    def each_group(vector, limit):
        return tuple(max(-limit, min(limit, x)) for x in vector)

    assert not sd.audit.prove(law_with(truncation, each_group), universe, near, float(EPSILON)).holds


def test_draws_follow_the_law():
    """20 000 draws of the index: each frequency within 6 standard deviations of its probability."""
    truncation = Truncation.of(epsilon=Fraction(1), most=40)
    contributions = [1, 2, 2, 5, 9, 30] * 3
    above = [units_above(contributions, limit) for limit in truncation.grid]
    runs = 20_000
    found = Counter(truncation.choose(above) for _ in range(runs))
    for index, chance in enumerate(np.exp(truncation.choice.law(above).log_probabilities)):
        assert abs(found[index] - runs * chance) <= 6 * np.sqrt(runs * chance * (1 - chance)) + 6
