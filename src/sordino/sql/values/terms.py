"""SQL as an algebra: the calculus of derivatives written as expressions of doubles that raise on no row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

# Some engines raise where a result underflows; smaller magnitudes are 0 before they are multiplied or raised.
_SMALL = 1e-300
_MOST_EXPONENT = 300.0
_MOST_DIGITS = 280.0
# Ranges of functions are widened by more than any engine rounds.
_WIDER = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class SqlTerm:
    """An operation on other terms, of type DOUBLE and never NULL; operators build larger ones.

    ``tree``: of a leaf. ``low``, ``high``: what it cannot leave, whatever the row, so that guards that would never act
    are left out. Terms are written by `stages.py`, each once.
    """

    tree: exp.Expr | None
    operation: str = "leaf"
    parts: tuple[Any, ...] = ()
    low: float = -math.inf
    high: float = math.inf

    def __add__(self, other: Any) -> Any:
        if _is(other, 0.0):
            return self
        return _make("add", (self, other), (_low(self) + _low(other), _high(self) + _high(other)))

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        if _is(other, 0.0):
            return self
        return _make("sub", (self, other), (_low(self) - _high(other), _high(self) - _low(other)))

    def __rsub__(self, other: Any) -> Any:
        return _make("sub", (other, self), (_low(other) - _high(self), _high(other) - _low(self)))

    def __mul__(self, other: Any) -> Any:
        if _is(other, 0.0):
            return 0.0
        if _is(other, 1.0):
            return self
        ends = [_times(a, b) for a in (self.low, self.high) for b in (_low(other), _high(other))]
        return _make("mul", (self, other), (min(ends), max(ends)))

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        """By what is at least a small positive number."""
        return _make("div", (self, other))

    def __rtruediv__(self, other: Any) -> Any:
        return _make("div", (other, self))

    def __neg__(self) -> Any:
        return SqlTerm(None, "neg", (self,), -self.high, -self.low)

    def __lt__(self, other: Any) -> Any:
        return SqlTerm(None, "lt", (self, other))

    def __gt__(self, other: Any) -> Any:
        return SqlTerm(None, "gt", (self, other))

    def __and__(self, other: Any) -> Any:
        """Of conditions."""
        return SqlTerm(None, "and", (self, other))


@dataclass(frozen=True, slots=True, eq=False)
class SqlCategory:
    """A column that is compared with literals."""

    tree: exp.Expr

    def __eq__(self, other: object) -> Any:
        return SqlTerm(exp.EQ(this=self.tree.copy(), expression=exp.convert(other)))


class SqlAlgebra:
    """Terms are `SqlTerm`, or numbers where nothing depends on the row.

    **Numerics**: every function is guarded, so that no argument makes an engine raise; within the ranges that the
    calculus gives them guards change nothing but magnitudes below 10⁻³⁰⁰.
    """

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """CASE."""
        if isinstance(condition, bool):
            return then if condition else otherwise
        ends = min(_low(then), _low(otherwise)), max(_high(then), _high(otherwise))
        return SqlTerm(None, "where", (condition, then, otherwise), *ends)

    def absolute(self, term: Any) -> Any:
        """ABS."""
        if not isinstance(term, SqlTerm):
            return abs(term)
        if term.low >= 0:
            return term
        return SqlTerm(None, "abs", (term,), max(0.0, -term.high), max(-term.low, term.high))

    def minimum(self, first: Any, second: Any) -> Any:
        """LEAST."""
        if not isinstance(first, SqlTerm) and not isinstance(second, SqlTerm):
            return min(first, second)
        if _high(first) <= _low(second) or _high(second) <= _low(first):
            return first if _high(first) <= _low(second) else second
        ends = min(_low(first), _low(second)), min(_high(first), _high(second))
        return SqlTerm(None, "min", (first, second), *ends)

    def maximum(self, first: Any, second: Any) -> Any:
        """GREATEST."""
        if not isinstance(first, SqlTerm) and not isinstance(second, SqlTerm):
            return max(first, second)
        if _low(first) >= _high(second) or _low(second) >= _high(first):
            return first if _low(first) >= _high(second) else second
        ends = max(_low(first), _low(second)), max(_high(first), _high(second))
        return SqlTerm(None, "max", (first, second), *ends)

    def exp(self, term: Any) -> Any:
        """EXP, of what is cut to ±300."""
        if not isinstance(term, SqlTerm):
            return math.exp(term)
        return _exponential(self.maximum(self.minimum(term, _MOST_EXPONENT), -_MOST_EXPONENT))

    def fall(self, term: Any) -> Any:
        """EXP, of what is cut already."""
        return _exponential(-term) if isinstance(term, SqlTerm) else math.exp(-term)

    def ln(self, term: Any) -> Any:
        """LN, of at least 10⁻³⁰⁰."""
        if not isinstance(term, SqlTerm):
            return math.log(term)
        return _make("ln", (self.maximum(term, _SMALL),))

    def power(self, term: Any, exponent: float) -> Any:
        """POWER of magnitudes, cut so that the result is between 10⁻²⁸⁰ and 10²⁸⁰."""
        if not isinstance(term, SqlTerm):
            return float(term) ** exponent
        if exponent == 1:
            return term
        end = 10.0 ** min(_MOST_DIGITS, _MOST_DIGITS / abs(exponent))
        cut = self.maximum(self.minimum(term, end), 1 / end)
        ends = sorted((_power(cut.low, exponent), _power(cut.high, exponent)))
        if exponent == 0.5:
            return _make("sqrt", (cut,), (ends[0], ends[1]))
        if exponent == -1:
            return _make("div", (1.0, cut), (ends[0], ends[1]))
        if exponent == 2:
            return _make("mul", (cut, cut), (ends[0], ends[1]))
        return _make("pow", (cut, exponent), (ends[0], ends[1]))


def _exponential(term: SqlTerm) -> SqlTerm:
    return _make("exp", (term,), (_exp(term.low), _exp(term.high)))


def _make(operation: str, parts: tuple[Any, ...], ends: tuple[float, float] | None = None) -> SqlTerm:
    """A term within ends, or anywhere; sums and products are rounded as their ends are, other functions less surely."""
    low, high = (-math.inf, math.inf) if ends is None else ends
    if math.isnan(low) or math.isnan(high):
        low, high = -math.inf, math.inf
    if operation not in ("add", "sub", "mul"):
        low, high = low - abs(low) * _WIDER, high + abs(high) * _WIDER
    return SqlTerm(None, operation, parts, low, high)


def _low(value: Any) -> float:
    return value.low if isinstance(value, SqlTerm) else float(value)


def _high(value: Any) -> float:
    return value.high if isinstance(value, SqlTerm) else float(value)


def _times(one: float, two: float) -> float:
    return 0.0 if one == 0 or two == 0 else one * two


def _exp(end: float) -> float:
    return math.inf if end > _MOST_EXPONENT else math.exp(end)


def _power(end: float, exponent: float) -> float:
    return end**exponent if math.isfinite(end) else math.inf


def _is(value: Any, number: float) -> bool:
    return isinstance(value, int | float) and float(value) == number
