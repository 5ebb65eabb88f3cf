"""SmoothBound: what additive noise consumes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from sordino.core import Distance, ParameterError, PrivateDataError, add_remove_row, check_distance
from sordino.core.parameters import non_negative, number

# The relative rounding error that a bound computed in floating point may have.
RELATIVE_ERROR = 2.0**-40


@dataclass(frozen=True, slots=True)
class SmoothBound:
    """A β-smooth upper bound S_β on a local or derivative sensitivity, for every β ≥ ``beta_min``.

    **Requires**: S_β(x) ≥ the sensitivity at x, and S_β(x) ≤ e^β S_β(y) for all neighbours x, y.
    **Numerics**: the value may be off by a relative 2⁻⁴⁰, which calibration pays for as a little more β.
    The value is confidential; ``beta_min``, ``distance`` and ``kind`` are public.

    >>> import sordino as sd
    >>> median = sd.stats.order_statistic_bound([1.0, 2.0, 2.5, 3.0, 9.0], k=3, width=10.0)
    >>> median.at(1.0) < median.at(0.1) <= 10.0
    True
    """

    function: Callable[[float], float] = field(repr=False)
    distance: Distance = field(default_factory=add_remove_row)
    beta_min: float = 0.0
    kind: Literal["local", "derivative"] = "local"
    constant: bool = False

    def __post_init__(self) -> None:
        check_distance(self.distance)

    @classmethod
    def of_constant(cls, sensitivity: float, *, distance: Distance | None = None) -> SmoothBound:
        """A global sensitivity: smooth at every β, and public."""
        value = non_negative("sensitivity", sensitivity)
        return cls(lambda beta: value, distance or add_remove_row(), constant=True)

    def at(self, beta: float) -> float:
        """S_β of this database."""
        beta = number("beta", beta)
        if beta < self.beta_min or (beta == 0 and not self.constant):
            raise ParameterError(
                f"this bound is smooth from beta = {self.beta_min:g} on (and > 0), got {beta:g}"
            )
        value = self.function(beta)
        if not (math.isfinite(value) and value >= 0):
            raise PrivateDataError("the smooth bound of this database is not a finite number >= 0")
        return value
