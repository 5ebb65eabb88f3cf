"""NoiseTraits: what a noise is, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Privacy = Literal["pure", "delta"]


# For whoever gives a δ to a noise that does not need one.
NOT_SPENT = "no δ is spent: the noise is pure; name a noise that needs a δ to spend one"


@dataclass(frozen=True, slots=True)
class NoiseTraits:
    """What a noise is: whoever has to choose a noise asks this, and never compares names.

    ``constant`` and ``smooth`` say what it gives for a constant and for a smooth bound: ε-DP (``pure``), (ε, δ)-DP
    (``delta``), or None where it refuses such a bound. ``calibrations``: the proofs of its α, the default first.
    ``path``: the one that bounds the loss by its rate along a path, so that bounds on slopes and changes of any weight
    are covered; None where there is none.
    ``one_shape``: the law of Z is the same for every β. ``integer``: it is added on the lattice itself, in whole steps.
    """

    name: str
    title: str
    constant: Privacy
    smooth: Privacy | None = None
    calibrations: tuple[str, ...] = ("tight",)
    path: str | None = None
    one_shape: bool = True
    integer: bool = False

    def privacy(self, *, constant: bool) -> Privacy | None:
        """What it gives for a bound of this kind."""
        return self.constant if constant else self.smooth

    def serves(self, *, constant: bool, delta: float) -> bool:
        """Whether it takes a bound of this kind at this δ."""
        given = self.privacy(constant=constant)
        return given == "pure" or (given == "delta" and delta > 0)

    def delta_spent(self, delta: float, *, constant: bool) -> float:
        """How much of δ a release with a bound of this kind spends: all or nothing."""
        return 0.0 if self.privacy(constant=constant) == "pure" else delta
