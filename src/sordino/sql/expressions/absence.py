"""What an expression is where some tables have no row: NULL, or a condition that is not TRUE, whatever else holds.

Both are decided by the text alone, and say no in doubt.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from sqlglot import exp

# NULL where one of their parts is.
_STRICT = (
    exp.Paren, exp.Cast, exp.TryCast, exp.Neg, exp.Not, exp.Abs, exp.Floor, exp.Ceil, exp.Lower, exp.Upper, exp.Length,
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like,
    exp.RegexpLike, exp.Extract, exp.Substring, exp.DPipe,
)  # fmt: skip


def is_null_without(expression: exp.Expr, absent: AbstractSet[str]) -> bool:
    """Whether the value is NULL where the columns of these aliases are."""
    if isinstance(expression, exp.Column):
        return expression.table in absent
    if isinstance(expression, exp.Null):
        return True
    if isinstance(expression, exp.Case):
        branches = expression.args["ifs"]
        default = expression.args.get("default")
        return (
            expression.args.get("this") is None
            and all(
                is_untrue_without(branch.this, absent) or is_null_without(branch.args["true"], absent)
                for branch in branches
            )
            and (default is None or is_null_without(default, absent))
        )
    if isinstance(expression, exp.Coalesce):
        return all(is_null_without(part, absent) for part in (expression.this, *expression.expressions))
    if isinstance(expression, exp.And | exp.Or):
        return all(is_null_without(part, absent) for part in expression.flatten())
    if isinstance(expression, exp.Nullif | exp.In):
        return is_null_without(expression.this, absent)
    if isinstance(expression, _STRICT):
        parts = [part for part in expression.args.values() if isinstance(part, exp.Expr)]
        return any(is_null_without(part, absent) for part in parts if not isinstance(part, exp.DataType))
    return False


def is_untrue_without(condition: exp.Expr, absent: AbstractSet[str]) -> bool:
    """Whether a condition is FALSE or NULL where the columns of these aliases are NULL."""
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        return any(is_untrue_without(part, absent) for part in condition.flatten())
    if isinstance(condition, exp.Or):
        return all(is_untrue_without(part, absent) for part in condition.flatten())
    if isinstance(condition, exp.Boolean):
        return not condition.this
    if isinstance(condition, exp.Is):
        # NULL IS TRUE and NULL IS FALSE are FALSE.
        return isinstance(condition.expression, exp.Boolean) and is_null_without(condition.this, absent)
    if isinstance(condition, exp.Not):
        inner = condition.this.unnest()
        if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
            return is_null_without(inner.this, absent)
    return is_null_without(condition, absent)


def find_filled(check: exp.Expr) -> str | None:
    """The column of a check that says: column IS NOT NULL."""
    tree = check.unnest()
    inner = tree.this.unnest() if isinstance(tree, exp.Not) else None
    if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
        return str(inner.this.name) if isinstance(inner.this, exp.Column) else None
    return None
