"""Release of keys: the recursion by hand, its privacy, that nothing larger is private, and whole universes."""

from __future__ import annotations

import hashlib
import itertools
import math
from fractions import Fraction

import pytest

from tests.oracles.units.key_release import (
    best_possible,
    hockey_stick,
    is_private,
    kept_keys,
    release_probabilities,
    shown_law,
    units_per_key,
)

CASES = [
    (Fraction(2), Fraction(1, 100)),
    (Fraction(11, 10), Fraction(1, 20)),
    (Fraction(3), Fraction(1, 3)),
    (Fraction(1), Fraction(1, 7)),
    (Fraction(2), Fraction(0)),
]


def test_recursion_by_hand():
    """growth 2, delta 1/10: 1/10, 3/10, then 1 - (1 - 3/10 - 1/10)/2 = 7/10 = 2·3/10 + 1/10, 9/10, 1."""
    chain = release_probabilities(6, Fraction(2), Fraction(1, 10))
    assert [10 * p for p in chain] == [0, 1, 3, 7, 9, 10, 10]
    assert release_probabilities(3, Fraction(2), Fraction(1, 10), min_units=3) == [0, 0, 0, Fraction(1, 10)]


@pytest.mark.parametrize(("growth", "delta"), CASES)
def test_recursion_is_private_and_nothing_larger_is(growth, delta):
    chain = release_probabilities(7, growth, delta)
    assert is_private(chain, growth, delta)
    assert [best_possible(n, growth, delta) for n in range(1, 8)] == chain[1:]
    for n in range(1, 8):
        raised = [*chain[:n], chain[n] + Fraction(1, 10**9), *chain[n + 1 :]]
        assert chain[n] == 1 or not is_private(raised[: n + 1], growth, delta)


@pytest.mark.parametrize(
    ("epsilon", "delta", "best", "laplace"),
    [(0.1, Fraction(1, 10**5), 86, 110), (1, Fraction(1, 10**6), 14, 15)],
)
def test_units_needed_for_an_even_chance(epsilon, delta, best, laplace):
    """Figures of the specification, with e^epsilon enclosed by two fractions that decide alike."""
    for growth in (Fraction(math.nextafter(math.exp(epsilon), side)) for side in (0, math.inf)):
        chain = release_probabilities(200, growth, delta)
        assert next(n for n, p in enumerate(chain) if p >= Fraction(1, 2)) == best
    # n + Lap(1/epsilon) >= s is an even chance at n = s; P(1 + Lap >= s) = e^(-epsilon (s - 1))/2 = delta
    assert math.ceil(1 + math.log(1 / (2 * delta)) / epsilon) == laplace


def keyed(secret: bytes):
    return lambda key: hashlib.blake2b(str(key).encode(), key=secret).digest()


def test_a_unit_keeps_its_first_keys_whatever_the_others_hold():
    order = keyed(b"a secret of the owner")
    alone = kept_keys({"ann": "wxyz"}, 2, order)["ann"]
    assert len(alone) == 2
    assert kept_keys({"ann": "zyxwwx", "bob": "xyz"}, 2, order)["ann"] == alone
    assert kept_keys({"ann": "w"}, 2, order) == {"ann": frozenset("w")}
    assert units_per_key({"ann": "wx", "bob": "x"}) == {"w": 1, "x": 2}
    chosen = {kept_keys({"ann": "wxyz"}, 1, keyed(bytes([i])))["ann"] for i in range(40)}
    assert chosen == {frozenset(k) for k in "wxyz"}


def universe():
    """Up to three units, each with a set of up to three keys."""
    sets = [frozenset(c) for k in range(4) for c in itertools.combinations("xyz", k)]
    for size in range(1, 4):
        for held in itertools.combinations_with_replacement(sets, size):
            yield dict(enumerate(held))


def worst_delta(most, growth, delta, *, at):
    """The largest delta at e^epsilon = `at` over the universe, any unit leaving."""
    order, worst = keyed(b"fixed"), Fraction(0)
    for units in universe():
        kept = kept_keys(units, most, order)
        law = shown_law(units_per_key(kept), growth, delta)
        assert sum(law.values()) == 1
        for gone in kept:
            rest = {unit: keys for unit, keys in kept.items() if unit != gone}
            worst = max(worst, hockey_stick(law, shown_law(units_per_key(rest), growth, delta), at))
    return worst


@pytest.mark.parametrize("most", [1, 2, 3])
def test_keys_of_one_unit_share_epsilon_and_delta(most):
    """Each key at (ln 2, 1/20), at most m keys: together (m ln 2, m/20), and 1 - (1 - 1/20)^m is reached."""
    growth, delta = Fraction(2), Fraction(1, 20)
    worst = worst_delta(most, growth, delta, at=growth**most)
    assert worst == 1 - (1 - delta) ** most <= most * delta


def test_more_keys_than_paid_for_break_delta():
    assert worst_delta(3, Fraction(2), Fraction(1, 20), at=Fraction(2)) > Fraction(1, 20)
