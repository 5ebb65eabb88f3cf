"""TradeOff: how well two neighbouring databases can be told apart by a release, at every rate of false alarms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from sordino.core import Loss, ParameterError
from sordino.core.parameters import positive
from sordino.ledger.batch import BatchPart, compose_deltas
from sordino.risk.step_noise import StepNoise, join_losses

Floats = NDArray[np.float64]

_FAR = 600.0  # the largest loss looked at, where a curve has no corners of its own: e^loss must be a double
_NARROWINGS = 120


@dataclass(frozen=True, slots=True, eq=False)
class TradeOff:
    """The trade-off between false alarms and misses of whoever tells "with" from "without" by one release.

    It is held as δ(e) = max over events E of P(E) - e^e Q(E), for e ≥ 0 and the worse of both orders of P and Q; all
    else follows. ``corners``: the e ≥ 0 at which δ has a corner, if it is made of straight lines in e^e. What is
    computed is one of the lines below the trade-off, so rounding makes an attacker look stronger, never weaker.

    >>> from sordino.risk import TradeOff
    >>> round(TradeOff.of_laplace(1.0).advantage, 3)
    0.393
    """

    name: str
    delta: Callable[[Floats], Floats]
    corners: Floats | None = None

    @property
    def advantage(self) -> float:
        """Right alarms minus false alarms at best: how much better than guessing membership can be told."""
        return float(self.delta(np.zeros(1))[0])

    def misses(self, false_alarms: Any) -> Floats:
        """The least rate of misses of any test with such rates of false alarms."""
        rates = np.asarray(false_alarms, dtype=np.float64)
        if rates.size and not (rates.min() >= 0 and rates.max() <= 1):
            raise ParameterError("false_alarms must be in [0, 1]")
        if self.corners is not None:
            e, delta = self.corners, self.delta(self.corners)
            tested = np.maximum(_steep(e, delta, rates[..., None]), _flat(e, delta, rates[..., None]))
            return np.asarray(np.clip(tested.max(axis=-1), 0.0, 1.0), dtype=np.float64)
        found = np.maximum(self._peak(_steep, rates), self._peak(_flat, rates))
        return np.asarray(np.clip(found, 0.0, 1.0), dtype=np.float64)

    def bayes_risk(self, prior: float) -> float:
        """How often the best guess of membership is wrong, if that is its chance beforehand."""
        if not 0 < prior < 1:
            raise ParameterError(f"prior must be in (0, 1), got {prior!r}")
        rarer = min(prior, 1 - prior)  # the orders change places with the roles
        gain = float(self.delta(np.log([(1 - rarer) / rarer]))[0])
        return rarer * (1 - gain)

    def reconstruction_bound(self, baseline: float) -> float:
        """The largest chance to reconstruct a record that could be guessed with chance ``baseline`` beforehand.

        Telling the true record from one drawn by the attacker's own prior is a test whose false alarms are the
        baseline (Hayes, Mahloujifar and Balle 2023; Kaissis and others 2023).
        """
        if not 0 < baseline < 1:
            raise ParameterError(f"baseline must be in (0, 1), got {baseline!r}")
        return float(1 - self.misses([baseline])[0])

    def _peak(self, line: Callable[[Floats, Floats, Floats], Floats], rates: Floats) -> Floats:
        """The largest value over e ≥ 0: lines are concave in e^e or e^{-e}, so there is one peak."""
        low, high = np.zeros(rates.shape), np.full(rates.shape, _FAR)
        for _ in range(_NARROWINGS):
            third = (high - low) / 3
            inner, outer = low + third, high - third
            is_right = line(inner, self.delta(inner), rates) <= line(outer, self.delta(outer), rates)
            low, high = np.where(is_right, inner, low), np.where(is_right, high, outer)
        middle = (low + high) / 2
        return np.maximum(line(middle, self.delta(middle), rates), line(low * 0, self.delta(low * 0), rates))

    @classmethod
    def of_laplace(cls, epsilon: float) -> TradeOff:
        """Laplace noise of scale Δ/ε on a number of global sensitivity Δ, not rounded."""
        epsilon = positive("epsilon", epsilon)

        def delta(e: Floats) -> Floats:
            return -np.expm1(np.minimum((e - epsilon) / 2, 0.0))

        return cls(f"Laplace noise, ε = {epsilon:g}", delta)

    @classmethod
    def of_gaussian(cls, rho: float) -> TradeOff:
        """Gaussian noise of σ = Δ/√(2ρ) on a number of global sensitivity Δ, not rounded."""
        mu = float(np.sqrt(2 * positive("rho", rho)))

        def delta(e: Floats) -> Floats:
            return np.asarray(
                ndtr(mu / 2 - e / mu) - np.exp(e + log_ndtr(-mu / 2 - e / mu)), dtype=np.float64
            )

        return cls(f"Gaussian noise, ρ = {rho:g}", delta)

    @classmethod
    def of_loss(cls, loss: Loss) -> TradeOff:
        """Whatever has this loss: no mechanism of (ε, δ) tells more than randomized response does.

        Where all losses lie within an interval of length ε (``bounded_range``), as those of the exponential mechanism
        do, the worst has two outcomes, and no more than tanh(ε/4) is told. ρ of zCDP has no worst mechanism; there the
        δ is the least of known bounds.

        **Source**: Kairouz, Oh and Viswanath 2015; Dong, Durfee and Rogers 2020, Lemma 3.2; Canonne, Kamath and Steinke
        2020, Corollary 13; the inequalities of Pinsker and of Bretagnolle and Huber, as a divergence of Kullback and
        Leibler of neighbours is at most ρ.
        """
        if loss.rho is not None:
            return cls(f"any release of {loss}", partial(_bound_concentrated, loss.rho))
        if loss.epsilon is None:
            raise TypeError("a loss holds epsilon or rho")
        if loss.bounded_range and loss.epsilon:
            return cls(f"any choice of {loss}", partial(_bound_range, loss.epsilon))
        shown = 1 - loss.delta
        high, low = (
            np.log(shown) - np.logaddexp(0.0, -loss.epsilon),
            np.log(shown) - np.logaddexp(0.0, loss.epsilon),
        )
        with np.errstate(divide="ignore"):
            certain = np.log(loss.delta)
        curve = cls.of_laws([certain, high, low, -np.inf], [-np.inf, low, high, certain])
        return cls(f"any release of {loss}", curve.delta, curve.corners)

    @classmethod
    def of_laws(cls, left: Any, right: Any) -> TradeOff:
        """Two laws over the same outcomes, as logarithms of probabilities: the better told order of the two.

        What they lack to 1 is taken to tell them apart for certain.
        """
        p, q = (np.asarray(law, dtype=np.float64) for law in (left, right))
        if p.shape != q.shape or p.ndim != 1:
            raise ParameterError("two laws over the same outcomes are needed: arrays of one length")
        if np.isnan(p).any() or np.isnan(q).any() or max(np.exp(p).sum(), np.exp(q).sum()) > 1 + 1e-9:
            raise ParameterError("laws are logarithms of probabilities, whose sum is at most 1")
        sides = [_Side.of(p, q), _Side.of(q, p)]
        corners = _list_corners(sides)

        def delta(e: Floats) -> Floats:
            found: Floats = np.maximum(*(side.delta(np.asarray(e, dtype=np.float64)) for side in sides))
            return found

        return cls("two laws", delta, corners)

    @classmethod
    def of_steps(cls, noises: Sequence[StepNoise]) -> TradeOff:
        """Whole numbers with public discrete noise, all of which one unit may move (`join_losses`)."""
        law = join_losses(noises)
        side = _Side.of_losses(
            law.losses, law.masses, law.certain
        )  # noise is symmetric: so is the other order
        corners = np.unique(np.append(np.abs(law.losses), 0.0))
        return cls(f"{len(noises)} with discrete noise", side.delta, corners)

    @classmethod
    def of_discrete_laplace(cls, epsilon: float, *, steps: int = 1) -> TradeOff:
        """Discrete Laplace noise for a number that one unit moves by up to ``steps`` lattice steps."""
        curve = cls.of_steps([StepNoise(steps, epsilon=epsilon)])
        return replace(curve, name=f"discrete Laplace noise, ε = {epsilon:g}, {steps} steps")


def _bound_range(epsilon: float, e: Floats) -> Floats:
    """Outcomes of losses t and t - ε give (e^ε - e^t)(1 - e^{e-t})/(e^ε - 1), which is largest at t = (ε + e)/2."""
    return np.asarray(np.expm1(np.minimum((e - epsilon) / 2, 0.0)) ** 2 / -np.expm1(-epsilon))


def _bound_concentrated(rho: float, e: Floats) -> Floats:
    """The least over orders a of e^{(a-1)(aρ-e)}(1 - 1/a)^a/(a - 1), and no more than the distance in variation."""
    told = math.sqrt(min(rho / 2, -math.expm1(-rho)))
    if not told:
        return np.zeros_like(e)
    more = np.geomspace(1e-3, 1e3 / min(rho, 1.0), 400)  # a - 1: the best is near e/2ρ
    logs = more * ((1 + more) * rho - e[..., None]) + (1 + more) * np.log(more / (1 + more)) - np.log(more)
    return np.asarray(np.minimum(np.exp(np.minimum(logs.min(axis=-1), 0.0)), told), dtype=np.float64)


def _steep(e: Floats, delta: Floats, rates: Floats) -> Floats:
    """Misses at least, by the line of slope -e^e below the trade-off."""
    return 1 - delta - np.exp(e) * rates


def _flat(e: Floats, delta: Floats, rates: Floats) -> Floats:
    """The same for slope -e^{-e}: false alarms and misses change places where the laws do."""
    return np.exp(-e) * (1 - delta - rates)


def _list_corners(sides: Sequence[_Side]) -> Floats:
    """Where the larger of both δ may have a corner: where one of them has one, and where they cross."""
    losses = np.abs(np.concatenate([side.losses[np.isfinite(side.losses)] for side in sides]))
    corners = np.unique(np.append(losses, 0.0))
    t = np.exp(corners)  # δ is made of straight lines in t
    ahead = sides[0].delta(corners) - sides[1].delta(corners)
    before = np.flatnonzero(ahead[:-1] * ahead[1:] < 0)
    share = ahead[before] / (ahead[before] - ahead[before + 1])
    crossings = np.log(t[before] + share * (t[before + 1] - t[before]))
    return np.asarray(np.unique(np.append(corners, crossings)), dtype=np.float64)


def compose_releases(parts: Sequence[BatchPart]) -> TradeOff:
    """The curve of several releases together, whose kinds and budgets are fixed beforehand.

    **Guarantee**: nobody who sees all of them can do better (`sordino.ledger.batch.compose_deltas`).

    >>> import sordino as sd
    >>> from sordino.ledger import LaplacePart
    >>> ten = sd.risk.compose_releases([LaplacePart(sd.add_remove_row(), scale=10.0)] * 10)
    >>> sd.risk.TradeOff.of_laplace(0.1).advantage < ten.advantage < sd.risk.TradeOff.of_laplace(1.0).advantage
    True
    """
    find = compose_deltas(parts)
    return TradeOff(f"{len(parts)} releases", lambda e: np.asarray(find(e), dtype=np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """δ(e) of one order: outcomes sorted by falling loss, with running sums of both masses."""

    losses: Floats
    seen: Floats
    other: Floats

    @classmethod
    def of(cls, p: Floats, q: Floats) -> _Side:
        kept = ~np.isneginf(p)
        p, q = p[kept], q[kept]
        masses = np.exp(p)
        return cls.of_losses(p - q, masses, max(0.0, 1.0 - float(masses.sum())))

    @classmethod
    def of_losses(cls, losses: Floats, masses: Floats, certain: float) -> _Side:
        """From losses ln P/Q with their masses under P; ``certain``: what Q cannot have."""
        order = np.argsort(-losses, kind="stable")
        losses, masses = losses[order], masses[order]
        seen = np.concatenate([[0.0], np.cumsum(masses)]) + certain
        return cls(losses, seen, np.concatenate([[0.0], np.cumsum(masses * np.exp(-losses))]))

    def delta(self, e: Floats) -> Floats:
        place = np.searchsorted(-self.losses, -e, side="left")
        found: Floats = np.clip(self.seen[place] - np.exp(e) * self.other[place], 0.0, 1.0)
        return found
