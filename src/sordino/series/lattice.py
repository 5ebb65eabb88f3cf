"""ChangeLattice: changes of a stream in whole public steps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.core import ParameterError, PrivateDataError
from sordino.core.parameters import as_written, exact, positive

Steps = NDArray[np.int64]
MOST_MASS = 2**60  # of all changes together, in steps: sums of blocks and their noise stay within 64 bits


@dataclass(frozen=True, slots=True)
class ChangeLattice:
    """Numbers as whole multiples of ``step``, rounded down; a change moves them by at most ``sensitivity`` steps.

    **Numerics**: rounding down commutes with whole steps, so two numbers at most k steps apart are at most k steps
    apart afterwards; a sensitivity that is no whole number of steps is rounded up.
    """

    step: Fraction
    sensitivity: int

    @classmethod
    def checked(cls, step: Any, sensitivity: Any) -> ChangeLattice:
        """From public arguments."""
        positive("step", step), positive("sensitivity", sensitivity)
        width = as_written("step", step)
        steps = math.ceil(as_written("sensitivity", sensitivity) / width)
        if steps > 2**40:
            raise ParameterError(
                f"the sensitivity is {steps} steps, at most 2**40 are followed: give a larger step"
            )
        return cls(width, steps)

    def round(self, changes: ArrayLike) -> Steps:
        """The changes in whole steps, or PrivateDataError where one is no finite number."""
        given = np.asarray(changes)
        if given.ndim != 1:
            raise ParameterError(f"changes must be one column of numbers, got {given.ndim} dimensions")
        if given.dtype.kind == "b" or given.dtype.kind not in "iufO":
            raise ParameterError("changes must be numbers")
        if given.dtype.kind in "iu" and self.step == 1 and given.dtype != np.uint64:
            rounded = given.astype(np.int64)
        elif given.dtype.kind == "f" and self.step == 1:
            if not np.isfinite(given).all() or (len(given) and np.abs(given).max() > MOST_MASS):
                raise _unusable()
            rounded = np.floor(given).astype(np.int64)
        else:
            rounded = self._round_exactly(given.tolist())
        if len(rounded) and float(np.abs(rounded.astype(np.float64)).sum()) > MOST_MASS:
            raise _unusable()
        return rounded

    def _round_exactly(self, numbers: Iterable[Any]) -> Steps:
        try:
            steps = [math.floor(exact("a change", number) / self.step) for number in numbers]
            return np.array(steps, dtype=np.int64)
        except (ParameterError, OverflowError):
            raise _unusable() from None

    def value(self, steps: int) -> int | float:
        """A number of steps as a number: whole where the step is."""
        number = steps * self.step
        return int(number) if self.step.denominator == 1 else float(number)

    def values(self, steps: Steps) -> NDArray[Any]:
        """The same for an array."""
        if self.step.denominator == 1:
            return steps * int(self.step) if self.step != 1 else steps
        return steps * float(self.step)


def _unusable() -> PrivateDataError:
    return PrivateDataError(
        "every change must be a finite number, and all of them together at most 2**60 steps: clip them, or give a "
        "larger step"
    )
