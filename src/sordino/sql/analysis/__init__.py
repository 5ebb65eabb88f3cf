"""Sensitivity of join questions, computed inside the database."""

from sordino.sql.analysis.analysis import (
    ANALYSES,
    Analysis,
    AnalysisPlan,
    analyse,
    choose_analyses,
    plan_analyses,
    plan_analysis,
)
from sordino.sql.analysis.confinement import is_confined
from sordino.sql.analysis.reader import Reader

__all__ = [
    "ANALYSES",
    "Analysis",
    "AnalysisPlan",
    "Reader",
    "analyse",
    "choose_analyses",
    "is_confined",
    "plan_analyses",
    "plan_analysis",
]
