"""The coins of unknown groups: private as exact fractions, as large as can be, and drawn with that chance."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import pytest

import sordino as sd
from sordino.units import KeyRelease
from tests.oracles.units.key_release import (
    hockey_stick,
    is_private,
    kept_keys,
    release_probabilities,
    units_per_key,
)

CASES = [
    (Fraction(1, 10), Fraction(1, 10**5)),
    (Fraction(1), Fraction(1, 10**6)),
    (Fraction(3), Fraction(1, 4)),
]


def growth_bounds(epsilon):
    """Fractions below and above e^ε, from its series."""
    terms = [Fraction(1)]
    for k in range(1, 60):
        terms.append(terms[-1] * epsilon / k)
    total = sum(terms)
    return total, total + 2 * terms[-1]


def chain_of(release, length):
    return [release.probability(n) for n in range(length + 1)]


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
@pytest.mark.parametrize("min_units", [1, 4])
def test_the_chain_is_private_and_nearly_the_largest(epsilon, delta, min_units):
    release = KeyRelease.of(epsilon=epsilon, delta=delta, min_units=min_units)
    low, high = growth_bounds(epsilon)
    chain = chain_of(release, release.certain + 2)
    assert is_private(chain, low, delta)  # for a growth below e^ε, so for e^ε too
    best = release_probabilities(len(chain) - 1, high, delta, min_units=min_units)
    assert all(p <= q for p, q in zip(chain, best, strict=True))
    assert all(q - p <= q * Fraction(1, 10**15) for p, q in zip(chain, best, strict=True))
    assert chain[-1] == 1


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_a_chain_just_past_it_is_refused(epsilon, delta):
    release = KeyRelease.of(epsilon=epsilon, delta=delta)
    _, high = growth_bounds(epsilon)
    for place in (1, 2, release.certain // 2):
        raised = list(release.chain)
        raised[place] += raised[place] >> 40
        mutant = replace(release, chain=tuple(raised))
        assert not is_private(chain_of(mutant, release.certain), high, delta)


def test_figures_of_the_specification():
    for epsilon, delta, needed in [("1/10", "1/100000", 86), ("1", "1/1000000", 14)]:
        assert KeyRelease.of(epsilon=Fraction(epsilon), delta=Fraction(delta)).units_needed() == needed


def keys_law(release, counts):
    """P(exactly these keys are shown), as fractions."""
    law = {}
    for shown in product((False, True), repeat=len(counts)):
        keys = frozenset(key for key, is_shown in zip(counts, shown, strict=True) if is_shown)
        chances = (
            release.probability(n) if is_shown else 1 - release.probability(n)
            for n, is_shown in zip(counts.values(), shown, strict=True)
        )
        law[keys] = law.get(keys, Fraction(0)) + math.prod(chances, start=Fraction(1))
    return law


HOLDINGS = [frozenset(c) for size in range(4) for c in combinations("xyz", size)]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_all_keys_of_a_unit_together_cost_epsilon_and_delta(most):
    """Two others with any keys, one unit added with any keys."""
    epsilon, delta = Fraction(9, 10), Fraction(1, 8)
    release = KeyRelease.of(epsilon=epsilon, delta=delta, keys_per_unit=most)
    low, high = growth_bounds(epsilon)
    shared = replace(release, chain=KeyRelease.of(epsilon=epsilon, delta=delta).chain)
    shared = replace(shared, bits=KeyRelease.of(epsilon=epsilon, delta=delta).bits)
    mutant_fails = False
    for others in product(HOLDINGS, repeat=2):
        for own in HOLDINGS:
            with_own, without = (
                units_per_key(kept_keys(dict(enumerate(units)), most, ord))
                for units in ((*others, own), others)
            )
            assert hockey_stick(keys_law(release, with_own), keys_law(release, without), low) <= delta
            found = hockey_stick(keys_law(shared, with_own), keys_law(shared, without), high)
            mutant_fails = mutant_fails or found > delta
    assert mutant_fails == (most > 1)  # undivided δ is refused wherever a unit has more than one key


def test_one_coin_is_proved_by_the_auditor_too():
    release = KeyRelease.of(epsilon=1, delta=Fraction(1, 100))

    def law_of(release):
        return lambda n: {True: float(release.probability(n)), False: float(1 - release.probability(n))}

    def step(n):
        return [m for m in (n - 1, n + 1) if 0 <= m <= 20]

    proof = sd.audit.prove(law_of(release), range(21), step, 1.0, 0.01)
    assert proof.holds
    assert proof.slack < 1e-6
    eager = KeyRelease.of(epsilon=1.01, delta=Fraction(1, 100))
    assert not sd.audit.prove(law_of(eager), range(21), step, 1.0, 0.01).holds
