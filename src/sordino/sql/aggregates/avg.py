"""AVG(x): the released sum over the released number of rows where x is there."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sordino.sql.aggregates.aggregate import Aggregate, Part
from sordino.sql.aggregates.count import RowCount
from sordino.sql.aggregates.measure import Measure
from sordino.sql.aggregates.sum import read_sum
from sordino.sql.expressions import Expressions


def _read(node: exp.Avg, expressions: Expressions) -> tuple[Measure, ...]:
    total = read_sum(node, expressions)
    return total, RowCount(total.value, f"COUNT({node.this.sql()})")


def _combine(parts: Sequence[Part]) -> float | None:
    """The quotient, moved into the bounds of the column; None where the noisy count is not positive."""
    total, count = parts
    if count.number <= 0:
        return None
    return float(min(max(total.number / count.number, total.measure.low), total.measure.high))


def _radius(parts: Sequence[Part]) -> float | None:
    """How far the quotient lies at most from those of all sums and counts within their radii, and within the bounds.

    Both radii hold at once with probability 95 %: each is bought, or known, for half of what may fail.
    """
    total, count = parts
    if total.radius is None or count.radius is None:
        return None
    low, high = total.measure.low, total.measure.high
    released = _combine(parts)
    most, least = count.number + count.radius, count.number - count.radius
    if released is None or least < 1:
        return float(high - low)
    sums = (total.number - total.radius, total.number + total.radius)
    quotients = [min(max(sum_ / rows, low), high) for sum_ in sums for rows in (least, most)]
    return max(abs(float(quotient) - released) for quotient in quotients)


AVG = Aggregate("avg", (exp.Avg,), _read, combine=_combine, radius=_radius)
