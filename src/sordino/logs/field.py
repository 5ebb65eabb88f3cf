"""Arithmetic modulo 2⁶¹ − 1 on arrays: what secrets and their shares are made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.sampling.source import random_words

Numbers = NDArray[np.uint64]

PRIME = 2**61 - 1
_P = np.uint64(PRIME)
_LOW = np.uint64(2**32 - 1)
_REST = np.uint64(2**29 - 1)
_3, _29, _32, _61 = (np.uint64(bits) for bits in (3, 29, 32, 61))
_SHIFTED = np.uint64(2**32)


def constant(values: object) -> Numbers:
    """Public whole numbers as numbers of the field; a constant is its own share."""
    return (np.asarray(values, dtype=np.int64) % PRIME).astype(np.uint64)


def add_mod(left: Numbers, right: Numbers) -> Numbers:
    """The sum."""
    return _reduce(left + right)


def subtract_mod(left: Numbers, right: Numbers) -> Numbers:
    """The difference."""
    return _reduce(left + (_P - right))


def sum_mod(values: Numbers) -> Numbers:
    """Sums along the first axis."""
    low = (values & _LOW).sum(axis=0, dtype=np.uint64)
    high = (values >> _32).sum(axis=0, dtype=np.uint64)
    return add_mod(_fold(low), multiply_mod(_fold(high), _SHIFTED))


def multiply_mod(left: Numbers, right: Numbers | np.uint64) -> Numbers:
    """The product, by halves of 32 bits: 2⁶⁴ ≡ 8 and 2⁶¹ ≡ 1."""
    low, high = left & _LOW, left >> _32
    other_low, other_high = right & _LOW, right >> _32
    middle = low * other_high + high * other_low  # below 2⁶²
    lowest = low * other_low
    found = (high * other_high) << _3  # each of the four below 2⁶¹ + 8
    found += middle >> _29
    found += (middle & _REST) << _32
    found += (lowest & _P) + (lowest >> _61)
    return _fold(found)


def draw_numbers(shape: tuple[int, ...]) -> Numbers:
    """Uniform numbers of the field, by rejection, from the operating system."""
    wanted = int(np.prod(shape))
    drawn = random_words(wanted, np.uint64) >> _3
    while (wrong := np.flatnonzero(drawn == _P)).size:
        drawn[wrong] = random_words(len(wrong), np.uint64) >> _3
    return drawn.reshape(shape)


def _fold(values: Numbers) -> Numbers:
    return _reduce((values & _P) + (values >> _61))


def _reduce(values: Numbers) -> Numbers:
    return np.where(values >= _P, values - _P, values)
