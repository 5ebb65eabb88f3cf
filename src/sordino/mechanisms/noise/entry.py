"""NoiseEntry: one line of the registry of noises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sordino.mechanisms.noise.integer_law import IntegerNoise
from sordino.mechanisms.noise.noise import Noise
from sordino.mechanisms.noise.traits import NoiseTraits


@dataclass(frozen=True, slots=True)
class NoiseEntry:
    """A noise by its traits, and how it is made once the public parameters are known.

    ``fitted(calibration, ε, δ, β)`` is the noise for a smooth bound at β (0: a constant bound), and
    ``typical(calibration)`` the one whose default β is taken where none is given. Noise in whole steps has ``integer``
    in their place.
    """

    traits: NoiseTraits
    fitted: Callable[[str, float, float, float], Noise] | None = None
    typical: Callable[[str], Noise] | None = None
    integer: IntegerNoise | None = None


def make_entry(make: Callable[[str], Noise], traits: NoiseTraits) -> NoiseEntry:
    """The entry of a noise that its calibration alone makes, whatever ε, δ and β are."""
    return NoiseEntry(traits, lambda calibration, epsilon, delta, beta: make(calibration), make)
