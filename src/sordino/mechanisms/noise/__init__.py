"""Additive noise: calibration of each shape to a sensitivity, the release, and its exact law."""

from sordino.mechanisms.noise.add_noise import add_noise, noise_law, noise_radius
from sordino.mechanisms.noise.advise import Advice, advise
from sordino.mechanisms.noise.cauchy import CauchyNoise
from sordino.mechanisms.noise.discrete import DiscreteGaussianNoise, DiscreteLaplaceNoise, IntegerLaw
from sordino.mechanisms.noise.gaussian import GaussianNoise
from sordino.mechanisms.noise.ladder import add_ladder_noise, ladder_law
from sordino.mechanisms.noise.laplace import LaplaceNoise
from sordino.mechanisms.noise.lattice_law import LatticeLaw
from sordino.mechanisms.noise.levels import (
    LevelNoise,
    Levels,
    add_noise_by_levels,
    calibrate_levels,
    levels_law,
)
from sordino.mechanisms.noise.lln import LLNNoise
from sordino.mechanisms.noise.noise import Noise
from sordino.mechanisms.noise.rungs import LadderLaw
from sordino.mechanisms.noise.student_t import StudentTNoise

__all__ = [
    "Advice",
    "CauchyNoise",
    "DiscreteGaussianNoise",
    "DiscreteLaplaceNoise",
    "GaussianNoise",
    "IntegerLaw",
    "LLNNoise",
    "LadderLaw",
    "LaplaceNoise",
    "LatticeLaw",
    "LevelNoise",
    "Levels",
    "Noise",
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
