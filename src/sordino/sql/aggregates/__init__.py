"""The aggregates that can be asked: one file each, and one line here."""

from sqlglot import exp

from sordino.sql.aggregates.aggregate import Aggregate, Part
from sordino.sql.aggregates.avg import AVG
from sordino.sql.aggregates.count import COUNT, RowCount
from sordino.sql.aggregates.distinct import DistinctCount
from sordino.sql.aggregates.lattice import Lattice
from sordino.sql.aggregates.measure import LARGEST_ANSWER, LARGEST_CHANGE, SMALL_REACH, Measure
from sordino.sql.aggregates.quantile import QUANTILES
from sordino.sql.aggregates.ranked import RankedValue
from sordino.sql.aggregates.sum import SUM, BoundedSum
from sordino.sql.aggregates.variance import VARIANCES

AGGREGATES = (COUNT, SUM, AVG, *VARIANCES, *QUANTILES)


def find_aggregate(node: exp.Expr) -> Aggregate | None:
    """The aggregate that a parsed expression calls, if it is one."""
    called = (aggregate for aggregate in AGGREGATES if type(node) in aggregate.nodes)
    return next((aggregate for aggregate in called if aggregate.accepts(node)), None)


__all__ = [
    "AGGREGATES",
    "LARGEST_ANSWER",
    "LARGEST_CHANGE",
    "SMALL_REACH",
    "Aggregate",
    "BoundedSum",
    "DistinctCount",
    "Lattice",
    "Measure",
    "Part",
    "RankedValue",
    "RowCount",
    "find_aggregate",
]
