"""The ladder: pure noise for a whole number whose sensitivity is known at every distance."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from flint import arb

from sordino.core import (
    CalibrationError,
    Distance,
    Guarantee,
    Loss,
    ParameterError,
    PrivateDataError,
    Release,
    Secret,
    UnsupportedError,
)
from sordino.core.parameters import choice, exact, positive, whole
from sordino.mechanisms.noise.rungs import LadderLaw, Rungs
from sordino.sampling.refined_uniform import precision
from sordino.sampling.source import is_private
from sordino.sensitivity import Profile

LadderName = Literal["smooth", "zhang"]

# β as a part of ε, and cells per 1/β: measured on counts of three graphs; the error is flat about both
_BETA_PART = 8
_CELLS_PER_BETA = 16
_DECAY_BITS = 64
# the mass left to the part of the ladder where an unsmoothed profile is replaced by its bound
_REST = 40.0


def add_ladder_noise(
    value: Any,
    profile: Profile | float,
    *,
    epsilon: float,
    variant: LadderName = "smooth",
    beta: float | None = None,
    step: int = 1,
    distance: Distance | None = None,
) -> Release:
    """Release a whole number by a ladder of rungs as wide as its sensitivity at distance 0, 1, 2, …

    **Guarantee**: ε-DP for the distance of the profile. With widths w(0) <= w(1) <= …, an outcome y lies on rung
    D(x, y), the least i with |y - f(x)| <= ½ + w(0) + … + w(i-1), and has density e^{-rD}/Z(x).
    (1) D moves by at most 1 between neighbours if w is admissible, w(t) <= w'(t+1): |y - f(x')| is at most
    ½ + w'(0) + w(0) + … + w(i-1) <= ½ + w'(0) + w'(1) + … + w'(i).
    (2) *zhang*: Z(x') <= e^r·Z(x), since w'(t) <= w(t+1) shifts the sum by one rung; so r = ε/2.
    *smooth* (default): widths with w(t+1) <= e^β·w(t) besides give w'(t) <= w(t+1) <= e^β·w(t), hence
    Z(x') <= e^β·Z(x); so **r = ε - β**. From any admissible profile such widths are w(t) = max(δ(t),
    e^{-β}·w(t+1)), the smooth sensitivity of what lies t changes away; they stay admissible, by induction from
    the bound downwards. β is ε/8 unless given: nearly twice the rate of the original on the same rungs.

    **Requires**: an admissible one-row profile with a finite bound, for a value that is a whole number in every
    database. ε, β, variant and step are public.
    **Source**: Zhang, Cormode, Procopiuc, Srivastava, Xiao 2015 (zhang: rung 0 is the value alone, after rounding
    to whole numbers); the smooth ladder is derived here. As a dampening: LD with the utility -|y - f(x)|.
    **Numerics**: widths are whole numbers of cells (½ for zhang, at most β/16 for smooth), rounded up, and e^{-β}
    is rounded up to a rational, so that both conditions hold exactly; from a public horizon on δ is taken as its
    bound, which is admissible too. Draws are exact in law. Rounding cells to multiples of ``step`` is
    post-processing.

    >>> import sordino as sd
    >>> profile = sd.Profile.from_table([2, 3, 5], bound=100)
    >>> print(sd.add_ladder_noise(321, profile, epsilon=1.0).guarantee.loss)
    ε = 1
    """
    profile = _as_profile(profile)
    where = profile.measured_in(distance)
    law = ladder_law(value, profile, epsilon=epsilon, variant=variant, beta=beta, step=step)
    released = law.draw() * law.step
    guarantee = Guarantee(Loss(epsilon=float(epsilon)), where, LADDERS[variant].theorem)
    details = {
        "exact": law.value,
        "sensitivity": float(profile.at(0)),
        "expected_error": law.expected_error(),
        "beta": float(exact("epsilon", epsilon) - law.rungs.rate),
        "realised_error": float(released - law.value),
    }
    return Release(
        int(released), guarantee, f"{variant} ladder", private=is_private(), details=Secret(details)
    )


def ladder_law(
    value: Any,
    profile: Profile | float,
    *,
    epsilon: float,
    variant: LadderName = "smooth",
    beta: float | None = None,
    step: int = 1,
) -> LadderLaw:
    """The exact law of what `add_ladder_noise` with the same arguments releases, over multiples of ``step``.

    >>> import sordino as sd
    >>> profile = sd.Profile.from_table([2, 3, 5], bound=100)
    >>> law = sd.ladder_law(321, profile, epsilon=1.0)
    >>> law.expected_error() < sd.ladder_law(321, 100, epsilon=1.0).expected_error()
    True
    """
    epsilon = positive("epsilon", epsilon)
    ladder = LADDERS[choice("variant", variant, tuple(LADDERS))]
    step = whole("step", step, least=1)
    profile = _as_profile(profile)
    if profile.rows != 1 or profile.group_of is not None:
        raise ParameterError("the ladder takes the profile of one number, got one for several candidates")
    if math.isinf(profile.bound):
        raise UnsupportedError(
            "the ladder needs a profile with a finite bound: give bound= or .capped(bound)"
        )
    if beta is not None and not ladder.takes_beta:
        raise ParameterError(f"the {variant} ladder has no beta, got {beta!r}")
    rungs = ladder.rungs(profile, epsilon, None if beta is None else positive("beta", beta))
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise PrivateDataError("the ladder takes a value that is a whole number")
    return LadderLaw(int(value.__index__()), rungs, step)


def _as_profile(profile: Profile | float) -> Profile:
    return profile if isinstance(profile, Profile) else Profile.constant(profile)


def _zhang_rungs(profile: Profile, epsilon: float, beta: float | None) -> Rungs:
    rate = exact("epsilon", epsilon) / 2
    horizon = math.ceil((_REST + math.log(max(2.0, profile.bound))) / float(rate))
    return Rungs(_in_cells(profile, horizon, 2), math.ceil(profile.bound * 2), rate, cells=2)


def _smooth_rungs(profile: Profile, epsilon: float, beta: float | None) -> Rungs:
    beta = epsilon / _BETA_PART if beta is None else beta
    if beta >= epsilon:
        raise CalibrationError(f"beta must be < epsilon = {epsilon:g}, got {beta!r}")
    cells = 1 << max(1, math.ceil(math.log2(_CELLS_PER_BETA / beta)))
    top = math.ceil(profile.bound * cells)
    widths = _in_cells(profile, math.ceil(math.log(top) / beta), cells)
    with precision(2 * _DECAY_BITS):
        rounded = float(((-arb(beta)).exp() * (1 << _DECAY_BITS)).upper())
    # a float of this size is off by at most 2¹¹
    decay = min(math.ceil(rounded) + (1 << 12), 1 << _DECAY_BITS)
    width = top
    for t in range(len(widths) - 1, -1, -1):
        width = widths[t] = max(widths[t], -((-decay * width) >> _DECAY_BITS))
    return Rungs(widths, top, exact("epsilon", epsilon) - exact("beta", beta), cells=cells)


def _in_cells(profile: Profile, horizon: int, cells: int) -> list[int]:
    """⌈δ(t)⌉ in cells for t below the horizon, or until δ is at its bound for good."""
    if profile.length is not None:
        horizon = min(horizon, profile.length)
    widths: list[int] = []
    for start, block in profile.blocks():
        stop = min(horizon - start, block.shape[1])
        widths += [math.ceil(value * cells) for value in block[0, :stop].tolist()]
        if len(widths) >= horizon:
            break
    return widths


@dataclass(frozen=True, slots=True)
class Ladder:
    """A way to lay rungs over a profile: ``rungs(profile, ε, β)``, and the theorem that allows it."""

    rungs: Callable[[Profile, float, float | None], Rungs]
    takes_beta: bool
    theorem: str


LADDERS: dict[str, Ladder] = {
    "smooth": Ladder(_smooth_rungs, True, "ladder over a smooth profile: rungs move by 1, the total by e^β"),
    "zhang": Ladder(_zhang_rungs, False, "Zhang et al. 2015, ladder"),
}
