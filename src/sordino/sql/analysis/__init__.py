"""Sensitivity of join questions, computed inside the database."""

from sordino.sql.analysis.all_groups import plan_groups
from sordino.sql.analysis.analysis import (
    ANALYSES,
    Analysis,
    AnalysisPlan,
    analyse,
    choose_analyses,
    plan_analyses,
    plan_analysis,
)
from sordino.sql.analysis.reader import AskedNumbers, Reader
from sordino.sql.analysis.row_limits import SOLVER, RowLimits, add_limits, find_limits, limit_rows

__all__ = [
    "ANALYSES",
    "SOLVER",
    "Analysis",
    "AnalysisPlan",
    "AskedNumbers",
    "Reader",
    "RowLimits",
    "add_limits",
    "analyse",
    "choose_analyses",
    "find_limits",
    "limit_rows",
    "plan_analyses",
    "plan_analysis",
    "plan_groups",
]
