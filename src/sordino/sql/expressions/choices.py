"""Choices in SQL expressions: CASE, IF, COALESCE and NULLIF, in one type that all branches have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.sql.expressions.conditions import compare_values
from sordino.sql.expressions.decimals import cover_digits
from sordino.sql.expressions.intervals import join_ranges
from sordino.sql.expressions.value import PLAIN, Rules, Value, case, null

if TYPE_CHECKING:
    from sordino.sql.expressions.expressions import Expressions


def combine_branches(parts: list[Value]) -> Value:
    """What is known of a value that is one of these."""
    windows = [part.window for part in parts if part.kind != "null"]
    known = [window for window in windows if window is not None]
    window = (
        (min(w[0] for w in known), max(w[1] for w in known)) if len(known) == len(windows) and known else None
    )
    parts = [part for part in parts if part.kind != "null"]
    digits, scale = cover_digits(parts) if parts[0].kind == "decimal" else (None, None)
    lengths = [part.longest for part in parts if part.longest is not None]
    return Value(
        exp.null(),
        parts[0].kind,
        window,
        join_ranges([part.range for part in parts]),
        digits=digits,
        scale=scale,
        longest=max(lengths) if len(lengths) == len(parts) else None,
    )


def _case(read: Expressions, node: exp.Case) -> Value:
    whens = []
    for branch in node.args["ifs"]:
        if node.this:
            whens.append(
                compare_values(read, node, exp.EQ, read.value(node.this), read.value(branch.this)).expression
            )
        else:
            whens.append(read.condition(branch.this))
    values = [read.value(branch.args["true"]) for branch in node.args["ifs"]]
    default = read.value(node.args["default"]) if node.args.get("default") else null()
    return _chosen(read, node, whens, values, default)


def _if(read: Expressions, node: exp.If) -> Value:
    default = read.value(node.args["false"]) if node.args.get("false") else null()
    return _chosen(read, node, [read.condition(node.this)], [read.value(node.args["true"])], default)


def _chosen(
    read: Expressions, node: exp.Expr, whens: list[exp.Expr], values: list[Value], default: Value
) -> Value:
    *values, default = read.alike(node, *values, default)
    if all(value.kind == "null" for value in (*values, default)):
        return null()
    branches = [(when, value.expression) for when, value in zip(whens, values, strict=True)]
    result = case(*branches, default=None if default.kind == "null" else default.expression)
    return replace(
        combine_branches([*values, default]), expression=result, values=_list_values([*values, default])
    )


def _list_values(branches: list[Value]) -> tuple[str | int | bool | None, ...] | None:
    """The literals of a choice among literals, NULL last; None if one branch is no literal."""
    found: dict[str | int | bool | None, None] = {}
    for branch in branches:
        if branch.kind == "null":
            continue
        if not isinstance(branch.constant, str | int | bool):
            return None
        found[branch.constant] = None
    if any(branch.kind == "null" for branch in branches):
        found[None] = None
    return tuple(found)


def _coalesce(read: Expressions, node: exp.Coalesce) -> Value:
    parts = read.alike(node, *(read.value(part) for part in (node.this, *node.expressions)))
    parts = [part for part in parts if part.kind != "null"]
    if not parts:
        return null()
    first, *rest = (part.expression.copy() for part in parts)
    result = exp.Coalesce(this=first, expressions=rest) if rest else first
    return replace(combine_branches(parts), expression=result)


def _nullif(read: Expressions, node: exp.Nullif) -> Value:
    left, right = read.value(node.this), read.value(node.expression)
    if left.kind == "null" or right.kind == "null":
        return left
    a, b = read.alike(node, left, right)
    result = exp.Nullif(this=a.expression.copy(), expression=b.expression.copy())
    return replace(a, expression=result, column=None, constant=None)


RULES: Rules = {
    exp.Case: (_case, ("this", "ifs", "default")),
    exp.If: (_if, ("this", "true", "false")),
    exp.Coalesce: (_coalesce, ("this", "expressions")),
    exp.Nullif: (_nullif, PLAIN),
}
