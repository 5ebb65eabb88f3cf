"""The keyword arguments that all verbs of selection share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Required, TypedDict

from numpy.typing import ArrayLike

from sordino.core import Distance, ParameterError
from sordino.core.parameters import did_you_mean
from sordino.mechanisms.names import DirectionName, MaxNoiseName, SamplerName
from sordino.sensitivity import Profile


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse unknown and missing keywords by their names."""
    accepted = tuple(SelectionOptions.__annotations__)
    for name in options:
        if name not in accepted:
            hint = did_you_mean(name, accepted, before="; ")
            if name == "sensitivity":
                hint = "; did you mean 'profile'? A number there is the global sensitivity"
            raise ParameterError(f"unknown keyword {name!r}: accepted are {', '.join(accepted)}{hint}")
    for name in ("profile", "epsilon"):
        if name not in options:
            raise ParameterError(
                f"{name}= is missing: give a profile (or a global sensitivity) and an epsilon"
            )


class SelectionOptions(TypedDict, total=False):
    """What `select`, `selection_law`, `expected_error`, `compare` and `top_k` take beside the scores.

    ``profile``: a Profile, or a number that is the global sensitivity. ``epsilon``, ``delta``: the budget.
    ``monotone``: every score moves the same way when a row is added (halves the noise of undampened mechanisms).
    ``sampler``: exponential or permute_and_flip, after a dampening. ``direction``: of the shift, plus or minus.
    ``noise``: of report_noisy_max (exponential, gumbel, laplace) and smooth_noisy_max (polynomial, laplace, lln,
    student_t; for 0/1 utilities also certified and winner). ``step``: the public grid of the scores.
    ``changes``: for inverse_sensitivity, how many changes make each candidate the winner (for the winner: minus the
    number of changes that it survives).
    ``distance``: what neighbours differ in, if the profile does not say; another than the profile's own is refused.
    """

    profile: Required[Profile | float]
    epsilon: Required[Any]
    delta: Any
    monotone: bool
    sampler: SamplerName | None
    direction: DirectionName
    noise: MaxNoiseName | None
    step: float | None
    changes: ArrayLike | None
    distance: Distance | None
