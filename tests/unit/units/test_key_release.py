"""KeyRelease: draws, certain keys, and refusals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sordino import ParameterError
from sordino.units import KeyRelease


def test_draws_have_the_chance_of_the_chain():
    """50 000 keys of each kind: within six standard deviations."""
    release = KeyRelease.of(epsilon=1, delta=Fraction(1, 20), min_units=3)
    runs = 50_000
    for units in range(release.certain + 2):
        chance = float(release.probability(units))
        shown = int(release.draw(np.full(runs, units)).sum())
        assert abs(shown - runs * chance) <= 6 * np.sqrt(runs * chance * (1 - chance))
    assert not release.draw([0, 1, 2]).any()
    assert release.draw([release.certain, 10**12]).all()


def test_bits_beyond_a_word_decide_where_words_are_equal():
    """A chance of just under 2^-64 more than none: the first word has to be 0, and the rest decides."""
    release = KeyRelease.of(epsilon=1, delta=Fraction(1, 4))
    almost = replace(release, bits=70, chain=(0, (1 << 70) - 1, 1 << 70))
    assert almost.draw(np.ones(1000, dtype=np.int64)).all()
    never = replace(release, bits=70, chain=(0, 1, 1 << 70))
    assert not never.draw(np.ones(1000, dtype=np.int64)).any()


def test_no_keys_are_no_keys():
    assert KeyRelease.of(epsilon=1, delta=0.1).draw([]).shape == (0,)


def test_a_million_keys_are_drawn_at_once():
    release = KeyRelease.of(epsilon=0.1, delta=1e-9, keys_per_unit=3)
    assert release.draw(np.arange(10**6)).sum() > 10**6 - release.certain


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0, "delta": 0.1}, "epsilon must be > 0"),
        ({"epsilon": 1, "delta": 0}, "without it no key"),
        ({"epsilon": 1, "delta": 1}, "delta must be in"),
        ({"epsilon": 1, "delta": 0.1, "min_units": 0}, "min_units must be >= 1"),
        ({"epsilon": 1, "delta": 0.1, "keys_per_unit": 0}, "keys_per_unit must be >= 1"),
        ({"epsilon": 1e-9, "delta": 1e-9}, "too small"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        KeyRelease.of(**options)


def test_fractions_of_units_are_refused():
    with pytest.raises(ParameterError, match="whole numbers"):
        KeyRelease.of(epsilon=1, delta=0.1).draw([1.5])
