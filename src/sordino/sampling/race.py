"""Exact report of the largest of many noisy scores, the noises known only as far as the winner needs.

Every noise begins as 64 random bits. A table of tail probabilities, each enclosed by ball arithmetic, turns them into
an interval for the noise; whoever cannot reach the best lower end is out. Where several are left, their noises are
enclosed ever more tightly, with further random bits, until one is certainly ahead.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from sordino.sampling.refined_uniform import RefinedUniform, precision
from sordino.sampling.shapes import Laplace, LaplaceLogNormal, Normal, Shape
from sordino.sampling.source import random_words

Floats = NDArray[np.float64]

_STEPS_PER_HALVING = 16
_HALVINGS = 60
_FLOAT_SLACK = 2.0**-46
_LARGEST_SCALE = Fraction(10) ** 200


def draw_winner(shape: Shape, scores: NDArray[np.float64] | NDArray[np.int64], scale: Fraction) -> int:
    """The index of the largest score_i + scale·Z_i, with independent Z_i of the given shape."""
    runners: _Noises | _ComposedNoises
    if isinstance(shape, LaplaceLogNormal):
        runners = _ComposedNoises(shape.sigma, len(scores))
    else:
        runners = _Noises(shape, len(scores))
    contenders = _contenders(runners, scores, scale)
    if len(contenders) == 1:
        return contenders[0]
    return _decide(runners, contenders, [Fraction(scores[i].item()) / scale for i in contenders])


def _contenders(
    runners: _Noises | _ComposedNoises, scores: NDArray[np.float64] | NDArray[np.int64], scale: Fraction
) -> list[int]:
    """All who may still win, by floating-point intervals; everyone where floats would over- or underflow."""
    if not 1 / _LARGEST_SCALE < scale < _LARGEST_SCALE:
        return list(range(len(scores)))
    low, high = runners.intervals()
    behind = (scores - scores.max()).astype(np.float64)
    width = float(scale)
    with np.errstate(invalid="ignore"):
        slack = _FLOAT_SLACK * (np.abs(behind) + width * np.maximum(np.abs(low), np.abs(high)))
        slack = np.where(np.isfinite(slack), slack, 0.0)
        lowest, highest = behind + width * low - slack, behind + width * high + slack
    found: list[int] = np.flatnonzero(highest >= lowest.max()).tolist()
    return found


def _decide(runners: _Noises | _ComposedNoises, contenders: list[int], offsets: list[Fraction]) -> int:
    bits = 64
    while True:
        with precision(2 * bits + 64):
            places = [
                arb(fmpq(offset.numerator, offset.denominator)) + runners.ball(i, bits)
                for i, offset in zip(contenders, offsets, strict=True)
            ]
            best = max(place.lower() for place in places)
            ahead = [j for j, place in enumerate(places) if not place < best]
        if len(ahead) == 1:
            return contenders[ahead[0]]
        contenders, offsets = [contenders[j] for j in ahead], [offsets[j] for j in ahead]
        bits *= 2


class _Noises:
    """Independent draws of one shape, each a sign and a uniform V with P(|Z| > |z|) = V."""

    def __init__(self, shape: Shape, size: int) -> None:
        self.shape = shape
        self.words = random_words(size, np.uint64)
        signs = random_words(size, np.uint8) & 1 if shape.symmetric else np.zeros(size, dtype=np.uint8)
        self.negative = signs.astype(bool)
        self.uniforms: dict[int, RefinedUniform] = {}

    def intervals(self) -> tuple[Floats, Floats]:
        """Certain lower and upper ends of every Z."""
        edges, tails_low, tails_high = _table(self.shape)  # type: ignore[arg-type]
        v_low = self.words * (2.0**-64 * (1 - _FLOAT_SLACK))
        v_high = (self.words + 1.0) * (2.0**-64 * (1 + _FLOAT_SLACK))
        # |z| > edge if V < every value the tail there may have; |z| < edge if V > every such value
        above = np.searchsorted(-tails_low, -v_high, side="right") - 1
        below = np.searchsorted(-tails_high, -v_low, side="left")
        small = np.where(above < 0, 0.0, edges[np.maximum(above, 0)])
        large = np.append(edges, np.inf)[below]
        return np.where(self.negative, -large, small), np.where(self.negative, -small, large)

    def ball(self, index: int, bits: int) -> arb:
        """Z as a ball, with at least ``bits`` bits of V known."""
        uniform = self.uniforms.setdefault(index, RefinedUniform(int(self.words[index]), 64))
        while uniform.bits < bits:
            uniform.refine()
        magnitude = _enclosed(self.shape, uniform)
        return -magnitude if self.negative[index] else magnitude


class _ComposedNoises:
    """Laplace-log-normal draws: L·e^(σN) from a Laplace and a normal draw each."""

    def __init__(self, sigma: float, size: int) -> None:
        self.sigma = sigma
        self.laplace = _Noises(Laplace(), size)
        self.normal = _Noises(Normal(), size)

    def intervals(self) -> tuple[Floats, Floats]:
        """Certain lower and upper ends of every Z."""
        low, high = self.laplace.intervals()
        factor_low, factor_high = (
            np.exp(self.sigma * np.minimum(n, 1e3)) * (1 + s * _FLOAT_SLACK)
            for n, s in zip(self.normal.intervals(), (-1, 1), strict=True)
        )
        with np.errstate(invalid="ignore"):
            lower = np.where(low >= 0, low * factor_low, low * factor_high)
            upper = np.where(high >= 0, high * factor_high, high * factor_low)
        return np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper)

    def ball(self, index: int, bits: int) -> arb:
        """Z as a ball."""
        return self.laplace.ball(index, bits) * (arb(self.sigma) * self.normal.ball(index, bits)).exp()


@lru_cache(maxsize=32)
def _table(shape: Shape) -> tuple[Floats, Floats, Floats]:
    """Edges with certain lower and upper ends of the tail probability at each."""
    guesses = 2.0 ** (-np.arange(1, _HALVINGS * _STEPS_PER_HALVING + 1) / _STEPS_PER_HALVING)
    edges = np.unique(np.maximum(shape.tail_quantile(guesses), 0.0))
    low, high = np.empty(len(edges)), np.empty(len(edges))
    with precision(96):
        for j, edge in enumerate(edges.tolist()):
            tail = shape.ball_tail(arb(edge))
            low[j], high[j] = float(tail.lower()) * (1 - 2.0**-50), float(tail.upper()) * (1 + 2.0**-50)
    return edges, low, high


def _enclosed(shape: Shape, uniform: RefinedUniform) -> arb:
    """A ball around the z ≥ 0 with tail V, by bisection on exact dyadic points."""
    v_low, v_high = uniform.lower(), uniform.upper()
    low, high = arb(0), arb(1)
    while not shape.ball_tail(high) < v_low:
        low, high = (high if shape.ball_tail(high) > v_high else low), 2 * high
    for _ in range(uniform.bits):
        middle = ((low + high) / 2).mid()
        tail = shape.ball_tail(middle)
        if tail > v_high:
            low = middle
        elif tail < v_low:
            high = middle
        else:
            break
    return low.union(high)
