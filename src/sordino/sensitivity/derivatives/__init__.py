"""Smooth bounds on derivatives: how fast a number calculated from cells can move."""

from sordino.sensitivity.derivatives.expression import Expression, expression

__all__ = ["Expression", "expression"]
