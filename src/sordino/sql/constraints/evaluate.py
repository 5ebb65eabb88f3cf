"""Ranges of scalar expressions over known cells: affine and interval arithmetic, whichever is narrower at each node."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from sordino.sensitivity.affine import AffineForm
from sordino.sensitivity.interval import Interval
from sordino.sql.constraint_files.constraint import Possible, ValueSet
from sordino.sql.constraints.cells import CellName, KnownCells
from sordino.sql.text import Text

_ACCEPTED = (
    "columns, numbers, texts, + - * /, ABS, POWER, SQRT, LN, EXP, LEAST, GREATEST and CASE are understood"
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """An interval, and a form that is related to others; None where an end is infinite."""

    interval: Interval
    form: AffineForm | None

    @classmethod
    def narrowed(cls, interval: Interval, form: AffineForm | None) -> Estimate:
        """What interval and form allow both."""
        if form is None:
            finite = math.isfinite(interval.low) and math.isfinite(interval.high)
            return cls(interval, AffineForm.around(interval) if finite else None)
        return cls(interval.meet(form.interval()) or interval, form)


class CellReader:
    """Evaluates expressions of one SELECT; ``resolve`` knows its columns, ``decide`` its conditions."""

    def __init__(
        self,
        text: Text,
        resolve: Callable[[exp.Column], CellName],
        choose: Callable[[CellReader, exp.Expr, KnownCells], list[KnownCells]],
    ) -> None:
        self.text, self.resolve, self._choose = text, resolve, choose

    def possible(self, node: exp.Expr, cells: KnownCells) -> Possible:
        """What a column or an expression can be."""
        if isinstance(node, exp.Paren):
            return self.possible(node.this, cells)
        if isinstance(node, exp.Column):
            return cells[self.resolve(node)].possible
        if isinstance(node, exp.Literal) and node.is_string:
            return ValueSet(frozenset((node.name,)))
        return self.number(node, cells).interval

    def number(self, node: exp.Expr, cells: KnownCells) -> Estimate:
        """The range of a number."""
        rule = _RULES.get(type(node))
        if rule is None:
            self.text.refuse(node, _ACCEPTED)
        return rule(self, node, cells)

    # --- leaves

    def column(self, node: exp.Expr, cells: KnownCells) -> Estimate:
        """A cell: its own symbol."""
        name = self.resolve(node)  # type: ignore[arg-type]
        inside = cells[name].interval
        if inside is None:
            self.text.wrong(
                node, "a number is needed here; this column holds texts, or nothing is known of it"
            )
        finite = math.isfinite(inside.low) and math.isfinite(inside.high)
        return Estimate(inside, AffineForm.of(inside, name) if finite else None)

    def literal(self, node: exp.Expr, cells: KnownCells) -> Estimate:
        """A number as it is written."""
        if node.is_string:
            self.text.wrong(node, "a number is needed here")
        form = AffineForm(self.text.number(node))
        return Estimate(form.interval(), form)

    # --- arithmetic

    def combine(self, node: exp.Expr, cells: KnownCells) -> Estimate:
        """+, − and *."""
        one, two = self.number(node.this, cells), self.number(node.expression, cells)
        return _OPERATORS[type(node)](one, two)

    def divide(self, node: exp.Expr, cells: KnownCells) -> Estimate:
        """By what is never 0."""
        return _multiply(self.number(node.this, cells), self.bend(node, node.expression, "/", cells))

    def negate(self, node: exp.Expr, cells: KnownCells) -> Estimate:
        """−x."""
        inner = self.number(node.this, cells)
        return Estimate(-inner.interval, None if inner.form is None else -inner.form)

    def inside(self, node: exp.Expr, cells: KnownCells) -> Estimate:
        """In brackets."""
        return self.number(node.this, cells)

    # --- functions

    def function(self, node: exp.Expr, cells: KnownCells) -> Estimate:
        """One that is monotone on its domain."""
        return self.bend(node, node.this, type(node).__name__.upper(), cells)

    def bend(self, node: exp.Expr, argument: exp.Expr, name: str, cells: KnownCells) -> Estimate:
        """By its slope of least magnitude (min-range), so that the range is exact."""
        inner = self.number(argument, cells)
        curve = _CURVES[name]
        problem = curve.refuse(inner.interval)
        if problem is not None:
            low, high = inner.interval.low, inner.interval.high
            self.text.wrong(node, f"{problem}; the range here is [{low:g}, {high:g}]")
        return _bend(inner, curve.value, curve.slope)

    def power(self, node: exp.Expr, cells: KnownCells) -> Estimate:
        """x^s for a number s."""
        inner, exponent = self.number(node.this, cells), self.number(node.expression, cells).interval
        if exponent.low != exponent.high:
            self.text.wrong(node, "the exponent must be a number")
        s = exponent.low
        whole = s == math.floor(s)
        inside = inner.interval
        if inside.low < 0 and not whole:
            self.text.wrong(node, "a power that is not whole needs a range >= 0")
        if s < 0 and inside.low <= 0 <= inside.high:
            self.text.wrong(node, "a negative power needs a range without 0")
        if inside.low < 0 < inside.high:
            even = int(s) % 2 == 0
            base = inside.magnitude() if even else inside
            image = base.increasing(lambda t: _power(t, s))
            return Estimate.narrowed(Interval(max(image.low, 0.0), image.high) if even else image, None)
        return _bend(
            inner, lambda t: _power(t, s), lambda t: s * _power(t, s - 1) if t or s >= 1 else math.inf
        )

    def magnitude(self, node: exp.Expr, cells: KnownCells) -> Estimate:
        """|x|."""
        inner = self.number(node.this, cells)
        if inner.interval.low >= 0:
            return inner
        if inner.interval.high <= 0:
            return Estimate(-inner.interval, None if inner.form is None else -inner.form)
        return Estimate.narrowed(inner.interval.magnitude(), None)

    def extreme(self, node: exp.Expr, cells: KnownCells) -> Estimate:
        """LEAST and GREATEST."""
        parts = [self.number(part, cells) for part in (node.this, *node.expressions)]
        choose = min if isinstance(node, exp.Least) else max
        low = choose(part.interval.low for part in parts)
        high = choose(part.interval.high for part in parts)
        return Estimate.narrowed(Interval(low, high), None)

    def case(self, node: exp.Expr, cells: KnownCells) -> Estimate:
        """The hull of what the branches can be where they can be taken."""
        if node.this is not None or node.args.get("default") is None:
            self.text.refuse(node, "write CASE WHEN condition THEN value ... ELSE value END")
        found: list[Estimate] = []
        ahead: list[KnownCells] = [cells]
        for branch in node.args["ifs"]:
            later = []
            for case in ahead:
                found += [
                    self.number(branch.args["true"], kept) for kept in self._choose(self, branch.this, case)
                ]
                later += self._choose(self, exp.not_(branch.this), case)
            ahead = later
        found += [self.number(node.args["default"], case) for case in ahead]
        if len(found) == 1:
            return found[0]
        total = found[0].interval
        for one in found[1:]:
            total = total.hull(one.interval)
        return Estimate.narrowed(total, None)


@dataclass(frozen=True, slots=True)
class _Curve:
    value: Callable[[float], float]
    slope: Callable[[float], float]
    refuse: Callable[[Interval], str | None]


def _bend(inner: Estimate, value: Callable[[float], float], slope: Callable[[float], float]) -> Estimate:
    inside = inner.interval
    slopes = [slope(end) for end in (inside.low, inside.high) if math.isfinite(end)]
    rises = (slopes[0] if slopes else 1.0) >= 0
    image = inside.increasing(value) if rises else _falling(inside, value)
    if inner.form is None or not all(math.isfinite(end) for end in (image.low, image.high)):
        return Estimate.narrowed(image, None)
    flattest = min(slopes, key=abs)
    return Estimate.narrowed(image, inner.form.bent(value, flattest, inside))


def _falling(inside: Interval, value: Callable[[float], float]) -> Interval:
    return -inside.increasing(lambda t: -value(t))


def _power(base: float, exponent: float) -> float:
    try:
        return float(base**exponent)
    except OverflowError:
        return math.inf if base > 0 or exponent % 2 == 0 else -math.inf


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _above_zero(what: str) -> Callable[[Interval], str | None]:
    return lambda inside: None if inside.low > 0 else f"{what} needs a range above 0"


_CURVES = {
    "LN": _Curve(lambda t: math.log(t) if t > 0 else -math.inf, lambda t: 1 / t, _above_zero("LN")),
    "SQRT": _Curve(
        math.sqrt,
        lambda t: 0.5 / math.sqrt(t) if t > 0 else math.inf,
        lambda inside: None if inside.low >= 0 else "SQRT needs a range >= 0",
    ),
    "EXP": _Curve(_exp, _exp, lambda inside: None),
    "/": _Curve(
        lambda t: 1 / t if t else math.inf,
        lambda t: -1 / (t * t),
        lambda inside: "a division needs a range without 0" if inside.holds(0.0) else None,
    ),
}


def _add(one: Estimate, two: Estimate) -> Estimate:
    form = None if one.form is None or two.form is None else one.form + two.form
    return Estimate.narrowed(one.interval + two.interval, form)


def subtract_estimates(one: Estimate, two: Estimate) -> Estimate:
    """one − two."""
    form = None if one.form is None or two.form is None else one.form - two.form
    return Estimate.narrowed(one.interval - two.interval, form)


def _multiply(one: Estimate, two: Estimate) -> Estimate:
    form = None if one.form is None or two.form is None else one.form * two.form
    return Estimate.narrowed(one.interval * two.interval, form)


_OPERATORS: dict[type, Callable[[Estimate, Estimate], Estimate]] = {
    exp.Add: _add,
    exp.Sub: subtract_estimates,
    exp.Mul: _multiply,
}
_RULES: dict[type, Callable[[CellReader, exp.Expr, KnownCells], Estimate]] = {
    exp.Column: CellReader.column,
    exp.Literal: CellReader.literal,
    exp.Paren: CellReader.inside,
    exp.Neg: CellReader.negate,
    exp.Add: CellReader.combine,
    exp.Sub: CellReader.combine,
    exp.Mul: CellReader.combine,
    exp.Div: CellReader.divide,
    exp.Abs: CellReader.magnitude,
    exp.Pow: CellReader.power,
    exp.Sqrt: CellReader.function,
    exp.Ln: CellReader.function,
    exp.Exp: CellReader.function,
    exp.Least: CellReader.extreme,
    exp.Greatest: CellReader.extreme,
    exp.Case: CellReader.case,
}
