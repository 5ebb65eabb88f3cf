"""Elementary functions of one number, each with its smooth bounds: one file each."""

from sordino.sensitivity.derivatives.functions.exponential import NaturalExponential
from sordino.sensitivity.derivatives.functions.function import Elementary
from sordino.sensitivity.derivatives.functions.logarithm import NaturalLogarithm
from sordino.sensitivity.derivatives.functions.power import Power, raise_smoothly
from sordino.sensitivity.derivatives.functions.ramp import Ramp
from sordino.sensitivity.derivatives.functions.sigmoid import Sigmoid
from sordino.sensitivity.derivatives.functions.tauoid import Tauoid

__all__ = [
    "Elementary",
    "NaturalExponential",
    "NaturalLogarithm",
    "Power",
    "Ramp",
    "Sigmoid",
    "Tauoid",
    "raise_smoothly",
]
