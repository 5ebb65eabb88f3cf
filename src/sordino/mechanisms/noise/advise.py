"""Which noise is smallest at given public parameters."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.core import SordinoError, UnsupportedError
from sordino.core.parameters import non_negative, positive, probability
from sordino.mechanisms.noise.entry import NoiseEntry
from sordino.mechanisms.noise.integer_law import IntegerLaw
from sordino.mechanisms.noise.registry import NOISES, default_beta


@dataclass(frozen=True, slots=True)
class Advice:
    """One noise at the given parameters; ``radius`` is None where it is not available, and ``reason`` says why."""

    noise: str
    radius: float | None
    beta: float
    guarantee: str
    reason: str


class NoiseRanking(tuple[Advice, ...]):
    """Noises by rising radius; those that are not available come last."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from sordino.mechanisms.noise.advise_view import render_ranking

        return render_ranking(self)

    def plot(self) -> Any:
        """Bars of the radii; a matplotlib figure."""
        from sordino.mechanisms.noise.advise_view import plot_ranking

        return plot_ranking(self)


def advise(
    epsilon: float, delta: float = 0.0, *, beta: float | None = None, confidence: float = 0.95
) -> NoiseRanking:
    """All noises, the one with the smallest radius first, for a bound of 1 that is smooth at ``beta``.

    β = 0 means a constant bound; noises in whole steps are then shown for steps of 1. Without β, the smallest default
    β of the noises that are available at (ε, δ) is taken for all of them, so that they are compared on the same bound.
    Only public parameters enter.

    >>> import sordino as sd
    >>> for advice in sd.advise(1.0, beta=0.05)[:2]:
    ...     print(advice.noise, round(advice.radius, 2), advice.guarantee)
    flared_laplace 3.58 ε = 1
    student_t 3.89 ε = 1
    """
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta, zero=True)
    confidence = probability("confidence", confidence)
    beta = _common_beta(epsilon, delta) if beta is None else non_negative("beta", beta)
    rows = [_advice(entry, epsilon, delta, beta, confidence) for entry in NOISES.values()]
    return NoiseRanking(sorted(rows, key=lambda row: (row.radius is None, row.radius or 0.0)))


def _advice(entry: NoiseEntry, epsilon: float, delta: float, beta: float, confidence: float) -> Advice:
    traits = entry.traits
    try:
        radius = _radius(entry, epsilon, delta, beta, confidence)
    except SordinoError as problem:
        return Advice(traits.name, None, beta, "", str(problem))
    spent = traits.delta_spent(delta, constant=beta == 0)
    guarantee = f"ε = {epsilon:g}" + (f", δ = {spent:g}" if spent else "")
    return Advice(traits.name, radius, beta, guarantee, f"{confidence:.0%} of the noise within {radius:.4g}")


def _radius(entry: NoiseEntry, epsilon: float, delta: float, beta: float, confidence: float) -> float:
    if entry.fitted is not None:
        noise = entry.fitted(entry.traits.calibrations[0], epsilon, delta, beta)
        return noise.shape.radius(confidence) / noise.alpha(epsilon, delta, beta)
    if entry.integer is None or beta > 0:
        raise UnsupportedError(f"{entry.traits.name} noise takes a constant bound (a global sensitivity)")
    width = entry.integer.width(Fraction(1), epsilon, delta)
    return integer_radius(entry.integer.law(0, width, Fraction(1)), confidence)


def integer_radius(law: IntegerLaw, confidence: float) -> float:
    """The least n such that the noise is at most n steps from its centre with this probability."""
    masses = np.exp(law.log_masses(law.centre, law.centre + law.reach))
    within = np.cumsum(np.append(masses[0], 2 * masses[1:]))
    return float(np.searchsorted(within, confidence * (1 - 1e-12)))


def _common_beta(epsilon: float, delta: float) -> float:
    chosen = []
    for name, entry in NOISES.items():
        if entry.traits.serves(constant=False, delta=delta):
            chosen.append(default_beta(name, entry.traits.calibrations[0], epsilon, delta))
    return min(chosen)
