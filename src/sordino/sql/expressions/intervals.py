"""Interval arithmetic in exact fractions: where an expression lies, and the lattice its values lie on.

The intervals need not hold for the rows: a sum clips the whole expression to its interval. They must be public,
and they are: declared bounds and literals are all that goes in.
"""

from __future__ import annotations

from fractions import Fraction

from sordino.sql.expressions.value import Range, find_common_step


def add_ranges(a: Range, b: Range) -> Range:
    """a + b."""
    low = None if a.low is None or b.low is None else a.low + b.low
    high = None if a.high is None or b.high is None else a.high + b.high
    return Range(low, high, find_common_step(a.step, b.step), _missing(a, b))


def negate_range(a: Range) -> Range:
    """-a."""
    return Range(None if a.high is None else -a.high, None if a.low is None else -a.low, a.step, a.missing)


def multiply_ranges(a: Range, b: Range) -> Range:
    """a · b."""
    step = None if a.step is None or b.step is None else a.step * b.step
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return Range(None, None, step, _missing(a, b))
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Range(min(corners), max(corners), step, _missing(a, b))


def divide_ranges(a: Range, b: Range) -> Range:
    """a / b where 0 is not between the ends of b. A quotient lies on no lattice unless b is a constant."""
    if b.low is None or b.high is None or b.low <= 0 <= b.high:
        return Range(missing=_missing(a, b))
    step = 1 / abs(b.low) if b.low == b.high else None
    return multiply_ranges(a, Range(1 / b.high, 1 / b.low, step, b.missing))


def join_ranges(parts: list[Range]) -> Range:
    """One of the parts, nobody knows which."""
    lows, highs = [part.low for part in parts], [part.high for part in parts]
    return Range(
        None if None in lows else min(low for low in lows if low is not None),
        None if None in highs else max(high for high in highs if high is not None),
        find_common_step(*(part.step for part in parts)),
        _missing(*parts),
    )


def choose_ranges(greatest: bool, parts: list[Range]) -> Range:
    """GREATEST or LEAST; both skip NULLs, so each part alone may be the result.

    One part that cannot be NULL would close an end by itself; literals are such parts.
    """
    if not greatest:
        return negate_range(choose_ranges(True, [negate_range(part) for part in parts]))
    # A literal is never NULL, so the result is at least the largest of them.
    floors = [part.low for part in parts if part.low is not None and part.low == part.high]
    lows = [part.low for part in parts]
    low: Fraction | None = None if None in lows else min(low for low in lows if low is not None)
    if floors:
        low = max(floors) if low is None else max(low, *floors)
    highs = [part.high for part in parts]
    high = None if None in highs else max(high for high in highs if high is not None)
    return Range(low, high, find_common_step(*(part.step for part in parts)), _missing(*parts))


def _missing(*parts: Range) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for part in parts for name in part.missing))
