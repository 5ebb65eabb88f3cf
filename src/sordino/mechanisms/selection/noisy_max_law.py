"""The law of the argmax of scores with independent continuous noise, by quadrature with a stated error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sordino.core import SordinoError
from sordino.mechanisms.selection.stated_law import StatedLaw
from sordino.sampling.shapes import Shape

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(14)
_LOG_WEIGHTS = np.log(_WEIGHTS / 2)
# Relative to a probability: what is left out at either end, and what a panel may be off by before it is halved.
_LEFT_OUT = 1e-18
_PANEL_TOLERANCE = 1e-13
_FIRST_PANEL = 0.5
_MOST_HALVINGS = 60
_CHUNK_CELLS = 1 << 21
_CHUNK_ROWS = 1 << 12
# The tails and densities of a shape as floats are good to this, relatively; a sum of doubles to this times its terms.
_SHAPE_ERROR = 1e-13
_ROUNDING = 2.0**-52
# Where an integrand matters its logarithm is at most so far below that of the integral.
_DEPTH = 100.0
# Beyond so many scales behind the best, nothing is said about a candidate but that its probability is small.
_FARTHEST = 1e150


def noisy_max_law(shape: Shape, offsets: Floats) -> StatedLaw:
    """The law of argmax c_r + Z_r, for scores ``offsets`` in units of the noise scale.

    P(r) = ∫ f(t − c_r) Π_{s≠r} F(t − c_s) dt, each integrated by itself, so that the smallest has as many digits as
    the largest; candidates with equal scores share one integral.

    **Numerics**: in log space. The integral ends below at T with ΠF(T − c_s) ≤ 10⁻¹⁸ of the least probability (which
    bounds what is left out), and above where all others are below T but for 10⁻¹⁸, so that the rest is the tail of f.
    Between, every panel is measured from its nearest score c (t − c is exact there), begins at c, where a density may
    have a kink, and doubles away from it; Gauss–Legendre over a panel is compared with that over its halves, and
    panels that differ by more than 10⁻¹³ of some probability are halved. ``error`` adds up those differences, which
    exceed the error of the halves by far; what is left out at the ends; and the rounding of the shape's functions.
    That the sum is 1 within ``error`` is checked.
    """
    distinct, inverse, counts = np.unique(offsets - offsets.max(), return_inverse=True, return_counts=True)
    law = grouped_law(shape, distinct, counts)
    return StatedLaw(law.log_probabilities[inverse], law.error[inverse])


def grouped_law(shape: Shape, scores: Floats, counts: NDArray[np.intp]) -> StatedLaw:
    """ln P of *one* candidate of each score, for ``counts`` candidates of each; scores rise, and the last is 0."""
    if counts.sum() == 1:
        return StatedLaw(np.zeros(1), np.zeros(1))
    race = _Race(shape, np.maximum(scores, -_FARTHEST), counts)
    chunks = [
        race.integrated(np.arange(i, min(i + _CHUNK_ROWS, len(scores))))
        for i in range(0, len(scores), _CHUNK_ROWS)
    ]
    logs, error = (np.concatenate(values) for values in zip(*chunks, strict=True))
    mass = float(counts @ np.exp(logs))
    allowed = float(counts @ (np.exp(logs) * np.expm1(np.minimum(error, 1.0)))) + 1e-15 * len(scores)
    if not abs(mass - 1) <= 2 * allowed:
        raise SordinoError(
            f"the law could not be integrated: its mass is {mass!r}, and 1 within {allowed:.1g} is accepted"
        )
    error[scores < -_FARTHEST] = np.inf
    return StatedLaw(logs, error)


def log_law(shape: Shape, offsets: Floats) -> Floats:
    """ln P(r wins) for scores ``offsets`` in units of the noise scale; see `noisy_max_law`."""
    return noisy_max_law(shape, offsets).log_probabilities


@dataclass(frozen=True, slots=True)
class _Panels:
    """Intervals [anchor + low, anchor + high] of t: what is near a score is measured from it."""

    anchor: Floats
    low: Floats
    high: Floats

    def __len__(self) -> int:
        return len(self.anchor)

    def __getitem__(self, chosen: NDArray[np.bool_] | NDArray[np.intp] | slice) -> _Panels:
        return _Panels(self.anchor[chosen], self.low[chosen], self.high[chosen])

    def halved(self) -> _Panels:
        """Left and right halves, side by side."""
        middle = (self.low + self.high) / 2
        return _Panels(
            np.repeat(self.anchor, 2),
            np.stack([self.low, middle], axis=1).ravel(),
            np.stack([middle, self.high], axis=1).ravel(),
        )

    def nodes(self) -> tuple[Floats, Floats]:
        """Offsets from the anchors (panels, nodes), and the logarithms of the panels' lengths."""
        length = self.high - self.low
        return (self.low + self.high)[:, None] / 2 + length[:, None] / 2 * _NODES, np.log(length)


@dataclass(frozen=True, slots=True)
class _Race:
    """Candidates by distinct score, the best at 0."""

    shape: Shape
    scores: Floats
    counts: NDArray[np.intp]

    def integrated(self, rows: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """ln P of one candidate of each of some distinct scores, and the errors."""
        low, high = self._ends()
        pending = self._panels(low, high)
        most = 2 * len(pending) + 64
        tail = self.shape.log_tail(high - self.scores[rows])
        wholes = self._integrals(rows, pending)
        done, lost = tail, np.full(len(rows), -np.inf)
        for _ in range(_MOST_HALVINGS):
            halves = pending.halved()
            finer = self._integrals(rows, halves)
            sums = np.logaddexp(finer[:, 0::2], finer[:, 1::2])
            total = np.logaddexp(done, _log_sum(sums))
            differences = _log_difference(wholes, sums)
            tolerance = np.log(np.maximum(_PANEL_TOLERANCE, self._rounding(total) / 8)) + total
            rough = (differences > tolerance[:, None]).any(axis=0)
            done = np.logaddexp(done, _log_sum(sums[:, ~rough]))
            lost = np.logaddexp(lost, _log_sum(differences[:, ~rough]))
            if not rough.any() or 2 * int(rough.sum()) > most:
                break
            pending, wholes = halves[np.repeat(rough, 2)], finer[:, np.repeat(rough, 2)]
        # what more halvings do not help against is stated as it is
        done = np.logaddexp(done, _log_sum(sums[:, rough]))
        lost = np.logaddexp(lost, _log_sum(differences[:, rough]))
        return done, np.exp(lost - done) + self._rounding(done) + 4 * _LEFT_OUT

    def _rounding(self, log_probabilities: Floats) -> Floats:
        """What the rounding of the shape's functions, of t − c and of sums can do to each ln P.

        Σ|ln F| is at most ``depth`` where the integrand matters, and a relative error e of a tail moves ln F by at
        most e·min(1, 2|ln F|).
        """
        depth = np.abs(log_probabilities) + _DEPTH
        factors = 2 + 2 * np.minimum(depth, float(self.counts.sum()))
        return factors * _SHAPE_ERROR + depth * (len(self.scores) + 8) * _ROUNDING

    def _ends(self) -> tuple[float, float]:
        """Between them lies all of every probability but `_LEFT_OUT` of it (above: all but the tail of f itself)."""
        candidates = int(self.counts.sum())
        high = float(self.shape.tail_quantile(_LEFT_OUT / candidates))
        if not self.shape.symmetric:
            return 0.0, high
        # all others are below the start with a good chance, so each P is at least about its own tail there
        start = float(self.shape.tail_quantile(1 / candidates))
        least = float(self.shape.log_tail(start - self.scores[0])) + self._log_below(start)
        goal = least + np.log(_LEFT_OUT)
        step = 1.0
        while self._log_below(start - step) > goal:
            step *= 2
        outer, inner = start - step, start - step / 2 if step > 1 else start
        for _ in range(8):  # a rough place will do
            middle = (outer + inner) / 2
            outer, inner = (outer, middle) if self._log_below(middle) > goal else (middle, inner)
        return outer, high

    def _log_below(self, t: float) -> float:
        """ln Π F(t − c_s)."""
        return float(self.counts @ _log_cdf(self.shape, t - self.scores))

    def _panels(self, low: float, high: float) -> _Panels:
        """Each score above ``low``, and the best, with panels that double away from it up to halfway to the next."""
        anchors = self.scores[self.scores > low] if low < 0 else self.scores[-1:]
        halfway = np.diff(anchors) / 2
        lefts = np.append(low - anchors[0], -halfway)
        rights = np.append(halfway, high - anchors[-1])
        parts = []
        for anchor, left, right in zip(anchors.tolist(), lefts.tolist(), rights.tolist(), strict=True):
            edges = np.concatenate([-_doubling(-left)[::-1], _doubling(right)[1:]])
            edges = (
                edges[(edges >= left) & (edges <= right)]
                if left <= 0
                else np.append(left, edges[edges > left])
            )
            parts.append(_Panels(np.full(len(edges) - 1, anchor), edges[:-1], edges[1:]))
        return _Panels(
            np.concatenate([part.anchor for part in parts]),
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.high for part in parts]),
        )

    def _integrals(self, rows: NDArray[np.intp], panels: _Panels) -> Floats:
        """ln ∫ over every panel (axis 1) for every row (axis 0)."""
        result = np.empty((len(rows), len(panels)))
        chunk = max(1, _CHUNK_CELLS // (len(self.scores) * len(_NODES)))
        for start in range(0, len(panels), chunk):
            part = panels[slice(start, start + chunk)]
            offsets, log_length = part.nodes()
            # t − c, computed as (anchor − c) + offset: exact for the anchor's own score
            z = (part.anchor - self.scores[:, None])[:, :, None] + offsets
            log_cdf = _log_cdf(self.shape, z)
            below = np.tensordot(self.counts, log_cdf, axes=1)
            with np.errstate(invalid="ignore"):
                terms = self.shape.log_pdf(z[rows]) + (below - log_cdf[rows]) + _LOG_WEIGHTS
            terms = np.where(np.isnan(terms), -np.inf, terms)
            result[:, start : start + chunk] = _log_sum(terms) + log_length
        return result


def _log_cdf(shape: Shape, z: Floats) -> Floats:
    """ln F(z), without cancellation at either end."""
    if shape.symmetric:
        return shape.log_tail(-z)
    with np.errstate(divide="ignore"):
        return np.log(-np.expm1(shape.log_tail(z)))


def _doubling(end: float) -> Floats:
    """0, ½, 1, 2, 4, … up to an end that is not too near the one before it."""
    if end <= _FIRST_PANEL:
        return np.array([0.0, max(end, 0.0)]) if end > 0 else np.zeros(1)
    powers = _FIRST_PANEL * 2.0 ** np.arange(int(np.ceil(np.log2(end / _FIRST_PANEL))) + 1)
    inner = powers[powers < 0.75 * end]
    return np.concatenate([[0.0], inner, [end]])


def _log_sum(logs: Floats) -> Floats:
    """ln Σ e^x over the last axis, −∞ for nothing."""
    if not logs.shape[-1]:
        return np.full(logs.shape[:-1], -np.inf)
    peak = logs.max(axis=-1, keepdims=True)
    shift = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        total: Floats = np.log(np.exp(logs - shift).sum(axis=-1)) + shift[..., 0]
    return total


def _log_difference(one: Floats, two: Floats) -> Floats:
    """ln |e^x − e^y|."""
    with np.errstate(divide="ignore", invalid="ignore"):
        larger = np.maximum(one, two)
        result: Floats = larger + np.log(-np.expm1(-np.abs(one - two)))
    return np.where(np.isneginf(larger), -np.inf, result)
