"""The noise of one number of an answer: chosen from public parameters, drawn exactly on the lattice of its measure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from scipy.special import ndtri

from sordino.core.loss import round_down
from sordino.mechanisms.noise import DiscreteLaplaceNoise, IntegerLaw, RoundedLaw
from sordino.mechanisms.noise.beta_grid import BetaGrid
from sordino.mechanisms.noise.discrete_gaussian import DiscreteGaussianNoise
from sordino.mechanisms.noise.error_bar import ErrorBar
from sordino.mechanisms.noise.registry import NOISES
from sordino.mechanisms.selection import StatedLaw
from sordino.sensitivity import SmoothBound
from sordino.sql.answering.rank_counts import RankCounts

CONFIDENCE = 0.95
# β ≤ half of what the error bar may cost: ln(scale) then has noise of scale ½, and the bar is about 1.6 times as long
# as with a public scale. Less β makes the answer's own noise larger, more β the bar longer.
_BAR_PER_BETA = 2
_ONE = Fraction(1)
# What a law follows beside the exact number: a smooth bound, how many rows lie at every point, or nothing.
Follows = SmoothBound | RankCounts | None


@dataclass(frozen=True, slots=True)
class DrawnSteps:
    """A released number of lattice steps, and what was released of its scale if that was paid for (`ErrorBar`)."""

    steps: int
    scale: int | None = None


class CellNoise(Protocol):
    """Everything public about the noise of one number, whose exact value is a whole number of steps."""

    @property
    def name(self) -> str:
        """As a Release names its mechanism."""

    @property
    def theorem(self) -> str:
        """What the guarantee rests on."""

    @property
    def betas(self) -> tuple[float, ...]:
        """The β at which a smooth bound is needed; none where the global sensitivity is enough."""

    @property
    def uses_delta(self) -> bool:
        """Whether δ is spent."""

    def law(self, exact: int, follows: Follows) -> RoundedLaw | IntegerLaw | StatedLaw:
        """The exact law of the released number of steps: confidential."""

    def draw(self, exact: int, follows: Follows) -> DrawnSteps:
        """One draw from it, and of the error bar."""

    def radius(self, drawn: DrawnSteps) -> float | None:
        """The radius that was paid for or is public, in steps; None where there is none."""

    def note(self) -> str | None:
        """What else is public about how near the answer is."""

    def facts(self, exact: int, follows: Follows, confidences: tuple[float, ...]) -> dict[str, Any]:
        """What the owner may know: scale and radii in steps."""


@dataclass(frozen=True, slots=True)
class ConstantNoise:
    """Discrete Laplace noise of the global sensitivity: one table, where a row adds at most ``reach`` steps.

    **Guarantee**: ε per unit of distance: a row of weight G moves the number by at most ``reach`` <= Δ·G
    steps for Δ = reach/min G, so it costs at most Gε. The scale is public, hence so is the radius.
    **Source**: Ghosh, Roughgarden, Sundararajan 2009.
    """

    sensitivity: Fraction
    epsilon: Fraction
    confidence: float = CONFIDENCE
    betas: tuple[float, ...] = ()
    uses_delta: bool = False
    source: str = "of one table"

    @property
    def name(self) -> str:
        """As `add_noise` names it."""
        return "discrete_laplace noise"

    @property
    def theorem(self) -> str:
        """One table: the worst case is no worse than the case at hand. ``source``: where else the number is from."""
        return f"discrete Laplace mechanism with the global sensitivity {self.source}"

    @property
    def width(self) -> Fraction:
        """The scale in steps: public."""
        return self.sensitivity / self.epsilon

    def law(self, exact: int, follows: Follows) -> IntegerLaw:
        """Two-sided geometric about the exact number."""
        return DiscreteLaplaceNoise().law(exact, self.width, _ONE)

    def draw(self, exact: int, follows: Follows) -> DrawnSteps:
        """One draw."""
        return DrawnSteps(self.law(exact, follows).draw())

    def radius(self, drawn: DrawnSteps) -> float:
        """Public: it costs nothing."""
        return float(self.find_radius(self.confidence))

    def find_radius(self, confidence: float) -> int:
        """The least r with P(|noise| > r) <= 1 - confidence; P(|noise| > r) = 2e^{-(r+1)/w}/(1 + e^{-1/w})."""
        rate = float(1 / self.width)
        least = (math.log(2) - math.log1p(math.exp(-rate)) - math.log1p(-confidence)) / rate - 1
        return max(0, math.ceil(least))

    def note(self) -> str | None:
        """The radius says it."""
        return None

    def facts(self, exact: int, follows: Follows, confidences: tuple[float, ...]) -> dict[str, Any]:
        """No β, no smooth bound."""
        return {
            "beta": None,
            "smooth_bound": float(self.sensitivity),
            "noise_scale": float(self.width),
            "radii": [float(self.find_radius(confidence)) for confidence in confidences],
        }


@dataclass(frozen=True, slots=True)
class ConcentratedNoise:
    """Discrete Gaussian noise of the global sensitivity: one table, where a row adds at most ``reach`` steps.

    **Guarantee**: ρ-zCDP per unit of distance: a row of weight G moves the number by at most Δ·G steps for Δ =
    reach/min G, so it costs at most G²ρ. The scale is public, hence so is the radius.
    **Source**: Canonne, Kamath and Steinke 2020, Theorem 14. **Numerics**: σ² is an exact fraction.
    """

    sensitivity: Fraction
    rho: Fraction
    confidence: float = CONFIDENCE
    betas: tuple[float, ...] = ()
    uses_delta: bool = False

    @property
    def name(self) -> str:
        """As `add_noise` names it."""
        return "discrete_gaussian noise"

    @property
    def theorem(self) -> str:
        """One table: the worst case is no worse than the case at hand."""
        return "discrete Gaussian mechanism with the global sensitivity of one table"

    @property
    def variance(self) -> Fraction:
        """σ² in steps: public."""
        return self.sensitivity**2 / (2 * self.rho)

    def law(self, exact: int, follows: Follows) -> IntegerLaw:
        """A discrete Gaussian about the exact number."""
        return DiscreteGaussianNoise().law(exact, self.variance, _ONE)

    def draw(self, exact: int, follows: Follows) -> DrawnSteps:
        """One draw."""
        return DrawnSteps(self.law(exact, follows).draw())

    def radius(self, drawn: DrawnSteps) -> float:
        """Public: it costs nothing."""
        return float(self.find_radius(self.confidence))

    def note(self) -> str | None:
        """The radius says it."""
        return None

    def find_radius(self, confidence: float) -> int:
        """P(K > n) <= P(σZ > n) for a normal Z (Canonne, Kamath and Steinke 2020, Prop. 25)."""
        return math.ceil(-float(ndtri((1 - confidence) / 2)) * math.sqrt(self.variance) * (1 + 2.0**-40))

    def facts(self, exact: int, follows: Follows, confidences: tuple[float, ...]) -> dict[str, Any]:
        """No β, no smooth bound."""
        return {
            "beta": None,
            "smooth_bound": float(self.sensitivity),
            "noise_scale": math.sqrt(self.variance),
            "radii": [float(self.find_radius(confidence)) for confidence in confidences],
        }


@dataclass(frozen=True, slots=True)
class GridNoise:
    """Noise that follows a smooth bound, with the best β of a public grid and perhaps an error bar.

    **Guarantee**: that of `BetaGrid` for the answer plus that of `ErrorBar` for the bar (sequential
    composition).
    """

    grid: BetaGrid
    bar: ErrorBar | None

    @property
    def name(self) -> str:
        """As `add_noise` names it."""
        return f"{self.grid.noise.traits.name} noise"

    @property
    def theorem(self) -> str:
        """Noise and analysis."""
        theorem = self.grid.theorem
        return theorem if self.bar is None else f"{theorem}; error bar by discrete Laplace on ln of the scale"

    @property
    def betas(self) -> tuple[float, ...]:
        """Those of the grid."""
        return tuple(point.beta for point in self.grid.points)

    @property
    def uses_delta(self) -> bool:
        """Whether δ is spent."""
        return self.grid.delta > 0

    def from_beta(self, beta: float) -> GridNoise:
        """Without the β below this one."""
        points = tuple(point for point in self.grid.points if point.beta >= beta)
        return replace(self, grid=replace(self.grid, points=points))

    def law(self, exact: int, follows: Follows) -> RoundedLaw:
        """The law of the answer alone."""
        return self.grid.law(exact, _needed(follows), step=_ONE)

    def draw(self, exact: int, follows: Follows) -> DrawnSteps:
        """The answer, then the bar: two draws with their own randomness."""
        law = self.law(exact, follows)
        steps = law.draw()
        if self.bar is None:
            return DrawnSteps(steps)
        return DrawnSteps(steps, self.bar.law(law.scale).draw())

    def radius(self, drawn: DrawnSteps) -> float | None:
        """Read off what was released of the scale."""
        if self.bar is None or drawn.scale is None:
            return None
        return self.bar.radius(drawn.scale, self.grid.noise.shape, step=_ONE)

    def note(self) -> str | None:
        """The radius says it."""
        return None

    def facts(self, exact: int, follows: Follows, confidences: tuple[float, ...]) -> dict[str, Any]:
        """Of this database: confidential."""
        scale, point = self.grid.best(_needed(follows))
        return {
            "beta": point.beta,
            "smooth_bound": _needed(follows).at(point.beta),
            "noise_scale": float(scale),
            "radii": [self.grid.radius(float(scale), confidence) for confidence in confidences],
        }


def choose_constant_noise(
    reach: int,
    budget: Fraction,
    weights: Mapping[str, Fraction],
    confidence: float,
    *,
    concentrated: bool = False,
) -> ConstantNoise | ConcentratedNoise:
    """For one table: what a row can add, per unit of distance; ``concentrated``: the budget is a ρ."""
    sensitivity = Fraction(max(reach, 1)) / min(weights.values())
    return (ConcentratedNoise if concentrated else ConstantNoise)(sensitivity, budget, confidence)


def choose_smooth_noise(
    name: str,
    epsilon: Fraction,
    delta: Fraction,
    share: Fraction,
    weights: Mapping[str, Fraction],
    confidence: float,
) -> GridNoise:
    """For joins: a grid at (1 - share)·ε, and for share·ε an error bar. Budgets are rounded down."""
    units = tuple(weights.values())
    answer, rest = round_down(epsilon * (1 - share)), round_down(delta)
    rest = NOISES[name].traits.delta_spent(rest, constant=False)
    if not share:
        return GridNoise(BetaGrid.of(name, epsilon=answer, delta=rest, weights=units), None)
    paid = epsilon * share
    grid = BetaGrid.of(
        name, epsilon=answer, delta=rest, weights=units, largest_beta=float(paid) / _BAR_PER_BETA
    )
    bar = ErrorBar.of(epsilon=paid, beta=grid.largest_beta, weights=units, confidence=confidence)
    return GridNoise(grid, bar)


def _needed(follows: Follows) -> SmoothBound:
    if not isinstance(follows, SmoothBound):
        raise TypeError("this noise needs a smooth bound")
    return follows
