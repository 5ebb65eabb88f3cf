"""SQL as an algebra: the calculus of derivatives written as expressions of doubles that raise on no row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sordino.engines import write_double

# Some engines raise where a result underflows; smaller magnitudes are 0 before they are multiplied or raised.
_SMALL = 1e-300
_MOST_EXPONENT = 300.0


@dataclass(frozen=True, slots=True, eq=False)
class SqlTerm:
    """An expression of type DOUBLE that is never NULL; operators build larger ones."""

    tree: exp.Expr

    def __add__(self, other: Any) -> Any:
        return (
            self if _is(other, 0.0) else SqlTerm(exp.Add(this=_bracket(self.tree), expression=_tree(other)))
        )

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        return (
            self if _is(other, 0.0) else SqlTerm(exp.Sub(this=_bracket(self.tree), expression=_tree(other)))
        )

    def __rsub__(self, other: Any) -> Any:
        return SqlTerm(exp.Sub(this=_tree(other), expression=_bracket(self.tree)))

    def __mul__(self, other: Any) -> Any:
        if _is(other, 0.0):
            return 0.0
        return (
            self if _is(other, 1.0) else SqlTerm(exp.Mul(this=_bracket(self.tree), expression=_tree(other)))
        )

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        """By what is at least a small positive number."""
        return SqlTerm(exp.Div(this=_bracket(self.tree), expression=_tree(other), typed=True))

    def __rtruediv__(self, other: Any) -> Any:
        return SqlTerm(exp.Div(this=_tree(other), expression=_bracket(self.tree), typed=True))

    def __neg__(self) -> Any:
        return SqlTerm(exp.Neg(this=_bracket(self.tree)))

    def __lt__(self, other: Any) -> Any:
        return SqlCondition(exp.LT(this=_bracket(self.tree), expression=_tree(other)))

    def __gt__(self, other: Any) -> Any:
        return SqlCondition(exp.GT(this=_bracket(self.tree), expression=_tree(other)))


@dataclass(frozen=True, slots=True, eq=False)
class SqlCategory:
    """A column that is compared with literals."""

    tree: exp.Expr

    def __eq__(self, other: object) -> Any:
        return SqlCondition(exp.EQ(this=self.tree.copy(), expression=exp.convert(other)))


@dataclass(frozen=True, slots=True)
class SqlCondition:
    """A condition, for `SqlAlgebra.where`."""

    tree: exp.Expr

    def __and__(self, other: Any) -> Any:
        return SqlCondition(exp.and_(self.tree.copy(), other.tree.copy()))


class SqlAlgebra:
    """Terms are `SqlTerm`, or numbers where nothing depends on the row.

    **Numerics**: every function is guarded, so that no argument makes an engine raise; within the ranges that the
    calculus gives them guards change nothing but magnitudes below 10⁻³⁰⁰.
    """

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """CASE."""
        if isinstance(condition, bool):
            return then if condition else otherwise
        return SqlTerm(
            exp.Case(ifs=[exp.If(this=condition.tree, true=_tree(then))], default=_tree(otherwise))
        )

    def absolute(self, term: Any) -> Any:
        """ABS."""
        return SqlTerm(exp.Abs(this=term.tree)) if isinstance(term, SqlTerm) else abs(term)

    def minimum(self, first: Any, second: Any) -> Any:
        """LEAST."""
        if not isinstance(first, SqlTerm) and not isinstance(second, SqlTerm):
            return min(first, second)
        if _is(first, math.inf) or _is(second, math.inf):
            return second if _is(first, math.inf) else first
        return SqlTerm(exp.Least(this=_tree(first), expressions=[_tree(second)], ignore_nulls=True))

    def maximum(self, first: Any, second: Any) -> Any:
        """GREATEST."""
        if not isinstance(first, SqlTerm) and not isinstance(second, SqlTerm):
            return max(first, second)
        return SqlTerm(exp.Greatest(this=_tree(first), expressions=[_tree(second)], ignore_nulls=True))

    def exp(self, term: Any) -> Any:
        """EXP, of what is cut to ±300."""
        if not isinstance(term, SqlTerm):
            return math.exp(term)
        cut = self.maximum(self.minimum(term, _MOST_EXPONENT), -_MOST_EXPONENT)
        return SqlTerm(exp.Exp(this=cut.tree))

    def ln(self, term: Any) -> Any:
        """LN, of at least 10⁻³⁰⁰."""
        if not isinstance(term, SqlTerm):
            return math.log(term)
        return SqlTerm(exp.Ln(this=self.maximum(term, _SMALL).tree))

    def power(self, term: Any, exponent: float) -> Any:
        """POWER of magnitudes; those whose power would underflow are 0, those whose power would overflow are cut."""
        if not isinstance(term, SqlTerm):
            return float(term) ** exponent
        least = 10.0 ** max(-300.0, -250.0 / abs(exponent))
        if exponent < 0:
            return SqlTerm(exp.Pow(this=self.maximum(term, least).tree, expression=write_double(exponent)))
        if exponent == 1:
            return term
        cut = self.minimum(term, 10.0 ** min(300.0, 250.0 / exponent))
        raised: exp.Expr = exp.Pow(this=cut.tree, expression=write_double(exponent))
        if exponent == 0.5:
            raised = exp.Sqrt(this=cut.tree)
        elif exponent == 2:
            raised = exp.Mul(this=_bracket(cut.tree), expression=_bracket(cut.tree))
        return self.where(term < least, 0.0, SqlTerm(raised))


def write_term(term: Any) -> exp.Expr:
    """The tree of a term, or of a number, as a tree of its own."""
    return _tree(term).copy()


def _bracket(tree: exp.Expr) -> exp.Expr:
    """In brackets where it needs them; parts are shared until the whole is written, since copies cost most."""
    return exp.Paren(this=tree) if isinstance(tree, exp.Binary | exp.Neg) else tree


def _is(value: Any, number: float) -> bool:
    return isinstance(value, int | float) and float(value) == number


def _tree(value: Any) -> exp.Expr:
    return _bracket(value.tree) if isinstance(value, SqlTerm) else write_double(float(value))
