"""Noise families by density and distribution function, each of scale 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

Curve = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Noise:
    """A law on the line: ln f, F, 1 - F (apart, so that neither tail loses digits), and where it starts."""

    name: str
    log_pdf: Curve
    cdf: Curve
    sf: Curve
    lower: float = -math.inf

    def pdf(self, z: np.ndarray) -> np.ndarray:
        return np.exp(self.log_pdf(np.asarray(z, dtype=float)))

    def log_cdf(self, z: np.ndarray) -> np.ndarray:
        below, above = self.cdf(z), self.sf(z)
        with np.errstate(divide="ignore"):
            return np.where(below < 0.5, np.log(below), np.log1p(-np.minimum(above, 0.5)))


def _symmetric(name: str, log_pdf: Curve, upper_tail: Curve) -> Noise:
    """From ln f and P(Z > z) for z >= 0."""

    def sf(z: np.ndarray) -> np.ndarray:
        tail = upper_tail(np.abs(z))
        return np.where(z >= 0, tail, 1 - tail)

    return Noise(name, log_pdf, lambda z: sf(-np.asarray(z)), sf)


def laplace() -> Noise:
    """Density e^{-|z|}/2."""
    return _symmetric("laplace", lambda z: -np.abs(z) - math.log(2), lambda a: 0.5 * np.exp(-a))


def gaussian() -> Noise:
    """Standard normal."""
    return _symmetric(
        "gaussian",
        lambda z: -0.5 * np.square(z) - 0.5 * math.log(2 * math.pi),
        lambda a: 0.5 * special.erfc(a / math.sqrt(2)),
    )


def student_t(nu: float) -> Noise:
    """Density proportional to (1 + z^2/nu)^{-(nu+1)/2}."""
    constant = math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2) - 0.5 * math.log(nu * math.pi)
    return _symmetric(
        f"student_t({nu})",
        lambda z: constant - (nu + 1) * np.log(np.hypot(1, z / math.sqrt(nu))),
        lambda a: special.stdtr(nu, -a),
    )


def flared_laplace(core: float, power: float) -> Noise:
    """Density proportional to e^{-|z|} up to the core, and to e^{-core}(1 + (|z| - core)/power)^{-power} beyond."""
    outside = math.exp(-core) * power / (power - 1)
    mass = 2 * (1 - math.exp(-core) + outside)

    def log_pdf(z: np.ndarray) -> np.ndarray:
        size = np.abs(z)
        far = core + power * np.log(np.maximum(power + size - core, power) / power)
        return -np.where(size <= core, size, far) - math.log(mass)

    def upper_tail(a: np.ndarray) -> np.ndarray:
        far = outside * (np.maximum(power + a - core, power) / power) ** (1 - power)
        near = np.exp(-np.minimum(a, core)) - math.exp(-core) + outside
        return np.where(a <= core, near, far) / mass

    return _symmetric("flared_laplace", log_pdf, upper_tail)


def generalised_cauchy(gamma: float) -> Noise:
    """Density proportional to 1/(1 + |z|^gamma), gamma > 1; the constant is gamma sin(pi/gamma)/(2 pi)."""
    constant = math.log(gamma * math.sin(math.pi / gamma) / (2 * math.pi))

    def log_pdf(z: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return constant - np.logaddexp(0, gamma * np.log(np.abs(z)))

    def upper_tail(a: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            share = special.expit(-gamma * np.log(a))
        return 0.5 * special.betainc(1 - 1 / gamma, 1 / gamma, share)

    return _symmetric(f"generalised_cauchy({gamma})", log_pdf, upper_tail)


def gumbel() -> Noise:
    """F(z) = exp(-exp(-z))."""

    def rate(z: np.ndarray) -> np.ndarray:
        return np.exp(np.minimum(-np.asarray(z, dtype=float), 700.0))

    return Noise(
        "gumbel",
        lambda z: np.minimum(-np.asarray(z), 700.0) - rate(z),
        lambda z: np.exp(-rate(z)),
        lambda z: -np.expm1(-rate(z)),
    )


def _one_sided(name: str, log_sf: Curve, log_pdf: Curve) -> Noise:
    return Noise(
        name,
        lambda z: np.where(z >= 0, log_pdf(np.maximum(z, 0)), -np.inf),
        lambda z: -np.expm1(log_sf(np.maximum(z, 0))),
        lambda z: np.exp(log_sf(np.maximum(z, 0))),
        lower=0.0,
    )


def exponential() -> Noise:
    """P(Z > z) = e^{-z}, z >= 0."""
    return _one_sided("exponential", lambda z: -z, lambda z: -z)


def one_sided_polynomial(nu: float) -> Noise:
    """P(Z > z) = (1 + z/nu)^{-nu}, z >= 0."""
    return _one_sided(
        f"one_sided_polynomial({nu})",
        lambda z: -nu * np.log1p(z / nu),
        lambda z: -(nu + 1) * np.log1p(z / nu),
    )


def laplace_log_normal(sigma: float) -> Noise:
    """LLN(sigma): X e^{sigma Y}, X standard Laplace, Y standard normal; the mixture over Y is integrated."""
    y = np.arange(-12.0, 12.0 + 1e-9, 1 / 8)  # the trapezium rule converges geometrically for this integrand
    log_weight = -0.5 * y**2 - 0.5 * math.log(2 * math.pi) + math.log(1 / 8)
    rate = np.exp(-sigma * y)

    def mixed(z: np.ndarray, log_factor: np.ndarray) -> np.ndarray:
        flat = np.abs(np.asarray(z, dtype=float)).ravel()
        blocks = [flat[i : i + 2048] for i in range(0, max(len(flat), 1), 2048)]
        done = [special.logsumexp(log_factor - block[:, None] * rate, axis=1) for block in blocks]
        return np.concatenate(done).reshape(np.shape(z))

    return _symmetric(
        f"laplace_log_normal({sigma})",
        lambda z: mixed(z, log_weight - sigma * y - math.log(2)),
        lambda a: np.exp(mixed(a, log_weight - math.log(2))),
    )
