"""Recipe: how noisy max turns a budget into noise."""

from __future__ import annotations

from dataclasses import dataclass

from sordino.core import CalibrationError
from sordino.mechanisms.noise.noise import padded
from sordino.sampling.shapes import Shape


@dataclass(frozen=True, slots=True)
class Recipe:
    """A noise, the β its bound must be smooth at, the α to divide by, and the theorem that pays for both.

    ``pure``: without δ.
    """

    shape: Shape
    beta: float
    alpha: float
    theorem: str
    pure: bool = True


def unpadded(beta: float) -> float:
    """The β whose padded value, the bound's rounding included, is at most this."""
    return beta - (padded(1.0) - 1.0)


def checked_positive(value: float, epsilon: float) -> float:
    """A calibrated number that must be above 0."""
    if value <= 0:
        raise CalibrationError(
            f"epsilon = {epsilon:g} is too small to pay for this noise at double precision"
        )
    return value
