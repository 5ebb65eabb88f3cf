"""LogLaw: an output law over finitely many outcomes, as logarithms, with a bound on its own rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.core.errors import ParameterError


class LogLaw:
    """A law given as natural logarithms of its probabilities, so that tiny ones stay exact.

    ``error`` bounds |stated − true| of every ln P, one number for all outcomes or one for each. `prove` takes every
    probability at the end of its range that is worse for the claim, so a proof holds for the true law and not only
    for the stated one; two laws with error e cost 2e in ε. ∞ says that nothing is known of an outcome's
    probability; an outcome with ln P = −∞ and a finite error is impossible.
    ``outcomes`` names what is released at each position; without it position i stands for the number i itself,
    the same for every database (see `prove`).

    >>> import numpy as np
    >>> import sordino as sd
    >>> law = lambda bit: sd.audit.LogLaw(np.log([0.75, 0.25] if bit else [0.25, 0.75]), outcomes=["yes", "no"])
    >>> sd.audit.prove(law, [0, 1], lambda bit: [1 - bit], epsilon=1.1).holds
    True
    """

    __slots__ = ("error", "log_probabilities", "outcomes")

    def __init__(
        self,
        log_probabilities: ArrayLike,
        *,
        error: ArrayLike = 0.0,
        outcomes: Sequence[Any] | NDArray[Any] | None = None,
    ) -> None:
        self.log_probabilities = np.asarray(log_probabilities, dtype=np.float64)
        self.error = np.asarray(error, dtype=np.float64)
        self.outcomes = outcomes
        if self.error.shape not in ((), self.log_probabilities.shape):
            raise ParameterError(
                f"error must be one number or one per outcome ({self.log_probabilities.shape}), got shape "
                f"{self.error.shape}"
            )
        if not (self.error >= 0).all():
            raise ParameterError("error must be >= 0 for every outcome, got a negative one or NaN")
        if outcomes is not None and len(outcomes) != self.log_probabilities.size:
            raise ParameterError(
                f"outcomes must name every position: {self.log_probabilities.size} are needed, got {len(outcomes)}"
            )

    def __repr__(self) -> str:
        named = "" if self.outcomes is None else f", outcomes={list(self.outcomes)!r}"
        error = f", error={self.error.tolist()!r}" if self.error.any() else ""
        return f"LogLaw({self.log_probabilities.tolist()!r}{error}{named})"

    def ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the largest ln P that the stated error allows."""
        if not self.error.any():
            return self.log_probabilities, self.log_probabilities
        known = np.isfinite(self.error)
        error = np.where(known, self.error, 0.0)
        least = np.where(known, self.log_probabilities - error, -np.inf)
        most = np.where(known, np.minimum(self.log_probabilities + error, 0.0), 0.0)
        return least, np.maximum(most, least)
