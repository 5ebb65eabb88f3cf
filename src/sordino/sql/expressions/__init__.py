"""Scalar expressions that mean the same on every engine and cannot raise."""

from sordino.sql.expressions.expressions import Expressions

__all__ = ["Expressions"]
