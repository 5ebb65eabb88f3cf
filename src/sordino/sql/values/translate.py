"""From SQL expressions and conditions on protected columns to functions of cells."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sordino.core import ParameterError
from sordino.sensitivity.derivatives.build import (
    add_terms,
    apply,
    multiply_factors,
    raise_to,
    take_absolute,
    take_extreme,
)
from sordino.sensitivity.derivatives.constant import Number, PublicColumn
from sordino.sensitivity.derivatives.functions import NaturalExponential, NaturalLogarithm
from sordino.sensitivity.derivatives.indicator import Indicator
from sordino.sensitivity.derivatives.node import CellFunction
from sordino.sensitivity.interval import Interval
from sordino.sql.expressions import Expressions
from sordino.sql.expressions.value import Value, case, find_common_step
from sordino.sql.question import GroupKey
from sordino.sql.text import Text
from sordino.sql.values.columns import ValueColumn
from sordino.sql.values.filters import Filters
from sordino.sql.values.joined import name_place
from sordino.sql.values.terms import SqlTerm

_ACCEPTED = (
    "on protected columns + - * /, ABS, POWER, SQRT, LN, EXP, LEAST, GREATEST, CASE, comparisons, AND, OR, NOT, "
    "BETWEEN and IN (literals) are understood"
)
_WIDER = "; or ask with filters='ramp(WIDTH)' or filters='sigmoid(ALPHA)'"
Look = Callable[[Value], ValueColumn | None]


class CellTranslator:
    """Translates expressions of one SELECT. ``cells``: how their columns are read, by their names in the calculus."""

    def __init__(self, expressions: Expressions, look: Look, filters: Filters) -> None:
        self._expressions, self._look, self.filters = expressions, look, filters
        self.text: Text = expressions.text
        self.cells: dict[str, Any] = {}
        self.domains: dict[str, tuple[Any, ...]] = {}
        self.smoothed = False

    def touches(self, node: exp.Expr) -> bool:
        """Whether an expression reads a protected column."""
        return any(self._column(column).private for column in node.find_all(exp.Column))

    # --- numbers

    def number(self, node: exp.Expr) -> CellFunction:
        """A number calculated from cells."""
        rule = _NUMBERS.get(type(node))
        if rule is None:
            self.text.refuse(node, _ACCEPTED)
        try:
            return rule(self, node)
        except ParameterError as error:
            if error.place is not None:
                raise
            self.text.wrong(node, str(error))
        except OverflowError:
            self.text.wrong(node, "a number here is too large")

    def _column(self, node: exp.Column) -> ValueColumn:
        found = self._look(self._expressions.value(node))
        if found is None:
            self.text.refuse(node, "write the expression of the sub-select here itself")
        return found

    def _read_column(self, node: Any) -> CellFunction:
        column = self._column(node)
        function = column.function()
        if function is None:
            if column.kind == "is":
                self.text.wrong(node, "a category is compared with its values: column = 'value'")
            self.text.wrong(
                node,
                "a public column in an expression needs bounds: declare them under its columns in the policy",
            )
        self.cells[column.name] = column.cell()
        return function

    def _read_literal(self, node: Any) -> CellFunction:
        if node.is_string:
            self.text.wrong(node, "a number is needed here")
        return Number(float(self.text.number(node)))

    def _read_case(self, node: Any) -> CellFunction:
        """s·a + (1 − s)·b."""
        if node.this is not None or node.args.get("default") is None:
            self.text.refuse(node, "write CASE WHEN condition THEN value ... ELSE value END")
        found = self.number(node.args["default"])
        for branch in reversed(node.args["ifs"]):
            chosen, value = self.condition(branch.this), self.number(branch.args["true"])
            rest = multiply_factors([Filters.negate(chosen), found])
            found = add_terms([(1.0, multiply_factors([chosen, value])), (1.0, rest)])
        return found

    def _read_power(self, node: Any) -> CellFunction:
        exponent = self.number(node.expression)
        if not isinstance(exponent, Number):
            self.text.wrong(node, "the exponent must be a number")
        return raise_to(self.number(node.this), exponent.number)

    def _both(self, node: Any) -> tuple[CellFunction, CellFunction]:
        return self.number(node.this), self.number(node.expression)

    # --- conditions

    def condition(self, node: exp.Expr, *, negated: bool = False) -> CellFunction:
        """1 where it holds, 0 where it does not, and something between for filters that are not exact.

        NOT is pushed inwards, down to conditions on public columns: those that are NULL hold neither as they stand nor
        negated, and without NOT in front of them AND and OR tell what surely holds, as an engine does.
        """
        if isinstance(node, exp.Paren):
            return self.condition(node.this, negated=negated)
        if isinstance(node, exp.Boolean):
            return Number(1.0 if bool(node.this) != negated else 0.0)
        if not self.touches(node):
            return self._public(exp.not_(node) if negated else node)
        if isinstance(node, exp.Not):
            return self.condition(node.this, negated=not negated)
        if isinstance(node, exp.And | exp.Or):
            parts = [self.condition(part, negated=negated) for part in node.flatten()]
            join = self.filters.every if isinstance(node, exp.And) != negated else self.filters.some
            return join(parts)
        rule = _CONDITIONS.get(type(node))
        if rule is None:
            self.text.refuse(node, _ACCEPTED)
        try:
            found = rule(self, node)
        except ParameterError as error:
            if error.place is not None:
                raise
            self.text.wrong(node, str(error))
        return Filters.negate(found) if negated else found

    def _public(self, node: exp.Expr) -> CellFunction:
        """A condition on public columns, as a public number."""
        holds = self._expressions.condition(node)
        name = f"condition {len(self.cells)}"
        one, zero = exp.Literal.number(1), exp.Literal.number(0)
        tree = exp.cast(case((holds, one), default=zero), exp.DataType.Type.DOUBLE)
        self.cells[name] = SqlTerm(tree, low=0.0, high=1.0)
        return PublicColumn(name, Interval(0.0, 1.0))

    def _order(self, node: Any) -> CellFunction:
        left, right = node.this, node.expression
        if isinstance(node, exp.LT | exp.LTE):
            left, right = right, left
        difference = add_terms([(1.0, self.number(left)), (-1.0, self.number(right))])
        granule = self._granule(node)
        return self.filters.above(difference, granule, strict=isinstance(node, exp.LT | exp.GT))

    def _equal(self, node: Any) -> CellFunction:
        category = self._category(node.this, [node.expression]) or self._category(
            node.expression, [node.this]
        )
        if category is None:
            one, two = self._both(node)
            category = self.filters.equal(add_terms([(1.0, one), (-1.0, two)]), self._granule(node))
        return Filters.negate(category) if isinstance(node, exp.NEQ) else category

    def _between(self, node: Any) -> CellFunction:
        low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
        high = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
        return self.filters.every([self._order(low), self._order(high)])

    def _among(self, node: Any) -> CellFunction:
        if node.args.get("query") is not None or not node.expressions:
            self.text.refuse(node, _ACCEPTED)
        category = self._category(node.this, node.expressions)
        if category is not None:
            return category
        equals = [exp.EQ(this=node.this.copy(), expression=item.copy()) for item in node.expressions]
        return self.filters.some([self._equal(equal) for equal in equals])

    def _category(self, node: exp.Expr, values: list[Any]) -> CellFunction | None:
        """A category among literals; None if the node is no category."""
        if not isinstance(node, exp.Column) or (column := self._column(node)).kind != "is":
            return None
        found = set()
        for item in values:
            constant = self._expressions.value(item).constant
            if isinstance(item, exp.Boolean):
                constant = bool(item.this)
            if constant not in column.domain or not isinstance(constant, str | int):
                self.text.wrong(
                    item, f"the values of {column.place[1]} are {', '.join(map(repr, column.domain))}"
                )
            found.add(constant)
        self.cells[column.name] = column.cell()
        self.domains[column.name] = column.domain
        return Indicator(column.name, frozenset(found))

    def group_of(self, key: GroupKey) -> CellFunction:
        """1 for the group of a row's own category, 0 for all others: Σ over categories of [group is v]·[cell is v]."""
        column = self._column(key.column)  # type: ignore[arg-type]
        self.cells[column.name] = column.cell()
        self.domains[column.name] = column.domain
        terms = []
        for place, category in enumerate(column.domain):
            name = f"group {place} of {column.name}"
            here = exp.EQ(this=name_place(key.spread), expression=exp.Literal.number(place))
            tree = exp.cast(
                case((here, exp.Literal.number(1)), default=exp.Literal.number(0)), exp.DataType.Type.DOUBLE
            )
            self.cells[name] = SqlTerm(tree, low=0.0, high=1.0)
            inside = Indicator(column.name, frozenset((category,)))
            terms.append((1.0, multiply_factors([PublicColumn(name, Interval(0.0, 1.0)), inside])))
        return add_terms(terms)

    def _granule(self, node: Any) -> float | None:
        """The lattice of what is compared, for exact filters; None if they do without."""
        if self.filters.kind != "exact":
            self.smoothed = True
            return 1.0
        step = find_common_step(self._step(node.this), self._step(node.expression))
        if not step and not self.filters.compares_all:
            self.text.wrong(
                node, f"an exact filter compares sums of columns with a granularity, and numbers{_WIDER}"
            )
        return float(step) if step else None

    def _step(self, node: exp.Expr) -> Fraction | None:
        """What all values of a linear expression are multiples of; None if that is not known, 0 for 0."""
        match node:
            case exp.Paren() | exp.Neg() | exp.Abs():
                return self._step(node.this)
            case exp.Literal() if not node.is_string:
                return abs(self.text.number(node))
            case exp.Column():
                return self._column(node).granule
            case exp.Case() if node.args.get("default") is not None:
                values = [branch.args["true"] for branch in node.args["ifs"]]
                return find_common_step(*map(self._step, [*values, node.args["default"]]))
            case exp.Least() | exp.Greatest():
                return find_common_step(*map(self._step, [node.this, *node.expressions]))
            case exp.Add() | exp.Sub():
                return find_common_step(self._step(node.this), self._step(node.expression))
            case exp.Mul():
                one, two = self._step(node.this), self._step(node.expression)
                return None if one is None or two is None else one * two
        return None


_NUMBERS: dict[type, Callable[[CellTranslator, Any], CellFunction]] = {
    exp.Column: CellTranslator._read_column,
    exp.Literal: CellTranslator._read_literal,
    exp.Paren: lambda t, node: t.number(node.this),
    exp.Neg: lambda t, node: add_terms([(-1.0, t.number(node.this))]),
    exp.Add: lambda t, node: add_terms([(1.0, part) for part in t._both(node)]),
    exp.Sub: lambda t, node: add_terms(list(zip((1.0, -1.0), t._both(node), strict=True))),
    exp.Mul: lambda t, node: multiply_factors(t._both(node)),
    exp.Div: lambda t, node: multiply_factors(
        [t.number(node.this), raise_to(t.number(node.expression), -1.0)]
    ),
    exp.Abs: lambda t, node: take_absolute(t.number(node.this)),
    exp.Pow: CellTranslator._read_power,
    exp.Sqrt: lambda t, node: raise_to(t.number(node.this), 0.5),
    exp.Ln: lambda t, node: apply(NaturalLogarithm(), t.number(node.this)),
    exp.Exp: lambda t, node: apply(NaturalExponential(), t.number(node.this)),
    exp.Least: lambda t, node: take_extreme(
        [t.number(p) for p in (node.this, *node.expressions)], largest=False
    ),
    exp.Greatest: lambda t, node: take_extreme(
        [t.number(p) for p in (node.this, *node.expressions)], largest=True
    ),
    exp.Case: CellTranslator._read_case,
}
_CONDITIONS: dict[type, Callable[[CellTranslator, Any], CellFunction]] = {
    exp.LT: CellTranslator._order,
    exp.LTE: CellTranslator._order,
    exp.GT: CellTranslator._order,
    exp.GTE: CellTranslator._order,
    exp.EQ: CellTranslator._equal,
    exp.NEQ: CellTranslator._equal,
    exp.Between: CellTranslator._between,
    exp.In: CellTranslator._among,
}
