"""Guarantee: the loss, the distance it is counted in, and the theorem it rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sordino.core.distance import Distance, check_distance
from sordino.core.errors import ParameterError
from sordino.core.loss import Loss


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Differential privacy of one release: its `Loss`, per unit of its `Distance`.

    ``theorem`` is for people: nothing is ever decided by it.

    >>> from sordino import Distance, Guarantee, Loss
    >>> print(Guarantee(Loss(epsilon=1.0), Distance("user", "add_remove"), "Laplace mechanism"))
    ε = 1 for one user added or removed [Laplace mechanism]
    """

    loss: Loss
    distance: Distance
    theorem: str

    def __post_init__(self) -> None:
        check_distance(self.distance)
        if not isinstance(self.loss, Loss):
            raise ParameterError(f"loss must be a Loss such as Loss(epsilon=1.0), got {self.loss!r}")

    @property
    def epsilon(self) -> float | None:
        """ε of the loss, None where ρ is stated."""
        return self.loss.epsilon

    @property
    def delta(self) -> float:
        """δ of the loss."""
        return self.loss.delta

    @property
    def rho(self) -> float | None:
        """ρ of the loss, None where (ε, δ) is stated."""
        return self.loss.rho

    @property
    def private(self) -> bool:
        """False where something was drawn from a seeded source."""
        return self.loss.private

    def with_loss(self, loss: Loss, *, further: str) -> Guarantee:
        """Another loss, with what led to it added to the theorem."""
        return replace(self, loss=loss, theorem=f"{self.theorem}; {further}")

    def for_changes(self, count: int) -> Guarantee:
        """The guarantee for databases ``count`` units of distance apart (group privacy): see `Loss.for_changes`."""
        return self.with_loss(self.loss.for_changes(count), further=f"group of {count}")

    def for_replacement(self) -> Guarantee:
        """What a guarantee for one unit added or removed says about one unit replaced: two changes."""
        if self.distance.change == "replace":
            return self
        if self.distance.change != "add_remove":
            raise ParameterError(f"only what is added or removed can be replaced, got {self.distance}")
        return replace(self.for_changes(2), distance=replace(self.distance, change="replace"))

    def as_approximate(self, delta: float) -> Guarantee:
        """The (ε, δ) statement that ρ-zCDP implies: see `Loss.as_approximate`."""
        if self.rho is None:
            return self
        return self.with_loss(self.loss.as_approximate(delta), further="zCDP to (ε, δ)")

    def __str__(self) -> str:
        text = f"{self.loss} for {self.distance} [{self.theorem}]"
        if self.distance.weights:
            text += "; a change of weight G costs G times that"
        if self.distance.change == "move":
            text += "; a move of length d costs d times that, and moves of a person's cells add up"
        elif not self.distance.per_person:
            text += f"; a person with several {self.distance.unit}s is not protected as one"
        return text

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        return self.loss.to_dict() | {"distance": str(self.distance), "theorem": self.theorem}
