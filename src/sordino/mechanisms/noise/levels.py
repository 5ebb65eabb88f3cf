"""Instance-based noise by levels of local sensitivity."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import (
    CalibrationError,
    Distance,
    Guarantee,
    Loss,
    ParameterError,
    PrivateDataError,
    Release,
    Secret,
    add_remove_row,
)
from sordino.core.parameters import exact, positive, probability, whole
from sordino.mechanisms.noise.laplace import LaplaceNoise
from sordino.mechanisms.noise.noise import in_range, shortened
from sordino.mechanisms.noise.rounded_law import RoundedLaw
from sordino.sampling.shapes import Laplace
from sordino.sampling.source import is_private
from sordino.sensitivity.smooth_bound import RELATIVE_ERROR

_LARGEST_DELTA, _LARGEST_RATE = 0.25, 0.5
# taken off ln(1 + t/2), so that computed bounds, rounding errors included, grow by at most 1 + t/2
_SPARE_BETA = 8 * RELATIVE_ERROR


@dataclass(frozen=True, slots=True)
class Levels:
    """A public partition of all databases into levels 0 … r-1, with an upper bound on the local sensitivity in each.

    ``neighbours[k]`` lists the levels that a neighbour of a database of level k may have, besides k itself.
    The partition, the bounds and the relation are public; the level of the database at hand is not.
    """

    bounds: tuple[float, ...]
    neighbours: tuple[tuple[int, ...], ...]

    @classmethod
    def chain(cls, bounds: Sequence[float]) -> Levels:
        """Levels in a row: a neighbour is at most one level up or down."""
        return cls.graph(bounds, [(k, k + 1) for k in range(len(bounds) - 1)])

    @classmethod
    def graph(cls, bounds: Sequence[float], edges: Iterable[tuple[int, int]]) -> Levels:
        """Any relation between levels, as undirected edges."""
        values = tuple(positive("level bound", bound) for bound in bounds)
        if not values:
            raise ParameterError("levels must have at least one bound, got none")
        near: list[set[int]] = [set() for _ in values]
        for edge in edges:
            try:
                first, second = edge
            except (TypeError, ValueError):
                raise ParameterError(f"an edge must be a pair of levels, got {edge!r}") from None
            for level in (first, second):
                if whole("level of an edge", level, least=0) >= len(values):
                    raise ParameterError(f"an edge names level {level}, but there are {len(values)} levels")
            near[first].add(second)
            near[second].add(first)
        return cls(values, tuple(tuple(sorted(s - {k})) for k, s in enumerate(near)))

    @property
    def largest(self) -> float:
        """The global sensitivity that the levels imply."""
        return max(self.bounds)

    def smooth(self, beta: float) -> NDArray[np.float64]:
        """S_k = max over l of e^{-β·dist(k, l)}·bound_l, the least β-smooth bound, for every level.

        One step in the level graph changes dist by at most 1, so S is β-smooth over levels, and neighbouring
        databases are at most one step apart. Largest first, each level is settled once.
        """
        best = list(self.bounds)
        # (minus value, level, bound it comes from, steps from there): one exp per value, so that errors do not add up
        queue = [(-bound, level, bound, 0) for level, bound in enumerate(best)]
        heapq.heapify(queue)
        while queue:
            negative, level, source, steps = heapq.heappop(queue)
            if -negative < best[level]:
                continue
            passed = source * math.exp(-beta * (steps + 1))
            for other in self.neighbours[level]:
                if passed > best[other]:
                    best[other] = passed
                    heapq.heappush(queue, (-passed, other, source, steps + 1))
        return np.array(best)


@dataclass(frozen=True, slots=True)
class LevelNoise:
    """The Laplace scale of every level, and the theorem that allows it: public."""

    scales: tuple[Fraction, ...]
    theorem: str
    pure: bool

    def expected_errors(self) -> NDArray[np.float64]:
        """E|noise| by level, before rounding to the lattice."""
        return np.array([float(scale) for scale in self.scales])


def calibrate_levels(
    levels: Levels, *, epsilon: float, delta: float, method: str = "best", fallback: bool = True
) -> LevelNoise:
    """Laplace scales for all levels, from public parameters only.

    **Guarantee**: (ε, δ)-DP. With t = ε/ln(1/δ), e^β = 1 + t/2 and S the β-smooth bound over levels
    (`Levels.smooth`):
    *theorem14*: scale 2S_k/ε, that is λ_k = min over l of (1 + t/2)^{dist(k, l)}·ε/(2·bound_l); for δ <= ¼
    and t <= 1.
    *tight*: scale S_k/α with the exact divergence of smooth Laplace noise; any δ > 0.
    *best* (default): the larger α of the two. If the mean of the scales over all levels is not below
    largest/ε, the levels do not pay, and with ``fallback`` plain Laplace noise with the largest bound is used
    (then ε-DP).
    **Requires**: the bounds and the relation are right for all databases; they are public.
    **Source**: IBN Thm 14, whose proof is repaired for δ <= ¼ and t/2 <= ½; the rule for λ replaces Algorithm
    1, which can get stuck on level graphs that are no chains.
    **Numerics**: S is a float with relative error below 2⁻⁴⁰; β is taken a little below ln(1 + t/2) and α a
    little below its value to pay for that. The scales are exact rationals.
    """
    epsilon, delta = in_range("epsilon", positive("epsilon", epsilon)), probability("delta", delta)
    if method not in ("best", "theorem14", "tight"):
        raise ParameterError(f"method must be best, theorem14 or tight, got {method!r}")
    worst_case = Fraction(levels.largest) / Fraction(epsilon)
    plain = LevelNoise((worst_case,) * len(levels.bounds), "Laplace mechanism", True)
    rate = epsilon / (-2 * math.log(delta))
    beta = math.log1p(rate) - _SPARE_BETA
    if beta <= 0:
        return plain
    candidates: list[tuple[float, str]] = []
    problem: CalibrationError | None = None
    for name, alpha_of in (("theorem14", _theorem14_alpha), ("tight", _tight_alpha)):
        if method not in ("best", name):
            continue
        try:
            candidates.append((alpha_of(epsilon, delta, rate), name))
        except CalibrationError as error:
            problem = error
    if not candidates:
        if fallback:
            return plain
        raise problem or CalibrationError("no calibration holds at these parameters")
    alpha, name = max(candidates)
    smooth = levels.smooth(beta)
    if fallback and not float(smooth.mean()) / alpha < levels.largest / epsilon:
        return plain
    theorem = (
        "IBN Thm 14 (repaired), levels"
        if name == "theorem14"
        else "smooth Laplace over levels, exact divergence"
    )
    return LevelNoise(tuple(Fraction(bound) / Fraction(alpha) for bound in smooth.tolist()), theorem, False)


def _theorem14_alpha(epsilon: float, delta: float, rate: float) -> float:
    if delta > _LARGEST_DELTA or rate > _LARGEST_RATE:
        raise CalibrationError(
            f"Theorem 14 is proved for delta <= {_LARGEST_DELTA} and epsilon <= ln(1/delta), "
            f"got epsilon = {epsilon:g}, delta = {delta:g}"
        )
    return shortened(epsilon / 2, rate)


def _tight_alpha(epsilon: float, delta: float, rate: float) -> float:
    return LaplaceNoise().alpha(epsilon, delta, math.log1p(rate) - _SPARE_BETA)


def levels_law(
    value: Any, level: int, levels: Levels, *, epsilon: float, delta: float, step: Any, method: str = "best"
) -> RoundedLaw:
    """The exact law of what `add_noise_by_levels` with the same arguments releases."""
    return _law(
        value, level, levels, calibrate_levels(levels, epsilon=epsilon, delta=delta, method=method), step
    )


def add_noise_by_levels(
    value: Any,
    level: int,
    levels: Levels,
    *,
    epsilon: float,
    delta: float,
    step: Any,
    method: str = "best",
    distance: Distance | None = None,
) -> Release:
    """Release ``value`` with Laplace noise of the scale of its level, on multiples of the public ``step``.

    The theorem, what is required and the numerics are those of `calibrate_levels`.

    >>> import sordino as sd
    >>> from sordino.mechanisms.noise import Levels
    >>> levels = Levels.chain([2.0**k for k in range(40)])  # the larger the level, the more a change does
    >>> release = sd.add_noise_by_levels(120, 0, levels, epsilon=1.0, delta=1e-3, step=1)
    >>> print(release.guarantee.loss)
    ε = 1, δ = 0.001
    """
    noise = calibrate_levels(levels, epsilon=epsilon, delta=delta, method=method)
    law = _law(value, level, levels, noise, step)
    released = law.draw() * law.step
    details = {
        "exact": float(law.centre),
        "level": int(level),
        "sensitivity": levels.bounds[level],
        "noise_scale": float(law.scale),
        "realised_error": float(released - law.centre),
    }
    guarantee = Guarantee(
        Loss(epsilon=epsilon, delta=0.0 if noise.pure else delta), distance or add_remove_row(), noise.theorem
    )
    answer = int(released) if law.step.denominator == 1 else float(released)
    return Release(
        answer, guarantee, "laplace noise by levels", private=is_private(), details=Secret(details)
    )


def _law(value: Any, level: int, levels: Levels, noise: LevelNoise, step: Any) -> RoundedLaw:
    lattice = exact("step", step)
    if lattice <= 0:
        raise ParameterError(f"step must be > 0, got {step!r}")
    try:
        centre, index = exact("value", value), whole("level", level, least=0)
    except ParameterError:
        raise PrivateDataError("value must be a finite number and level a whole number >= 0") from None
    if index >= len(levels.bounds):
        raise PrivateDataError(f"the level must be below the number of levels, {len(levels.bounds)}")
    return RoundedLaw(Laplace(), centre, noise.scales[index], lattice)
