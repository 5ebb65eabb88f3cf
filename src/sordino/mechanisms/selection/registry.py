"""Every selection mechanism by its name, and the questions that everybody asks about them: by traits, never by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import get_args

from sordino.core import ParameterError
from sordino.core.parameters import choice
from sordino.mechanisms.names import MechanismName
from sordino.mechanisms.selection.mechanism import Mechanism, Selection
from sordino.mechanisms.selection.question import SelectionQuestion
from sordino.mechanisms.selection.traits import MechanismTraits

AUTO = "auto"
# Counting changes compares every candidate with every group of candidates, at most the square of this.
MOST_COMPARED = 1024


def load_mechanism(name: str) -> Mechanism:
    """The entry that the file of this name holds."""
    entry: Mechanism = import_module(f"sordino.mechanisms.selection.{name}").MECHANISM
    return entry


MECHANISMS: dict[str, Mechanism] = {name: load_mechanism(name) for name in get_args(MechanismName)}


def mechanism_names(fits: Callable[[MechanismTraits], bool]) -> tuple[str, ...]:
    """The mechanisms whose traits fit."""
    return tuple(name for name, entry in MECHANISMS.items() if fits(entry.traits))


def prepare(mechanism: str, question: SelectionQuestion, *, several: bool = False) -> tuple[str, Selection]:
    """Make a question ready by the mechanism of that name, or by the best one for it; says which one that is."""
    name = choice("mechanism", mechanism, (AUTO, *MECHANISMS))
    if name == AUTO:
        name = best_mechanism(question, several=several)
        if not MECHANISMS[name].traits.monotone:
            question = replace(question, monotone=False)  # a fact about the scores that it cannot use
    check_question(MECHANISMS[name].traits, question)
    return name, MECHANISMS[name].prepare(question)


def best_mechanism(question: SelectionQuestion, *, several: bool = False) -> str:
    """The mechanism that measures best for a question of this kind (`docs/benchmarks`), by public parameters only.

    Permute-and-flip for a constant profile: it is never worse than the exponential mechanism. For the profile of this
    database given as a table, inverse sensitivity, where counting changes is affordable: few candidates, or one row
    for all of them. Otherwise shifted dampening, which sums the profile: for many candidates, for ``several`` winners,
    and for a profile given as a function, which goes on for as many steps as the data have, so that its sum tells
    candidates apart by itself. Without a finite bound, local dampening. Options that only some mechanisms take choose
    among those.

    Sound because it reads nothing that depends on the data: which kind of profile was given (a constant, a table, a
    function; one row or one per candidate), whether it has a bound, how many candidates there are, and the options. So
    neighbours are answered by the same mechanism.
    """
    profile = question.profile
    shared, tabulated = profile.group_of is None, profile.length is not None
    if question.changes is not None:
        fitting = mechanism_names(lambda traits: traits.counts_changes)
    elif profile.is_constant:
        fitting = mechanism_names(lambda traits: not traits.follows_profile)
    elif math.isinf(profile.bound):
        fitting = mechanism_names(lambda traits: traits.unbounded)
    elif shared or (tabulated and len(question.scores) <= MOST_COMPARED and not several):
        fitting = mechanism_names(lambda traits: traits.reads == "kept")
    else:
        fitting = mechanism_names(lambda traits: traits.reads == "sum")
    for name in (*fitting, *MECHANISMS):
        traits = MECHANISMS[name].traits
        if traits.takes("sampler", question.sampler) and traits.takes("noise", question.noise):
            return name
    raise ParameterError("no mechanism takes both this sampler= and this noise=: leave one of them out")


def check_question(traits: MechanismTraits, question: SelectionQuestion) -> None:
    """Refuse what this mechanism has no use for, naming the ones that have."""
    name = traits.name
    if not traits.takes("noise", question.noise):
        if "noise" in traits.options:
            choice("noise", question.noise, traits.options["noise"])
        others = mechanism_names(lambda other: "noise" in other.options)
        raise ParameterError(f"noise= belongs to {' and '.join(others)}, not to {name}")
    if not traits.takes("sampler", question.sampler):
        raise ParameterError(f"{name} has a sampler of its own: leave sampler= out, or choose a dampening")
    if question.monotone and not traits.monotone:
        raise ParameterError(f"monotone=True does not apply to {name}: its scores are not monotone")
    if question.changes is not None and not traits.counts_changes:
        others = mechanism_names(lambda other: other.counts_changes)
        raise ParameterError(f"changes= belongs to {' and '.join(others)}, not to {name}")
