"""Sensitivity of join questions, computed inside the database."""

from sordino.sql.analysis.analysis import ANALYSES, Analysis, Plan, analyse, default_analyses, plan

__all__ = ["ANALYSES", "Analysis", "Plan", "analyse", "default_analyses", "plan"]
