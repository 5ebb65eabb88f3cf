"""Text: LOWER, UPPER, LENGTH, SUBSTRING and ||.

LOWER and UPPER change the letters A–Z alone: what else has a case depends on the engine's locale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.sql.value import PLAIN, Rules, Value, bracketed, integer

if TYPE_CHECKING:
    from sordino.sql.expressions.expressions import Expressions

_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"


def _letters(read: Expressions, node: exp.Lower | exp.Upper) -> Value:
    inner = read.words(node.this)
    old, new = (_UPPER, _LOWER) if isinstance(node, exp.Lower) else (_LOWER, _UPPER)
    result = exp.Anonymous(
        this="TRANSLATE",
        expressions=[inner.expression.copy(), exp.Literal.string(old), exp.Literal.string(new)],
    )
    return Value(result, "text")


def _length(read: Expressions, node: exp.Length) -> Value:
    return integer(exp.Length(this=read.words(node.this).expression.copy()))


def _substring(read: Expressions, node: exp.Substring) -> Value:
    inner = read.words(node.this)
    places = [read.value(node.args[name]) for name in ("start", "length") if node.args.get(name)]
    for place, least in zip(places, (1, 0), strict=False):
        if not isinstance(place.constant, int) or not least <= place.constant < 2**31:
            read.text.refuse(node, "start and length must be literals, start >= 1 and length >= 0")
    if not node.args.get("start"):
        read.text.refuse(node, "write SUBSTRING(text, start, length)")
    length = places[1].expression.copy() if len(places) > 1 else None
    return Value(
        exp.Substring(this=inner.expression.copy(), start=places[0].expression.copy(), length=length),
        "text",
    )


def _pipe(read: Expressions, node: exp.DPipe) -> Value:
    left, right = read.words(node.this), read.words(node.expression)
    return Value(exp.DPipe(this=bracketed(left.expression), expression=bracketed(right.expression)), "text")


RULES: Rules = {
    **dict.fromkeys((exp.Lower, exp.Upper), (_letters, PLAIN)),
    exp.Length: (_length, PLAIN),
    exp.Substring: (_substring, ("this", "start", "length")),
    exp.DPipe: (_pipe, ("this", "expression", "safe")),
}
