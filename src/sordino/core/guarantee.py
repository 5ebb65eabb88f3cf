"""Guarantee: the loss, the distance it is counted in, and the theorem it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from sordino.core.distance import Distance, checked_distance
from sordino.core.errors import ParameterError
from sordino.core.parameters import whole

NOT_PRIVATE = "NOT PRIVATE: drawn from a seeded source"

# More than the rounding errors of the few operations that it is multiplied with.
_UPWARDS = 1 + 2.0**-48


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Differential privacy of one release.

    Either (ε, δ), with ``rho`` None, or ρ-zCDP, with ``epsilon`` None. The loss is per unit of ``distance``.
    ``private`` is False where something was drawn inside ``sordino.testing.seeded``: the loss is then what the same
    draws would cost with fresh randomness, and everything that shows it says so.
    """

    distance: Distance
    theorem: str
    epsilon: float | None = None
    delta: float = 0.0
    rho: float | None = None
    private: bool = True

    def __post_init__(self) -> None:
        checked_distance(self.distance)
        if (self.epsilon is None) == (self.rho is None):
            raise ParameterError("a guarantee states either epsilon or rho, exactly one of them")
        loss = self.epsilon if self.rho is None else self.rho
        if loss is None or not loss >= 0:
            raise ParameterError(f"the loss must be >= 0, got {loss!r}")
        if not 0 <= self.delta < 1:
            raise ParameterError(f"delta must be in [0, 1), got {self.delta!r}")
        if self.rho is not None and self.delta:
            raise ParameterError("zCDP has no delta: convert it with as_approximate(delta)")

    def for_changes(self, count: int) -> Guarantee:
        """The guarantee for databases ``count`` units of distance apart (group privacy).

        (ε, δ) becomes (kε, δ(1 + e^ε + … + e^{(k−1)ε})), and ρ becomes k²ρ, rounded up. Where that δ is 1 or more there
        is no such guarantee, which is refused.
        """
        count = whole("count", count, least=1)
        theorem = f"{self.theorem}; group of {count}"
        if self.rho is not None:
            return replace(self, rho=_times(self.rho, count * count), theorem=theorem)
        epsilon = _times(self.epsilon or 0.0, count)
        delta = _group_delta(self.delta, self.epsilon or 0.0, epsilon, count)
        if delta >= 1:
            raise ParameterError(
                f"{self.loss} says nothing about {count} changes at once: their delta would be 1 or more"
            )
        return replace(self, epsilon=epsilon, delta=delta, theorem=theorem)

    def for_replacement(self) -> Guarantee:
        """What a guarantee for one unit added or removed says about one unit replaced: two changes."""
        if self.distance.change == "replace":
            return self
        if self.distance.change != "add_remove":
            raise ParameterError(f"only what is added or removed can be replaced, got {self.distance}")
        return replace(self.for_changes(2), distance=replace(self.distance, change="replace"))

    def as_approximate(self, delta: float) -> Guarantee:
        """The (ε, δ) statement that ρ-zCDP implies, ρ + 2√(ρ ln(1/δ)) rounded up (Bun and Steinke 2016, Prop. 1.3)."""
        if self.rho is None:
            return self
        if not 0 < delta < 1:
            raise ParameterError(f"delta must be in (0, 1), got {delta!r}")
        epsilon = (self.rho + 2 * math.sqrt(self.rho) * math.sqrt(-math.log(delta))) * _UPWARDS
        return replace(
            self, epsilon=epsilon, delta=delta, rho=None, theorem=f"{self.theorem}; zCDP to (ε, δ)"
        )

    @property
    def loss(self) -> str:
        """The loss alone, as text."""
        if self.rho is not None:
            text = f"ρ = {self.rho:.6g} (zCDP)"
        elif self.delta:
            text = f"ε = {self.epsilon:.6g}, δ = {self.delta:.3g}"
        else:
            text = f"ε = {self.epsilon:.6g}"
        return text if self.private else f"{NOT_PRIVATE} ({text} if it were not)"

    def __str__(self) -> str:
        text = f"{self.loss} for {self.distance} [{self.theorem}]"
        if self.distance.weights:
            text += "; a change of weight G costs G times that"
        if not self.distance.per_person:
            text += f"; a person with several {self.distance.unit}s is not protected as one"
        return text

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON; ``private`` is there where it is False."""
        loss: dict[str, object] = (
            {"rho": self.rho} if self.rho is not None else {"epsilon": self.epsilon, "delta": self.delta}
        )
        stated = loss | {"distance": str(self.distance), "theorem": self.theorem}
        return stated if self.private else stated | {"private": False}


def rounded_up(amount: Fraction) -> float:
    """The least float that is not below an exact loss."""
    try:
        nearest = float(amount)
    except OverflowError:
        raise ParameterError("a loss must be below 1.8e308, got a larger one") from None
    return nearest if Fraction(nearest) >= amount else math.nextafter(nearest, math.inf)


def _times(loss: float, factor: int) -> float:
    return loss if math.isinf(loss) else rounded_up(Fraction(loss) * factor)


def _group_delta(delta: float, epsilon: float, total: float, count: int) -> float:
    """δ(1 + e^ε + … + e^{(k−1)ε}) with kε = ``total``, rounded up, or 1 where it is more.

    The sum is e^{(k−1)ε}(1 − e^{−kε})/(1 − e^{−ε}). It is taken in logarithms, so that no ε is too large;
    their terms are off by less than 2^−50 of their sizes: at most |ln δ|, kε and, where 1 − e^{−ε} is tiny, 745.
    """
    if delta == 0 or count == 1:
        return delta
    if epsilon == 0:
        return min(rounded_up(Fraction(delta) * count), 1.0)
    growth = math.log(-math.expm1(-total)) - math.log(-math.expm1(-epsilon))
    exponent = math.log(delta) + (total - epsilon) + growth
    errors = (abs(math.log(delta)) + total + 4 * 745) * 2.0**-50
    return min(math.nextafter(math.exp(min(exponent + errors, 0.0)), math.inf), 1.0)
