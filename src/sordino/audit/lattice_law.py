"""LatticeLaw: an output law on the multiples of a public step, with tails bounded by analysis."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class LatticeLaw(Protocol):
    """The law of a number released on a lattice, as `sordino.audit.prove` reads it.

    Outcome k stands for the value k·step. Inside a window the masses are given one by one; outside it the law
    states two bounds that hold for every single outcome there. Tails are never merged into one atom: merging
    is post-processing and may hide a loss. The two bounds are not taken unseen: `log_masses` is read outside the window
    as well, at distances that grow up to 2⁴⁰ windows, and must agree with them.

    A law may have an attribute ``log_error``: every stated ln P is within log_error·(1 + |ln P|) of the true one, as
    floating-point numbers are (0 if it has none). `prove` takes the worse end for every outcome.

    >>> import sordino as sd
    >>> law = lambda count: sd.noise_law(count, 1, epsilon=1.0, noise="laplace", step=1)
    >>> sd.audit.prove(law, [0, 1, 2], lambda n: {n - 1, n + 1} & {0, 1, 2}, epsilon=1.0).holds
    True
    """

    @property
    def step(self) -> Fraction:
        """The public distance of two lattice points."""

    def window(self) -> tuple[int, int]:
        """Lattice indices (first, last), both included, outside which little mass lies."""

    def log_masses(self, first: int, last: int) -> NDArray[np.float64]:
        """ln P(k·step) for k = first, …, last; anywhere, not only in the window."""

    def tail_mass(self, first: int, last: int) -> float:
        """An upper bound on the mass of all outcomes outside first, …, last."""

    def tail_loss(self, other: Any, first: int, last: int) -> float:
        """An upper bound on |ln(P(k·step) / P_other(k·step))| over all k outside first, …, last."""
