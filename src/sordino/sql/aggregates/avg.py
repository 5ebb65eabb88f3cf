"""AVG(x): the released sum over the released number of rows where x is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sordino.sql.aggregates.aggregate import Aggregate, Part
from sordino.sql.aggregates.count import count_where_there
from sordino.sql.aggregates.measure import Measure
from sordino.sql.aggregates.sum import read_sum
from sordino.sql.expressions import Expressions
from sordino.sql.known import Known, clip, divide


def _read(node: exp.Avg, expressions: Expressions) -> tuple[Measure, ...]:
    total = read_sum(node, expressions)
    return total, count_where_there(total.value, f"COUNT({node.this.sql()})", expressions)


def _combine(parts: Sequence[Part]) -> Known:
    """The quotient, moved into the bounds of the column; NULL where the noisy count is not positive.

    Both radii hold at once with probability 95 %: each is bought, or known, for half of what may fail.
    """
    total, count = parts
    quotient = divide(total.known, count.known) if count.number > 0 else Known(None)
    average = clip(quotient, total.measure.low, total.measure.high)
    return average if None not in (total.radius, count.radius) else replace(average, span=None)


AVG = Aggregate("avg", (exp.Avg,), _read, combine=_combine)
