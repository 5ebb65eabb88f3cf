"""Tails that are a regularised incomplete beta function, I_x(a, b) with x falling from 1 to 0.

Student-t and the generalised Cauchy family share this form. ``odds`` = (1 - x)/x grows with z, and is kept as
a logarithm so that neither a tail of 1e-300 nor z = 1e200 underflows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb
from scipy import special

from sordino.sampling.refined_uniform import precision
from sordino.sampling.shapes.shape import FloatArray

_LOG_NEGLIGIBLE = -40.0  # below e^-40 the factor (1 - x)^b·F(x) is 1 in double precision
_TERMS = 60  # of the power series: at x <= ½ its terms fall at least like 2⁻ⁿ
_MOST_STEPS = 10_000  # of the continued fraction, which takes some √a
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class BetaTail:
    """The function I_x(a, b) of log odds((1 - x)/x), for b < 1.

    Numerics: three formulas, each where it neither cancels nor crawls. ln B(a, b) comes from ball arithmetic.
    """

    a: float
    b: float

    def log_value(self, log_odds: FloatArray) -> FloatArray:
        """ln I_x(a, b), with an absolute error of about 1e-14 and the rounding of the logarithm itself."""
        given = np.asarray(log_odds, dtype=np.float64)
        flat = given.ravel()
        result = np.empty_like(flat)
        # x at or above its mean: I_x is not small, and 1 minus its complement keeps its digits
        central = flat <= np.log((self.b + 1.0) / (self.a + 1.0))
        outer = ~central & (flat >= 0)
        between = ~central & ~outer
        result[central] = np.log1p(-self._complement(flat[central]))
        for chosen, factor in ((outer, self._log_series), (between, self._log_fraction)):
            if chosen.any():
                odds = flat[chosen]
                log_x, log_rest = -np.logaddexp(0.0, odds), -np.logaddexp(0.0, -odds)
                result[chosen] = self.a * log_x + self.b * log_rest + factor(np.exp(log_x)) - self._log_beta()
        return result.reshape(given.shape)

    def _complement(self, log_odds: FloatArray) -> FloatArray:
        """1 - I_x(a, b); where 1 - x is tiny, and may be below all floats, by the first term of its series."""
        log_rest = -np.logaddexp(0.0, -log_odds)
        first = np.exp(self.b * log_rest - np.log(self.b) - self._log_beta())
        inner = special.betainc(self.b, self.a, np.exp(log_rest))
        return np.asarray(np.where(log_rest < _LOG_NEGLIGIBLE, first, inner), dtype=np.float64)

    def _log_beta(self) -> float:
        return _log_beta(self.a, self.b)

    def _log_series(self, x: FloatArray) -> FloatArray:
        """ln of F(a + b, 1; a + 1; x)/a = Σ (a + b)ₙ/(a + 1)ₙ·xⁿ/a: positive terms whose ratio is below x <= ½."""
        total = np.ones_like(x)
        for n in range(_TERMS, 0, -1):
            total = 1.0 + total * x * ((self.a + self.b + n - 1) / (self.a + n))
        return np.asarray(np.log(total) - np.log(self.a), dtype=np.float64)

    def _log_fraction(self, x: FloatArray) -> FloatArray:
        """The continued fraction of DiDonato and Morris 1992, by Lentz's method, for x below its mean."""
        a, b, rest = self.a, self.b, 1.0 - x

        def step(m: int) -> FloatArray:
            value = m + m * (b - m) * x / (a + 2 * m - 1) if m else np.zeros_like(x)
            return np.asarray(value + (a + m) * (a * rest - b * x + 1 + m * (2 - x)) / (a + 2 * m + 1))

        fraction = step(0)
        front, back = fraction.copy(), np.zeros_like(x)
        for m in range(1, _MOST_STEPS):
            top = (a + m - 1) * (a + b + m - 1) * m * (b - m) * x * x / (a + 2 * m - 1) ** 2
            bottom = step(m)
            back = bottom + top * back
            front = bottom + top / front
            back = 1.0 / np.where(back == 0, _TINY, back)
            front = np.where(front == 0, _TINY, front)
            change = front * back
            fraction = fraction * change
            if np.abs(change - 1).max() < 2.0**-53:
                break
        return np.asarray(-np.log(fraction), dtype=np.float64)

    def log_odds(self, v: FloatArray) -> FloatArray:
        """The ln((1 - x)/x) at which I_x(a, b) = v."""
        with np.errstate(divide="ignore", over="ignore"):
            far = (np.log(v) + np.log(self.a) + self._log_beta()) / self.a
            x = special.betaincinv(self.a, self.b, np.clip(v, 1e-290, 0.5))
            middle = np.log1p(-x) - np.log(x)
            y = special.betaincinv(self.b, self.a, np.clip(1.0 - v, 0.0, 0.5))
            close = (np.log1p(-v) + np.log(self.b) + self._log_beta()) / self.b
            near = np.where(close < _LOG_NEGLIGIBLE, close, np.log(y) - np.log1p(-y))
        inner = np.where(v < 0.5, middle, near)
        return np.asarray(np.where(far < _LOG_NEGLIGIBLE, -far, inner), dtype=np.float64)


@lru_cache(maxsize=1024)
def _log_beta(a: float, b: float) -> float:
    with precision(128):
        return float(arb(a).lgamma() + arb(b).lgamma() - (arb(a) + arb(b)).lgamma())
