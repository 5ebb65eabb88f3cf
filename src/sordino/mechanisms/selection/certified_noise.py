"""Student-t noise for 0/1 utilities with one winner, calibrated on its own law."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import scipy  # its parts load when they are first used
from numpy.typing import NDArray

from sordino.core import CalibrationError
from sordino.mechanisms.selection.noise_recipe import Recipe, checked_positive, unpadded
from sordino.mechanisms.selection.noisy_max_law import grouped_law
from sordino.sampling.shapes import StudentT

Floats = NDArray[np.float64]

_NU = 3
_ROOT = math.sqrt(_NU)
_DOWN = 1 - 2.0**-40
# No more than this is spent: a loser then has probability e^-200, and θ stays within doubles.
_LARGEST_EPSILON = 200.0
# Half the bound on the second derivative of the loss in θ; see `certified_recipe`.
_CURVATURE = 2.75
_LINEAR_EPSILON = 1e-4
# The grid of ln θ on which the rate is looked for, how far it goes beyond the largest of d noises, and what is added.
_GRID = 0.02
_FAR = 1e4
_RATE_MARGIN = 1.005
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_PANELS = 24


@lru_cache(maxsize=64)
def certified_recipe(epsilon: float, candidates: int) -> Recipe:
    """Student-t noise (ν = 3) for 0/1 utilities with one winner: shift and stretch never happen together.

    **Guarantee**: ε-DP. With P(θ) the winner's and L(θ) each loser's probability at 1/N = θ: at S = 1, that is θ = α,
    winner and loser differ by e^ε at most; between margins m and m + 1, that is θ and e^β θ, neither ln P nor ln L
    changes by more than ε, as β = ε/R with R the largest rate of either per unit of ln θ.
    **Source**: ours. d ln P/dθ and −d ln L/dθ are at most 2/√3, the largest |f′/f|, so the rates stay below 1.2 up to
    θ = 1, and tend to ν far out. Likewise the second derivatives are at most 2.73 and 2.67, so that for a small ε
    ln P − ln L ≤ cθ + 2.75θ² with c = d²∫f²F^(d−2).
    **Numerics**: α is where the integrated law, at the worse end of its stated error, spends ε. R is the largest rate,
    computed as an integral itself, on a grid of 0.02 in ln θ from α to 10⁴ times the largest of d noises, plus ½ %,
    and at least that above ν; between grid points it varies by less than a tenth of that.
    """
    spent = min(epsilon, _LARGEST_EPSILON)
    checked_positive(unpadded(spent / _NU), epsilon)
    alpha = _largest_alpha(spent, candidates)
    start = max(alpha, 1.0)
    reach = math.log(max(_FAR * candidates ** (1 / _NU) / start, 2.0))
    thetas = start * np.exp(np.linspace(0.0, reach, math.ceil(reach / _GRID) + 1))
    rate = max(float(np.max(_rates(thetas, candidates))), float(_NU)) * _RATE_MARGIN
    beta = checked_positive(unpadded(spent / rate * _DOWN), epsilon)
    return Recipe(StudentT(_NU), beta, alpha, "smooth noisy max, certified for 0/1 utilities")


def _largest_alpha(epsilon: float, candidates: int) -> float:
    """A θ at which winner and loser certainly differ by at most e^ε, as large as the accuracy of the law allows."""
    counts = np.array([candidates - 1, 1])

    def loss(theta: float) -> tuple[float, float]:
        law = grouped_law(StudentT(_NU), np.array([-theta, 0.0]), counts)
        return float(law.log_probabilities[1] - law.log_probabilities[0]), float(law.error.sum())

    slope = _slope(candidates)
    linear = epsilon / slope * (1 - 1e-6 - _CURVATURE * epsilon / slope**2)
    if epsilon < _LINEAR_EPSILON and linear > 0.999 * epsilon / slope:
        return linear
    # the loss is at most 2·(2/√3)·θ, and grows without end as 3 ln θ
    low, high = math.log(epsilon * _ROOT / 4), epsilon / _NU + math.log(candidates) + 5
    root = math.exp(scipy.optimize.brentq(lambda x: loss(math.exp(x))[0] - epsilon, low, high, xtol=1e-12))
    less = 1e-9
    while less < 0.5:
        alpha = root * (1 - less)
        found, error = loss(alpha)
        if found + error <= epsilon:
            return alpha
        less *= 4
    raise CalibrationError(f"epsilon = {epsilon:g} is too small to pay for this noise at double precision")


def _slope(candidates: int) -> float:
    """d²∫f²F^(d−2): the derivative of ln P − ln L at θ = 0."""
    _, meeting = _losing(np.array([1e-12]), candidates)
    return candidates**2 * float(meeting[0])


def _rates(thetas: Floats, candidates: int) -> Floats:
    """−d ln L/d ln θ and d ln P/d ln θ."""
    losing, meeting = _losing(thetas, candidates)
    rates: Floats = thetas * meeting / np.array([losing, (1 - (candidates - 1) * losing) / (candidates - 1)])
    return rates


def _losing(thetas: Floats, candidates: int) -> tuple[Floats, Floats]:
    """L = ∫ f(z) F(z − θ) F(z)^(d−2) dz and −dL/dθ = ∫ f(z) f(z − θ) F(z)^(d−2) dz, to about ten digits.

    Below z = θ/2 by z = √3 sinh w, above it by z − θ = √3 sinh w: there both integrands are analytic within π/2 of the
    real w, and Gauss–Legendre on panels of about 1 has converged.
    """
    far = np.arcsinh(_FAR**2 * candidates ** (1 / _NU) / _ROOT)
    middle = np.arcsinh(thetas / (2 * _ROOT))
    losing = _upper(_FAR**2 * candidates ** (1 / _NU) + thetas)  # all others are below, but for 10^-20
    meeting = np.zeros_like(thetas)
    for shift, start, end in ((0.0, -far, middle), (1.0, -middle, far)):
        edges = np.linspace(start * np.ones_like(thetas), end * np.ones_like(thetas), _PANELS + 1, axis=-1)
        half = np.diff(edges)[..., None] / 2
        w = (edges[:, 1:] + edges[:, :-1])[..., None] / 2 + half * _NODES
        near = _ROOT * np.sinh(w)
        own = near + shift * thetas[:, None, None]
        other = near - (1 - shift) * thetas[:, None, None]
        weights = half * _WEIGHTS * _ROOT * np.cosh(w) * _density(own) * _upper(-own) ** (candidates - 2)
        losing = losing + (weights * _upper(-other)).sum(axis=(1, 2))
        meeting = meeting + (weights * _density(other)).sum(axis=(1, 2))
    return losing, meeting


def _density(z: Floats) -> Floats:
    square = z * z / _NU
    density: Floats = 2 / (math.pi * _ROOT * (1 + square) ** 2)
    return density


def _upper(z: Floats) -> Floats:
    """P(Z > z) of Student-t with ν = 3."""
    x = np.abs(z) / _ROOT
    inverse = 1 / np.maximum(x, 1.0)
    series = inverse**3 * (2 / 3 - inverse**2 * (4 / 5 - inverse**2 * 6 / 7)) / math.pi
    closed = (np.arctan2(1.0, x) - x / (1 + x * x)) / math.pi
    tail = np.where(x > 300, series, closed)
    return np.where(z >= 0, tail, 1 - tail)
