"""Sensitivity of join questions, computed inside the database."""

from sordino.sql.analysis.analysis import ANALYSES, Analysis, Plan, analyse, default_analyses, plan, plans
from sordino.sql.analysis.confinement import is_confined
from sordino.sql.analysis.reader import Reader

__all__ = [
    "ANALYSES",
    "Analysis",
    "Plan",
    "Reader",
    "analyse",
    "default_analyses",
    "is_confined",
    "plan",
    "plans",
]
