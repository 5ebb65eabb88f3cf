"""Conditions and values of a query, from the parser's tree; what the solver cannot say is refused with the clause."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from fractions import Fraction

from sqlglot import exp

from sordino.sql.solver.conditions import Asserted, Compared, Condition, Every, Sign, Some
from sordino.sql.solver.terms import Given, Multiple, RowField, Term, Total
from sordino.sql.text import Text, check_parts

Resolve = Callable[[exp.Column], RowField]

_COMPARED: dict[type[exp.Expr], tuple[Sign, bool]] = {
    exp.EQ: ("=", False),
    exp.NEQ: ("<>", False),
    exp.LT: ("<", False),
    exp.LTE: ("<=", False),
    exp.GT: ("<", True),
    exp.GTE: ("<=", True),
}
_NUMBERS = ("integer", "real")
_ACCEPTED = (
    "comparisons, AND, OR, NOT, BETWEEN, IN (literals), + - and products, literals of numbers, texts, truth values and "
    "dates are understood"
)
_MOST_DIGITS = 40


def read_condition(node: exp.Expr, resolve: Resolve, text: Text) -> Condition:
    """A condition of WHERE, ON or CHECK."""
    return _Reader(resolve, text).condition(node)


def read_term(node: exp.Expr, resolve: Resolve, text: Text) -> Term:
    """A value of the SELECT list or of GROUP BY."""
    return _Reader(resolve, text).term(node)


class _Reader:
    def __init__(self, resolve: Resolve, text: Text) -> None:
        self._resolve, self._text = resolve, text

    def condition(self, node: exp.Expr) -> Condition:
        match node:
            case exp.Paren():
                return self.condition(node.this)
            case exp.And():
                return Every(tuple(self.condition(part) for part in node.flatten()))
            case exp.Or():
                return Some(tuple(self.condition(part) for part in node.flatten()))
            case exp.Not():
                return self.condition(node.this).negated()
            case exp.Boolean():
                return Every() if node.this else Some(())
            case exp.Between():
                check_parts(self._text, node, ("this", "low", "high"), "write x BETWEEN low AND high")
                inner = node.this
                return Every(
                    (
                        self._compare(node, "<=", node.args["low"], inner),
                        self._compare(node, "<=", inner, node.args["high"]),
                    )
                )
            case exp.In():
                return self._in(node)
            case exp.Is() | exp.NullSafeEQ() | exp.NullSafeNEQ():
                self._text.refuse(node, "NULLs are not modelled; leave the test out", keyword="IS")
            case exp.Like() | exp.ILike():
                self._text.refuse(node, "texts are compared with = and <> only", keyword="LIKE")
        if type(node) in _COMPARED:
            sign, turned = _COMPARED[type(node)]
            left, right = (node.expression, node.this) if turned else (node.this, node.expression)
            return self._compare(node, sign, left, right)
        term = self.term(node)
        if term.kind != "boolean":
            self._text.wrong(node, f"a condition is needed here, this is of type {term.kind}")
        return Asserted(term)

    def _compare(self, node: exp.Expr, sign: Sign, left: exp.Expr, right: exp.Expr) -> Condition:
        a, b = self.term(left), self.term(right)
        a, b = _as_date(a, b), _as_date(b, a)
        if a.kind != b.kind and not {a.kind, b.kind} <= set(_NUMBERS):
            self._text.wrong(node, f"types {a.kind} and {b.kind} do not fit together")
        if sign in ("<", "<=") and a.kind in ("text", "boolean"):
            self._text.refuse(node, f"the solver has no order of {a.kind}s; compare with = and <>")
        return Compared(sign, a, b)

    def _in(self, node: exp.In) -> Condition:
        if node.args.get("query") or not node.expressions:
            self._text.refuse(node, "IN takes a list of literals; write a join", keyword="IN")
        check_parts(self._text, node, ("this", "expressions"), "write x IN (1, 2)")
        return Some(tuple(self._compare(node, "=", node.this, item) for item in node.expressions))

    def term(self, node: exp.Expr) -> Term:
        match node:
            case exp.Paren():
                return self.term(node.this)
            case exp.Column():
                return self._resolve(node)
            case exp.Boolean():
                return Given(bool(node.this), "boolean")
            case exp.Literal():
                return self._literal(node)
            case exp.Neg():
                inner = self._number(node.this)
                if isinstance(inner, Given) and not isinstance(inner.value, str | date):
                    return Given(-inner.value, inner.kind)
                return Multiple(Given(-1, "integer"), inner)
            case exp.Add():
                return Total(self._number(node.this), self._number(node.expression))
            case exp.Sub():
                return Total(
                    self._number(node.this), Multiple(Given(-1, "integer"), self._number(node.expression))
                )
            case exp.Mul():
                return Multiple(self._number(node.this), self._number(node.expression))
            case exp.Cast() if node.to.this == exp.DataType.Type.DATE and isinstance(node.this, exp.Literal):
                return Given(self._date(node, node.this.name), "date")
            case exp.Subquery() | exp.Query() | exp.Exists():
                self._text.refuse(
                    node, "sub-queries in conditions are not modelled; write a join", keyword="SELECT"
                )
            case exp.Window():
                self._text.refuse(node, "windows are not modelled", keyword="OVER")
            case exp.AggFunc():
                self._text.refuse(node, "aggregates stand in the SELECT list of a GROUP BY only")
            case exp.Null():
                self._text.refuse(node, "NULLs are not modelled")
        self._text.refuse(node, _ACCEPTED)

    def _number(self, node: exp.Expr) -> Term:
        term = self.term(node)
        if term.kind not in _NUMBERS:
            self._text.wrong(node, f"a number is needed here, this is of type {term.kind}")
        return term

    def _literal(self, node: exp.Literal) -> Term:
        if node.is_string:
            if str(node.this).endswith(" "):
                # CHAR(n) takes the blanks off, TEXT does not, and which of them it is the engine decides.
                self._text.refuse(
                    node, "a blank at the end of a text counts or not by the type; leave it out"
                )
            return Given(str(node.this), "text")
        written = str(node.this)
        if len(written) > _MOST_DIGITS or "e" in written.casefold():
            self._text.refuse(
                node, f"write the number with at most {_MOST_DIGITS} digits and without an exponent"
            )
        value = Fraction(written)
        whole = written.lstrip("-").isdigit()
        return Given(int(value), "integer") if whole else Given(value, "real")

    def _date(self, node: exp.Expr, written: str) -> date:
        day = _as_day(written)
        if day is None:
            self._text.wrong(node, "a date is written DATE 'YYYY-MM-DD'")
        return day


def _as_date(term: Term, other: Term) -> Term:
    """A text literal beside a date is one."""
    if other.kind == "date" and isinstance(term, Given) and isinstance(term.value, str):
        day = _as_day(term.value)
        return term if day is None else Given(day, "date")
    return term


def _as_day(written: str) -> date | None:
    """Python reads 2024-W05-3 and 20240131 too, which engines read as other days or not at all."""
    try:
        day = date.fromisoformat(written)
    except ValueError:
        return None
    return day if day.isoformat() == written else None
