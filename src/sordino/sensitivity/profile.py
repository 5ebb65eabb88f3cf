"""Profile: how much one further change can move a score or a number, t changes away from this database."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.core import (
    Distance,
    ParameterError,
    UnsupportedError,
    add_remove_row,
    check_distance,
)
from sordino.core.parameters import exact, positive, whole
from sordino.sensitivity.grid import bound_in_steps, in_steps
from sordino.sensitivity.smooth_bound import SmoothBound

Floats = NDArray[np.float64]

_BLOCK_CELLS = 1 << 23
_CACHE_CELLS = 1 << 16
_MOST_STEPS = 1 << 26
_EXACT_TERMS = 1 << 21
_LARGEST_BOUND = 1 << 31  # in steps of a grid
_SMALLEST_BOUND = 1e-250
_LARGEST_WHOLE = 1 << 53
# Relative rounding of exp and of one product, generously; `SmoothBound` says how it is paid for.
_ROUND_UP = 1 + 2.0**-44


@dataclass(frozen=True, slots=True, repr=False)
class Profile:
    """The sensitivity function δ(0) ≤ δ(1) ≤ δ(2) ≤ … of one number, or of every candidate of a selection.

    Many candidates may share one row (``group_of``), so memory is candidates + groups × steps; a profile with one
    row and no ``group_of`` holds for any number of candidates. From ``length`` on, δ(t) is ``bound``, never the last
    column; ``bound`` is the global sensitivity and may be ∞ where the use allows it.

    ``closed_gap``, where there is one, gives what `gap_on_grid` would sum up step by step. ``is_constant`` says that it
    was made by `constant`: unlike an empty table, whose length may follow the data, that is public.

    **Requires** (the caller's claim, checked by ``sordino.audit.check_profile`` on small universes): admissibility,
    that is δ(x, 0) ≥ the local sensitivity at x and δ(x, t+1) ≥ δ(y, t) for all neighbours x, y.
    **Source**: LD Def. 6 with the neighbour's database on the right, where the print repeats x.

    >>> import sordino as sd
    >>> profile = sd.Profile.from_table([3, 5], bound=40)
    >>> profile.at(0), profile.at(1), profile.at(2)
    (3.0, 5.0, 40.0)
    >>> round(profile.smooth(0.5), 3)
    14.715
    """

    rows: int
    bound: float
    length: int | None
    values: Callable[[int, int], Floats]
    group_of: NDArray[np.intp] | None = None
    distance: Distance | None = None
    closed_gap: Callable[[float], NDArray[np.int64]] | None = None
    is_constant: bool = False

    def __post_init__(self) -> None:
        if self.distance is not None:
            check_distance(self.distance)

    # -- construction ------------------------------------------------------------------------------------------

    @classmethod
    def constant(cls, bound: float, *, distance: Distance | None = None) -> Profile:
        """The global sensitivity at every distance."""
        positive("bound", bound)
        return cls(
            1,
            _checked_bound(bound),
            0,
            lambda start, stop: np.empty((1, 0)),
            distance=distance,
            is_constant=True,
        )

    @classmethod
    def from_table(cls, table: ArrayLike, *, bound: float, distance: Distance | None = None) -> Profile:
        """Rows of δ(0), δ(1), …: shape (T,) for one row, (candidates, T) for one row each."""
        array, bound = _checked_table(table, bound)
        group_of = np.arange(len(array)) if np.ndim(table) == 2 else None
        return cls(len(array), bound, array.shape[1], _slices(array), group_of, distance)

    @classmethod
    def grouped(
        cls, table: ArrayLike, group_of: ArrayLike, *, bound: float, distance: Distance | None = None
    ) -> Profile:
        """Candidate i has row ``group_of[i]`` of ``table`` (groups, T)."""
        array, bound = _checked_table(table, bound)
        if np.ndim(table) != 2:
            raise ParameterError(f"a grouped table must have two axes (groups, steps), got {np.ndim(table)}")
        groups = _checked_groups(group_of, len(array))
        return cls(len(array), bound, array.shape[1], _slices(array), groups, distance)

    @classmethod
    def from_function(
        cls,
        function: Callable[[NDArray[np.int64]], ArrayLike],
        *,
        bound: float,
        group_of: ArrayLike | None = None,
        distance: Distance | None = None,
    ) -> Profile:
        """A vectorised function of t: an array of t gives (steps,) for one row or (rows, steps)."""
        bound = _checked_bound(bound)
        if not callable(function):
            raise ParameterError(f"a profile function must be callable, got {type(function).__name__}")

        def values(start: int, stop: int) -> Floats:
            try:
                block = np.asarray(function(np.arange(start, stop, dtype=np.int64)), dtype=np.float64)
            except (TypeError, ValueError):
                raise ParameterError(
                    "a profile function must take an array of t and give an array of numbers"
                ) from None
            block = block[None, :] if block.ndim == 1 else block
            if block.ndim != 2 or block.shape[1] != stop - start:
                raise ParameterError(
                    f"the profile function must give (steps,) or (rows, steps), got {block.shape}"
                )
            _check_values(block, bound)
            return block

        first = values(0, 2)
        groups = None
        if group_of is not None:
            groups = _checked_groups(group_of, len(first))
        elif np.ndim(function(np.arange(2, dtype=np.int64))) == 2:
            groups = np.arange(len(first))
        return cls(len(first), bound, None, values, groups, distance)

    # -- reading -----------------------------------------------------------------------------------------------

    @property
    def candidates(self) -> int | None:
        """How many candidates the profile is for; None if one row serves any number."""
        return None if self.group_of is None else len(self.group_of)

    def at(self, t: int) -> Any:
        """δ(t): a float for one row, an array over candidates otherwise."""
        t = whole("t", t, least=0)
        if self.length is not None and t >= self.length:
            column = np.full(self.rows, self.bound)
        else:
            column = self.values(t, t + 1)[:, 0]
        return self._spread(column)

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """(t, δ(t … t+k)) over all steps below the bound, memory bounded; from their end on every row is at the bound.

        They end where that is so, or after 2²⁶ steps: from that public horizon on δ is taken as the bound, which is
        admissible (see `until`).
        """
        # a table is there already; a function may reach its bound after a few steps
        end = _MOST_STEPS if self.length is None else min(self.length, _MOST_STEPS)
        start, width = 0, 4 if self.length is None else 2 * self.length
        while start < end:
            width = max(1, min(2 * width, _BLOCK_CELLS // self.rows))
            stop = min(start + width, end)
            block = self.values(start, stop)
            yield start, block
            if self.length is None and bool(np.all(block[:, -1] >= self.bound)):
                return
            start = stop

    def smooth(self, beta: float) -> Any:
        """max over t of e^(−βt) δ(t), rounded up: a float for one row, an array over candidates otherwise.

        Steps are read until no later one can matter; from a horizon that depends on β and the bound alone, δ is
        taken as the bound, which keeps the result β-smooth.
        """
        beta = positive("beta", beta)
        if math.isinf(self.bound):
            raise UnsupportedError("smooth() needs a finite bound: give bound= or .capped(bound)")
        # neither e^(-beta·horizon) nor its product with the bound leaves the range of normal doubles
        horizon = _whole_steps((700 + min(0.0, math.log(self.bound))) / beta)
        limit = horizon if self.length is None else min(self.length, horizon)
        best = np.full(self.rows, math.exp(-beta * limit) * self.bound if limit else self.bound)
        start, width = 0, 4
        while start < limit and math.exp(-beta * start) * self.bound > best.min():
            width = max(1, min(2 * width, _BLOCK_CELLS // self.rows))
            stop = min(start + width, limit)
            decay = np.exp(-beta * np.arange(start, stop))
            np.maximum(best, (self.values(start, stop) * decay).max(axis=1), out=best)
            start = stop
        return self._spread(best * _ROUND_UP)

    def smooth_bound(self, distance: Distance | None = None) -> SmoothBound:
        """The smooth bound of a number (the largest over candidates if there are several)."""
        if self.is_constant and math.isfinite(self.bound):
            return SmoothBound.of_constant(self.bound, distance=self.measured_in(distance))
        return SmoothBound(
            function=lambda beta: float(np.max(self.smooth(beta))), distance=self.measured_in(distance)
        )

    def measured_in(self, distance: Distance | None) -> Distance:
        """The distance that t counts: the profile's own, or the given one where it states none.

        A profile that holds for one kind of change says nothing about another, so another one is refused.
        """
        given = None if distance is None else check_distance(distance)
        if self.distance is not None and given is not None and given != self.distance:
            raise ParameterError(
                f"this profile counts {self.distance}, got distance {given}: leave distance= out, or give a profile "
                "for that distance"
            )
        return self.distance or given or add_remove_row()

    def gap(self) -> Any:
        """Σ over t of (bound − δ(t)), what shifted dampening subtracts: one number per candidate (or one)."""
        if math.isinf(self.bound):
            raise UnsupportedError("gap() needs a finite bound: give bound= or .capped(bound)")
        total = np.zeros(self.rows)
        for _, block in self.blocks():
            total += (self.bound - block).sum(axis=1)
        return self._spread(total)

    def gap_on_grid(self, step: float) -> NDArray[np.int64]:
        """Σ over t of (⌈bound/h⌉ − ⌈δ(t)/h⌉) for every row, h = ``step`` a power of two: exact."""
        if math.isinf(self.bound):
            raise UnsupportedError("the gap needs a finite bound: give bound= or .capped(bound)")
        if self.closed_gap is not None:
            return self.closed_gap(step)
        bound = bound_in_steps(self.bound, step)
        if bound > _LARGEST_BOUND:
            raise ParameterError(f"step must be at least 2^-31 of the bound {self.bound:g}, got {step!r}")
        gap = np.zeros(self.rows, dtype=np.int64)
        for _, block in self.blocks():
            for rows in _slices_that_fit_a_cache(block.shape):
                steps = in_steps(block[rows], step)
                for start in range(0, block.shape[1], _EXACT_TERMS):
                    part = steps[:, start : start + _EXACT_TERMS]
                    # whole numbers up to 2^31, at most 2^21 of them: the sum is exact in floating point, in any order
                    total = part @ np.ones(part.shape[1])
                    gap[rows] += bound * part.shape[1] - total.astype(np.int64)
        return gap

    # -- combination -------------------------------------------------------------------------------------------

    def flat(self) -> Profile:
        """One row that bounds every candidate: the maximum over candidates."""
        values = self.values
        return replace(
            self,
            rows=1,
            values=lambda start, stop: values(start, stop).max(axis=0, keepdims=True),
            group_of=None,
            closed_gap=None,
        )

    def capped(self, bound: float) -> Profile:
        """min(δ, bound), where ``bound`` is a global sensitivity: stays admissible."""
        bound = _checked_bound(bound)
        values = self.values
        return replace(
            self,
            bound=min(bound, self.bound),
            values=lambda start, stop: np.minimum(values(start, stop), bound),
            closed_gap=None,
        )

    def until(self, horizon: int) -> Profile:
        """δ below a public horizon, the bound from it on: stays admissible, and is bounded."""
        horizon = whole("horizon", horizon, least=0)
        length = horizon if self.length is None else min(horizon, self.length)
        return replace(self, length=length, closed_gap=None)

    def __or__(self, other: Profile) -> Profile:
        """The larger of two profiles at every step."""
        if not isinstance(other, Profile):
            return NotImplemented
        return self._combined(other, np.maximum, max)

    def __and__(self, other: Profile) -> Profile:
        """The smaller of two profiles that bound the same thing."""
        if not isinstance(other, Profile):
            return NotImplemented
        return self._combined(other, np.minimum, min)

    def _combined(
        self,
        other: Profile,
        pick: Callable[[Floats, Floats], Floats],
        pick_one: Callable[[float, float], float],
    ) -> Profile:
        if self.candidates and other.candidates and self.candidates != other.candidates:
            raise ParameterError(
                f"the profiles are for {self.candidates} and {other.candidates} candidates; they must be for the same"
            )
        if self.distance and other.distance and self.distance != other.distance:
            raise ParameterError(f"the profiles count different changes: {self.distance}; {other.distance}")
        mine, theirs, group_of = _common_rows(self, other)
        length = None
        if self.length is not None and other.length is not None:
            length = max(self.length, other.length)

        def values(start: int, stop: int) -> Floats:
            return pick(self._padded(start, stop)[mine], other._padded(start, stop)[theirs])

        return Profile(
            len(mine),
            pick_one(self.bound, other.bound),
            length,
            values,
            group_of,
            self.distance or other.distance,
        )

    def _padded(self, start: int, stop: int) -> Floats:
        """δ(start … stop) with the bound past the table."""
        if self.length is None or stop <= self.length:
            return self.values(start, stop)
        inside = (
            self.values(start, max(start, self.length)) if start < self.length else np.empty((self.rows, 0))
        )
        missing = stop - start - inside.shape[1]
        return np.concatenate([inside, np.full((self.rows, missing), self.bound)], axis=1)

    def _spread(self, per_row: Floats) -> Any:
        return float(per_row[0]) if self.group_of is None else per_row[self.group_of]

    def __repr__(self) -> str:
        candidates = "any" if self.candidates is None else self.candidates
        return (
            f"Profile(candidates={candidates}, rows={self.rows}, steps={self.length}, bound={self.bound:g})"
        )


def _common_rows(
    one: Profile, two: Profile
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp] | None]:
    """Rows of a combined profile: one per pair of rows that some candidate uses."""
    if one.group_of is None and two.group_of is None:
        return np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp), None
    if one.group_of is None or two.group_of is None:
        group_of = two.group_of if one.group_of is None else one.group_of
        rows = np.arange(max(one.rows, two.rows))
        zeros = np.zeros(len(rows), dtype=np.intp)
        return (zeros, rows, group_of) if one.group_of is None else (rows, zeros, group_of)
    pairs, group_of = np.unique(one.group_of * two.rows + two.group_of, return_inverse=True)
    return pairs // two.rows, pairs % two.rows, group_of


def _slices_that_fit_a_cache(shape: tuple[int, ...]) -> Iterator[slice]:
    rows = max(1, _CACHE_CELLS // shape[1])
    return (slice(start, start + rows) for start in range(0, shape[0], rows))


def _whole_steps(steps: float) -> int:
    """⌈steps⌉, at most 2⁶²."""
    return math.ceil(min(steps, 2.0**62))


def _slices(array: Floats) -> Callable[[int, int], Floats]:
    return lambda start, stop: array[:, start:stop]


def _checked_bound(bound: float) -> float:
    if isinstance(bound, float) and bound == math.inf:
        return math.inf
    if positive("bound", bound) < _SMALLEST_BOUND:
        raise ParameterError(f"bound must be at least {_SMALLEST_BOUND:g}, got {bound!r}")
    return _rounded_up(exact("bound", bound))


def _rounded_up(value: Fraction | int) -> float:
    """The least double that is not below an exact number within their range."""
    rounded = float(value)
    return math.nextafter(rounded, math.inf) if rounded < value else rounded


def _checked_table(table: ArrayLike, bound: float) -> tuple[Floats, float]:
    bound = _checked_bound(bound)
    try:
        array = np.asarray(table)
    except ValueError:
        raise ParameterError("a profile table must have rows of one length") from None
    if array.size and array.dtype.kind not in "iuf":
        raise ParameterError("a profile table must be a numeric array (T,) or (candidates, T)")
    whole = array if array.dtype.kind in "iu" and array.size and array.max() > _LARGEST_WHOLE else None
    array = array.astype(np.float64)
    if whole is not None:
        for place in zip(*np.nonzero(whole > _LARGEST_WHOLE), strict=True):
            array[place] = _rounded_up(int(whole[place]))
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[0] == 0):
        raise ParameterError(f"a profile table must have shape (T,) or (candidates, T), got {array.shape}")
    array = array[None, :] if array.ndim == 1 else array
    _check_values(array, bound)
    array.flags.writeable = False
    return array, bound


def _check_values(array: Floats, bound: float) -> None:
    if not np.isfinite(array).all():
        raise ParameterError("a profile must be finite at every step")
    if (array < 0).any():
        raise ParameterError("a profile must be >= 0 at every step")
    if array.shape[1] > 1 and (np.diff(array, axis=1) < 0).any():
        raise ParameterError("a profile must not decrease with the number of changes")
    if (array > bound).any():
        raise ParameterError(
            f"a profile must not exceed its bound {bound:g}: give the right bound, or cap the profile at it"
        )


def _checked_groups(group_of: ArrayLike, rows: int) -> NDArray[np.intp]:
    groups = np.asarray(group_of)
    if groups.ndim != 1 or groups.size == 0 or groups.dtype.kind not in "iu":
        raise ParameterError("group_of must be a non-empty array of row numbers, one per candidate")
    if groups.min() < 0 or groups.max() >= rows:
        raise ParameterError(f"group_of must hold row numbers in [0, {rows})")
    return groups.astype(np.intp)
