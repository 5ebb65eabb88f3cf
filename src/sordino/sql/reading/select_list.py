"""The SELECT list: which aggregates and group keys are asked, and under which names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sordino.sql.aggregates import AGGREGATES, Measure
from sordino.sql.expressions import Expressions
from sordino.sql.question import GroupKey, Output

_FORMS = ["COUNT(*)", *(f"{aggregate.name.upper()}(x)" for aggregate in AGGREGATES)]
ASK = f"ask {', '.join(_FORMS[:-1])} or {_FORMS[-1]} and calculate with the released numbers"
_QUANTILES = "`sordino quantile` or sordino.quantile"
_BY_NODE = {node: aggregate for aggregate in AGGREGATES for node in aggregate.nodes}
# Aggregates that exist elsewhere, or that people expect, and what to ask in their place.
_OTHER_AGGREGATES: tuple[tuple[tuple[type[exp.Expr], ...], str], ...] = (
    ((exp.Min, exp.Max),
     "the least and the greatest value are those of one row, which noise cannot hide; "
     f"ask for a low or high quantile with {_QUANTILES}, or count the rows beyond a limit with COUNT(*) and WHERE"),
    ((exp.Median, exp.Quantile, exp.ApproxQuantile, exp.PercentileCont, exp.PercentileDisc, exp.WithinGroup),
     f"medians and quantiles are not asked in SQL; use {_QUANTILES} on the column"),
)  # fmt: skip


def read_outputs(
    nodes: Sequence[exp.Expr], expressions: Expressions, keys: Sequence[GroupKey]
) -> tuple[tuple[Output, ...], tuple[Measure, ...]]:
    """The columns of the answer, and the measures that they are made of; one that is asked twice is measured once."""
    measures: dict[Measure, int] = {}
    outputs = [_read_output(node, expressions, keys, measures) for node in nodes]
    if not measures:
        expressions.text.refuse("SELECT", f"no aggregate is asked; {ASK}", keyword="SELECT", at=nodes[0])
    return _with_names(outputs), tuple(measures)


def _read_output(
    node: exp.Expr, expressions: Expressions, keys: Sequence[GroupKey], measures: dict[Measure, int]
) -> Output:
    text = expressions.text
    name = node.alias if isinstance(node, exp.Alias) else ""
    inner = node.unalias()
    while isinstance(inner, exp.Paren):
        inner = inner.this
    aggregate = _BY_NODE.get(type(inner))
    if aggregate is not None:
        parts = aggregate.read(inner, expressions)
        places = tuple(measures.setdefault(part, len(measures)) for part in parts)
        return Output(name or aggregate.name, aggregate, measures=places)
    if isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)):
        text.refuse(inner, f"rows are never shown; {ASK}", keyword="SELECT")
    if isinstance(inner, exp.Column):
        column = expressions.value(inner)
        for place, key in enumerate(keys):
            if key.column == column.expression:
                return Output(name or inner.name, key=place)
        text.refuse(inner, "a column outside an aggregate must be in GROUP BY")
    if inner.find(exp.Window) is not None:
        text.refuse(
            inner, "windows are not answered; group by a column with a declared domain", keyword="OVER"
        )
    if isinstance(inner, exp.Filter):
        text.refuse(inner, "write COUNT(CASE WHEN condition THEN 1 END) or SUM(CASE WHEN condition THEN x END)",
                    keyword="FILTER")  # fmt: skip
    if inner.find(exp.Select) is not None:
        text.refuse(inner, "sub-queries stand in FROM only; ask each number by itself")
    for kinds, instead in _OTHER_AGGREGATES:
        if inner.find(*kinds) is not None or _is_quantile(inner, kinds):
            text.refuse(inner, instead)
    text.refuse(inner, f"each column of the answer is one aggregate; {ASK}")


def _is_quantile(node: exp.Expr, kinds: tuple[type[exp.Expr], ...]) -> bool:
    """Whether it is a quantile that the parser has no node for."""
    said = node.name.upper() if isinstance(node, exp.Anonymous) else ""
    return exp.Median in kinds and said.startswith(("QUANTILE", "PERCENTILE", "MEDIAN", "APPROX_PERCENTILE"))


def _with_names(outputs: list[Output]) -> tuple[Output, ...]:
    taken: set[str] = set()
    result = []
    for output in outputs:
        name, number = output.name, 2
        while name.casefold() in taken:
            name, number = f"{output.name}_{number}", number + 1
        taken.add(name.casefold())
        result.append(replace(output, name=name))
    return tuple(result)
