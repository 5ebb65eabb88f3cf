"""Exact output laws of selection mechanisms, each from its definition or its algorithm's text."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import flint
import numpy as np

from tests.oracles.densities import Noise, exponential, gumbel, laplace
from tests.oracles.integration import integrate

Number = int | float | Fraction
_BITS = 300


def _ball(value: Number) -> flint.arb:
    exact = Fraction(value)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def _rate(epsilon: Number, sensitivity: Number, monotone: bool) -> Fraction:
    return Fraction(epsilon) / ((1 if monotone else 2) * Fraction(sensitivity))


def exponential_law(
    scores: Sequence[Number], *, epsilon: Number, sensitivity: Number = 1, monotone: bool = False
) -> np.ndarray:
    """P(r) proportional to exp(epsilon u(r) / (2 sensitivity)), without the 2 if monotone."""
    rate = _rate(epsilon, sensitivity, monotone)
    best = max(Fraction(u) for u in scores)
    with flint.ctx.workprec(_BITS):
        weights = [_ball(rate * (Fraction(u) - best)).exp() for u in scores]
        total = sum(weights, flint.arb(0))
        return np.array([float(w / total) for w in weights])


def permute_and_flip_law(
    scores: Sequence[Number], *, epsilon: Number, sensitivity: Number = 1, monotone: bool = False
) -> np.ndarray:
    """In a uniformly random order, flip for each candidate a coin of heads exp(rate (u - u*)); first heads wins."""
    if len(scores) > 7:
        raise ValueError("all orders are enumerated: at most 7 candidates")
    rate = _rate(epsilon, sensitivity, monotone)
    best = max(Fraction(u) for u in scores)
    with flint.ctx.workprec(_BITS):
        heads = [_ball(rate * (Fraction(u) - best)).exp() for u in scores]
        tails = [1 - h for h in heads]
        result = [flint.arb(0) for _ in scores]
        for order in itertools.permutations(range(len(scores))):
            reached = flint.arb(1)
            for r in order:
                result[r] += reached * heads[r]
                if Fraction(scores[r]) == best:
                    break  # heads for certain
                reached *= tails[r]
        return np.array([float(p / math.factorial(len(scores))) for p in result])


def noisy_max_law(scores: Sequence[Number], *, scale: float, noise: Noise) -> np.ndarray:
    """Law of argmax u(r) + scale Z_r: P(r) = integral of f(z) prod over s of F(z + (u_r - u_s)/scale)."""
    values, counts = np.unique(np.array([float(u) for u in scores]), return_counts=True)
    chance = {}
    for value in values:
        rivals = np.where(values == value, counts - 1, counts)
        offsets = (value - values) / scale

        def integrand(
            z: np.ndarray, rivals: np.ndarray = rivals, offsets: np.ndarray = offsets
        ) -> np.ndarray:
            log = noise.log_pdf(z)
            for offset, number in zip(offsets, rivals, strict=True):
                if number:
                    log = log + number * noise.log_cdf(z + offset)
            return np.exp(log)

        chance[value] = integrate(integrand, (0.0, *(-offsets)), lower=noise.lower)
    return np.array([chance[float(u)] for u in scores])


def report_noisy_max_law(
    scores: Sequence[Number],
    *,
    epsilon: float,
    sensitivity: float = 1.0,
    noise: str = "gumbel",
    monotone: bool = False,
) -> np.ndarray:
    """Noise of scale 2 sensitivity / epsilon, without the 2 if monotone; `gumbel`, `exponential` or `laplace`."""
    kind = {"gumbel": gumbel, "exponential": exponential, "laplace": laplace}[noise]()
    return noisy_max_law(scores, scale=(1 if monotone else 2) * sensitivity / epsilon, noise=kind)


def smooth_noisy_max_law(
    scores: Sequence[Number], *, smooth: float, alpha: float, noise: Noise, monotone: bool = False
) -> np.ndarray:
    """argmax of u + (2 S / alpha) Z, without the 2 if monotone."""
    return noisy_max_law(scores, scale=(1 if monotone else 2) * smooth / alpha, noise=noise)


def dampening(score: Number, delta: Callable[[int], Number], *, most_steps: int = 100_000) -> Fraction:
    """D = i + (u - b(i)) / (b(i+1) - b(i)), b(i) <= u < b(i+1), b(-i) = -b(i) = -sum of delta(j) over j < i.

    D := 0 where u = 0. Elsewhere i is unique: an empty interval (delta = 0) holds no score.
    """
    u = Fraction(score)
    if u == 0:
        return Fraction(0)
    lower = Fraction(0)
    for i in range(most_steps):
        width = Fraction(delta(i))
        upper = lower + width
        if lower <= u < upper:
            return i + (u - lower) / width
        if -upper <= u < -lower:
            return -(i + 1) + (u + upper) / width
        lower = upper
    raise ValueError("the partial sums of delta do not reach the score")


def shifted_dampening(
    scores: Sequence[Number],
    delta: Callable[[int, int], Number],
    *,
    bound: Number,
    horizon: int,
    direction: int = 1,
) -> list[Fraction]:
    """Differences D(u_r - s) - D(u_0 - s) for s so far out (s -> direction * infinity) that they no longer change.

    `delta(t, r)` must equal `bound` for t >= horizon. Several s, some no multiple of the bound, must agree exactly.
    """
    top, everything = Fraction(bound), [Fraction(u) for u in scores]
    candidates = range(len(everything))
    if any(Fraction(delta(horizon + extra, r)) != top for r in candidates for extra in (0, 1, 7)):
        raise ValueError("delta is not at its bound from the horizon on")
    reach = max(sum((Fraction(delta(t, r)) for t in range(horizon)), Fraction(0)) for r in candidates)
    start = reach + max(abs(u) for u in everything) + top
    seen = []
    for extra in (Fraction(0), top / 3, Fraction(22, 7) * top, 11 * top + Fraction(1, 5)):
        s = direction * (start + extra)
        values = [dampening(u - s, lambda t, r=r: delta(t, r)) for r, u in enumerate(everything)]
        seen.append([value - values[0] for value in values])
    if any(other != seen[0] for other in seen):
        raise ValueError("the limit was not reached")
    return seen[0]


def dampening_law(
    scores: Sequence[Number], delta: Callable[[int, int], Number], *, epsilon: Number
) -> np.ndarray:
    """Local dampening: P(r) proportional to exp(epsilon D(r) / 2)."""
    damped = [dampening(u, lambda t, r=r: delta(t, r)) for r, u in enumerate(scores)]
    return exponential_law(damped, epsilon=epsilon)
