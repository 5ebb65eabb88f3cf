"""Tails that are a regularised incomplete beta function, I_x(a, b) with x falling from 1 to 0.

Student-t and the generalised Cauchy family share this form. ``odds`` = (1 - x)/x grows with z, and is kept as
a logarithm so that neither a tail of 1e-300 nor z = 1e200 underflows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from sordino.sampling.shapes.shape import FloatArray

_LOG_NEGLIGIBLE = -40.0  # below e^-40 the factor (1 - x)^b·F(x) is 1 in double precision


@dataclass(frozen=True, slots=True)
class BetaTail:
    """The function I_x(a, b) of log odds((1 - x)/x)."""

    a: float
    b: float

    def log_value(self, log_odds: FloatArray) -> FloatArray:
        """ln I_x(a, b): the power series in x where x <= ½, the complement elsewhere."""
        log_x = -np.logaddexp(0.0, log_odds)
        x = np.exp(np.minimum(log_x, np.log(0.5)))
        series = (
            self.a * log_x
            + self.b * np.log1p(-x)
            + np.log(special.hyp2f1(self.a + self.b, 1.0, self.a + 1.0, x))
            - np.log(self.a)
            - special.betaln(self.a, self.b)
        )
        complement = np.exp(-np.logaddexp(0.0, -np.minimum(log_odds, 0.0)))
        near = np.log1p(-special.betainc(self.b, self.a, complement))
        return np.asarray(np.where(log_odds > 0, series, near), dtype=np.float64)

    def log_odds(self, v: FloatArray) -> FloatArray:
        """The ln((1 - x)/x) at which I_x(a, b) = v."""
        with np.errstate(divide="ignore", over="ignore"):
            far = (np.log(v) + np.log(self.a) + special.betaln(self.a, self.b)) / self.a
            x = special.betaincinv(self.a, self.b, np.clip(v, 1e-290, 0.5))
            middle = np.log1p(-x) - np.log(x)
            y = special.betaincinv(self.b, self.a, np.clip(1.0 - v, 0.0, 0.5))
            near = np.log(y) - np.log1p(-y)
        inner = np.where(v < 0.5, middle, near)
        return np.asarray(np.where(far < _LOG_NEGLIGIBLE, -far, inner), dtype=np.float64)
