"""Noise whose smoothing β is chosen by the data, from a grid that is fixed beforehand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from sordino.core import CalibrationError, Distance, Guarantee, Loss, UnsupportedError
from sordino.core.parameters import non_negative, positive, probability
from sordino.mechanisms.noise.noise import Noise, in_range, padded
from sordino.mechanisms.noise.registry import NOISES, fit_noise, noise_names, traits_of
from sordino.mechanisms.noise.rounded_law import RoundedLaw
from sordino.sensitivity import SmoothBound

# Parts of the largest β that a noise can pay for; its own default joins them.
_PARTS = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
# b and d of the bounds that noises are compared by.
_EXAMPLES = ((10.0, 1), (100.0, 1), (30.0, 2), (300.0, 2))
_CONFIDENCE = 0.95
# The larger of a smooth bound and a constant is smooth. Noise below a millionth of a step is none either way, and a
# floor keeps ln of the scale within reach of an error bar.
SMALLEST_STEPS = Fraction(1, 1 << 20)


def grid_noises() -> tuple[str, ...]:
    """The noises that a grid can be made of: they take smooth bounds, and have one shape whatever β is."""
    return tuple(name for name in noise_names(constant=False) if NOISES[name].traits.one_shape)


@lru_cache(maxsize=1024)
def best_grid_noise(epsilon: float) -> str:
    """The pure noise with the smallest 95 % radius for bounds that grow like those of joins, each with its best β.

    By ε alone: the bounds it is chosen by are public examples, (1 + k/b)^d at distance k.
    """
    radii = {}
    for name in noise_names(constant=False, pure=True):
        if NOISES[name].traits.one_shape:
            grid = BetaGrid.of(name, epsilon=epsilon)
            scales = [
                min(_peak(point.beta, *example) / point.alpha for point in grid.points)
                for example in _EXAMPLES
            ]
            radii[name] = grid.noise.shape.radius(_CONFIDENCE) * math.prod(scales) ** (1 / len(scales))
    return min(radii, key=radii.__getitem__)


def _peak(beta: float, start: float, degree: int) -> float:
    """sup over k of e^(-βk)(1 + k/b)^d, for k >= 0."""
    furthest = max(degree / beta - start, 0.0)
    return math.exp(-beta * furthest) * (1 + furthest / start) ** degree


def positive_weight(weight: Fraction) -> Fraction:
    """A weight of a change, exact."""
    in_range("weight", positive("weight", weight))
    return Fraction(weight)


@dataclass(frozen=True, slots=True)
class GridPoint:
    """One β of the grid and the α that belongs to it."""

    beta: float
    alpha: float


@dataclass(frozen=True, slots=True)
class BetaGrid:
    """f(x) + h(x)·Z with h(x) = min over I of S_I(x)/α_I, for the pairs (β_I, α_I) of a public grid.

    **Guarantee**: that of the noise at (ε, δ), as if the best β had been known beforehand. Let x, y be
    neighbours and h(x) <= h(y), and let I be where the minimum at x is taken. Then |f(x) - f(y)| <= S_I(x) =
    α_I·h(x), and h(y) <= S_I(y)/α_I <= e^{β_I}·S_I(x)/α_I = e^{β_I}·h(x). So in units of the narrower scale the
    centres are at most α_I apart and the scales differ at most by e^{β_I}, with *one* I: all that the calibration
    of α_I at β_I assumes of a pair. Pairing β_I with the α of another I breaks it.
    Along the way |ln h(x) - ln h(y)| <= β_I <= `largest_beta`: ln of the scale has that global sensitivity.
    **Requires**: every S_I is β_I-smooth and bounds the sensitivity; the grid is chosen without looking at the
    data, and the minimum is taken over all of it. Where a change has weight G, S bounds the sensitivity per unit
    of distance and grows by at most e^{βG}; for noise whose loss is bounded by its rate along a path that change then
    costs at most Gε, and for every pure noise if G is a whole number (`of`).
    **Source**: NAPLES report, Thm 3.73, for the generalised Cauchy noise and derivative sensitivity. For
    neighbours that are pairs the argument above needs nothing of the noise but its calibration, so Laplace is
    covered too. A bound of kind ``derivative`` is taken by noises that are `infinitesimal` only: there the
    argument holds at every point of a path.
    **Numerics**: every α_I pays for the rounding of S_I (more of it where the lightest change weighs less than
    1), and the minimum is taken in exact fractions.
    """

    noise: Noise
    epsilon: float
    delta: float
    points: tuple[GridPoint, ...]

    @classmethod
    def of(
        cls,
        noise: str | Noise,
        *,
        epsilon: float,
        delta: float = 0.0,
        largest_beta: float | None = None,
        weights: Iterable[Fraction] = (),
        slopes: bool = False,
    ) -> BetaGrid:
        """The usual grid of a noise at (ε, δ) for changes of these weights; no β above ``largest_beta`` if it is given.

        Pure noise may be calibrated for pairs where all weights are whole numbers: a change of weight G is G steps,
        each within the bound. Every other weight needs a calibration along a path, and so do bounds on ``slopes``.
        """
        epsilon, delta = positive("epsilon", epsilon), probability("delta", delta, zero=True)
        given = [Fraction(1), *weights]
        traits = traits_of(noise)
        pure, whole = traits.smooth == "pure", all(weight.denominator == 1 for weight in given)
        pairs = not slopes and (set(given) == {1} or (pure and whole))
        calibration = "tight" if pairs else traits.path
        if calibration is None or (not pure and set(given) != {1}):
            raise UnsupportedError(
                f"{traits.name} noise takes changes of weight 1 only; without a name a noise is taken that fits"
            )
        chosen = fit_noise(noise, calibration, epsilon, delta, 0.0)
        top = chosen.largest_beta(epsilon, delta)
        if top <= 0:
            chosen.alpha(epsilon, delta, 1e-9)  # says why
        betas = {part * top for part in _PARTS} | {chosen.default_beta(epsilon, delta)}
        if largest_beta is not None:
            limit = positive("largest_beta", largest_beta)
            betas = {beta for beta in betas if beta <= limit}
            betas |= {limit * part for part in (0.25, 0.5, 1.0) if limit * part < 0.9 * top}
        return cls.at(chosen, betas, epsilon=epsilon, delta=delta, lightest=min(given))

    @classmethod
    def at(
        cls,
        noise: Noise,
        betas: Iterable[float],
        *,
        epsilon: float,
        delta: float = 0.0,
        lightest: Fraction = Fraction(1),
    ) -> BetaGrid:
        """A grid of the given β; each must have an α at (ε, δ)."""
        given = sorted({positive("beta", beta) for beta in betas})
        if not given:
            raise CalibrationError("a grid needs at least one beta")
        # α pays for the rounding of a bound by a little more β per change; a light change has less β to hide it in
        spare = (padded(1.0) - 1.0) * max(0.0, float(1 / positive_weight(lightest)) - 1)
        points = tuple(GridPoint(beta, noise.alpha(epsilon, delta, beta + spare)) for beta in given)
        return cls(noise, epsilon, delta, points)

    @property
    def largest_beta(self) -> float:
        """The sensitivity of the logarithm of the scale."""
        return self.points[-1].beta

    def scale(self, bound: SmoothBound, step: Fraction = Fraction(1)) -> Fraction:
        """h of this database: confidential."""
        return self.best(bound, step)[0]

    def best(self, bound: SmoothBound, step: Fraction = Fraction(1)) -> tuple[Fraction, GridPoint]:
        """The scale and the point of the grid that gives it; points below the bound's own β_min count as infinite."""
        if bound.kind == "derivative" and not self.noise.infinitesimal:
            raise UnsupportedError(
                f"a grid of beta with {self.noise.traits.name} noise takes local bounds; derivative ones need a noise "
                "whose loss is bounded by its rate along a path, such as cauchy"
            )
        usable = [point for point in self.points if point.beta >= bound.beta_min]
        if not usable:
            raise CalibrationError(
                f"this bound is smooth from beta = {bound.beta_min:g} on, and the largest of the grid is "
                f"{self.largest_beta:g}; give a larger epsilon"
            )
        floor = SMALLEST_STEPS * step
        scales = [
            (max(Fraction(bound.at(point.beta)), floor) / Fraction(point.alpha), point) for point in usable
        ]
        return min(scales, key=lambda pair: pair[0])

    def law(self, value: Fraction | int, bound: SmoothBound, *, step: Fraction) -> RoundedLaw:
        """The exact law of the released index: what is drawn."""
        return RoundedLaw(self.noise.shape, Fraction(value), self.scale(bound, step), step)

    def radius(self, scale: float, confidence: float) -> float:
        """How far the noise of this scale stays with this probability, before rounding to the lattice."""
        return non_negative("scale", scale) * self.noise.shape.radius(confidence)

    @property
    def theorem(self) -> str:
        """What the guarantee rests on: it says that β came from a grid."""
        title = self.noise.traits.title
        return f"{title} noise with a smooth bound, the least scale over {len(self.points)} public β"

    def guarantee(self, distance: Distance) -> Guarantee:
        """That of the noise."""
        spent = self.noise.traits.delta_spent(self.delta, constant=False)
        return Guarantee(Loss(epsilon=self.epsilon, delta=spent), distance, self.theorem)
