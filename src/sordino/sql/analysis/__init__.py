"""Sensitivity of join questions, computed inside the database."""

from sordino.sql.analysis.analysis import ANALYSES, DEFAULT, Analysis, analyse

__all__ = ["ANALYSES", "DEFAULT", "Analysis", "analyse"]
