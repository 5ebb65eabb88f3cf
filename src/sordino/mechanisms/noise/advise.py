"""Which noise is smallest at given public parameters."""

from __future__ import annotations

from dataclasses import dataclass

from sordino.core import SordinoError
from sordino.core.parameters import non_negative, positive, probability
from sordino.mechanisms.noise.add_noise import CONTINUOUS, default_beta, resolve


@dataclass(frozen=True, slots=True)
class Advice:
    """One noise at the given parameters; ``radius`` is None where it is not available, and ``reason`` says why."""

    noise: str
    radius: float | None
    alpha: float | None
    beta: float
    guarantee: str
    reason: str


def advise(
    epsilon: float, delta: float = 0.0, *, beta: float | None = None, confidence: float = 0.95
) -> list[Advice]:
    """All noises, the one with the smallest radius first, for a bound of 1 that is smooth at ``beta``.

    β = 0 means a constant bound. Without β, the smallest default β of the noises that are available at (ε, δ)
    is taken for all of them, so that they are compared on the same bound. Only public parameters enter.
    """
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta, zero=True)
    confidence = probability("confidence", confidence)
    beta = _common_beta(epsilon, delta) if beta is None else non_negative("beta", beta)
    rows = [_advice(name, epsilon, delta, beta, confidence) for name in CONTINUOUS]
    return sorted(rows, key=lambda row: (row.radius is None, row.radius or 0.0))


def _advice(name: str, epsilon: float, delta: float, beta: float, confidence: float) -> Advice:
    try:
        noise = resolve(name, "tight", epsilon, delta, beta)
        alpha = noise.alpha(epsilon, delta, beta)
    except SordinoError as problem:
        return Advice(name, None, None, beta, "", str(problem))
    pure = name in ("student_t", "cauchy") or (name == "laplace" and beta == 0)
    guarantee = f"ε = {epsilon:g}" + ("" if pure else f", δ = {delta:g}")
    radius = noise.shape.radius(confidence) / alpha
    return Advice(name, radius, alpha, beta, guarantee, f"{confidence:.0%} of the noise within {radius:.4g}")


def _common_beta(epsilon: float, delta: float) -> float:
    chosen = []
    for name in CONTINUOUS:
        try:
            chosen.append(default_beta(name, "tight", epsilon, delta))
        except SordinoError:
            continue
    return min(beta for beta in chosen if beta > 0)
