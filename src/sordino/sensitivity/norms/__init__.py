"""Norms: how far the contents of cells may have moved, as their owner declares it."""

from sordino.sensitivity.norms.norm import Norm, norm_ratio

__all__ = ["Norm", "norm_ratio"]
