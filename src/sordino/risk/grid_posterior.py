"""What any noise on a count lets an attacker believe, by sums over a grid of outputs in logarithms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtri

from sordino.core import ParameterError
from sordino.core.parameters import positive, whole
from sordino.risk.histogram_model import HistogramModel
from sordino.risk.number_model import NumberModel

Floats = NDArray[np.float64]

_OUTSIDE = 1e-12  # of the noise's mass, left out on both sides together
_PANELS = 500  # of noise on a number, on either side
_NODES = 12  # of Gauss and Legendre between two counts
_CELLS = 1 << 22  # of a block of the matrix of likelihoods
_MOST_CELLS = 1 << 33


@dataclass(frozen=True, slots=True, eq=False)
class CountNoise:
    """Noise on a count: ln of its density at whole numbers (``whole_steps``) or at all numbers, within ± ``reach``.

    ``rate``: of noise with a density like e^{-rate·|x|}, for which there is a closed form.

    >>> from sordino.risk import CountNoise
    >>> CountNoise.discrete_laplace(1.0).whole_steps
    True
    """

    log_density: Callable[[Floats], Floats]
    reach: int
    whole_steps: bool
    rate: float | None = None

    @classmethod
    def laplace(cls, epsilon: float) -> CountNoise:
        """Laplace noise of scale 1/ε, not rounded."""
        epsilon = positive("epsilon", epsilon)
        reach = int(np.ceil(-np.log(_OUTSIDE) / epsilon)) + 1
        return cls(lambda x: np.log(epsilon / 2) - epsilon * np.abs(x), reach, False, epsilon)

    @classmethod
    def discrete_laplace(cls, epsilon: float) -> CountNoise:
        """The noise of a private count with sensitivity 1."""
        epsilon = positive("epsilon", epsilon)
        scale = np.log(np.tanh(epsilon / 2))
        reach = int(np.ceil(-np.log(_OUTSIDE) / epsilon)) + 1
        return cls(lambda k: scale - epsilon * np.abs(k), reach, True, epsilon)

    @classmethod
    def gaussian(cls, standard_deviation: float) -> CountNoise:
        """Gaussian noise, not rounded."""
        sigma = positive("standard_deviation", standard_deviation)
        reach = int(np.ceil(-sigma * float(ndtri(_OUTSIDE / 2)))) + 1
        return cls(lambda x: -((x / sigma) ** 2) / 2 - np.log(sigma * np.sqrt(2 * np.pi)), reach, False)

    @classmethod
    def of_law(cls, law: Any) -> CountNoise:
        """The noise of a lattice law of step 1, such as `sordino.noise_law` returns."""
        if getattr(law, "step", None) != 1:
            raise ParameterError("a law on the lattice of step 1 is needed: counts are whole numbers")
        first, last = law.window()
        reach = max(law.centre - first, last - law.centre)
        masses = law.log_masses(law.centre - reach, law.centre + reach)

        def log_density(k: Floats) -> Floats:
            place = np.rint(k).astype(np.int64) + reach
            inside = (place >= 0) & (place < len(masses))
            found: Floats = np.where(inside, masses[np.clip(place, 0, len(masses) - 1)], -np.inf)
            return found

        return cls(log_density, reach, True)


@dataclass(frozen=True)
class GridPosterior:
    """P_Y, P_C and P_P for any `CountNoise`; time and the size of blocks grow with counts times outputs.

    **Numerics**: of the noise 1e-12 lies outside the grid, and is left out; smooth densities are integrated by twelve
    nodes between two counts, which is where a density may have a kink.
    """

    model: HistogramModel | NumberModel
    noise: CountNoise

    def given_output(self, outputs: Any) -> Floats:
        """P_Y at each of these outputs."""
        y = np.asarray(outputs, dtype=np.float64)
        return self._posteriors(y.reshape(-1)).reshape(y.shape)

    def given_outputs_together(self, outputs: Sequence[float]) -> float:
        """P_Y after several noisy versions of one count: their likelihoods multiply."""
        z = self.model.values
        return float(self._posterior(sum(self.noise.log_density(y - z) for y in outputs)))

    def given_count(self) -> Floats:
        """P_C for every count 0 … people, or at every one of a number's ``values``."""
        y, weights = self._grid
        counts = self.model.values
        if len(counts) * len(y) > _MOST_CELLS:
            raise ParameterError(
                f"{len(counts)} possible values and noise that reaches {self.noise.reach} are too many outputs to sum "
                "over; Laplace noise, discrete or not, has a closed form for any number"
            )
        posteriors = self._posteriors(y)
        found = np.empty(len(counts))
        rows = max(1, _CELLS // len(y))
        for start in range(0, len(counts), rows):
            density = (
                np.exp(self.noise.log_density(y[None, :] - counts[start : start + rows, None])) * weights
            )
            found[start : start + rows] = density @ posteriors / density.sum(axis=1)
        return found

    def expected(self) -> float:
        """P_P."""
        right = self.model.membership * self.model.reality
        return float(self.given_count() @ right / self.model.prior)

    @cached_property
    def _grid(self) -> tuple[Floats, Floats]:
        low, high, step = (
            self.model.low - self.noise.reach,
            self.model.high + self.noise.reach,
            self.model.step,
        )
        if self.noise.whole_steps:
            if isinstance(self.model, NumberModel):
                raise ParameterError(
                    "noise of whole steps is for counts: a number needs noise with a density"
                )
            return np.arange(low, high + 1), np.ones(int(high - low) + 1)
        if isinstance(self.model, NumberModel):
            step = max(step, self.noise.reach / _PANELS)
        count = math.ceil((high - low) / step - 1e-9)
        if count * len(self.model.values) > _MOST_CELLS:
            raise ParameterError(
                "the noise reaches too far beyond the range to be summed over: take fewer panels"
            )
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        panels = low + step * np.arange(count)
        return (panels[:, None] + step * (nodes + 1) / 2).reshape(-1), np.tile(weights * step / 2, count)

    def _posteriors(self, y: Floats) -> Floats:
        z = self.model.values
        rows = max(1, _CELLS // len(z))
        blocks = [
            self._posterior(self.noise.log_density(y[start : start + rows, None] - z))
            for start in range(0, len(y), rows)
        ]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def _posterior(self, likelihood: Any) -> Floats:
        with np.errstate(divide="ignore"):
            weights = likelihood + np.log(self.model.belief)
        total = logsumexp(weights, axis=-1)
        held = logsumexp(weights, b=self.model.membership, axis=-1)
        # an output that no count of the belief can have tells nothing that the model could weigh
        seen = np.where(np.isneginf(total), np.log(self.model.membership @ self.model.belief), held - total)
        return np.asarray(np.exp(seen), dtype=np.float64)


def cap_by_others(posterior: float, *, epsilon: float, diameter: float, releases: int) -> float:
    """A bound on the belief after ``releases`` outputs, from the belief after one of them.

    The others multiply no likelihood ratio by more than e^{ε·diameter} each, so the posterior by no more together; a
    probability is at most 1.
    """
    epsilon, diameter = positive("epsilon", epsilon), positive("diameter", diameter)
    releases = whole("releases", releases, least=1)
    if not 0 <= posterior <= 1:
        raise ParameterError(f"posterior must be in [0, 1], got {posterior!r}")
    exponent = epsilon * diameter * (releases - 1)
    return float(min(1.0, posterior * np.exp(min(exponent, 700.0))))
