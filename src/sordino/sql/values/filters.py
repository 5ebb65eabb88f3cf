"""Filters: how a condition on protected columns becomes a number between 0 and 1."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from sordino.core import ParameterError
from sordino.sensitivity.derivatives.build import (
    add_terms,
    apply,
    multiply_factors,
    take_absolute,
    take_extreme,
)
from sordino.sensitivity.derivatives.functions import Ramp, Sigmoid, Tauoid
from sordino.sensitivity.derivatives.node import CellFunction

FilterKind = Literal["exact", "ramp", "sigmoid"]
_WRITTEN = re.compile(r"(ramp|sigmoid)\s*\(\s*([0-9.eE+-]+)\s*\)")
# Of the range of a difference: what is nearer to 0 is 0 but for rounding.
_NOTHING = 2.0**-40
_ACCEPTED = "filters must be 'exact', 'ramp(WIDTH)' or 'sigmoid(ALPHA)', got {!r}"


@dataclass(frozen=True, slots=True)
class Filters:
    """``exact``: ramps from one value of the lattice to the next, which change no answer. ``ramp``: of a width in units
    of what is compared, exact outside of it. ``sigmoid``: σ(α(x − y)), and for equality the tauoid. ``compares_all``:
    exact filters take numbers of no known lattice too, by ramps too steep for any noise: what the owner compares with.

    The choice is public and never depends on rows: two precisions have two answers, and where a choice between them
    flipped, the answer would jump at no distance.
    """

    kind: FilterKind = "exact"
    size: float = 0.0
    compares_all: bool = False

    @classmethod
    def parse(cls, text: Any) -> Filters:
        """From what an analyst gives."""
        if text is None or text == "exact":
            return cls()
        found = _WRITTEN.fullmatch(text.strip()) if isinstance(text, str) else None
        try:
            size = float(found[2]) if found else 0.0
        except ValueError:
            size = 0.0
        if found is None or not 1e-9 <= size <= 1e9:
            raise ParameterError(_ACCEPTED.format(text))
        return cls("ramp" if found[1] == "ramp" else "sigmoid", size)

    def above(self, difference: CellFunction, granule: float | None, *, strict: bool) -> CellFunction:
        """difference > 0, or ≥ 0; ``granule``: of its lattice."""
        if self.kind == "sigmoid":
            return apply(Sigmoid(), add_terms([(self.size, difference)]))
        if self.kind == "ramp":
            return apply(Ramp(), add_terms([(1 / self.size, difference)], 0.5))
        step = _step_of(difference, granule)
        return apply(Ramp(), add_terms([(1 / step, difference)], 0.0 if strict else 1.0))

    def equal(self, difference: CellFunction, granule: float | None) -> CellFunction:
        """difference = 0."""
        if self.kind == "sigmoid":
            return apply(Tauoid(), add_terms([(self.size, difference)]))
        width = self.size if self.kind == "ramp" else _step_of(difference, granule)
        return self.negate(apply(Ramp(), add_terms([(1 / width, take_absolute(difference))])))

    def every(self, parts: list[CellFunction]) -> CellFunction:
        """AND: the least of ramps, which stays exact, or the product of sigmoids."""
        if len(parts) == 1:
            return parts[0]
        return multiply_factors(parts) if self.kind == "sigmoid" else take_extreme(parts, largest=False)

    def some(self, parts: list[CellFunction]) -> CellFunction:
        """OR."""
        return self.negate(self.every([self.negate(part) for part in parts]))

    @staticmethod
    def negate(part: CellFunction) -> CellFunction:
        """NOT."""
        return add_terms([(-1.0, part)], 1.0)

    def __str__(self) -> str:
        return self.kind if self.kind == "exact" else f"{self.kind}({self.size:g})"


def _step_of(difference: CellFunction, granule: float | None) -> float:
    return granule or max(difference.range.largest, 1e-60) * _NOTHING
