"""Percentiles and quantiles."""

from sordino.stats.order_statistic import order_statistic_bound
from sordino.stats.percentile import percentile_question, select_record_at_percentile
from sordino.stats.quantile import quantile, quantile_law

__all__ = [
    "order_statistic_bound",
    "percentile_question",
    "quantile",
    "quantile_law",
    "select_record_at_percentile",
]
