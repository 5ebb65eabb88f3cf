"""Conditions in SQL expressions: comparisons, AND, OR, NOT, IS [NOT] DISTINCT FROM, IS, BETWEEN, IN and LIKE.

* Comparisons are made in the engine's integers where both sides are integers, in its decimals where both sides are
  decimals of known digits (`make_comparable`), else in doubles. NaN is larger than every number and equal to itself, on
  all engines. Text is compared for equality only: its order depends on collations.
* AND, OR and NOT have SQL's three truth values; none of them can guard another expression, as none needs a guard.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.sql.expressions.value import PLAIN, Rules, Value, boolean, bracket

if TYPE_CHECKING:
    from sordino.sql.expressions.expressions import Expressions

NO_SUB_QUERY = (
    "sub-queries stand in FROM only; a join asks something else, as it counts matching pairs: a row with two matches "
    "counts twice, and only where the other table has each key once do both give the same"
)
_ORDER = (exp.LT, exp.LTE, exp.GT, exp.GTE)
_COMPARISONS = (exp.EQ, exp.NEQ, *_ORDER)


def _and(read: Expressions, node: exp.And) -> Value:
    return boolean(exp.and_(*[read.condition(part) for part in node.flatten()], copy=True))


def _or(read: Expressions, node: exp.Or) -> Value:
    return boolean(exp.or_(*[read.condition(part) for part in node.flatten()], copy=True))


def _not(read: Expressions, node: exp.Not) -> Value:
    return boolean(exp.Not(this=exp.Paren(this=read.condition(node.this).copy())))


def _is(read: Expressions, node: exp.Is) -> Value:
    if isinstance(node.expression, exp.Null):
        inner = read.value(node.this)
        operand = (
            exp.cast(exp.null(), exp.DataType.Type.BOOLEAN) if inner.kind == "null" else inner.expression
        )
        same = exp.Is(this=bracket(operand), expression=exp.null())
    elif isinstance(node.expression, exp.Boolean):
        same = exp.Is(this=bracket(read.condition(node.this)), expression=node.expression.copy())
    else:
        read.text.refuse(
            node, "IS [NOT] NULL, TRUE, FALSE and IS [NOT] DISTINCT FROM are understood", keyword="IS"
        )
    # Some dialects keep IS NOT NULL in one node.
    return _decided(exp.Not(this=exp.Paren(this=same)) if node.args.get("negate") else same)


def _decided(condition: exp.Expr) -> Value:
    """A truth value that is never NULL."""
    return replace(boolean(condition), values=(False, True))


def _distinct(read: Expressions, node: exp.NullSafeEQ | exp.NullSafeNEQ) -> Value:
    """IS [NOT] DISTINCT FROM: (a = b) IS TRUE OR (a IS NULL AND b IS NULL), negated or not.

    TRUE or FALSE for all values, as IS gives no third one. It is written with = and IS NULL in place of the engine's
    own operator, so that what equals what, NaN included, is the same as everywhere else here. What has no double is
    NULL in both parts.
    """
    left, right = read.value(node.this), read.value(node.expression)
    if "null" in (left.kind, right.kind):
        other = left if right.kind == "null" else right
        same = exp.true() if other.kind == "null" else _is_null(other)
    else:
        left, right = read.alike(node, left, right)
        equal = exp.EQ(this=bracket(left.expression), expression=bracket(right.expression))
        same = exp.or_(
            exp.Is(this=exp.Paren(this=equal), expression=exp.true()),
            exp.and_(_is_null(left), _is_null(right)),
        )
    return _decided(exp.Not(this=exp.Paren(this=same)) if isinstance(node, exp.NullSafeNEQ) else same)


def _is_null(value: Value) -> exp.Expr:
    return exp.Is(this=bracket(value.expression), expression=exp.null())


def _compare(read: Expressions, node: exp.Binary) -> Value:
    return compare_values(read, node, type(node), read.value(node.this), read.value(node.expression))


def compare_values(
    read: Expressions, node: exp.Expr, operator: type[exp.Binary], left: Value, right: Value
) -> Value:
    """One comparison; NULL where a side is the literal NULL."""
    if left.kind == "null" or right.kind == "null":
        return boolean(exp.cast(exp.null(), exp.DataType.Type.BOOLEAN))
    left, right = read.alike(node, left, right)
    if operator in _ORDER and left.kind in ("text", "boolean"):
        read.text.refuse(
            node, f"the order of {left.kind}s differs between engines; compare with =, <>, IN or LIKE"
        )
    return boolean(operator(this=bracket(left.expression), expression=bracket(right.expression)))


def _between(read: Expressions, node: exp.Between) -> Value:
    inner, low, high = read.value(node.this), read.value(node.args["low"]), read.value(node.args["high"])
    above = compare_values(read, node, exp.GTE, inner, low)
    below = compare_values(read, node, exp.LTE, inner, high)
    return boolean(exp.and_(above.expression, below.expression))


def _in(read: Expressions, node: exp.In) -> Value:
    if node.args.get("query"):
        read.text.refuse(node, NO_SUB_QUERY, keyword="IN")
    if not node.expressions:
        read.text.wrong(node, "IN takes a list of literals, such as IN (1, 2)", keyword="IN")
    inner = read.value(node.this)
    items = [read.value(item) for item in node.expressions]
    for item, value in zip(node.expressions, items, strict=True):
        if value.constant is None and value.kind != "null":
            read.text.refuse(item, "IN takes a list of literals; write x = a OR x = b")
    if inner.kind == "null":
        return boolean(exp.cast(exp.null(), exp.DataType.Type.BOOLEAN))
    inner, *items = read.alike(node, inner, *items)
    return boolean(exp.In(this=bracket(inner.expression), expressions=[i.expression.copy() for i in items]))


def _like(read: Expressions, node: exp.Like) -> Value:
    inner, pattern = read.words(node.this), read.value(node.expression)
    if not isinstance(pattern.constant, str):
        read.text.refuse(node, "the pattern must be a literal")
    if "\\" in pattern.constant:
        read.text.refuse(node, "a backslash in a pattern means something else on every engine; leave it out")
    matches = exp.Like(this=bracket(inner.expression), expression=pattern.expression.copy())
    # Newer parsers keep NOT LIKE in one node.
    return boolean(exp.Not(this=exp.Paren(this=matches)) if node.args.get("negate") else matches)


RULES: Rules = {
    exp.And: (_and, PLAIN),
    exp.Or: (_or, PLAIN),
    exp.Not: (_not, PLAIN),
    exp.Is: (_is, ("this", "expression", "negate")),
    **dict.fromkeys((exp.NullSafeEQ, exp.NullSafeNEQ), (_distinct, PLAIN)),
    **dict.fromkeys(_COMPARISONS, (_compare, PLAIN)),
    exp.Between: (_between, ("this", "low", "high")),
    exp.In: (_in, ("this", "expressions", "query")),
    exp.Like: (_like, ("this", "expression", "negate")),
}
