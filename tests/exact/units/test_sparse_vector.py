"""The sparse vector with noise on one side: its law, its loss over all moves of the answers, and its mutants."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest

import sordino as sd
from sordino.units import SparseVector
from tests.oracles.units.contributions import units_above
from tests.oracles.units.sparse_vector import stopping_law

FIRST, SECOND = Fraction(3, 10), Fraction(1, 2)
EPSILON = float(FIRST + SECOND)


def law_of(sparse):
    def law(answers):
        stated = sparse.law(answers)
        return sd.audit.LogLaw(stated.log_probabilities, error=stated.error)

    return law


def plain_law(answers, sparse, reach=400):
    """From the definition: every value of the threshold's noise, every answer by itself."""
    first, second = np.exp(-float(sparse.threshold_rate)), np.exp(-float(sparse.query_rate))
    law = np.zeros(len(answers))
    for noise in range(reach):
        left = (1 - first) * first**noise
        for i, answer in enumerate(answers):
            # answer − K ≤ threshold − noise, K geometric: K ≥ answer − threshold + noise
            stop = second ** max(0, answer - sparse.threshold + noise) if i < len(answers) - 1 else 1.0
            law[i] += left * stop
            left *= 1 - stop
    return law


@pytest.mark.parametrize("answers", [(5, 3, 0), (0, 0, 0, 0), (0, 9, 2, 7), (40, 1), (3,)])
@pytest.mark.parametrize("threshold", [-2, 0, 4])
def test_the_law_is_that_of_the_definition(answers, threshold):
    sparse = SparseVector.of(threshold=threshold, threshold_epsilon=FIRST, query_epsilon=SECOND)
    stated = sparse.law(answers)
    assert np.exp(stated.log_probabilities) == pytest.approx(plain_law(answers, sparse), rel=1e-11)
    assert np.exp(stated.log_probabilities).sum() == pytest.approx(1, abs=1e-12)


def moves(length, fall, rise, top):
    def near(answers):
        steps = list(product(range(-fall, rise + 1), repeat=length))
        moved = [tuple(a + s for a, s in zip(answers, step, strict=True)) for step in steps]
        back = [tuple(a - s for a, s in zip(answers, step, strict=True)) for step in steps]
        return [x for x in {*moved, *back} if x != answers and all(0 <= a <= top for a in x)]

    return near


@pytest.mark.parametrize(("fall", "rise"), [(1, 0), (0, 1), (1, 1), (2, 1)])
def test_every_move_within_the_range_costs_epsilon(fall, rise):
    length, top = 4, 4
    universe = list(product(range(top + 1), repeat=length))
    claimed = {"threshold": 1, "threshold_epsilon": FIRST, "query_epsilon": SECOND}
    near = moves(length, fall, rise, top)
    sound = SparseVector.of(**claimed, fall=fall, rise=rise)
    assert sd.audit.prove(law_of(sound), universe, near, EPSILON).holds
    if fall + rise > 1:  # the rates of answers that move one way by one
        eager = SparseVector.of(**claimed)
        assert not sd.audit.prove(law_of(eager), universe, near, EPSILON).holds


def every_set(users, top):
    return [u for size in range(users + 1) for u in combinations_with_replacement(range(1, top + 1), size)]


def near_sets(users, top):
    def near(have):
        fewer = [(*have[:i], *have[i + 1 :]) for i in range(len(have))]
        more = [tuple(sorted((*have, c))) for c in range(1, top + 1)] if len(have) < users else []
        return [*fewer, *more]

    return near


def test_units_above_every_limit_cost_both_parts():
    users, top = 5, 5
    grid = range(1, top + 1)

    def prove(sparse, scale=1):
        def law(have):
            return law_of(sparse)([scale * units_above(have, limit) for limit in grid])

        return sd.audit.prove(law, every_set(users, top), near_sets(users, top), EPSILON)

    sparse = SparseVector.of(threshold=2, threshold_epsilon=FIRST, query_epsilon=SECOND)
    assert prove(sparse).holds
    assert not prove(sparse, scale=2).holds
    # threshold without noise worth the name; answers without noise worth the name; a little more than was paid for
    for first, second in [(Fraction(50), SECOND), (FIRST, Fraction(50)), (FIRST * 2, SECOND * 2)]:
        mutant = SparseVector.of(threshold=2, threshold_epsilon=first, query_epsilon=second)
        assert not prove(mutant).holds


def test_nearly_all_of_the_loss_is_reached():
    """Two hundred answers fall by one, the next does not: the ratio approaches ε₁ + ε₂."""
    sparse = SparseVector.of(threshold=0, threshold_epsilon=FIRST, query_epsilon=SECOND)
    one = sparse.law((5,) * 200 + (40, 0)).log_probabilities[200]
    other = sparse.law((4,) * 200 + (40, 0)).log_probabilities[200]
    assert EPSILON * 0.9 < one - other <= EPSILON


def test_draws_follow_the_law_and_read_no_further():
    """3 000 draws: each frequency within six standard deviations."""
    sparse = SparseVector.of(threshold=3, threshold_epsilon=FIRST, query_epsilon=SECOND)
    answers = (30, 9, 6, 4, 1, 0, 0)
    read = []

    def one_by_one():
        for answer in answers:
            read.append(answer)
            yield answer

    runs = 3_000
    found = Counter()
    for _ in range(runs):
        read.clear()
        index = sparse.draw(one_by_one())
        assert len(read) == index + 1
        found[index] += 1
    for index, chance in enumerate(np.exp(sparse.law(answers).log_probabilities)):
        assert abs(found[index] - runs * chance) <= 6 * np.sqrt(runs * chance * (1 - chance)) + 6


def test_noise_on_one_side_errs_less_than_laplace_noise():
    """Equal ε: the chance of stopping where five units of sixty are above, or one step of a public grid away."""
    answers = [60, 40, 30, 5, 0, 0, 0, 0]
    ratio = Fraction(7, 10)  # of both noises; −ln 0.7 each
    rate = Fraction(-np.log(0.7))
    one_sided = max(
        np.exp(SparseVector(t, rate, rate, 2 * rate).law(answers).log_probabilities)[3:5].sum()
        for t in range(0, 24, 2)
    )
    laplace = max(
        sum(stopping_law(answers, threshold=t, threshold_ratio=ratio, query_ratio=ratio)[3:5])
        for t in range(0, 24, 2)
    )
    assert 1 - one_sided < (1 - float(laplace)) / 2


@pytest.mark.parametrize(
    "options", [{"threshold_epsilon": 0}, {"query_epsilon": -1}, {"fall": 0}, {"fall": -1}, {"rise": -1}]
)
def test_what_is_refused(options):
    asked = {"threshold": 1, "threshold_epsilon": FIRST, "query_epsilon": SECOND} | options
    with pytest.raises(sd.ParameterError):
        SparseVector.of(**asked)


def test_no_answers_are_refused():
    with pytest.raises(sd.ParameterError, match="at least one answer"):
        SparseVector.of(threshold=1, threshold_epsilon=1, query_epsilon=1).draw([])


def test_the_threshold_moves_where_it_stops():
    laws = [
        np.exp(
            SparseVector.of(threshold=t, threshold_epsilon=FIRST, query_epsilon=SECOND)
            .law((60, 30, 15, 7, 3, 1, 0))
            .log_probabilities
        )
        for t in (0, 5, 20, 40)
    ]
    means = [float(law @ np.arange(7)) for law in laws]
    assert all(later < earlier for earlier, later in pairwise(means))
