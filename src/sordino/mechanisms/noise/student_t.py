"""Student-t noise: pure differential privacy with a smooth bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from flint import arb

from sordino.core import Distance, Guarantee, Loss
from sordino.core.parameters import positive
from sordino.mechanisms.noise.entry import make_entry
from sordino.mechanisms.noise.noise import check_calibration, checked, padded, shortened, too_large
from sordino.mechanisms.noise.rounding import certainly_at_most, lower_until
from sordino.mechanisms.noise.traits import NoiseTraits
from sordino.sampling.shapes import StudentT


@dataclass(frozen=True, slots=True)
class StudentTNoise:
    """f(x) + (S(x)/α)·T, with T Student-t of ν degrees of freedom.

    **Guarantee**: ε-DP, by one of three calibrations (loose to tight):
    *paper*: α = (ε - (ν+1)β)·2√ν/(ν+1);
    *split*: α = (ε - max(1, ν)·β)·2√ν/(ν+1), the shift and the stretch each at their own worst point;
    *tight* (default): both at the same point. Between neighbours the law moves from (centre, ln scale) to
    another along a straight path; at the point z its log density changes at most at the rate α(ν+1)z/(ν+z²) +
    β|(ν+1)z²/(ν+z²) - 1|, so the loss is at most the supremum over z. Writing |·| as the larger of the two
    signs, each of the two functions has one critical point, and the supremum is
    ε = ½β|ν - 1| + ½(ν+1)√(β² + α²/ν), hence α = √ν·√(((2ε - β|ν-1|)/(ν+1))² - β²), for β < ε/max(1, ν).

    **Requires**: S is β-smooth and bounds the sensitivity; local and derivative bounds alike, since |f(x) -
    f(y)| is at most α times the scale everywhere on the path.
    **Source**: Bun and Steinke 2019 for the noise; SNM prints α without its factor; the closed form is
    derived here.
    **Numerics**: α is lowered until ball arithmetic proves the loss at most ε, for β plus the bound's
    rounding.
    """

    traits: ClassVar[NoiseTraits] = NoiseTraits(
        "student_t",
        "Student-t",
        constant="pure",
        smooth="pure",
        calibrations=("tight", "split", "paper"),
        path="tight",
    )
    nu: float = 3.0
    calibration: str = "tight"

    def __post_init__(self) -> None:
        positive("nu", self.nu)
        check_calibration(self.traits, self.calibration)

    @property
    def shape(self) -> StudentT:
        """The law of Z."""
        return StudentT(self.nu)

    @property
    def infinitesimal(self) -> bool:
        """The loss is bounded by its rate along a path."""
        return True

    def default_beta(self, epsilon: float, delta: float) -> float:
        """Half of the largest β of the paper's calibration: ε/(2(ν+1))."""
        epsilon, _, _ = checked(epsilon, delta, 0.0)
        return epsilon / (2 * (self.nu + 1))

    def largest_beta(self, epsilon: float, delta: float) -> float:
        """The supremum of the β for which some α > 0 exists."""
        epsilon, delta, _ = checked(epsilon, delta, 0.0)
        return epsilon / (self.nu + 1 if self.calibration == "paper" else max(1.0, self.nu))

    def alpha(self, epsilon: float, delta: float, beta: float) -> float:
        """The largest α that is proved private, rounded down."""
        epsilon, delta, beta = checked(epsilon, delta, beta)
        stretch, nu = padded(beta), self.nu
        if self.calibration == "tight":
            half = (2 * epsilon - stretch * abs(nu - 1)) / (nu + 1)
            square = (half - stretch) * (half + stretch) if half > 0 else -1.0
            candidate = math.sqrt(nu * square) if square > 0 else 0.0
        else:
            rate = nu + 1 if self.calibration == "paper" else max(1.0, nu)
            candidate = (epsilon - rate * stretch) * 2 * math.sqrt(nu) / (nu + 1)
        if candidate <= 0:
            raise too_large(
                f"student_t (nu = {nu:g})", beta, epsilon, delta, self.largest_beta(epsilon, delta)
            )
        found = lower_until(
            candidate, lambda a: certainly_at_most(lambda: _loss(nu, a, stretch), epsilon), "student_t"
        )
        return shortened(found, beta)

    def guarantee(self, epsilon: float, delta: float, distance: Distance) -> Guarantee:
        """Pure: δ is not used."""
        return Guarantee(
            Loss(epsilon=epsilon), distance, f"Student-t noise with a smooth bound, {self.calibration}"
        )


NOISE = make_entry(lambda calibration: StudentTNoise(calibration=calibration), StudentTNoise.traits)


def _loss(nu: float, alpha: float, beta: float) -> arb:
    """The supremum of the rate, as a ball."""
    degrees, stretch = arb(nu), arb(beta)
    root = (stretch * stretch + arb(alpha) ** 2 / degrees).sqrt()
    return (stretch * abs(degrees - 1) + (degrees + 1) * root) / 2
