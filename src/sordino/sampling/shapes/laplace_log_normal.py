"""Laplace-log-normal noise: Z = L·e^{σN}, with L Laplace and N standard normal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike

from sordino.core.errors import ParameterError
from sordino.core.parameters import positive
from sordino.sampling.refined_uniform import precision
from sordino.sampling.shapes.shape import FloatArray, SymmetricShape

_LARGEST_SIGMA = 4.0
_NODES_PER_SIDE = 256
_FURTHEST = 1e300
_SMALLEST_LOG = 1000.0  # below e^-1000 the rigorous tail is only said to be that small: it could take minutes
_BLOCK = 2048  # arguments per vectorised sum: bounds the memory


@dataclass(frozen=True, slots=True)
class LaplaceLogNormal(SymmetricShape):
    """P(|Z| > z) = E exp(-z e^{-σN}).

    Numerics: the float functions sum the trapezoid rule in the normal variable, recentred at the integrand's
    peak, where it converges faster than any power of the step. Draws never use the tail: they compose a
    refined Laplace and a refined normal variable.
    """

    sigma: float

    def __post_init__(self) -> None:
        if positive("sigma", self.sigma) > _LARGEST_SIGMA:
            raise ParameterError(f"sigma must be in (0, {_LARGEST_SIGMA:g}], got {self.sigma!r}")

    def _log_mean(self, z: FloatArray, power: int) -> FloatArray:
        """ln E[e^{-power·σN}·exp(-z e^{-σN})], by the trapezoid rule about the peak of the integrand."""
        flat = np.ravel(z)
        parts = [self._log_mean_of(flat[i : i + _BLOCK], power) for i in range(0, flat.size, _BLOCK)]
        return np.concatenate(parts or [flat]).reshape(np.shape(z))

    def _log_mean_of(self, flat: FloatArray, power: int) -> FloatArray:
        sigma = self.sigma
        # the exponent -u²/2 - pσu - z e^{-σu} is concave; Newton for its peak, in w = σz e^{-σu} = u + pσ
        peak = np.zeros_like(flat)
        with np.errstate(over="ignore", divide="ignore"):
            peak = np.where(flat > 0, np.maximum(peak, (np.log(flat) - 3.0) / sigma), peak)
        for _ in range(80):
            pull = sigma * flat * np.exp(-sigma * peak)
            peak = peak + (pull - peak - power * sigma) / (1.0 + sigma * pull)
        curvature = 1.0 + sigma**2 * flat * np.exp(-sigma * peak)
        # the integrand is below e^-46 of its peak beyond 10 standard widths to the left, and to the right, where
        # the curvature decays to that of the normal law, beyond 10 plain widths
        low, high = peak - 10.0 / np.sqrt(curvature) - 1e-9, peak + 10.0
        step = (high - low) / (2 * _NODES_PER_SIDE)
        node = low[:, None] + step[:, None] * np.arange(2 * _NODES_PER_SIDE + 1)
        exponent = -0.5 * node**2 - power * sigma * node - flat[:, None] * np.exp(-sigma * node)
        top = exponent.max(axis=1)
        total = np.log(step * np.exp(exponent - top[:, None]).sum(axis=1)) + top - 0.5 * math.log(2 * math.pi)
        return np.asarray(total, dtype=np.float64)

    def log_pdf(self, z: ArrayLike) -> FloatArray:
        """The logarithm of the density."""
        return np.asarray(self._log_mean(np.abs(np.asarray(z, dtype=np.float64)), 1) - math.log(2.0))

    def log_both_tails(self, z: FloatArray) -> FloatArray:
        """ln P(|Z| > z) for z >= 0."""
        return self._log_mean(z, 0)

    def tail_quantile(self, v: ArrayLike) -> FloatArray:
        """The z >= 0 with P(|Z| > z) = v, by bisection on ln z."""
        v = np.asarray(v, dtype=np.float64)
        with np.errstate(divide="ignore"):
            target = np.log(v)
        low, high = np.full(v.shape, -50.0), np.full(v.shape, 20.0 + 40.0 * self.sigma)
        for _ in range(60):
            middle = 0.5 * (low + high)
            above = self._log_mean(np.exp(middle), 0) > target
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return np.asarray(np.where(v >= 1, 0.0, np.exp(0.5 * (low + high))), dtype=np.float64)

    def _where(self, size: float) -> float:
        """A z with -ln P(|Z| > z) a little below ``size``."""
        low, high = -50.0, math.log(_FURTHEST)
        for _ in range(40):
            middle = 0.5 * (low + high)
            near = -float(self._log_mean(np.asarray(math.exp(middle)), 0)) < size
            low, high = (middle, high) if near else (low, middle)
        return math.exp(low)

    def ball_tail(self, z: arb) -> arb:
        """P(|Z| > z) for z >= 0; below e^-1000 a ball from 0 to there.

        The trapezoid rule with step h for ∫g, g(u) = φ(u)exp(-z e^{-σu}). On the lines Im u = ±c with σc <=
        π/2, |exp(-z e^{-σ(u±ic)})| <= 1 and |φ(u ± ic)| = e^{c²/2}φ(u), so the error is at most
        2e^{c²/2}/(e^{2πc/h} - 1); what lies outside [-R, R] is at most that of the normal law.
        """
        middle = min(float(z.mid()), _FURTHEST)
        size = -float(self._log_mean(np.asarray(middle), 0))
        if size > _SMALLEST_LOG:
            return _at_most(self)
        wanted = size + (ctx.prec + 8) * math.log(2.0)
        strip = math.pi / (2 * self.sigma) * (1 - 1e-9)
        # the error also falls with narrower strips, where e^{c²/2} is smaller
        strip = min(strip, math.sqrt(2 * wanted))
        divisions = math.ceil((wanted + strip**2 / 2 + 2) / (2 * math.pi * strip))
        reach = math.ceil(math.sqrt(2 * wanted) + 1)
        with precision(ctx.prec + int(size / math.log(2.0)) + 16):
            step = arb(1) / divisions
            sigma, total = arb(self.sigma), arb(0)
            shrink, factor = (-sigma * step).exp(), (sigma * reach).exp()
            for index in range(-reach * divisions, reach * divisions + 1):
                node = index * step
                total += (-(node * node) / 2 - z * factor).exp()
                factor *= shrink
            width = arb(strip)
            discretised = 2 * (width * width / 2).exp() / ((2 * arb.pi() * width / step).exp() - 1)
            # Σ over |node| > R of h·φ(node) <= 2·∫_{R}^∞ φ = erfc(R/√2), since φ decreases there
            cut = (arb(reach) / arb(2).sqrt()).erfc()
            value = total * step / (2 * arb.pi()).sqrt()
            return value + arb(0, (discretised + cut).upper())


@lru_cache(maxsize=64)
def _at_most(shape: LaplaceLogNormal) -> arb:
    """A ball that holds every tail below e^-1000."""
    with precision(64):
        highest = shape.ball_tail(arb(shape._where(_SMALLEST_LOG))).upper()
        return highest / 2 + arb(0, highest / 2)
