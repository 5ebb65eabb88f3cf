"""The shapes of additive noise: one file per distribution."""

from sordino.sampling.shapes.flared_laplace import FlaredLaplace
from sordino.sampling.shapes.generalised_cauchy import GeneralisedCauchy
from sordino.sampling.shapes.laplace import Laplace
from sordino.sampling.shapes.laplace_log_normal import LaplaceLogNormal
from sordino.sampling.shapes.normal import Normal
from sordino.sampling.shapes.polynomial import Polynomial
from sordino.sampling.shapes.shape import Shape
from sordino.sampling.shapes.student_t import StudentT

__all__ = [
    "FlaredLaplace",
    "GeneralisedCauchy",
    "Laplace",
    "LaplaceLogNormal",
    "Normal",
    "Polynomial",
    "Shape",
    "StudentT",
]
