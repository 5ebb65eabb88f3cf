"""MechanismTraits: what a selection mechanism is, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

# What is read of a profile: the bound alone; its smooth maximum; as many steps as the scores are worth; the sum over
# all distances; or all partial sums, kept in memory.
ProfileUse = Literal["bound", "smooth", "steps", "sum", "kept"]


@dataclass(frozen=True, slots=True)
class MechanismTraits:
    """What a selection mechanism is: whoever has to choose one asks this, and never compares names.

    ``reads`` says what it uses of a profile. ``monotone``: it has a better rate for scores that all move the same way.
    ``ranks``: it gives candidates scores of known sensitivity, so that several can be drawn one after the other.
    ``unbounded``: it serves profiles without a finite bound. ``counts_changes``: it takes the numbers of changes in
    place of a profile. ``options`` are the choices it offers by keyword, the default first. ``winner`` are the options
    with which it serves utilities of 1 for one winner and 0 for the others, where it has a law for these.
    ``variants`` are the choices of options that `compare` shows.
    """

    name: str
    title: str
    reads: ProfileUse
    monotone: bool = False
    ranks: bool = True
    unbounded: bool = False
    counts_changes: bool = False
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    winner: Mapping[str, str] | None = None
    variants: tuple[Mapping[str, str], ...] = ({},)

    @property
    def follows_profile(self) -> bool:
        """Whether it gains from how little scores can move near this database."""
        return self.reads != "bound"

    def takes(self, option: str, value: str | None) -> bool:
        """Whether this choice may be asked for; None asks for nothing."""
        return value is None or value in self.options.get(option, ())
