"""Known: a released value, and what the exact one may be where all noises stay within their radii.

Calculation is in exact fractions; an int stays an int, so a column of whole numbers is shown as one. NULL propagates,
and what divides by zero is NULL. Every rule here is total: a release that was paid for can always be shown.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

Number = int | Fraction
Scalar = Number | str | bool | date | tuple[Number, ...] | None
Span = tuple[Number, Number]
_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Known:
    """``span``: where the exact number lies if there is one; None where nothing is known.

    ``nullable``: the exact value may be NULL. ``sure``: the exact value is ``value``, whatever the noise.
    """

    value: Scalar
    span: Span | None = None
    nullable: bool = True
    sure: bool = False

    @classmethod
    def exact(cls, value: Scalar) -> Known:
        """A literal, or the key of a group."""
        return cls(value, (value, value) if _is_number(value) else None, value is None, True)  # type: ignore[arg-type]

    @classmethod
    def about(cls, number: Number, radius: Number | None) -> Known:
        """A released number that is there for every database."""
        span = None if radius is None else (number - radius, number + radius)
        return cls(number, span, nullable=False, sure=radius == 0)

    @property
    def number(self) -> Number | None:
        """The value as a number."""
        return self.value if _is_number(self.value) else None  # type: ignore[return-value]

    def radius(self) -> Number | None:
        """How far the exact number may be; where NULL is released, how far two exact ones may be apart."""
        if self.span is None:
            return None
        low, high = self.span
        return high - low if self.number is None else max(high - self.number, self.number - low)


def add(a: Known, b: Known) -> Known:
    """a + b."""
    return _combine(a, b, lambda x, y: x + y, lambda p, q: (p[0] + q[0], p[1] + q[1]))


def subtract(a: Known, b: Known) -> Known:
    """a - b."""
    return add(a, negate(b))


def multiply(a: Known, b: Known) -> Known:
    """a · b."""
    return _combine(a, b, lambda x, y: x * y, _corners)


def divide(a: Known, b: Known) -> Known:
    """a / b without dropping a remainder; NULL where b is released as zero, and no span where it may be zero."""
    if b.number == 0:
        return Known(None, sure=a.sure and b.sure)
    span = None
    if b.span is not None and not b.span[0] <= 0 <= b.span[1]:
        span = (Fraction(1) / b.span[1], Fraction(1) / b.span[0])
    value = None if b.number is None else Fraction(1) / b.number
    return multiply(a, Known(value, span, b.nullable or span is None, b.sure))


def negate(a: Known) -> Known:
    """-a."""
    return _mapped(a, lambda x: -x, lambda span: (-span[1], -span[0]))


def absolute(a: Known) -> Known:
    """|a|."""

    def mapped(span: Span) -> Span:
        low, high = span
        least = 0 if low <= 0 <= high else min(_size(low), _size(high))
        return least, max(_size(low), _size(high))

    return _mapped(a, _size, mapped)


def floor(a: Known) -> Known:
    """The largest whole number that is not above."""
    return _monotone(a, math.floor)


def ceil(a: Known) -> Known:
    """The least whole number that is not below."""
    return _monotone(a, math.ceil)


def round_to(places: int) -> Callable[[Known], Known]:
    """To so many places behind the point, or before it where negative; halves away from zero."""
    unit = Fraction(10) ** places

    def rounded(x: Number) -> Number:
        steps = math.floor(_size(x) * unit + _HALF)
        found = (steps if x >= 0 else -steps) / unit
        return found if places > 0 else int(found)

    return lambda a: _monotone(a, rounded)


def as_fraction(a: Known) -> Known:
    """The same number, shown with a point."""
    return _monotone(a, Fraction)


def root(a: Known) -> Known:
    """√a of what is not negative, in steps of 2⁻⁶⁰: the value and the lower end rounded down, the upper end up."""

    def below(x: Number) -> Fraction:
        exact = max(Fraction(x), Fraction(0))
        return Fraction(math.isqrt(int(exact * 4**60)), 2**60)

    return _mapped(a, below, lambda span: (below(span[0]), below(span[1]) + Fraction(2, 2**60)))


def clip(a: Known, low: Number, high: Number) -> Known:
    """Moved into an interval in which every exact number lies; there it is, whatever else is known."""
    known = _monotone(a, lambda x: min(max(x, low), high))
    return known if known.span is not None else Known(known.value, (low, high), a.nullable, a.sure)


def greatest(parts: Sequence[Known]) -> Known:
    """The largest; NULLs are skipped."""
    return _extreme(parts, max)


def least(parts: Sequence[Known]) -> Known:
    """The smallest; NULLs are skipped."""
    return _extreme(parts, min)


def coalesce(parts: Sequence[Known]) -> Known:
    """The first that is not NULL; any part may be it until one is never NULL."""
    possible: list[Known] = []
    for part in parts:
        if part.sure and part.value is None:
            continue
        possible.append(part)
        if not part.nullable:
            break
    value = next((part.value for part in parts if part.value is not None), None)
    return _one_of(value, possible, nullable=all(part.nullable for part in possible))


def nullif(parts: Sequence[Known]) -> Known:
    """The first, and NULL where it equals the second."""
    a, b = parts
    same = compare(operator.eq, a, b)
    if same.sure and same.value is not True:
        return a
    return Known(None if same.value else a.value, a.span, True, a.sure and b.sure)


def choose(parts: Sequence[Known]) -> Known:
    """CASE: condition, value, condition, value, …, default."""
    *branches, default = parts
    possible: list[Known] = []
    value: Scalar = None
    decided = False
    for when, then in zip(branches[::2], branches[1::2], strict=True):
        if when.value is True and not decided:
            value, decided = then.value, True
        if when.sure and when.value is not True:
            continue
        possible.append(then)
        if when.sure:
            break
    else:
        possible.append(default)
    return _one_of(value if decided else default.value, possible, nullable=any(p.nullable for p in possible))


def compare(holds: Callable[[Scalar, Scalar], bool], a: Known, b: Known) -> Known:
    """A comparison; sure where it comes out alike wherever both numbers lie."""
    if a.value is None or b.value is None:
        return Known(None, sure=a.sure and b.sure)
    value, sure = holds(a.value, b.value), a.sure and b.sure
    if not sure and a.span is not None and b.span is not None and not (a.nullable or b.nullable):
        # An order that is alike at all corners of the rectangle is so inside; = and <> may differ there.
        apart = a.span[1] < b.span[0] or b.span[1] < a.span[0]
        ends = {holds(x, y) for x in a.span for y in b.span}
        sure = len(ends) == 1 and (apart or holds not in (operator.eq, operator.ne))
    return Known(value, None, a.nullable or b.nullable, sure)


def both(parts: Sequence[Known]) -> Known:
    """AND."""
    return _connect(parts, False)


def either(parts: Sequence[Known]) -> Known:
    """OR."""
    return _connect(parts, True)


def opposite(a: Known) -> Known:
    """NOT."""
    return Known(None if a.value is None else not a.value, None, a.nullable, a.sure)


def is_null(a: Known) -> Known:
    """IS NULL, which is never NULL itself."""
    return Known(a.value is None, None, False, a.sure or not a.nullable)


def is_truth(truth: bool) -> Callable[[Known], Known]:
    """IS TRUE or IS FALSE, which are never NULL themselves."""
    return lambda a: Known(a.value is truth, None, False, a.sure)


def _size(x: Number) -> Number:
    return x if x >= 0 else -x


def _is_number(value: Scalar) -> bool:
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def _combine(
    a: Known, b: Known, value: Callable[[Number, Number], Number], span: Callable[[Span, Span], Span]
) -> Known:
    found = None if a.number is None or b.number is None else value(a.number, b.number)
    around = None if a.span is None or b.span is None else span(a.span, b.span)
    return Known(found, around, a.nullable or b.nullable, a.sure and b.sure)


def _corners(a: Span, b: Span) -> Span:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _mapped(a: Known, value: Callable[[Number], Number], span: Callable[[Span], Span]) -> Known:
    return Known(
        None if a.number is None else value(a.number),
        None if a.span is None else span(a.span),
        a.nullable,
        a.sure,
    )


def _monotone(a: Known, value: Callable[[Number], Number]) -> Known:
    return _mapped(a, value, lambda span: (value(span[0]), value(span[1])))


def _extreme(parts: Sequence[Known], chosen: Callable[[Sequence[Number]], Number]) -> Known:
    there = [part.number for part in parts if part.number is not None]
    known = _one_of(None, parts, nullable=all(part.nullable for part in parts))
    around = known.span
    if around is not None and not any(part.nullable for part in parts):
        spans = [part.span for part in parts if part.span is not None]
        around = (chosen([span[0] for span in spans]), chosen([span[1] for span in spans]))
    # Where a part may be NULL, each of the others by itself may be the result.
    sure = all(part.sure for part in parts)
    return Known(chosen(there) if there else None, around, known.nullable, sure)


def _one_of(value: Scalar, possible: Sequence[Known], *, nullable: bool) -> Known:
    numbers = [part for part in possible if not (part.sure and part.value is None)]
    spans = [part.span for part in numbers if part.span is not None]
    around = None
    if spans and len(spans) == len(numbers):
        around = (min(span[0] for span in spans), max(span[1] for span in spans))
    return Known(value, around, nullable, len(possible) == 1 and possible[0].sure)


def _connect(parts: Sequence[Known], decisive: bool) -> Known:
    """AND is decided by one FALSE, OR by one TRUE; NULL where none decides and one is NULL."""
    values = [part.value for part in parts]
    value = decisive if decisive in values else None if None in values else not decisive
    sure = all(part.sure for part in parts) or any(part.sure and part.value is decisive for part in parts)
    return Known(value, None, not sure and any(part.nullable for part in parts), sure)
