"""LinearSpace: vectors that satisfy linear equations A x = b, and components that fix some coordinates."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sordino.core import ParameterError, UnsupportedError
from sordino.core.loss import round_up
from sordino.core.parameters import as_written
from sordino.workflow.bound import Bound
from sordino.workflow.exact_matrix import Row, rank, reduce_to
from sordino.workflow.rows import as_list, read_matrix, read_vector

_MOST_CHOICES = 100_000
NORMS = (1, 2, math.inf)


@dataclass(frozen=True, slots=True, init=False)
class LinearSpace:
    """All x with A x = b, measured by ℓ₁, ℓ₂ or ℓ_∞; b does not matter. Coordinates are counted from 0.

    A class of the component I is the set of such x with given values at the coordinates in I. **Requires** equations
    that are independent of one another; numbers count as they are written, ranks are exact.

    >>> import sordino as sd
    >>> shares = sd.workflow.LinearSpace([[1, 1, 1]], norm=1)  # three numbers with a known sum
    >>> shares.class_distance({0: 1.0})
    2.0
    >>> print(shares.sensitivity([1, 2, 3], [0]))
    4 (independent columns, for matches)
    """

    rows: tuple[tuple[Fraction, ...], ...]
    norm: float

    def __init__(self, A: Any, *, norm: float = 1) -> None:
        if norm not in NORMS:
            raise ParameterError(f"norm must be 1, 2 or inf, got {norm!r}")
        rows = tuple(map(tuple, read_matrix("A", A)))
        if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
            raise ParameterError("A must be a matrix: rows of one length, at least one")
        if rank(rows) < len(rows):
            raise ParameterError(
                f"the {len(rows)} equations are not independent (rank {rank(rows)}): leave out those that follow"
            )
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "norm", float(norm))

    @property
    def coordinates(self) -> int:
        """How many coordinates a vector has."""
        return len(self.rows[0])

    def class_distance(self, fixed: Mapping[int, Any]) -> float:
        """How far apart two classes are whose fixed coordinates differ by these numbers.

        The least norm of a z with A z = 0 and z_i as given for i in I: the pseudo-inverse for ℓ₂, a linear programme
        for ℓ₁ and ℓ_∞. **Source**: NAPLES report, Lemma 3.23, with its missing minus sign. **Numerics**: whether there
        is such a class is decided exactly; the distance is a float, good to 10⁻⁹.
        """
        if not isinstance(fixed, Mapping):
            raise ParameterError(f"fixed must be a mapping of coordinates to differences, got {fixed!r}")
        moved = {
            self._coordinate(place): as_written(f"fixed[{place}]", value) for place, value in fixed.items()
        }
        free = [place for place in range(self.coordinates) if place not in moved]
        target = [-sum((row[place] * by for place, by in moved.items()), Fraction(0)) for row in self.rows]
        columns = [[row[place] for row in self.rows] for place in free]
        if any(target) and rank([*columns, target]) > (rank(columns) if columns else 0):
            told = ", ".join(f"x{place} by {float(by):g}" for place, by in moved.items())
            raise ParameterError(
                f"no such class: no solution of A x = b differs in {told} alone and in what is free"
            )
        return self._least_norm([float(by) for by in moved.values()], columns, target)

    def sensitivity(self, c: Sequence[Any], fixed: Iterable[int]) -> Bound:
        """The smallest of three bounds for the component that fixes some coordinates, named after its rule.

        ``c``: sensitivities to each coordinate alone, which must hold on *all* vectors: proofs walk through vectors
        that break the equations. Matches are pairs of two classes that differ in as few coordinates as possible,
        friends are nearest ones; the rule says which of them its number is for.

        **Guarantee**: *printed*, for matches: Σ_I c_i + p·max_{i∉I} c_i (Prop. 3.26). *Independent columns*, for
        matches: what a match changes outside I are independent columns of A, or one of them could stay; so
        Σ_I c_i + the heaviest set of independent columns outside I, found greedily. *Pivots*, for friends in ℓ₁: where
        equations solved for p coordinates outside I have columns A'_i of sums below 1, a nearest point changes only
        these, and Σ_I (c_i + Σ_j |A'_ji| c_pivot j)/(1 + ‖A'_i‖₁) (3.3.5.6).
        """
        weights = self._weights(c)
        chosen = sorted({self._coordinate(place) for place in as_list("fixed", fixed)})
        if not chosen:
            raise ParameterError("fixed must name a coordinate: a component that fixes none has one class")
        inside = sum((weights[place] for place in chosen), Fraction(0))
        outside = [place for place in range(self.coordinates) if place not in chosen]
        changed = self._heaviest_columns(weights, outside)
        found = {
            "printed, for matches": inside
            + len(self.rows) * max((weights[place] for place in outside), default=Fraction(0)),
            "independent columns, for matches": inside
            + sum((weights[place] for place in changed), Fraction(0)),
        }
        pivoted = self._pivot_bound(weights, chosen)
        if pivoted is not None:
            found["pivots, for friends"] = pivoted
        # of equal numbers the later rule, whose reason is closer
        rule = min(reversed(found), key=lambda name: found[name])
        return Bound(round_up(found[rule]), rule, {name: round_up(value) for name, value in found.items()})

    def dual_sensitivity(self, c: Sequence[Any], fixed: Iterable[int]) -> Bound:
        """Another bound for matches, ‖(c_i)‖_q over what changes, with 1/p + 1/q = 1: for ℓ₁ the largest of them.

        **Guarantee**: changing coordinates one by one moves the output by Σ c_i|Δ_i| ≤ ‖c‖_q‖Δ‖_p. **Numerics**:
        ℓ₂ is rounded up.
        """
        weights = self._weights(c)
        chosen = sorted({self._coordinate(place) for place in as_list("fixed", fixed)})
        outside = [place for place in range(self.coordinates) if place not in chosen]
        changed = [weights[place] for place in (*chosen, *self._heaviest_columns(weights, outside))]
        return combine_coordinates(changed, norm=self.norm)

    def pivots(self, *, outside: Iterable[int] = ()) -> tuple[int, ...] | None:
        """Coordinates to solve the equations for, such that all other columns have sums below 1; None: no such.

        ``outside``: coordinates that must not be among them.
        """
        barred = {self._coordinate(place) for place in outside}
        return next((pivots for pivots, _ in self._pivot_forms(barred)), None)

    def _pivot_forms(self, barred: set[int]) -> Iterable[tuple[tuple[int, ...], list[Row]]]:
        allowed = [place for place in range(self.coordinates) if place not in barred]
        count = math.comb(len(allowed), len(self.rows))
        if count > _MOST_CHOICES:
            raise UnsupportedError(f"{count} choices of pivots are too many to try: at most {_MOST_CHOICES}")
        for pivots in itertools.combinations(allowed, len(self.rows)):
            form = reduce_to(self.rows, pivots)
            if form is None:
                continue
            rest = [place for place in range(self.coordinates) if place not in pivots]
            if all(sum(abs(row[place]) for row in form) < 1 for place in rest):
                yield pivots, form

    def _pivot_bound(self, weights: list[Fraction], chosen: list[int]) -> Fraction | None:
        if self.norm != 1 or len(chosen) > self.coordinates - len(self.rows):
            return None
        try:
            forms = list(self._pivot_forms(set(chosen)))
        except UnsupportedError:
            return None
        bounds = []
        for pivots, form in forms:
            total = Fraction(0)
            for place in chosen:
                column = [abs(row[place]) for row in form]
                moved = sum(
                    (a * weights[pivot] for a, pivot in zip(column, pivots, strict=True)), Fraction(0)
                )
                total += (weights[place] + moved) / (1 + sum(column))
            bounds.append(total)
        return min(bounds, default=None)

    def _heaviest_columns(self, weights: list[Fraction], outside: list[int]) -> list[int]:
        """Independent columns with the largest sum of weights: greedily, since independent sets are a matroid."""
        taken: list[int] = []
        for place in sorted(outside, key=lambda place: -weights[place]):
            if rank([[row[other] for row in self.rows] for other in (*taken, place)]) > len(taken):
                taken.append(place)
        return taken

    def _least_norm(self, moved: list[float], columns: list[list[Fraction]], target: list[Fraction]) -> float:
        import numpy as np
        from scipy.optimize import linprog

        if not columns or not any(target):
            return float(np.linalg.norm(moved, ord=self.norm))
        matrix = np.array(columns, dtype=float).T
        right = np.array(target, dtype=float)
        if self.norm == 2:
            rest = np.linalg.pinv(matrix) @ right
            return float(np.linalg.norm([*moved, *rest]))
        count = len(columns)
        if self.norm == 1:  # z = u − v with u, v ≥ 0
            solved = linprog(np.ones(2 * count), A_eq=np.hstack([matrix, -matrix]), b_eq=right)
            return float(np.abs(moved).sum() + solved.fun)
        both = np.vstack([np.eye(count), -np.eye(count)])
        solved = linprog(
            np.r_[np.zeros(count), 1.0],
            A_ub=np.hstack([both, -np.ones((2 * count, 1))]),
            b_ub=np.zeros(2 * count),
            A_eq=np.hstack([matrix, np.zeros((len(right), 1))]),
            b_eq=right,
            bounds=[(None, None)] * count + [(0, None)],
        )
        return float(max(np.abs(moved).max(), solved.fun))

    def _weights(self, c: Sequence[Any]) -> list[Fraction]:
        weights = read_vector("c", c)
        if len(weights) != self.coordinates:
            raise ParameterError(
                f"c must have {self.coordinates} numbers, one per coordinate, got {len(weights)}"
            )
        for place, value in enumerate(weights):
            if value < 0:
                raise ParameterError(f"a sensitivity must be >= 0, got c[{place}] = {float(value):g}")
        return weights

    def _coordinate(self, place: Any) -> int:
        if (
            isinstance(place, bool)
            or not hasattr(place, "__index__")
            or not 0 <= int(place) < self.coordinates
        ):
            raise ParameterError(f"there is no coordinate {place!r}: they are 0 to {self.coordinates - 1}")
        return int(place)


def combine_coordinates(c: Sequence[Any], *, norm: float) -> Bound:
    """The sensitivity to independent coordinates together, from those to each: the smaller of the sum and its dual.

    **Guarantee**: Σ c_i (Cor. 3.22) and ‖(c_i)‖_q with 1/p + 1/q = 1, of which the dual is never larger: for ℓ₁ the
    largest, for ℓ_∞ the sum. **Numerics**: ℓ₂ is rounded up.

    >>> from sordino.workflow import combine_coordinates
    >>> print(combine_coordinates([3, 4], norm=2))
    5 (dual norm)
    """
    if norm not in NORMS:
        raise ParameterError(f"norm must be 1, 2 or inf, got {norm!r}")
    weights = read_vector("c", c)
    if not weights or min(weights) < 0:
        raise ParameterError(f"sensitivities must be numbers >= 0, at least one, got {list(c)!r}")
    total = round_up(sum(weights, Fraction(0)))
    if norm == 1:
        dual = round_up(max(weights))
    elif norm == 2:
        dual = _root_up(sum((weight * weight for weight in weights), Fraction(0)))
    else:
        dual = total
    found = {"sum": total, "dual norm": dual}
    rule = "dual norm" if dual < total else "sum"
    return Bound(found[rule], rule, found)


def _root_up(square: Fraction) -> float:
    """A float that is not below the root, and next to it."""
    root = math.sqrt(square)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root
