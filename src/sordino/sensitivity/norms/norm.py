"""Norm: what one unit of distance between two rows means, as the owner of the data writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.core import ParameterError
from sordino.core.parameters import did_you_mean
from sordino.sensitivity.norms.combination import CombinedNorm
from sordino.sensitivity.norms.leaf import LeafKind, NormLeaf
from sordino.sensitivity.norms.parsing import parse_norm
from sordino.sensitivity.norms.part import NormPart
from sordino.sensitivity.norms.ratio import bound_ratio
from sordino.sensitivity.norms.scaled import ScaledNorm
from sordino.sensitivity.norms.shared import bound_shared_dual, bound_shared_slopes, has_shared


@dataclass(frozen=True, slots=True)
class Norm:
    """A norm of the moves of a row's cells: columns, scaled and put together by ℓ_p; each column once, unless it is
    asked for otherwise (`shared.py`).

    Moves and slopes are mappings from column to number, or to an array with one entry per row. Those of a `log` column
    are moves of ln x and slopes per unit of ln x; an `is` column moves by 0 or 1.

    **Numerics**: `measure` and `dual` are off by a few units in the last place of a double, which is far below the
    relative 2⁻⁴⁰ that a `SmoothBound` may be off by.
    **Source**: NAPLES report, Def. 3.57 and Lemmas 3.64–3.66, for columns that are apart.

    >>> import sordino as sd
    >>> norm = sd.Norm.parse("l1(0.001*l2(x, y), 5*log(speed))")
    >>> float(norm({"x": 300, "y": 400, "speed": 0.1}))
    1.0
    >>> float(norm.dual({"x": 3, "y": 4}))
    5000.0
    """

    root: NormPart

    @classmethod
    def parse(cls, text: str, *, shared: bool = False) -> Norm:
        """From its text; what is no norm is refused with its place.

        ``shared``: a column may stand in it several times. Its dual is then an upper bound, found by splitting slopes
        among the occurrences; policies want every column once.
        """
        return cls(parse_norm(text, shared=shared))

    @property
    def columns(self) -> tuple[str, ...]:
        """In the order in which they are written."""
        return tuple(dict.fromkeys(leaf.column for leaf, _ in self.root.leaves()))

    @property
    def shared(self) -> bool:
        """Whether a column stands in it several times."""
        return has_shared(self.root)

    @property
    def kinds(self) -> Mapping[str, LeafKind]:
        """How each column is measured."""
        return {leaf.column: leaf.kind for leaf, _ in self.root.leaves()}

    @property
    def weights(self) -> Mapping[str, Fraction]:
        """The product of all factors above each column, the largest of its occurrences: a move of it alone is as long,
        or longer if it stands in the norm several times."""
        found: dict[str, Fraction] = {}
        for leaf, factor in self.root.leaves():
            found[leaf.column] = max(factor, found.get(leaf.column, factor))
        return found

    def __call__(self, moves: Mapping[str, Any]) -> Any:
        """The length of a move."""
        self._check(moves)
        return self.root.measure(moves)

    def distance(self, row: Mapping[str, Any], other: Mapping[str, Any]) -> Any:
        """Between two rows, or two tables of columns, row by row."""
        self._check(row)
        self._check(other)
        return self.root.measure(
            {
                leaf.column: _MOVES[leaf.kind](row[leaf.column], other[leaf.column])
                for leaf, _ in self.root.leaves()
            }
        )

    def dual(self, slopes: Mapping[str, Any]) -> Any:
        """sup of Σ slope·move over moves of length 1: how fast a number with these slopes changes per unit.

        With shared columns an upper bound by the best split of the slopes that is found, which is the least one where
        a column stands in the norm three times at most, or two of them twice.
        """
        self._check(slopes)
        return bound_shared_dual(self.root, slopes) if self.shared else self.root.dual(slopes)

    def bound_slopes(self, slopes: Mapping[str, Any]) -> Any:
        """The dual, or with shared columns somewhat more: it grows with the slopes and is homogeneous in them, so that
        bounds on slopes which are β-smooth give one that is."""
        self._check(slopes)
        return bound_shared_slopes(self.root, slopes) if self.shared else self.root.dual(slopes)

    def unit_rates(self) -> dict[str, float]:
        """Rates r > 0 of the columns with dual(r) = 1; `is` columns have none. Rates of shared columns add up: split
        as they came, their dual is at most 1."""
        found: dict[str, float] = {}
        for column, rate in self.root.unit_rates(1.0):
            found[column] = found.get(column, 0.0) + rate
        return found

    def part_over(self, columns: frozenset[str]) -> tuple[NormPart, Norm] | None:
        """A norm of exactly these columns within this one, and this norm in a form that has it as a part.

        ℓ_p(N₁, …, N_k) is ℓ_p(ℓ_p(N₁, …, N_j), N_{j+1}, …, N_k), so some children of one ℓ_p are a part too. None with
        shared columns, which could be outside of the part as well.
        """
        if self.shared:
            return None
        for part in self.root.parts():
            if {leaf.column for leaf, _ in part.leaves()} == columns:
                return part, self
            if isinstance(part, CombinedNorm):
                inside = [
                    child for child in part.children if {leaf.column for leaf, _ in child.leaves()} <= columns
                ]
                covered = {leaf.column for child in inside for leaf, _ in child.leaves()}
                if len(inside) > 1 and covered == columns:
                    grouped = CombinedNorm(part.exponent, tuple(inside))
                    rest = tuple(child for child in part.children if child not in inside)
                    whole = CombinedNorm(part.exponent, (grouped, *rest))
                    return grouped, Norm(self.root.replaced(part, whole))
        return None

    def with_column(self, part: NormPart, column: str, weight: Fraction) -> Norm:
        """This norm with ``weight``·|column| in the place of a part."""
        return Norm(self.root.replaced(part, ScaledNorm(weight, NormLeaf(column))))

    def renamed(self, names: Mapping[str, str]) -> Norm:
        """With other names of columns, as in a join where two rows of one table meet."""
        root = self.root
        for leaf, _ in list(root.leaves()):
            root = root.replaced(leaf, NormLeaf(names[leaf.column], leaf.kind))
        return Norm(root)

    def __le__(self, other: Norm) -> bool:
        """Whether this norm is known to be nowhere larger than the other."""
        return self == other or norm_ratio(self, other) <= 1

    def __str__(self) -> str:
        return str(self.root)

    def _check(self, given: Mapping[str, Any]) -> None:
        known = self.columns
        for name in given:
            if name not in known:
                hint = did_you_mean(name, known, otherwise=f"its columns are {', '.join(known)}")
                raise ParameterError(f"column {name!r} is not in the norm {self}: {hint}")


def norm_ratio(norm: Norm, other: Norm) -> float:
    """An upper bound on sup norm(x)/other(x) over all moves x (`ratio.py`).

    >>> import sordino as sd
    >>> norm_ratio(sd.Norm.parse("l1(x, y)"), sd.Norm.parse("linf(x, y)")) > 2
    True
    """
    return bound_ratio(norm.root, other.root)


def _plain_move(value: Any, other: Any) -> Any:
    return np.asarray(value, dtype=float) - np.asarray(other, dtype=float)


def _log_move(value: Any, other: Any) -> Any:
    first, second = np.asarray(value, dtype=float), np.asarray(other, dtype=float)
    if not ((first > 0).all() and (second > 0).all()):
        raise ParameterError("a log column has values > 0")
    return np.log(first) - np.log(second)


def _jump(value: Any, other: Any) -> Any:
    return np.where(np.asarray(value, dtype=object) == np.asarray(other, dtype=object), 0.0, 1.0)


_MOVES = {"plain": _plain_move, "log": _log_move, "is": _jump}
