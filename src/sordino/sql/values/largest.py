"""The largest of a term over all rows: what only grows or falls with a part of it is computed once, after the rows.

max_r e^(−β·d_r) is e^(−β·min_r d_r): one column is looked through for all β, and no exponential is taken per row.
**Numerics**: sums, products, roots and comparisons of doubles are monotone; exponentials, powers and logarithms are so
but for a few units of the last place, which are paid for as their own rounding is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from sordino.sql.values.joined import named
from sordino.sql.values.stages import StageNumbers
from sordino.sql.values.terms import SqlTerm

_GROWING = ("exp", "ln", "sqrt")


@dataclass(slots=True)
class Extremes:
    """The terms whose largest (or least) over the rows are needed, each with its column ``extreme_i``."""

    terms: list[Any] = field(default_factory=list)
    largest: list[bool] = field(default_factory=list)
    _numbering: StageNumbers = field(default_factory=StageNumbers)
    _places: dict[tuple[int, bool], int] = field(default_factory=dict)

    def of(self, term: Any, *, largest: bool = True) -> Any:
        """The largest of a term, or the least, as a term of these columns."""
        if not isinstance(term, SqlTerm):
            return term
        found = self._beyond(term, largest=largest)
        if found is not None:
            return found
        key = self._numbering.number(term), largest
        if key not in self._places:
            self._places[key] = len(self.terms)
            self.terms.append(term)
            self.largest.append(largest)
        return SqlTerm(named(f"extreme_{self._places[key]}"), low=term.low, high=term.high)

    def columns(self, written: list[exp.Expr]) -> list[exp.Expr]:
        """Aggregates of the terms as they are written."""
        return [
            exp.alias_((exp.Max if largest else exp.Min)(this=tree), f"extreme_{i}", quoted=True)
            for i, (tree, largest) in enumerate(zip(written, self.largest, strict=True))
        ]

    def _beyond(self, term: SqlTerm, *, largest: bool) -> Any:
        """By the extremes of its parts; None where the rows that are extreme in one may not be in another."""
        operation, parts = term.operation, term.parts
        if operation == "neg":
            return -self.of(parts[0], largest=not largest)
        if operation in _GROWING:
            return self._again(term, self.of(parts[0], largest=largest))
        if operation in ("max", "min"):
            if (operation == "max") == largest or _constants(parts):
                return self._again(term, *(self.of(part, largest=largest) for part in parts))
            return None
        if not _constants(parts):
            return None
        first, second = parts
        if operation == "add":
            return self._again(term, *(self.of(part, largest=largest) for part in parts))
        if operation == "sub":
            return self._again(term, self.of(first, largest=largest), self.of(second, largest=not largest))
        if operation == "mul":
            factor = float(first if isinstance(second, SqlTerm) else second)
            same = largest == (factor > 0)
            return self._again(term, *(self.of(part, largest=same) for part in parts))
        return None

    @staticmethod
    def _again(term: SqlTerm, *parts: Any) -> SqlTerm:
        return SqlTerm(None, term.operation, parts, term.low, term.high)


def _constants(parts: tuple[Any, ...]) -> bool:
    """Whether two parts are one term and one number."""
    return len(parts) == 2 and sum(isinstance(part, SqlTerm) for part in parts) == 1
