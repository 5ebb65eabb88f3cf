"""Sensitivities: what t changes can do to a score or a number."""

from sordino.sensitivity.profile import Profile
from sordino.sensitivity.smooth_bound import SmoothBound

__all__ = ["Profile", "SmoothBound"]
