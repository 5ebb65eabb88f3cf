"""Sensitivity of join questions, computed inside the database."""

from sordino.sql.analysis.analysis import ANALYSES, DEFAULT, Analysis, Plan, analyse, plan

__all__ = ["ANALYSES", "DEFAULT", "Analysis", "Plan", "analyse", "plan"]
