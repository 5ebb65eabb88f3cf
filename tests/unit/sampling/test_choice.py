"""The exact choice: its filter, its fallback, and the law it draws from, by forcing every branch."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.sampling import choice
from sordino.sampling.choice import ExponentialChoice, FlipChoice, is_below_exp
from sordino.sampling.refined_uniform import RefinedUniform


def test_single_precision_weights_are_within_the_margin_everywhere():
    """The filter's one assumption, checked against double precision on exponents of every size."""
    rng = np.random.default_rng(0)
    below = np.unique(np.concatenate([rng.integers(0, 2**40, size=200_000), 2 ** np.arange(41)]))
    for rate in (Fraction(80, 2**40), Fraction(1, 2**34), Fraction(7, 3 * 2**36)):
        exponents = below * float(rate)
        inside = exponents < 80
        weights = choice._Weights(-below, rate).weights[::1]
        truth = np.exp(-(exponents - exponents.min()))
        ratio = weights[inside] / truth[inside]
        assert np.abs(ratio - 1).max() < choice._MARGIN / 2


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 3), Fraction(5), Fraction(40)])
def test_comparison_with_an_exponential_refines_as_far_as_needed(exponent):
    threshold = math.exp(-exponent)
    for bits in (8, 16, 53):
        numerator = int(threshold * 2**bits)
        if exponent:
            assert not is_below_exp(RefinedUniform(numerator + 2, bits), exponent)
        if numerator >= 2:
            assert is_below_exp(RefinedUniform(numerator - 2, bits), exponent)
    undecided = RefinedUniform(int(threshold * 2**8), 8)
    is_below_exp(undecided, exponent)
    assert exponent == 0 or undecided.bits > 8


def coin_biases(scores, rate):
    """P(heads) of every coin as the code decides it: all first words, then the exact middle."""
    flip = FlipChoice(np.asarray(scores), rate)
    biases = []
    for index in range(len(scores)):
        excess = np.arange(256) - int(flip.thresholds[index])
        sure, open_ = int((excess < -1).sum()), int(((excess >= -1) & (excess <= 1)).sum())
        biases.append((sure / 256, (sure + open_) / 256))
    return biases


def test_the_words_that_decide_a_coin_bracket_its_bias():
    scores = np.array([0, -1, -7, -100, -4000, -(10**15)])
    for rate in (Fraction(1, 7), Fraction(3), Fraction(1, 10**12), Fraction(10**40)):
        for (low, high), below in zip(coin_biases(scores, rate), -scores, strict=True):
            bias = math.exp(-float(rate * int(below))) if rate * int(below) < 700 else 0.0
            assert low <= bias <= high


def test_undecided_coins_are_tossed_exactly(monkeypatch):
    """Force the words onto the threshold: the outcome must follow the next 32 bits, and then ball arithmetic."""
    scores = np.array([0, -3])
    rate = Fraction(1, 2)
    bias = math.exp(-1.5)
    word = int(bias * 256)
    rest = bias * 2**40 - word * 2**32
    for offset, heads in ((-1000, True), (1000, False)):
        flip = FlipChoice(scores, rate)
        monkeypatch.setattr(
            choice, "random_words", lambda n, dtype, o=offset: np.array([int(rest) + o], dtype=dtype)
        )
        assert flip._tossed(np.array([1]), np.array([word], dtype=np.uint8))[0] == heads
    called = []
    monkeypatch.setattr(choice, "random_words", lambda n, dtype: np.array([int(rest)], dtype=dtype))
    monkeypatch.setattr(choice, "is_below_exp", lambda u, x: called.append((u.bits, x)) or True)
    FlipChoice(scores, rate)._tossed(np.array([1]), np.array([word], dtype=np.uint8))
    assert called == [(40, Fraction(3, 2))]


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(20), Fraction(10**6)])
def test_integer_weights_are_never_below_the_true_ones(rate):
    scores = np.array([0, -1, -2, -5, -40, -1000])
    chooser = ExponentialChoice(scores, rate)
    for ceiling, below in zip(chooser.ceilings.tolist(), (-scores).tolist(), strict=True):
        exponent = rate * below
        true = Fraction(math.exp(-exponent)) * 2**chooser.scale_bits if exponent < 700 else 0
        assert ceiling >= true * Fraction(999999, 1000000)
        assert ceiling <= true * Fraction(10002, 10000) + 2


def test_the_correcting_coin_has_the_bias_of_the_rest(monkeypatch):
    """P(proposal)·P(coin) must be proportional to the true weight: read the coin's threshold off by bisection."""
    scores = np.array([0, -1, -2])
    chooser = ExponentialChoice(scores, Fraction(1, 3))

    def accepts(index, numerator):
        monkeypatch.setattr(choice, "RefinedUniform", lambda: RefinedUniform(numerator, 64))
        return chooser._corrected(index)

    shares = []
    for index in range(3):
        low, high = 0, 2**64 - 1
        while high - low > 2**20:
            middle = (low + high) // 2
            low, high = (middle, high) if accepts(index, middle) else (low, middle)
        shares.append(low / 2**64 * int(chooser.ceilings[index]))
    for index in (1, 2):
        assert shares[index] / shares[0] == pytest.approx(math.exp(-index / 3), rel=1e-9)


def test_extreme_rates_and_gaps_choose_the_best():
    scores = np.array([-(2**60), 0, -1])
    for chooser in (ExponentialChoice, FlipChoice):
        assert chooser(scores, Fraction(10**50)).draw() == 1
        assert chooser(scores, Fraction(10**4)).draw() == 1
    ties = FlipChoice(np.zeros(5, dtype=np.int64), Fraction(10**50))
    assert {ties.draw() for _ in range(300)} == set(range(5))
