"""StepNoise: public noise on one whole number, and the law of what it tells about whether a unit is there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError
from sordino.core.parameters import positive, whole

Floats = NDArray[np.float64]

_BLOCKS = 1 << 16  # of the outputs of one noise: more of them are taken together
_ATOMS = 1 << 9  # of several noises together, in each that is joined
_FAR = 9.0  # standard deviations of Gaussian noise that are looked at


@dataclass(frozen=True, slots=True)
class StepNoise:
    """Discrete noise on a number of lattice steps that one unit moves by at most ``steps``.

    Discrete Laplace noise that costs ``epsilon``, or discrete Gaussian noise that costs ``rho``, for the whole move.

    >>> from sordino.risk import StepNoise, TradeOff
    >>> round(TradeOff.of_steps([StepNoise(4, epsilon=1.0)]).advantage, 3)
    0.393
    """

    steps: int
    epsilon: float | None = None
    rho: float | None = None

    def __post_init__(self) -> None:
        whole("steps", self.steps, least=1)
        if (self.epsilon is None) == (self.rho is None):
            raise ParameterError("step noise costs either epsilon or rho: give exactly one of them")
        positive("epsilon" if self.rho is None else "rho", self.rho if self.epsilon is None else self.epsilon)

    def weigh_losses(self) -> LossLaw:
        """The law of ln P/Q under P, where Q is P moved by all steps."""
        return self._gaussian(self.rho) if self.rho is not None else self._laplace(self.epsilon or 0.0)

    def _laplace(self, epsilon: float) -> LossLaw:
        """ε(1 - 2k/s) at the output k of 0 … s, ends included: with q = e^{-ε/s} all k ≤ 0 weigh 1/(1 + q) together."""
        rate = epsilon / self.steps
        first, last = _cut(1, self.steps)
        inner = np.exp(-rate * first) * -np.expm1(-rate * (last - first))
        losses = np.concatenate([[epsilon], epsilon * (1 - 2 * first / self.steps), [-epsilon]])
        return LossLaw(losses, np.concatenate([[1.0], inner, [np.exp(-epsilon)]]) / (1 + np.exp(-rate)), 0.0)

    def _gaussian(self, rho: float) -> LossLaw:
        """ρ(1 - 2k/s) at every output k, whose mass is at most e^{-k²/2σ²}/(σ√(2π)) by Poisson's summation."""
        deviation = self.steps / math.sqrt(2 * rho)
        reach = int(np.ceil(_FAR * deviation)) + 1
        first, last = _cut(-reach, reach + 1)
        nearest = np.where(first > 0, first, np.minimum(last - 1, 0))  # where a block weighs most
        weights = (last - first) * np.exp(-((nearest / deviation) ** 2) / 2)
        total = max(
            1.0, float(deviation * np.sqrt(2 * np.pi))
        )  # all weights together are no less, and no less than
        if len(first) == 2 * reach + 1:  # those that are looked at, where none stands for several
            total = max(total, float(weights.sum()))
        # beyond: all of it counts as told for certain; the tail of a discrete Gaussian is below a Gaussian's twice over
        return LossLaw(rho * (1 - 2 * first / self.steps), weights / total, 4 * np.exp(-(_FAR**2) / 2))


@dataclass(frozen=True, slots=True, eq=False)
class LossLaw:
    """Losses under P with their masses, and the mass ``certain`` of outputs that tell P for certain.

    **Numerics**: outputs that are taken together have the largest loss of them or are split so that more is told, and
    Gaussian masses are bounds from above: nothing that is told is left out but by roundings of floats.
    """

    losses: Floats
    masses: Floats
    certain: float

    def join(self, other: LossLaw) -> LossLaw:
        """Both noises drawn, independent of one another."""
        one, two = self._thin(), other._thin()
        losses = (one.losses[:, None] + two.losses).reshape(-1)
        masses = (one.masses[:, None] * two.masses).reshape(-1)
        return LossLaw(losses, masses, one.certain + two.certain)

    def _thin(self) -> LossLaw:
        """At most so many losses: each is split between its two neighbours on a grid so that P and Q keep their mass.

        What is told of an output is convex in Q/P, so a split that keeps its mean tells more, and never less.
        """
        if len(self.losses) <= _ATOMS:
            return self
        low, high = float(self.losses.min()), float(self.losses.max())
        width = (high - low) / (_ATOMS - 1)
        place = np.clip(((self.losses - low) / width).astype(np.int64), 0, _ATOMS - 2)
        upper = np.clip(np.expm1(low + width * place - self.losses) / np.expm1(-width), 0.0, 1.0)
        held = np.bincount(place, weights=self.masses * (1 - upper), minlength=_ATOMS)
        held += np.bincount(place + 1, weights=self.masses * upper, minlength=_ATOMS)
        grid: Floats = low + width * np.arange(_ATOMS, dtype=np.float64)
        return LossLaw(grid, np.asarray(held, dtype=np.float64), self.certain)


def join_losses(noises: Sequence[StepNoise]) -> LossLaw:
    """Of several noises together, each moved by all of its steps.

    **Guarantee**: no unit that moves each number by at most its steps can be told better. Both laws are log-concave,
    so the best test between two places of one is a threshold, whose power grows with their distance; and what each
    number tells less, all of them together do not tell more (Blackwell).
    """
    if not noises:
        raise ParameterError("at least one noise is needed")
    return reduce(LossLaw.join, (noise.weigh_losses() for noise in noises))


def _cut(first: int, end: int) -> tuple[Floats, Floats]:
    """The whole numbers from first to end - 1 in blocks: their first numbers, and those after their last."""
    count = max(end - first, 0)
    blocks = min(count, _BLOCKS)
    edges = first + np.arange(blocks + 1, dtype=object) * count // max(blocks, 1) if blocks else np.empty(0)
    places = np.asarray(edges, dtype=np.float64)
    return places[:-1], places[1:]
