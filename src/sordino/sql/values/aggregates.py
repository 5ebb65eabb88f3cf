"""The aggregates of questions about values: SUM, COUNT, AVG, MIN and MAX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from sordino.core import ParameterError
from sordino.sensitivity.derivatives.constant import Number
from sordino.sensitivity.derivatives.node import CellFunction
from sordino.sql.aggregates.aggregate import Aggregate, read_argument, take_first
from sordino.sql.aggregates.avg import AVG
from sordino.sql.expressions import Expressions
from sordino.sql.text import check_parts
from sordino.sql.values.measure import ValueKind, ValueMeasure, make_measure
from sordino.sql.values.scope import ValueScope


def _measure(
    scope: ValueScope, node: exp.Expr, kind: ValueKind, function: CellFunction, text: str
) -> ValueMeasure:
    try:
        return make_measure(
            kind, function, scope.passes, scope.bounds_of, scope.translator.cells, text,
            rows_are_public=not scope.counts_rows,
        )  # fmt: skip
    except ParameterError as error:
        if error.place is not None:
            raise
        scope.translator.text.wrong(node, str(error))


def make_aggregates(scope: ValueScope) -> Sequence[Aggregate]:
    """For one SELECT, whose conditions have been read."""

    def read_sum(node: exp.Sum, expressions: Expressions) -> tuple[ValueMeasure]:
        inner = read_argument(node, expressions)
        return (_measure(scope, node, "sum", scope.translator.number(inner), f"SUM({inner.sql()})"),)

    def read_count(node: exp.Count, expressions: Expressions) -> tuple[ValueMeasure]:
        inner = read_argument(node, expressions)
        if not isinstance(inner, exp.Star):
            expressions.text.refuse(node, "cells are never NULL here; write COUNT(*)")
        check_parts(expressions.text, inner, (), "write COUNT(*)")
        if not scope.passes and not scope.counts_rows:
            expressions.text.refuse(
                node,
                "no condition is on a protected column, so the number of rows is public: ask the database",
            )
        return (_measure(scope, node, "sum", Number(1.0), "COUNT(*)"),)

    def read_mean(node: exp.Avg, expressions: Expressions) -> tuple[ValueMeasure, ...]:
        inner = read_argument(node, expressions)
        total = _measure(scope, node, "sum", scope.translator.number(inner), f"SUM({inner.sql()})")
        return total, _measure(scope, node, "sum", Number(1.0), "COUNT(*)")

    def read_extreme(node: Any, expressions: Expressions) -> tuple[ValueMeasure]:
        inner = read_argument(node, expressions)
        kind: ValueKind = "min" if isinstance(node, exp.Min) else "max"
        text = f"{kind.upper()}({inner.sql()})"
        return (_measure(scope, node, kind, scope.translator.number(inner), text),)

    return (
        Aggregate("count", (exp.Count,), read_count, combine=take_first),
        Aggregate("sum", (exp.Sum,), read_sum, combine=take_first),
        Aggregate("avg", (exp.Avg,), read_mean, combine=AVG.combine),
        Aggregate("min", (exp.Min,), read_extreme, combine=take_first),
        Aggregate("max", (exp.Max,), read_extreme, combine=take_first),
    )
