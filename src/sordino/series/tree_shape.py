"""TreeShape: which blocks of a stream make a running total, by the digits of the time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError
from sordino.core.parameters import whole

Base = int | Literal["auto"]
Times = NDArray[np.int64]
MOST_TIMES = 2**40  # a longer horizon is no number of times that anybody waits for


class Block(NamedTuple):
    """The changes of the times ``first`` … ``last``, added (``sign`` 1) or subtracted (−1)."""

    first: int
    last: int
    sign: int


@dataclass(frozen=True, slots=True)
class TreeShape:
    """Aligned blocks of lengths 1, a, a², … for a stream of ``horizon`` changes, a the ``base``.

    The total at time i is read off the digits of i, which run from −``borrow`` to a − 1 − ``borrow``: a digit d at
    level k is |d| blocks of length aᵏ, added from where the higher digits end if d > 0, subtracted before that place
    if d < 0. ``levels`` is the number of digits of the horizon. **Guarantee**: a change lies in at most ``levels`` of
    the blocks that some total uses, one per level, because blocks of one level do not overlap; the first change lies
    in that many. Without borrowing one block in a of each level, the last child of its parent, is never used; else it
    is another one.
    **Source**: Dwork, Naor, Pitassi and Rothblum 2010, Chan, Shi and Song 2011 (base 2); Andersson, Pagh, Steiner and
    Torkamani 2025 (negative digits). The number of levels that is usually printed, log₂ n, is one too few at n = 2ˢ.
    """

    horizon: int
    base: int
    borrow: int = 0

    def __post_init__(self) -> None:
        if not 0 <= 2 * self.borrow < self.base:
            raise ParameterError(
                f"borrow must be from 0 to {(self.base - 1) // 2} for base {self.base}, got {self.borrow!r}"
            )

    @property
    def levels(self) -> int:
        """The number of digits of the horizon."""
        level = 0
        while self.place(self.horizon, level):
            level += 1
        return level

    @property
    def largest_digit(self) -> int:
        """The most blocks that are added at one level."""
        return self.base - 1 - self.borrow

    def place(self, time: Any, level: int) -> Any:
        """How many blocks of this level the digits from here up stand for: ``time`` may be an array."""
        length = self.base**level
        return (time + self.borrow * ((length - 1) // (self.base - 1))) // length

    def digits(self, time: int) -> list[int]:
        """The digits of a time, the lowest first, as many as there are levels."""
        places = [self.place(time, level) for level in range(self.levels + 1)]
        return [low - self.base * high for low, high in pairwise(places)]

    def blocks(self, time: int) -> tuple[Block, ...]:
        """The blocks whose sum is the total at a time, the longest first."""
        found: list[Block] = []
        at = 0
        for level, digit in reversed(list(enumerate(self.digits(time)))):
            length = self.base**level
            for _ in range(abs(digit)):
                if digit > 0:
                    found.append(Block(at + 1, at + length, 1))
                    at += length
                else:
                    found.append(Block(at - length + 1, at, -1))
                    at -= length
        return tuple(found)

    def addends(self, times: Times) -> Times:
        """How many blocks the total of each time is made of."""
        total = np.zeros_like(times)
        for level in range(self.levels):
            total += np.abs(self.place(times, level) - self.base * self.place(times, level + 1))
        return total

    @property
    def most_addends(self) -> int:
        """The largest number of addends of any time up to the horizon.

        The largest sum of digits belongs to the horizon, or to a number that agrees with it down to some digit, has a
        smaller one there and then the largest ones.
        """
        digits = self.digits(self.horizon)
        best = sum(map(abs, digits))
        above = 0
        for level in range(len(digits) - 1, -1, -1):
            digit = digits[level]
            least = -self.borrow if above else 0  # a number whose first digit is negative is no time
            if digit - 1 >= least:
                lowered = max(abs(least), abs(digit - 1))
                best = max(best, above + lowered + level * self.largest_digit)
            above += abs(digit)
        return best


def choose_shape(horizon: int, base: Base, *, subtract: bool = False, power: int = 2) -> TreeShape:
    """The shape of a base, or for "auto" the one with the smallest (most addends)·levels^power, by the horizon alone.

    That product is the largest variance of a total in units of the noise of one number: with power 2 at pure ε, where
    shares of a budget widen the noise, with power 1 at ρ. Two levels or more cost at least 2^power times the largest
    digit, and one level the horizon itself, so the search ends early.
    """
    horizon = check_horizon(horizon)
    least = 3 if subtract else 2
    if base != "auto":
        whole("base", base, least=least)
        return _shape(horizon, int(base), subtract=subtract)
    best = _shape(horizon, max(least, 2 * horizon + 1 if subtract else horizon + 1), subtract=subtract)
    for shape in _shapes(horizon, least, subtract=subtract):
        if 2**power * shape.largest_digit >= cost_of(best, power) or shape.levels == 1:
            break
        if cost_of(shape, power) < cost_of(best, power):
            best = shape
    return best


def cost_of(shape: TreeShape, power: int = 2) -> int:
    """(most addends)·levels^power."""
    return int(shape.most_addends * shape.levels**power)


def check_horizon(value: Any) -> int:
    """The public number of times."""
    horizon = whole("horizon", value, least=1)
    if horizon > MOST_TIMES:
        raise ParameterError(f"horizon must be at most 2**40 times, got {value!r}")
    return horizon


def _shapes(horizon: int, base: int, *, subtract: bool) -> Iterator[TreeShape]:
    while True:
        yield _shape(horizon, base, subtract=subtract)
        base += 1


def _shape(horizon: int, base: int, *, subtract: bool) -> TreeShape:
    return TreeShape(horizon, base, (base - 1) // 2 if subtract else 0)
