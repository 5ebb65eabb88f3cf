"""Rungs around a whole number: LadderLaw, their exact law, and an exact draw from it."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from sordino.core import UnsupportedError
from sordino.sampling.bernoulli import draw_bernoulli_exp
from sordino.sampling.refined_uniform import FIRST_BITS, RefinedUniform, precision
from sordino.sampling.source import random_below, random_bits

FloatArray = NDArray[np.float64]

_WINDOW_LOG_TAIL = 35.0  # the window aims at a mass of e⁻³⁵ outside,
_WINDOW_POINTS = 1 << 16  # but ends after this many points on either side
_LARGEST_INT64 = 1 << 61
_GUARD_BITS = 64
_ROUNDING = 1e-12
_LOG_ERROR, _TAIL_ERROR = 1e-13, 1e-15


class Rungs:
    """Rung 0 holds what is within ½ of the value, rung i = 1, 2, … the next w(i-1) cells on either side.

    A cell is 1/``cells``, an even part of 1, and has weight e^{-rate·i} on rung i. Widths past the list are ``top``, so
    the tail is geometric. Cells are counted j = 1, 2, … away from the value on either side; the middle of cell j
    is 2j - 1 half cells away.
    """

    __slots__ = ("_cumulative", "cells", "decay", "ends", "rate", "rate_float", "tails", "top", "total")

    def __init__(self, widths: list[int], top: int, rate: Fraction, *, cells: int) -> None:
        while widths and widths[-1] == top:
            widths.pop()
        self.top, self.rate, self.cells = top, rate, cells
        self.rate_float = float(rate)
        self.decay = math.exp(-self.rate_float)
        self.ends = list(accumulate(widths, initial=cells // 2))
        # tails[i] = Σ over rungs s > i of w·e^{-rate(s - i)}, on one side
        tails = [top * self._later()]
        for width in reversed(widths):
            tails.append(self.decay * (width + tails[-1]))
        self.tails = np.array(tails[::-1])
        self.total = 2 * (self.ends[0] + float(self.tails[0]))
        self._cumulative: list[arb] = []

    def _later(self) -> float:
        """Σ of e^{-rate·i} over i = 1, 2, …"""
        return self.decay / -math.expm1(-self.rate_float)

    @property
    def length(self) -> int:
        """How many rungs are listed before the geometric tail."""
        return len(self.ends) - 1

    def end(self, rung: Any) -> Any:
        """The last cell of a rung, for an integer or an array of them."""
        if isinstance(rung, int):
            beyond = rung - self.length
            return self.ends[rung] if beyond <= 0 else self.ends[-1] + beyond * self.top
        ends = self._ends_array(rung.dtype)
        inside = np.minimum(rung, self.length).astype(np.intp)
        return ends[inside] + np.maximum(rung - self.length, 0) * self.top

    def of_cell(self, cell: Any) -> Any:
        """The rung of cell j >= 1, for an integer or an array of them."""
        if isinstance(cell, int):
            beyond = cell - self.ends[-1]
            return bisect_left(self.ends, cell) if beyond <= 0 else self.length - (-beyond // self.top)
        ends = self._ends_array(cell.dtype)
        beyond = cell - self.ends[-1]
        inside = np.searchsorted(ends, cell, side="left").astype(cell.dtype)
        return np.where(beyond <= 0, inside, self.length - (-beyond // self.top))

    def _ends_array(self, dtype: Any) -> NDArray[Any]:
        return np.array(self.ends, dtype=dtype)

    def tail(self, rung: Any) -> Any:
        """Σ over later rungs, in units of this rung's weight."""
        return self.tails[np.minimum(rung, self.length).astype(np.intp)]

    def log_mass(self, first: NDArray[Any], last: NDArray[Any]) -> FloatArray:
        """ln of the mass of cells first … last of one side, element by element; -∞ where there are none."""
        first = np.maximum(first, 1)
        result = np.full(first.shape, -np.inf)
        some = last >= first
        first, last = first[some], last[some]
        if first.size == 0:
            return result
        low, high = self.of_cell(first), self.of_cell(last)
        same = low == high
        between = np.where(same, low, high - 1)
        steps = (high - low).astype(np.float64)
        opening = np.where(same, last, self.end(low)) - first + 1
        closing = np.where(same, 0, last - self.end(between))
        middle = self.tail(low) - np.exp(-self.rate_float * np.maximum(steps - 1, 0)) * self.tail(between)
        mass = opening.astype(np.float64) + closing.astype(np.float64) * np.exp(-self.rate_float * steps)
        mass += np.where(steps > 1, middle, 0.0)
        result[some] = np.log(mass) - self.rate_float * low.astype(np.float64) - math.log(self.total)
        return result

    def log_mass_from(self, cell: int) -> float:
        """ln of the mass of all cells from ``cell`` >= 1 on, on one side."""
        rung = self.of_cell(cell)
        mass = float(self.end(rung) - cell + 1) + float(self.tails[min(rung, self.length)])
        return math.log(mass) - self.rate_float * float(rung) - math.log(self.total)

    def expected_distance(self) -> float:
        """The mean of the distance from the value, in units of 1, where all of rung 0 counts as the value."""
        total, weight, start = 0.0, 1.0, self.ends[0]
        for end in self.ends[1:]:
            weight *= self.decay
            width = end - start
            total += weight * width * (start + width / 2)
            start = end
        later = self._later()
        total += weight * self.top * later * (start + self.top / 2 + self.top * later)
        return float(2 * total / self.total / self.cells)

    def draw(self) -> int:
        """The position of one cell, in half cells from the value, exactly by its mass."""
        rung = self._draw_rung()
        start = int(self.end(rung - 1)) if rung else 0
        cell = start + 1 + random_below(int(self.end(rung)) - start)
        distance = 2 * cell - 1
        return -distance if random_bits(1) else distance

    def _draw_rung(self) -> int:
        uniform = RefinedUniform()
        if not self._cumulative:
            self._cumulative = self._balls(FIRST_BITS)
        sums = self._cumulative
        # a guess from floats, then certainty from balls
        low, high = 0, len(sums) - 1
        guess = uniform.midpoint() * self.total / 2
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if guess < float(sums[middle]) else (middle + 1, high)
        rung = low
        while True:
            with precision(uniform.bits + _GUARD_BITS):
                least, most = uniform.lower() * sums[-1], uniform.upper() * sums[-1]
                above = rung == 0 or bool(least >= sums[rung - 1])
                below = rung == len(sums) - 1 or bool(most <= sums[rung])
                if above and below:
                    break
                if rung > 0 and bool(most <= sums[rung - 1]):
                    rung -= 1
                    continue
                if rung < len(sums) - 1 and bool(least >= sums[rung]):
                    rung += 1
                    continue
            uniform.refine()
            sums = self._balls(uniform.bits)
        if rung == len(sums) - 1:  # past the list every rung is e^{-rate} times the one before
            while draw_bernoulli_exp(self.rate):
                rung += 1
        return rung

    def _balls(self, bits: int) -> list[arb]:
        """Weights of rungs 0 … i on one side for every listed rung i, and last of all rungs together."""
        with precision(bits + _GUARD_BITS + 2 * len(self.ends).bit_length()):
            decay = (-arb(fmpq(self.rate.numerator, self.rate.denominator))).exp()
            weight, sums = arb(1), [arb(self.ends[0])]
            for start, end in zip(self.ends, self.ends[1:], strict=False):
                weight *= decay
                sums.append(sums[-1] + (end - start) * weight)
            sums.append(sums[-1] + self.top * weight * decay / (1 - decay))
        return sums


@dataclass(frozen=True, slots=True, repr=False)
class LadderLaw:
    """The law of k, where k·step is the multiple of ``step`` nearest to a cell of the ladder around ``value``.

    Numerics: `log_masses` are floats within ``log_error``·(1 + |ln P|) of the truth, and `tail_mass` and `tail_loss`
    are rounded up by as much; `draw` is exact. The value and the rungs are confidential: so is this object.
    """

    value: int
    rungs: Rungs
    multiple: int

    def __repr__(self) -> str:
        return f"LadderLaw(<secret>, step={self.multiple})"

    @property
    def step(self) -> Fraction:
        """The public distance of two outcomes."""
        return Fraction(self.multiple)

    @property
    def log_error(self) -> float:
        """How far each number of `log_masses` may be off, relative to 1 + its size; `prove` adds it to the losses.

        Sums over rungs are differences of tails, which at a small rate are about 1/rate times as large.
        """
        return _LOG_ERROR + _TAIL_ERROR / self.rungs.rate_float

    def expected_error(self) -> float:
        """The mean absolute error at step 1; exact where rungs are whole numbers, else within the rounding."""
        return self.rungs.expected_distance()

    def window(self) -> tuple[int, int]:
        """Indices (first, last), both included, that hold all but about 1e-15 of the mass, or 2¹⁶ on either side."""
        rungs = self.rungs
        with np.errstate(divide="ignore"):  # at a very large rate no float of mass is left past a rung
            tails = np.log(rungs.tails)
        logs = tails - rungs.rate_float * np.arange(rungs.length + 1) - math.log(rungs.total / 2)
        inside = np.flatnonzero(logs <= -_WINDOW_LOG_TAIL)
        if inside.size:
            last = int(inside[0])
        else:
            last = rungs.length + math.ceil((float(logs[-1]) + _WINDOW_LOG_TAIL) / rungs.rate_float)
        points = min(int(rungs.end(last)) // (self.multiple * rungs.cells) + 1, _WINDOW_POINTS)
        middle = self.value // self.multiple
        return middle - points, middle + points + 1

    def log_masses(self, first: int, last: int) -> FloatArray:
        """ln P(k) for k = first, …, last."""
        count, width = last - first + 2, 2 * self.multiple * self.rungs.cells
        start = self._edge(first)
        large = max(abs(start), abs(start + count * width), 2 * self.rungs.ends[-1]) >= _LARGEST_INT64
        edges = np.arange(count).astype(object if large else np.int64) * width + start
        above = -(-(edges + 1) // 2)  # the first cell of the upper side at or above each edge
        below = (1 - edges) // 2  # the last cell of the lower side at or above it
        upper = self.rungs.log_mass(above[:-1], above[1:] - 1)
        return np.logaddexp(upper, self.rungs.log_mass(below[1:] + 1, below[:-1]))

    def tail_mass(self, first: int, last: int) -> float:
        """An upper bound on the mass outside first, …, last."""
        above, below = self._cells_beyond(first, last)
        if above < 1 or below < 1:
            return 1.0
        mass = math.exp(self.rungs.log_mass_from(above)) + math.exp(self.rungs.log_mass_from(below))
        return min(1.0, mass * (1 + _ROUNDING + 2 * self.log_error))

    def tail_loss(self, other: Any, first: int, last: int) -> float:
        """An upper bound on |ln(P(k)/P_other(k))| outside first, …, last.

        The loss of an outcome is at most that of its worst cell: the difference of the two rungs times the rate,
        plus the difference of the totals. Rungs differ by a function that only changes where a rung begins and is
        periodic past both lists, so looking at all beginnings up to there is looking at everything.
        """
        mine, theirs = self.rungs, getattr(other, "rungs", None)
        if not isinstance(other, LadderLaw) or not isinstance(theirs, Rungs):
            raise UnsupportedError("tail_loss compares two ladders; with another law it has no bound")
        own, others = (mine.rate, mine.cells, mine.top), (theirs.rate, theirs.cells, theirs.top)
        if own != others or self.step != other.step:
            raise UnsupportedError("tail_loss compares two ladders of one rate, bound, cell and step")
        shift = (other.value - self.value) * mine.cells
        totals = math.log(theirs.total) - math.log(mine.total)
        worst = 0.0
        pairs = zip(
            self._cells_beyond(first, last), other._cells_beyond(first, last), (shift, -shift), strict=True
        )
        for start, other_start, offset in pairs:
            if start < 1 or other_start < 1:
                return math.inf
            further = abs(offset) // mine.top + 1
            cells = {start} | _beginnings(mine, start, theirs.length + further)
            cells |= {cell + offset for cell in _beginnings(theirs, other_start, mine.length + further)}
            for cell in cells:
                rungs = mine.of_cell(cell) - theirs.of_cell(cell - offset)
                worst = max(worst, abs(totals - mine.rate_float * rungs))
        return worst * (1 + _ROUNDING) + 2 * self.log_error

    def draw(self) -> int:
        """One index with this law, exactly."""
        half_step = self.multiple * self.rungs.cells
        return (2 * self.value * self.rungs.cells + self.rungs.draw() + half_step) // (2 * half_step)

    def _edge(self, index: int) -> int:
        """The lower edge of an outcome, in half cells from the value."""
        return (2 * index - 1) * self.multiple * self.rungs.cells - 2 * self.value * self.rungs.cells

    def _cells_beyond(self, first: int, last: int) -> tuple[int, int]:
        """The first cell above ``last`` on the upper side, and below ``first`` on the lower side."""
        return -(-(self._edge(last + 1) + 1) // 2), (1 - self._edge(first)) // 2 + 1


def _beginnings(rungs: Rungs, start: int, further: int) -> set[int]:
    """First cells of the rungs past ``start``, until ``further`` rungs after the list, and a period more."""
    first = rungs.of_cell(start)
    last = max(first, rungs.length) + further + 2
    return {rungs.end(rung) + 1 for rung in range(first, last + 1)}
