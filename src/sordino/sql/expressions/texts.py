"""Functions of text in SQL expressions: LOWER, UPPER, LENGTH, SUBSTRING, TRIM, ILIKE and ||.

LOWER, UPPER and ILIKE know the case of the letters A–Z alone: what else has one depends on the engine's locale. TRIM,
LTRIM and RTRIM take spaces away, and no other character.

Engines raise when a text becomes too long for them, at a gigabyte or less. LOWER, UPPER, || and casts therefore look at
the first 65,536 characters of what may be longer, and what is put together has at most 2²² of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sordino.sql.expressions.value import PLAIN, Rules, Value, boolean, bracket, integer

if TYPE_CHECKING:
    from sordino.sql.expressions.expressions import Expressions

_LOOKED_AT = 2**16
_MOST_TOGETHER = 2**22
_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"


def cut_text(value: Value) -> Value:
    """The first characters of a text that may be very long."""
    if value.longest is not None:
        return value
    shortened = exp.Substring(
        this=value.expression.copy(), start=exp.Literal.number(1), length=exp.Literal.number(_LOOKED_AT)
    )
    return replace(value, expression=shortened, column=None, longest=_LOOKED_AT)


def _letters(read: Expressions, node: exp.Lower | exp.Upper) -> Value:
    return _translated(cut_text(read.words(node.this)), lower=isinstance(node, exp.Lower))


def _translated(inner: Value, *, lower: bool) -> Value:
    old, new = (_UPPER, _LOWER) if lower else (_LOWER, _UPPER)
    result = exp.Anonymous(
        this="TRANSLATE",
        expressions=[inner.expression.copy(), exp.Literal.string(old), exp.Literal.string(new)],
    )
    return Value(result, "text", longest=inner.longest)


def _ilike(read: Expressions, node: exp.ILike) -> Value:
    """LIKE after both sides were written in small letters."""
    inner = _translated(cut_text(read.words(node.this)), lower=True)
    pattern = read.value(node.expression)
    if not isinstance(pattern.constant, str):
        read.text.refuse(node, "the pattern must be a literal")
    if "\\" in pattern.constant:
        read.text.refuse(node, "a backslash in a pattern means something else on every engine; leave it out")
    small = exp.Literal.string(pattern.constant.translate(str.maketrans(_UPPER, _LOWER)))
    matches = exp.Like(this=bracket(inner.expression), expression=small)
    return boolean(exp.Not(this=exp.Paren(this=matches)) if node.args.get("negate") else matches)


def _trim(read: Expressions, node: exp.Trim) -> Value:
    inner = read.words(node.this)
    result = exp.Trim(this=inner.expression.copy(), position=node.args.get("position"))
    return Value(result, "text", longest=inner.longest)


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
    lengths = [inner.longest, *(place.constant for place in places[1:])]
    return Value(
        exp.Substring(this=inner.expression.copy(), start=places[0].expression.copy(), length=length),
        "text",
        longest=min((known for known in lengths if isinstance(known, int)), default=None),
    )


def _pipe(read: Expressions, node: exp.DPipe) -> Value:
    left, right = cut_text(read.words(node.this)), cut_text(read.words(node.expression))
    longest = (left.longest or 0) + (right.longest or 0)
    if longest > _MOST_TOGETHER:
        read.text.refuse(node, f"a text of more than {_MOST_TOGETHER} characters could result; put fewer together, "
                         "or parts of them: SUBSTRING(x, 1, 100)")  # fmt: skip
    result = exp.DPipe(this=bracket(left.expression), expression=bracket(right.expression))
    return Value(result, "text", longest=longest)


RULES: Rules = {
    **dict.fromkeys((exp.Lower, exp.Upper), (_letters, PLAIN)),
    exp.Length: (_length, PLAIN),
    exp.Substring: (_substring, ("this", "start", "length")),
    exp.ILike: (_ilike, ("this", "expression", "negate")),
    exp.Trim: (_trim, ("this", "position")),
    exp.DPipe: (_pipe, ("this", "expression", "safe")),
}
