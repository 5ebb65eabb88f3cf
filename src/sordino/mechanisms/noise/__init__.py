"""Additive noise: calibration of each shape to a sensitivity, the release, and its exact law."""

from sordino.mechanisms.noise.add_noise import add_noise, noise_law, noise_radius
from sordino.mechanisms.noise.advise import Advice, advise
from sordino.mechanisms.noise.cauchy import CauchyNoise
from sordino.mechanisms.noise.discrete_gaussian import DiscreteGaussianNoise
from sordino.mechanisms.noise.discrete_laplace import DiscreteLaplaceNoise
from sordino.mechanisms.noise.entry import NoiseEntry
from sordino.mechanisms.noise.flared_laplace import FlaredLaplaceNoise
from sordino.mechanisms.noise.gaussian import GaussianNoise
from sordino.mechanisms.noise.integer_law import IntegerLaw
from sordino.mechanisms.noise.ladder import add_ladder_noise, ladder_law
from sordino.mechanisms.noise.laplace import LaplaceNoise
from sordino.mechanisms.noise.levels import (
    LevelNoise,
    Levels,
    add_noise_by_levels,
    calibrate_levels,
    levels_law,
)
from sordino.mechanisms.noise.lln import LLNNoise
from sordino.mechanisms.noise.noise import Noise
from sordino.mechanisms.noise.registry import NOISES
from sordino.mechanisms.noise.rounded_law import RoundedLaw
from sordino.mechanisms.noise.rungs import LadderLaw
from sordino.mechanisms.noise.student_t import StudentTNoise
from sordino.mechanisms.noise.traits import NoiseTraits

__all__ = [
    "NOISES",
    "Advice",
    "CauchyNoise",
    "DiscreteGaussianNoise",
    "DiscreteLaplaceNoise",
    "FlaredLaplaceNoise",
    "GaussianNoise",
    "IntegerLaw",
    "LLNNoise",
    "LadderLaw",
    "LaplaceNoise",
    "LevelNoise",
    "Levels",
    "Noise",
    "NoiseEntry",
    "NoiseTraits",
    "RoundedLaw",
    "StudentTNoise",
    "add_ladder_noise",
    "add_noise",
    "add_noise_by_levels",
    "advise",
    "calibrate_levels",
    "ladder_law",
    "levels_law",
    "noise_law",
    "noise_radius",
]
