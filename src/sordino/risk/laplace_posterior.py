"""What Laplace noise on a count lets an attacker believe, in closed form and in one pass over the counts.

With w the belief, g the membership and q = e^{-ε} let A_k = Σ_{z≤k} w_z q^{k-z} and B_k = Σ_{z>k} w_z q^{z-k}, and α_k,
β_k the means of g under their terms. Between two counts, at y = k + s, the likelihoods of what lies left and right of y
are A_k e^{-εs} and B_k e^{εs}, so the posterior is α + (β - α)·σ(ln(B/A) + 2εs) with the logistic σ. Its integral
against e^{-εs} or e^{εs} is elementary: with r = √(B/A) and θ = arctan(r e^ε) - arctan(r),

    ∫ P_Y ε e^{-εs} ds = α(1 - q) + (β - α) r θ,    ∫ P_Y ε e^{εs} ds = β(e^ε - 1) + (α - β) θ/r.

Beyond the counts that the belief allows the posterior is constant. All sums are in logarithms, so that no belief and
no ε makes them vanish.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its parts load when they are first used
from numpy.typing import NDArray
from scipy.special import expit

from sordino.core import ParameterError
from sordino.core.parameters import positive
from sordino.risk.histogram_model import HistogramModel

Floats = NDArray[np.float64]

_LARGEST_EPSILON = 500.0  # e^ε must be a double
_FAR = 1e100  # r or 1/r beyond it: one side of the sum is all there is


@dataclass(frozen=True, slots=True, eq=False)
class LaplacePosterior:
    """P_Y, P_C and P_P for Laplace noise of scale 1/ε on the count; discrete Laplace noise with ``whole_steps``.

    Both have the same likelihoods, so the same P_Y; the discrete one's P_C is a sum over whole outputs.

    **Source**: the quantities of the NAPLES report, section 3.3.10, whose integrals are solved here.
    **Numerics**: floats; tests hold them to 1e-11 of quadrature.
    """

    model: HistogramModel
    epsilon: float
    first: int
    last: int
    left: Floats  # α_k for k = first … last
    right: Floats  # β_k for k = first … last - 1
    odds: Floats  # ln(B_k / A_k) for k = first … last - 1
    below: float
    above: float
    whole_steps: bool = False

    @classmethod
    def of(cls, model: HistogramModel, epsilon: float, *, whole_steps: bool = False) -> LaplacePosterior:
        """All sums of a model, in O(people)."""
        epsilon = positive("epsilon", epsilon)
        if epsilon > _LARGEST_EPSILON:
            raise ParameterError(f"epsilon must be at most {_LARGEST_EPSILON:g} here, got {epsilon:g}")
        allowed = np.flatnonzero(model.belief)
        first, last = int(allowed[0]), int(allowed[-1])
        z = np.arange(first, last + 1, dtype=np.float64)
        with np.errstate(divide="ignore"):
            belief = np.log(model.belief[first : last + 1])
            held = belief + np.log(model.membership[first : last + 1])
        rise = epsilon * z
        lefts = [np.logaddexp.accumulate(weights + rise) - rise for weights in (belief, held)]
        # from the right, leaving k itself out
        rights = [
            np.logaddexp.accumulate((weights - rise)[::-1])[::-1][1:] + rise[:-1]
            for weights in (belief, held)
        ]
        right = np.exp(rights[1] - rights[0])
        left = np.exp(lefts[1] - lefts[0])
        odds = rights[0] - lefts[0][:-1]
        # at and below the first count all terms lie right of y
        whole = np.logaddexp.reduce(belief - rise), np.logaddexp.reduce(held - rise)
        return cls(
            model, epsilon, first, last, left, right, odds,
            float(np.exp(whole[1] - whole[0])), float(left[-1]), whole_steps,
        )  # fmt: skip

    def given_output(self, outputs: Any) -> Floats:
        """P_Y: the belief after seeing each of these noisy counts."""
        y = np.asarray(outputs, dtype=np.float64)
        posterior = np.where(y < self.first, self.below, self.above)
        inside = (y >= self.first) & (y < self.last)
        k = np.floor(y[inside]).astype(np.int64)
        s, place = y[inside] - k, k - self.first
        share = expit(self.odds[place] + 2 * self.epsilon * s)
        posterior[inside] = self.left[place] + (self.right[place] - self.left[place]) * share
        return np.asarray(posterior, dtype=np.float64)

    def given_count(self) -> Floats:
        """P_C: the belief to expect, for every true count 0 … people."""
        if self.whole_steps:
            return self._sum_whole_outputs()
        falling, rising = self._integrals()
        q = float(np.exp(-self.epsilon))
        # Σ_{k≥c} q^{k-c} I_k and Σ_{k<c} q^{c-k-1} (q J_k), at every c from first to last
        rightwards = scipy.signal.lfilter([1.0], [1.0, -q], np.append(falling, 0.0)[::-1])[::-1]
        leftwards = np.append(0.0, scipy.signal.lfilter([1.0], [1.0, -q], rising))
        counts = np.arange(self.model.people + 1, dtype=np.float64)
        nearest = np.clip(counts, self.first, self.last)
        place = nearest.astype(np.int64) - self.first
        from_left, from_right = np.maximum(self.first - counts, 0), np.maximum(counts - self.last, 0)
        inside = rightwards[place] * q**from_left + leftwards[place] * q**from_right
        mass_below = np.where(
            counts < self.first, 1 - q**from_left / 2, q ** np.maximum(counts - self.first, 0) / 2
        )
        mass_above = np.where(
            counts > self.last, 1 - q**from_right / 2, q ** np.maximum(self.last - counts, 0) / 2
        )
        return np.asarray(inside + mass_below * self.below + mass_above * self.above, dtype=np.float64)

    def _sum_whole_outputs(self) -> Floats:
        """Σ_y P_Y(y)·q^|y - c|·(1 - q)/(1 + q): two scans, and the constant beliefs beyond all counts."""
        q = float(np.exp(-self.epsilon))
        believed = self.given_output(np.arange(self.model.people + 1))
        upwards = scipy.signal.lfilter([1.0], [1.0, -q], believed)  # Σ_{y≤c}, from 0
        downwards = scipy.signal.lfilter([1.0], [1.0, -q], believed[::-1])[::-1]  # Σ_{y≥c}, to people
        counts = np.arange(self.model.people + 1, dtype=np.float64)
        beyond = (self.below * q ** (counts + 1) + self.above * q ** (counts[::-1] + 1)) / (1 - q)
        found = (upwards + downwards - believed + beyond) * (1 - q) / (1 + q)
        return np.asarray(found, dtype=np.float64)

    def expected(self) -> float:
        """P_P: the belief to expect where the guess is right."""
        right = self.model.membership * self.model.reality
        return float(self.given_count() @ right / self.model.prior)

    def _integrals(self) -> tuple[Floats, Floats]:
        """I_k and q·J_k: the posterior over one step against the falling and the rising half of the density."""
        q = float(np.exp(-self.epsilon))
        t = float(np.exp(self.epsilon))
        left, right = self.left[:-1], self.right
        r = np.exp(np.clip(self.odds / 2, -np.log(_FAR), np.log(_FAR)))
        theta = np.arctan((t - 1) * r / (1 + t * r * r))  # arctan(tr) - arctan(r), without cancelling
        small, large = r <= 1 / _FAR, r >= _FAR
        by_r = np.where(large, 1 - q, np.where(small, 0.0, r * theta))
        over_r = np.where(small, 1 - q, np.where(large, 0.0, q * theta / r))
        falling = (left * (1 - q) + (right - left) * by_r) / 2
        rising = (right * (1 - q) + (left - right) * over_r) / 2
        return falling, rising
