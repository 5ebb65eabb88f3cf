"""SelectionQuestion: the checked, public and private input of one selection."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.core import Distance, ParameterError, PrivateDataError
from sordino.core.parameters import choice, exact, flag, positive, probability
from sordino.mechanisms.column import as_floats
from sordino.mechanisms.names import DirectionName, SamplerName
from sordino.sensitivity import Profile

SAMPLERS = get_args(SamplerName)
DIRECTIONS: tuple[str, ...] = get_args(DirectionName)
_LARGEST_WHOLE = 2.0**53
_MOST_CHANGES = 1 << 60


@dataclass(frozen=True, slots=True)
class SelectionQuestion:
    """Which candidate has the largest score? Asked with a budget, a profile and public choices."""

    scores: NDArray[np.float64]
    profile: Profile
    epsilon: Fraction
    delta: float
    monotone: bool
    sampler: str | None
    direction: str
    noise: str | None
    step: float | None
    changes: NDArray[np.int64] | None
    distance: Distance


def pose_question(
    scores: ArrayLike,
    *,
    profile: Profile | float,
    epsilon: Any,
    delta: Any = 0.0,
    monotone: bool = False,
    sampler: str | None = None,
    direction: str = "plus",
    noise: str | None = None,
    step: float | None = None,
    changes: ArrayLike | None = None,
    distance: Distance | None = None,
) -> SelectionQuestion:
    """Check everything that can be checked before randomness or budget is touched."""
    positive("epsilon", epsilon)
    probability("delta", delta, zero=True)
    if sampler is not None:
        choice("sampler", sampler, SAMPLERS)
    choice("direction", direction, DIRECTIONS)
    if not isinstance(profile, Profile):
        if isinstance(profile, bool) or not isinstance(profile, Real):
            raise ParameterError(
                f"profile must be a Profile, or a number (global sensitivity), got {profile!r}"
            )
        profile = Profile.constant(profile)
    flag("monotone", monotone)
    where = profile.measured_in(distance)
    values = _checked_scores(scores)
    if profile.candidates is not None and profile.candidates != len(values):
        raise ParameterError(
            f"the profile is for {profile.candidates} candidates and there are {len(values)} scores: they must agree"
        )
    counts = None if changes is None else _checked_changes(changes, len(values))
    if monotone and where.change == "replace":
        raise ParameterError(
            "monotone holds for rows added or removed only: a replaced row raises one score and lowers another"
        )
    return SelectionQuestion(
        values,
        profile,
        exact("epsilon", epsilon),
        float(delta),
        monotone,
        sampler,
        direction,
        noise,
        step,
        counts,
        where,
    )


def _checked_scores(scores: ArrayLike) -> NDArray[np.float64]:
    values = as_floats("scores", scores)
    if not len(values):
        raise ParameterError("scores are empty: there must be at least one candidate")
    if not np.isfinite(values).all():
        raise PrivateDataError("scores must be finite: some are NaN or infinite")
    if max(values.max(), -values.min()) >= _LARGEST_WHOLE and np.asarray(scores).dtype.kind in "iu":
        raise PrivateDataError(
            "whole scores from 2^53 on are not exact as doubles, and rounding could add to their sensitivity: subtract "
            "a public number or divide by one first"
        )
    return values


def _checked_changes(changes: ArrayLike, candidates: int) -> NDArray[np.int64]:
    counts = np.asarray(changes)
    if counts.shape != (candidates,) or counts.dtype.kind not in "iu":
        raise ParameterError(f"changes must be {candidates} whole numbers, one per candidate")
    if int(counts.max()) > _MOST_CHANGES or int(counts.min()) < -_MOST_CHANGES:
        raise PrivateDataError("changes must be at most 2^60 in either direction: some are more")
    return counts.astype(np.int64)
