"""Scalar expressions: an allow-list of operators and functions that are deterministic, cannot raise on any value, and
mean the same on every engine. Each is rewritten into a form that has these properties; everything else is refused.

The files beside this one say how; each ends in a table of the nodes that it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from sqlglot import exp

from sordino.sql.expressions import (
    arithmetic,
    casts,
    choices,
    conditions,
    dates,
    literals,
    moments,
    rounding,
    texts,
)
from sordino.sql.expressions.conditions import NO_SUB_QUERY
from sordino.sql.expressions.dates import as_moment, in_microseconds
from sordino.sql.expressions.decimals import make_comparable
from sordino.sql.expressions.value import Kind, Rules, Value, as_double, boolean
from sordino.sql.text import Text, check_parts

Resolve = Callable[[exp.Column], Value]

# Beyond these an expression is no question of a person, and its rendering would need too deep a stack.
MOST_NODES = 4000
MOST_DEPTH = 100
_ACCEPTED = (
    "comparisons, AND, OR, NOT, IS NULL, IS DISTINCT FROM, BETWEEN, IN (literals), LIKE, ILIKE, + - * / %, CAST, "
    "TRY_CAST, CASE, COALESCE, NULLIF, ABS, FLOOR, CEIL, ROUND, GREATEST, LEAST, LOWER, UPPER, LENGTH, SUBSTRING, "
    "TRIM, LTRIM, RTRIM, ||, EXTRACT, DATE_TRUNC and INTERVAL are understood"
)
_RULES: Rules = {
    node: rule
    for module in (literals, conditions, arithmetic, rounding, choices, texts, dates, moments, casts)
    for node, rule in module.RULES.items()
}


class Expressions:
    """Translates scalar expressions of one SELECT; ``resolve`` knows its columns.

    ``filled``: (alias, column) of those that are never NULL, by catalogue or promise.
    """

    def __init__(
        self, text: Text, resolve: Resolve, filled: frozenset[tuple[str, str]] = frozenset()
    ) -> None:
        self.text, self.resolve, self.filled = text, resolve, filled
        self._depth = 0

    def value(self, node: exp.Expr) -> Value:
        """The expression, rewritten."""
        if type(node) not in _RULES:
            self._unknown(node)
        rule, parts = _RULES[type(node)]
        check_parts(self.text, node, parts, "this form of it is not understood")
        self._depth += 1
        if self._depth > MOST_DEPTH:
            self.text.refuse("this nesting", f"expressions may be nested {MOST_DEPTH} deep")
        result = rule(self, node)
        self._depth -= 1
        nodes = sum(1 for _ in result.expression.walk())
        self.text.spend(nodes)
        if nodes > MOST_NODES:
            self.text.refuse(node, f"an expression may have {MOST_NODES} parts once names are written out")
        return result

    def condition(self, node: exp.Expr) -> exp.Expr:
        """A truth value, for WHERE and ON."""
        return self.truth(node).expression

    def truth(self, node: exp.Expr) -> Value:
        """A truth value."""
        result = self.value(node)
        if result.kind == "null":
            return boolean(exp.cast(exp.null(), exp.DataType.Type.BOOLEAN))
        if result.kind != "boolean":
            self.text.wrong(node, f"a condition is needed here, this is of type {result.kind}")
        return result

    def number(self, node: exp.Expr) -> Value:
        """A number that can be calculated with."""
        result = self.value(node)
        if not result.is_number:
            self.text.wrong(node, f"a number is needed here, this is of type {result.kind}")
        return result

    def words(self, node: exp.Expr) -> Value:
        """A text."""
        result = self.value(node)
        if result.kind == "null":
            return Value(exp.cast(exp.null(), exp.DataType.Type.TEXT), "text", longest=0)
        if result.kind != "text":
            self.text.wrong(node, f"a text is needed here, this is of type {result.kind}")
        return result

    def alike(self, node: exp.Expr, *values: Value) -> list[Value]:
        """The values in one type that all of them have, or are converted to without loss."""
        kinds = {value.kind for value in values if value.kind != "null"}
        values = tuple(in_microseconds(value) for value in values)
        if kinds <= {"integer"} or (len(kinds) == 1 and not kinds & {"decimal", "other"}):
            return list(values)
        decimals = make_comparable(*values)
        if decimals is not None:
            return decimals
        if kinds <= {"integer", "decimal", "float"}:
            return [value if value.kind == "null" else as_double(value) for value in values]
        if kinds <= {"date", "timestamp", "text"} and kinds != {"text"}:
            target: Kind = "timestamp" if "timestamp" in kinds else "date"
            return [
                value if value.kind in (target, "null") else as_moment(self, node, value, target)
                for value in values
            ]
        if "other" in kinds:
            self.text.refuse(node, "columns of this type can be counted and asked IS NULL, nothing else")
        self.text.wrong(node, f"types {' and '.join(sorted(kinds))} do not fit together; write a CAST")

    def _unknown(self, node: exp.Expr) -> NoReturn:
        text = self.text
        if isinstance(node, exp.Any | exp.All) and node.find(exp.Query) is None:
            word = type(node).__name__.upper()
            text.refuse(node, "write x IN (literals), or comparisons with AND and OR", keyword=word)
        if isinstance(node, exp.Exists | exp.Subquery | exp.Query | exp.Any | exp.All):
            text.refuse(node, NO_SUB_QUERY, keyword="SELECT")
        if isinstance(node, exp.Parameter | exp.Placeholder):
            signs = (f"{sign}{node.name}" for sign in (":", "$", "@", "?"))
            written = next((sign for sign in signs if sign in text.text), node)
            text.refuse(written, "parameters are not filled in; write the value itself")
        if isinstance(node, exp.AggFunc | exp.Window | exp.Filter | exp.WithinGroup):
            text.refuse(
                node, "aggregates stand in the SELECT list, HAVING and ORDER BY, and not inside one another"
            )
        if isinstance(node, exp.Star):
            text.refuse(node, "name the columns")
        if isinstance(node, exp.Anonymous):
            text.refuse(f"{node.name}()", f"it is not among the known functions; {_ACCEPTED}",
                        keyword=node.name.upper())  # fmt: skip
        text.refuse(node, _ACCEPTED)
