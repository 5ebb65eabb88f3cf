"""What all fits of an estimator and of its clones cost together: searches fit clones, and every fit spends."""

from __future__ import annotations

import threading
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sordino.core import Guarantee, Loss
from sordino.core.loss import round_up

_CLONES = (
    "several clones of one private estimator were fitted, as by a search or a cross-validation: each fit spends its "
    "epsilon, and spent_ of any of them is what all cost together. Scores on held-out rows have no noise: they, and "
    "parameters chosen by them, are not private"
)
_ELSEWHERE = (
    "a private estimator leaves this process before it is fitted, as by n_jobs: what its fits spend there is not "
    "counted in spent_ here"
)


class SpendingWarning(UserWarning):
    """More is spent, or less is counted, than one fit suggests.

    >>> import warnings
    >>> from sordino.learn import SpendingWarning
    >>> warnings.simplefilter("error", SpendingWarning)  # stop a search that fits many times
    >>> warnings.resetwarnings()
    """


class FitTally:
    """The sum of what an estimator, its clones and its copies in this process have spent."""

    def __init__(self, total: Guarantee | None = None, models: int = 0) -> None:
        self.total = total
        self.models = models
        self._lock = threading.Lock()

    def add(self, fit: Guarantee, *, first: bool) -> None:
        """Count one more fit, ``first`` if its model had none before; warns where it is not the only model."""
        with self._lock:
            self.total = add_up(self.total, fit)
            self.models += first
        if first and self.models > 1:
            warnings.warn(_CLONES, SpendingWarning, stacklevel=5)

    def __deepcopy__(self, memo: Any) -> FitTally:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return FitTally, (self.total, self.models)


def warn_of_leaving() -> None:
    """Say that fits elsewhere are not counted here."""
    warnings.warn(_ELSEWHERE, SpendingWarning, stacklevel=3)


def add_up(before: Guarantee | None, fit: Guarantee) -> Guarantee:
    """The guarantee of everything that was released before and of one more fit.

    **Guarantee**: sequential composition: losses for the same distance are added, rounded up. Fits for rows added or
    removed beside fits for rows replaced are added up for one row replaced, which is one removed and one added. Once
    one fit was drawn from a seed, no sum with it is private.
    **Requires**: pure losses, for one row added or removed or for one replaced.
    """
    if before is None:
        return fit
    if before.distance != fit.distance:
        before, fit = before.for_replacement(), fit.for_replacement()
    total = round_up(Fraction(before.epsilon or 0.0) + Fraction(fit.epsilon or 0.0))
    loss = Loss(epsilon=total, private=before.private and fit.private)
    return replace(fit, loss=loss, theorem=f"sequential composition of all fits; {fit.theorem}")
