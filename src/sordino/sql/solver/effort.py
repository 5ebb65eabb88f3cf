"""Effort: what a search may still ask of the solver, in units of its work, in terms of formulas and in seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from sordino.core import UnsupportedError


@dataclass(slots=True)
class Effort:
    """What is left of ``units`` and ``terms``, which count work and are the same on every machine; None: no limit.

    ``seconds`` are by the clock. Where units are limited too, they are there for what units do not count, and to come
    to their end is a refusal, never an answer: whether they do depends on what else the machine has to do. Where units
    are not limited, seconds that are up mean *unknown*.
    """

    seconds: float
    units: int | None = None
    terms: int | None = None
    _whole: Effort | None = None
    _began: float = field(default_factory=time.monotonic)

    def part(self, parts: int) -> Effort:
        """One of so many equal parts of what is left; what is spent of it is spent of the whole."""
        if self.units is None:
            return Effort(self.seconds_left / parts, None, self.terms, self)
        return Effort(self.seconds_left, self.units // parts, self.terms, self)

    @property
    def seconds_left(self) -> float:
        """Until the end."""
        return self.seconds - self.seconds_spent

    @property
    def seconds_spent(self) -> float:
        """So far."""
        return time.monotonic() - self._began

    def spend(self, units: int, terms: int) -> None:
        """So much was done."""
        if self.units is not None:
            self.units = max(0, self.units - units)
        if self.terms is not None:
            self.terms = max(0, self.terms - terms)
        if self._whole is not None:
            self._whole.spend(units, terms)

    def refuse_late(self) -> None:
        """The solver was stopped by something that is no part of the question."""
        if self.units is not None:
            raise UnsupportedError(
                f"the solver was stopped after {self.seconds:g} seconds, or for want of memory, before it had done the "
                "work that a question may cost: nothing was paid. Ask again when the machine has less to do, or with "
                "fewer tables and conditions"
            )
