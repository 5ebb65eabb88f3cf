"""Geometric draws from chosen random words: the quick filter never disagrees with exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpz

from sordino.core import ParameterError
from sordino.sampling import geometric as module
from sordino.sampling.geometric import draw_discrete_laplaces, draw_geometric
from sordino.sampling.source import overridden

RATES = [
    Fraction(1, 10**9),
    Fraction(1, 1000),
    Fraction(1, 7),
    Fraction(0.6),
    Fraction(1),
    Fraction(9, 2),
    Fraction(40),
]


def drawn(words, rate, *, later=b"\x00"):
    """Draws from these 64-bit words; further bits, where they are asked for, are all ``later``."""
    given = [np.array(words, dtype=np.uint64).tobytes()]
    with overridden(lambda count: given.pop() if given else later * count):
        return draw_geometric(rate, len(words)).tolist()


def threshold_word(rate, k):
    """⌊2^64 e^(−rate·k)⌋: the word whose numbers lie on both sides of the threshold."""
    ctx.prec, before = 400, ctx.prec
    try:
        scaled = arb(fmpq(-rate.numerator * k, rate.denominator)).exp() * fmpz(2) ** 64
        return int(scaled.floor().unique_fmpz())
    finally:
        ctx.prec = before


def by_definition(word, rate):
    """How many k ≥ 1 have e^(−rate·k) ≥ (word + 1)/2^64, for a word that holds no threshold."""
    guess = max(0, math.floor(-math.log((word + 1) / 2**64) / float(rate)))
    k = max(0, guess - 2)
    while threshold_word(rate, k + 1) > word:
        k += 1
    return k


@pytest.mark.parametrize("rate", RATES)
def test_words_beside_a_threshold_fall_on_their_own_side(rate):
    largest = int(math.log(2.0**64 * min(1.0, rate) / 1e4) / rate)  # thresholds are thousands of words apart
    for k in (k for k in sorted({1, 2, 3, largest // 3, largest // 2, largest}) if 1 <= k <= largest):
        word = threshold_word(rate, k)
        for step in (1, 2, 1000):
            if word + step < 2**64:
                assert drawn([word + step], rate) == [by_definition(word + step, rate)]
            if word - step >= 0 and threshold_word(rate, k + 1) < word - step:
                assert drawn([word - step], rate) == [k]


@pytest.mark.parametrize("rate", RATES)
def test_a_word_that_holds_the_threshold_is_decided_by_further_bits(rate):
    k = max(1, int(3 / rate))
    word = threshold_word(rate, k)
    assert drawn([word], rate, later=b"\x00") == [k]
    assert drawn([word], rate, later=b"\xff") == [k - 1]


def test_random_words_agree_with_the_definition():
    words = np.random.default_rng(5).integers(0, 2**64, 300, dtype=np.uint64).tolist()
    for rate in (Fraction(1, 100), Fraction(0.37), Fraction(3)):
        assert drawn(words, rate) == [by_definition(word, rate) for word in words]


def test_the_filter_decides_nearly_everything(monkeypatch):
    """Otherwise a million counts would take minutes; and where it decides nothing, the draws are the same."""
    words = np.random.default_rng(6).integers(0, 2**64, 2000, dtype=np.uint64)
    asked = []
    exact = module.is_below_exp
    monkeypatch.setattr(module, "is_below_exp", lambda *given: asked.append(1) or exact(*given))
    quick = drawn(words, Fraction(1, 50))
    assert len(asked) < 5
    monkeypatch.setattr(module, "_RELATIVE", 0.01)
    assert drawn(words, Fraction(1, 50)) == quick
    assert len(asked) > 1000


def test_the_ends_of_the_words():
    assert drawn([2**64 - 1], Fraction(1)) == [0]
    assert drawn([0], Fraction(1), later=b"\xff") == [44]  # 64 ln 2 = 44.36
    with overridden(lambda count: bytes(count - 1) + (b"\x00" if count == 16 else b"\x01")):
        assert draw_geometric(Fraction(1), 2).tolist() == [49, 49]  # U = 2^-72, and 72 ln 2 = 49.91
    assert drawn([1, 2**63, 2**64 - 1], Fraction(10) ** 30) == [0, 0, 0]


def test_rates_must_be_above_zero_and_not_below_what_64_bits_hold():
    for rate in (Fraction(0), Fraction(-1)):
        with pytest.raises(ParameterError, match="rate must be > 0"):
            draw_geometric(rate, 1)
    with pytest.raises(ParameterError, match="rate must be at least 2\\*\\*-40"):
        draw_geometric(Fraction(1, 10**20), 1)


def test_the_discrete_laplace_is_the_difference_of_two():
    words = np.random.default_rng(7).integers(0, 2**64, 40, dtype=np.uint64)
    rate = Fraction(1, 3)
    one = drawn(words, rate)
    given = [words.tobytes()]
    with overridden(lambda count: given.pop()):
        both = draw_discrete_laplaces(rate, 20)
    assert both.tolist() == [a - b for a, b in zip(one[:20], one[20:], strict=True)]


def test_no_draws_are_no_draws():
    assert draw_geometric(Fraction(1), 0).tolist() == []
    assert draw_discrete_laplaces(Fraction(1), 0).tolist() == []
