"""Guarantee: the loss, the distance it is counted in, and the theorem it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sordino.core.distance import Distance, checked_distance
from sordino.core.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Differential privacy of one release.

    Either (ε, δ), with ``rho`` None, or ρ-zCDP, with ``epsilon`` None. The loss is per unit of ``distance``.
    """

    distance: Distance
    theorem: str
    epsilon: float | None = None
    delta: float = 0.0
    rho: float | None = None

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
        """The guarantee for databases ``count`` units of distance apart (group privacy)."""
        if count < 1:
            raise ParameterError(f"count must be >= 1, got {count!r}")
        theorem = f"{self.theorem}; group of {count}"
        if self.rho is not None:
            return replace(self, rho=self.rho * count * count, theorem=theorem)
        epsilon = self.epsilon or 0.0
        growth = float(count) if epsilon == 0 else math.expm1(count * epsilon) / math.expm1(epsilon)
        return replace(
            self, epsilon=epsilon * count, delta=min(self.delta * growth, 1 - 2**-53), theorem=theorem
        )

    def as_approximate(self, delta: float) -> Guarantee:
        """The (ε, δ) statement that ρ-zCDP implies (Bun and Steinke 2016, Prop. 1.3)."""
        if self.rho is None:
            return self
        if not 0 < delta < 1:
            raise ParameterError(f"delta must be in (0, 1), got {delta!r}")
        epsilon = self.rho + 2 * math.sqrt(self.rho * math.log(1 / delta))
        return replace(
            self, epsilon=epsilon, delta=delta, rho=None, theorem=f"{self.theorem}; zCDP to (ε, δ)"
        )

    @property
    def loss(self) -> str:
        """The loss alone, as text."""
        if self.rho is not None:
            return f"ρ = {self.rho:.6g} (zCDP)"
        if self.delta:
            return f"ε = {self.epsilon:.6g}, δ = {self.delta:.3g}"
        return f"ε = {self.epsilon:.6g}"

    def __str__(self) -> str:
        text = f"{self.loss} for {self.distance} [{self.theorem}]"
        if self.distance.weights:
            text += "; a change of weight G costs G times that"
        if not self.distance.per_person:
            text += f"; a person with several {self.distance.unit}s is not protected as one"
        return text

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        loss: dict[str, object] = (
            {"rho": self.rho} if self.rho is not None else {"epsilon": self.epsilon, "delta": self.delta}
        )
        return loss | {"distance": str(self.distance), "theorem": self.theorem}
