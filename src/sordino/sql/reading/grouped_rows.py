"""Sub-selects with GROUP BY: a row for each owner, or for each owner and more, with numbers of that owner's rows.

Where users are protected, and every group belongs to one owner, such a row comes and goes with the owner: it is one
more row of theirs. Who owns the groups is settled with the owners of all rows (`sordino.sql.units.grouped_rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count

from sqlglot import exp

from sordino.engines import write_double
from sordino.sql.aggregates import BoundedSum, RowCount
from sordino.sql.aggregates.aggregate import read_argument
from sordino.sql.aggregates.count import COUNT
from sordino.sql.aggregates.sum import read_sum
from sordino.sql.expressions import Expressions
from sordino.sql.expressions.dates import in_microseconds
from sordino.sql.expressions.value import NUMBERS, Range, Value, bracket, case
from sordino.sql.policy import MOST_ROWS, Policy
from sordino.sql.question import GroupedRows, JoinQuestion
from sordino.sql.reading.group_clause import find_grouped
from sordino.sql.reading.names import INSTEAD_INSIDE, Definition, Names, Scope, check_clauses
from sordino.sql.reading.outer_joins import settle_outer_joins
from sordino.sql.text import check_parts

_KEYS = ("text", "integer", "boolean", "date")
_ORDERED = (*NUMBERS, "date", "timestamp")
_INTEGERS = (1.0, 3.5e38)
_ASK = (
    "inside a sub-select with GROUP BY stand its keys, and COUNT, SUM, MIN and MAX with a name: COUNT(*) AS n"
)
_CLAUSES = ("expressions", "from_", "joins", "where", "with_", "group")
_INSTEAD = {**INSTEAD_INSIDE, "having": "filter its rows in the outer query: WHERE n > 3"}


@dataclass(frozen=True, slots=True)
class _Number:
    """An aggregate of a group's rows: the column that it makes, and the size that it is expected to have."""

    value: Value
    natural: Fraction | None = None


def read_grouped_rows(
    names: Names, query: exp.Select, visible: Mapping[str, Definition], at: exp.Expr
) -> tuple[GroupedRows, dict[str, Value]]:
    """The rows of a sub-select, and its columns by name; what these are in the outer query is for the caller to say.

    ``names``: without an occurrence so far.
    """
    text = names.text
    check_clauses(text, query, _CLAUSES, _INSTEAD)
    scope = names.read_sources(query, visible)
    settle_outer_joins(names.occurrences, names.conditions, names.outer)
    keys = _read_keys(names, query, scope)
    columns: dict[str, Value] = {}
    numbers: list[tuple[str, exp.Expr]] = []
    natural: dict[str, Fraction] = {}
    named: dict[exp.Expr, str] = {}
    for node in query.expressions:
        inner = node.unalias()
        name = node.alias_or_name
        if not name or (not isinstance(node, exp.Alias) and not isinstance(inner, exp.Column)):
            text.refuse(node, f"give it a name; {_ASK}")
        if name.casefold() in {other.casefold() for other in columns}:
            text.wrong(node, "two columns of the sub-select have this name")
        reader = _NUMBERS.get(type(inner))
        if reader is not None:
            found = _with_natural(reader(inner, names.expressions(scope), names.policy), names)
            columns[name] = found.value
            numbers.append((name, found.value.expression))
            if found.natural is not None:
                natural[name] = found.natural
            continue
        if inner.find(exp.AggFunc) is not None:
            text.refuse(node, _ASK)
        value = names.expressions(scope).value(inner)
        if value.expression not in keys:
            text.refuse(node, f"it is not in GROUP BY; {_ASK}")
        named.setdefault(value.expression, name)
        columns[name] = replace(value, values=value.values or names.find_domain(value))
    hidden = (name for name in (f"key_{place}" for place in count()) if name not in columns)
    shown = tuple((named.get(key) or next(hidden), key) for key in keys)
    again = [
        (n, v.expression)
        for n, v in columns.items()
        if v.expression in keys and (n, v.expression) not in shown
    ]
    join = JoinQuestion(tuple(names.occurrences), tuple(names.conditions), RowCount(), tuple(names.outer))
    place = text.place(query.args["group"], keyword="GROUP", at=at)
    return GroupedRows(join, (*shown, *again), tuple(numbers), natural, place), columns


def _read_keys(names: Names, query: exp.Select, scope: Scope) -> list[exp.Expr]:
    clause = query.args["group"]
    check_parts(names.text, clause, ("expressions",), "GROUP BY takes columns")
    keys: list[exp.Expr] = []
    for node in clause.expressions:
        column = find_grouped(node, query, scope, names)
        value = names.expressions(scope).value(column)
        if value.kind not in _KEYS:
            names.text.refuse(
                node, f"a sub-select cannot be grouped by type {value.kind}; by {', '.join(_KEYS)} it can"
            )
        if value.expression not in keys:
            keys.append(value.expression)
    return keys


def _with_natural(found: _Number, names: Names) -> _Number:
    """Of a number that is made of a further sub-select's, the size that these are expected to have."""
    inside = {one.alias: one.grouped.natural for one in names.everyone if one.grouped is not None}
    columns = found.value.expression.find_all(exp.Column)
    sizes = [inside[column.table].get(column.name) for column in columns if column.table in inside]
    known = [size for size in sizes if size is not None]
    return replace(found, natural=max(known)) if known else found


def _read_count(node: exp.Count, expressions: Expressions, policy: Policy) -> _Number:
    (measure,) = COUNT.read(node, expressions)
    most = Fraction(MOST_ROWS) if policy.most_per_unit is None else Fraction(int(policy.most_per_unit))
    value = Value(
        measure.total(), "integer", _INTEGERS, Range(Fraction(0), max(Fraction(1), most), Fraction(1))
    )
    return _Number(value, Fraction(1))


def _read_sum(node: exp.Sum, expressions: Expressions, policy: Policy) -> _Number:
    """NULL where no value is there, as SQL has it; else whole steps, as integers or as doubles."""
    measure = read_sum(node, expressions)
    is_any = exp.GT(this=RowCount(measure.value).total(), expression=exp.Literal.number(0))
    low, high = _sum_bounds(measure, policy)
    if measure.step == 1:
        total = case((is_any, measure.total()))
        value = Value(total, "integer", _INTEGERS, Range(low, high, Fraction(1)))
    else:
        double = exp.cast(measure.total(), exp.DataType.Type.DOUBLE)
        scaled: exp.Expr = exp.Mul(this=double, expression=write_double(float(measure.step.numerator)))
        scaled = exp.Div(
            this=bracket(scaled), expression=write_double(float(measure.step.denominator)), typed=True
        )
        window = (float(measure.step) / 2, float(measure.step) * 2.0**63)
        value = Value(case((is_any, scaled)), "float", window, Range(low, high, measure.step))
    return _Number(value, max(abs(measure.low), abs(measure.high)))


def _sum_bounds(measure: BoundedSum, policy: Policy) -> tuple[Fraction, Fraction]:
    """What one owner's sum is clipped to: the policy's word, or many rows of the most that one can add."""
    if policy.most_per_unit is not None:
        most = max(1, int(policy.most_per_unit / measure.step)) * measure.step
        return (-most if measure.low < 0 else Fraction(0)), (most if measure.high > 0 else Fraction(0))
    return min(measure.low, Fraction(0)) * MOST_ROWS, max(measure.high, Fraction(0)) * MOST_ROWS


def _read_extreme(node: exp.Min | exp.Max, expressions: Expressions, policy: Policy) -> _Number:
    """MIN and MAX of what has an order that all engines share; within the bounds of what they are of."""
    inner = read_argument(node, expressions)
    value = in_microseconds(expressions.value(inner))
    if value.kind not in _ORDERED:
        expressions.text.refuse(
            node, f"the order of type {value.kind} differs between engines; number the values"
        )
    natural = None
    if value.range.low is not None and value.range.high is not None:
        natural = max(abs(value.range.low), abs(value.range.high))
    extreme = type(node)(this=value.expression.copy())
    return _Number(replace(value, expression=extreme, constant=None, column=None, values=None), natural)


_NUMBERS: dict[type, Callable[..., _Number]] = {
    exp.Count: _read_count,
    exp.Sum: _read_sum,
    exp.Min: _read_extreme,
    exp.Max: _read_extreme,
}
