"""The joint guarantee of a batch of releases that is fixed beforehand, by privacy loss distributions.

Inside one batch nothing is chosen after seeing an answer, so tighter composition than sums is sound. The result is one
(ε, δ) that an account then counts like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sordino.core import Distance, Guarantee, Loss, ParameterError, UnsupportedError, check_distance
from sordino.core.parameters import as_written, positive, probability
from sordino.ledger.event import write_distance_key

_STEP = 2.0**-13  # of the grid of losses; a power of two, so that dividing by it is exact
_FFT = 2.0**-50  # error of one entry of a convolution of masses that sum to 1
_SMALLEST_SLACK = 1e-14  # the accountant's own truncation, per composition
_MOST_LOSS = 500.0  # of one part on the grid: e^loss must be a double, and the grid must fit the memory
_LEAST_RATIO = 1e-100  # of sensitivity and noise on the grid: its square must be a double


@dataclass(frozen=True, slots=True)
class LaplacePart:
    """Laplace noise of a public scale on a number of *global* sensitivity ``sensitivity``, perhaps rounded afterwards.

    Noise that follows a smooth bound is not of this kind (its scale moves too): give its Guarantee.

    >>> import sordino as sd
    >>> from sordino.ledger import LaplacePart, compose_batch
    >>> one = LaplacePart(sd.add_remove_row(), scale=2.0)
    >>> round(compose_batch([one], 1e-9).epsilon, 3)
    0.5
    """

    distance: Distance
    scale: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        (
            check_distance(self.distance),
            positive("scale", self.scale),
            positive("sensitivity", self.sensitivity),
        )


@dataclass(frozen=True, slots=True)
class GaussianPart:
    """Gaussian noise of a public deviation on an answer of *global* L2 ``sensitivity``, perhaps rounded afterwards.

    >>> import sordino as sd
    >>> from sordino.ledger import GaussianPart, compose_batch
    >>> one = GaussianPart(sd.add_remove_row(), standard_deviation=5.0)
    >>> compose_batch([one] * 4, 1e-6).epsilon < 4 * compose_batch([one], 1e-6).epsilon
    True
    """

    distance: Distance
    standard_deviation: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        check_distance(self.distance), positive("sensitivity", self.sensitivity)
        positive("standard_deviation", self.standard_deviation)


BatchPart = Guarantee | LaplacePart | GaussianPart


def compose_batch(parts: Sequence[BatchPart], delta: float) -> Guarantee:
    """One (ε, δ) for all parts together.

    **Guarantee**: the joint release of all parts is (ε, δ)-DP for the ``delta`` given.
    **Requires**: parts, their order and their parameters are fixed before the first answer is seen; all of
    one Distance. A Guarantee stands for the worst mechanism that has it, which is randomized response (so
    permute-and-flip gets no more than it has). zCDP alone has no such worst case: give `GaussianPart`, or (ε, δ).
    **Source**: Koskela, Jälkö and Honkela 2020; Kairouz, Oh and Viswanath 2015; computed by dp-accounting.
    **Numerics**: pessimistic grids of 2⁻¹³; the error of the convolutions is taken from ``delta``, and the result
    rounded up. Never more than the plain sums where those fit ``delta``.

    >>> import sordino as sd
    >>> from sordino.ledger import LaplacePart, compose_batch
    >>> parts = [LaplacePart(sd.add_remove_row(), scale=10.0)] * 100
    >>> compose_batch(parts, 1e-6).epsilon < 100 * 0.1
    True
    """
    probability("delta", delta)
    if not parts:
        raise ParameterError("a batch needs at least one part")
    for part in parts:
        if not isinstance(part, Guarantee | LaplacePart | GaussianPart):
            raise ParameterError(
                f"a part must be a Guarantee, LaplacePart or GaussianPart, got {type(part).__name__}"
            )
    if len({write_distance_key(part.distance) for part in parts}) > 1:
        raise ParameterError("the parts of a batch must share one Distance: losses of two do not add up")
    candidates = [
        bound for bound in (_basic(parts, delta), _by_distribution(parts, delta)) if bound is not None
    ]
    if not candidates:
        raise UnsupportedError(
            f"no finite epsilon at delta {delta:g}: the parts' own deltas or the precision of the convolution use "
            "it up, or a part loses too much to be followed; give a larger delta, fewer parts or more noise"
        )
    epsilon, theorem = min(candidates)
    return Guarantee(
        Loss(epsilon=epsilon, delta=delta), parts[0].distance, f"{theorem} of {len(parts)} releases"
    )


def _basic(parts: Sequence[BatchPart], delta: float) -> tuple[float, str] | None:
    """Σε, exact and rounded up, if every part has an (ε, δ) of its own and Σδ fits."""
    epsilon = spent = Fraction(0)
    for part in parts:
        if isinstance(part, Guarantee) and part.epsilon is not None:
            epsilon += as_written("epsilon", part.epsilon)
            spent += as_written("delta", part.delta)
        elif isinstance(part, LaplacePart):
            epsilon += as_written("sensitivity", part.sensitivity) / as_written("scale", part.scale)
        else:
            return None
    if spent > as_written("delta", delta):
        return None
    try:
        rounded = float(epsilon)
    except OverflowError:
        return None
    if Fraction(repr(rounded)) < epsilon:
        rounded = math.nextafter(rounded, math.inf)
    return rounded, "sum"


def compose_deltas(parts: Sequence[BatchPart]) -> Callable[[Any], list[float]]:
    """δ(ε) of all parts together, for any ε ≥ 0: an upper bound, as for `compose_batch`."""
    if not parts or not all(_on_grid(part) for part in parts):
        raise UnsupportedError("there is no part, or a part loses too much to be followed: take more noise")
    composed, slack = _compose(parts)

    def find(epsilons: Any) -> list[float]:
        return [min(1.0, float(composed.get_delta_for_epsilon(float(one))) + slack) for one in epsilons]

    return find


def _by_distribution(parts: Sequence[BatchPart], delta: float) -> tuple[float, str] | None:
    if not all(_on_grid(part) for part in parts):
        return None
    composed, slack = _compose(parts)
    if slack >= delta / 2:
        return None
    epsilon = float(composed.get_epsilon_for_delta(delta - slack))
    if not math.isfinite(epsilon):
        return None
    return math.nextafter(epsilon * (1 + 1e-12) + 1e-12, math.inf), "privacy loss distribution"


def _compose(parts: Sequence[BatchPart]) -> tuple[Any, float]:
    """The distribution of the loss of all parts, and by how much its δ may be too small."""
    counts: dict[BatchPart, int] = {}
    for part in parts:
        counts[part] = counts.get(part, 0) + 1
    composed: Any = None
    size = 0
    for part, count in counts.items():
        one = _distribution(part)
        many = one if count == 1 else one.self_compose(count)
        composed = many if composed is None else composed.compose(many)
        size = max(size, _size(composed))
    return composed, (size * _FFT + _SMALLEST_SLACK) * len(parts)


def _on_grid(part: BatchPart) -> bool:
    """Whether the losses of a part are such that a grid can follow them; what is not falls back to the plain sum."""
    if isinstance(part, Guarantee):
        return part.epsilon is None or part.epsilon <= _MOST_LOSS
    noise = part.scale if isinstance(part, LaplacePart) else part.standard_deviation
    if part.sensitivity < _LEAST_RATIO * noise:
        return False
    ratio = part.sensitivity / noise if part.sensitivity < _MOST_LOSS * noise else math.inf
    # A Gaussian's loss has mean ratio²/2 and deviation ratio; beyond ten deviations the accountant stops too.
    return ratio <= _MOST_LOSS if isinstance(part, LaplacePart) else ratio * (ratio / 2 + 10) <= _MOST_LOSS


def _distribution(part: BatchPart) -> Any:
    from dp_accounting.pld import common, privacy_loss_distribution  # takes a second: only when asked

    step = {"value_discretization_interval": _STEP}
    if isinstance(part, LaplacePart):
        return privacy_loss_distribution.from_laplace_mechanism(part.scale, part.sensitivity, **step)
    if isinstance(part, GaussianPart):
        return privacy_loss_distribution.from_gaussian_mechanism(
            part.standard_deviation, part.sensitivity, **step
        )
    if part.epsilon is None:
        raise UnsupportedError(
            "a zCDP guarantee alone has no worst-case distribution: give GaussianPart(…), or its (epsilon, delta) "
            "statement by as_approximate(delta)"
        )
    worst = common.DifferentialPrivacyParameters(float(part.epsilon), float(part.delta))
    return privacy_loss_distribution.from_privacy_parameters(worst, **step)


def _size(distribution: Any) -> int:
    """Points of the grid of losses: more of them, more rounding."""
    return int(distribution._pmf_remove.size)
