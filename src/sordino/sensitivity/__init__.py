"""Sensitivities: what t changes can do to a score or a number."""

from sordino.sensitivity.derivatives import Expression, expression
from sordino.sensitivity.norms import Norm, norm_ratio
from sordino.sensitivity.profile import Profile
from sordino.sensitivity.smooth_bound import SmoothBound

__all__ = ["Expression", "Norm", "Profile", "SmoothBound", "expression", "norm_ratio"]
