"""Additive noise on a smooth bound with the wrong constants, or on a grid that follows the scale."""

from __future__ import annotations

import math
from fractions import Fraction

from scipy.special import stdtr

from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.lattice_laws import RoundedLaplace, RoundedStudent
from sordino.audit.zoo.specimen import Specimen
from sordino.audit.zoo.universes import step_along

_DEGREES = 3  # ν of the Student-t noise
_PATH = 4  # databases 0, …, 3 with value x: every step moves the value by 1


def _student(epsilon: float, *, lost_factor: bool) -> Proof:
    beta = epsilon / (2 * (_DEGREES + 1))
    budget = 1.0 if lost_factor else epsilon - (_DEGREES + 1) * beta
    alpha = budget * 2 * math.sqrt(_DEGREES) / (_DEGREES + 1)
    return prove(
        lambda x: RoundedStudent(float(x), math.exp(beta * x) / alpha, Fraction(1, 4)),
        range(_PATH),
        lambda x: step_along(_PATH, x),
        epsilon,
    )


LOST_STUDENT_FACTOR = Specimen(
    name="Student-t noise, factor lost",
    claim="noise S/α with α = 2√ν/(ν+1), whatever ε, is ε-DP (ν = 3, ε = 1/2)",
    flaw="α lost its factor ε − (ν+1)β: the noise no longer depends on the budget",
    source="smooth noisy max thesis, calibration of the Student-t noise",
    refute=lambda: _student(0.5, lost_factor=True),
    repaired=lambda: _student(0.5, lost_factor=False),
)


def _smooth_laplace(epsilon: float, delta: float, beta: float) -> Proof:
    alpha = epsilon / 2
    return prove(
        lambda x: RoundedLaplace(float(x), math.exp(beta * x) / alpha, Fraction(1, 128)),
        (0, 1),
        lambda x: (1 - x,),
        epsilon,
        delta,
    )


SMOOTH_LAPLACE_LARGE_EPSILON = Specimen(
    name="smooth Laplace at large ε",
    claim="α = ε/2, β = ε/(2 ln(2/δ)) give (ε, δ)-DP for every ε (here ε = 12, δ = 1/2)",
    flaw="the constants are proved for small budgets only; at ε = 12 the stretch alone costs more than δ",
    source="Nissim, Raskhodnikova, Smith 2007, Example 3 and Lemma 2.9",
    refute=lambda: _smooth_laplace(12.0, 0.5, 12.0 / (2 * math.log(4.0))),
    repaired=lambda: _smooth_laplace(12.0, 0.5, math.log1p(12.0 / (2 * math.log(4.0)))),
)


def _grid(*, public: bool) -> Proof:
    epsilon = 1.0
    beta = epsilon / (2 * (_DEGREES + 1))
    alpha = (epsilon - (_DEGREES + 1) * beta) * 2 * math.sqrt(_DEGREES) / (_DEGREES + 1)

    def law(x: int) -> dict[Fraction | str, float]:
        scale = math.exp(beta * x) / alpha
        released = RoundedStudent(float(x), scale, Fraction(1, 4) if public else Fraction(scale) / 8)
        # outcomes beyond about ±64 are reported by their sign alone: the same post-processing on every grid
        last = math.floor(64 / released.step)
        masses: dict[Fraction | str, float] = {
            k * released.step: math.exp(mass)
            for k, mass in enumerate(released.log_masses(-last, last), start=-last)
        }
        edge = (last + 0.5) * float(released.step)
        return masses | {"below": stdtr(3, (-edge - x) / scale), "above": stdtr(3, (x - edge) / scale)}

    return prove(law, range(_PATH), lambda x: step_along(_PATH, x), epsilon)


GRID_FOLLOWS_SCALE = Specimen(
    name="grid derived from the scale",
    claim="rounding ε-DP noise to a grid of one eighth of its scale S(x)/α is harmless post-processing",
    flaw="two scales make two grids: almost every output possible under one database is impossible under the other",
    source="found by enumeration; compare Mironov 2012 on grids of floating-point sums",
    refute=lambda: _grid(public=False),
    repaired=lambda: _grid(public=True),
)
