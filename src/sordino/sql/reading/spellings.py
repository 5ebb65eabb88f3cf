"""Spellings: aggregates that are written in another way and mean what a plain one means."""

from __future__ import annotations

from sqlglot import exp

# An aggregate of one expression, which leaves NULL out: a condition makes NULL of all other rows.
_OF_ONE = (
    exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Variance, exp.VariancePop, exp.Stddev,
    exp.StddevSamp, exp.StddevPop,
)  # fmt: skip


def write_plainly(node: exp.Expr) -> exp.Expr:
    """``COUNT(*) FILTER (WHERE c)``, ``COUNT_IF(c)`` and ``VAR(x)`` by CASE and VARIANCE; all others as they are."""
    if isinstance(node, exp.CountIf) and not isinstance(node.this, exp.Distinct):
        return exp.Count(this=_only_where(node.this, exp.Literal.number(1)), big_int=True)
    if isinstance(node, exp.Anonymous) and node.name.upper() == "VAR" and len(node.expressions) == 1:
        return exp.Variance(this=node.expressions[0].copy())
    if isinstance(node, exp.Filter) and isinstance(node.expression, exp.Where):
        return _write_filter(node, node.this, node.expression.this)
    return node


def _write_filter(node: exp.Expr, called: exp.Expr, condition: exp.Expr) -> exp.Expr:
    if not isinstance(called, _OF_ONE) or called.expressions:
        return node
    plain, inner = called.copy(), called.this
    if isinstance(inner, exp.Distinct):
        if len(inner.expressions) != 1 or inner.args.get("on") is not None:
            return node
        plain.set("this", exp.Distinct(expressions=[_only_where(condition, inner.expressions[0])]))
    elif isinstance(inner, exp.Star):
        plain.set("this", _only_where(condition, exp.Literal.number(1)))
    else:
        plain.set("this", _only_where(condition, inner))
    return plain


def _only_where(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())])
