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


# A quotient of two noisy numbers has no radius that follows from theirs.
AVG = Aggregate("avg", (exp.Avg,), _read, combine=_combine)
