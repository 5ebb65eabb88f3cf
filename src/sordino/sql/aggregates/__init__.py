"""The aggregates that can be asked: one file each, and one line here."""

from sordino.sql.aggregates.aggregate import Aggregate, Part
from sordino.sql.aggregates.avg import AVG
from sordino.sql.aggregates.count import COUNT, RowCount
from sordino.sql.aggregates.measure import LARGEST_ANSWER, LARGEST_CHANGE, SMALL_REACH, Measure
from sordino.sql.aggregates.sum import SUM, BoundedSum

AGGREGATES = (COUNT, SUM, AVG)

__all__ = [
    "AGGREGATES",
    "LARGEST_ANSWER",
    "LARGEST_CHANGE",
    "SMALL_REACH",
    "Aggregate",
    "BoundedSum",
    "Measure",
    "Part",
    "RowCount",
]
