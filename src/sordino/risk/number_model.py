"""NumberModel: what an attacker believes about a number, and what the number says about one person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import ParameterError
from sordino.core.parameters import number, whole

Floats = NDArray[np.float64]
Function = Callable[[Floats], Any]

_SUM_TOLERANCE = 1e-6
_NODES = 8  # of Gauss and Legendre in one panel


@dataclass(frozen=True, slots=True, eq=False)
class NumberModel:
    """A number C between two public bounds, and the guess X, which is right with f_X(x | C = z) where C is z.

    Densities stand at ``values``, the nodes of a quadrature: ``belief`` and ``reality`` are their masses. All of it is
    assumed; nothing is read from rows.

    >>> import numpy as np
    >>> from sordino.risk import NumberModel
    >>> model = NumberModel.of(0, 10, belief=lambda z: np.full_like(z, 0.1), membership=lambda z: z / 10)
    >>> round(model.prior, 9)
    0.5
    """

    low: float
    high: float
    step: float
    values: Floats
    belief: Floats
    reality: Floats
    membership: Floats

    @classmethod
    def of(
        cls,
        low: float,
        high: float,
        *,
        belief: Function,
        membership: Function,
        reality: Function | None = None,
        panels: int = 200,
    ) -> NumberModel:
        """From functions of an array of numbers: densities that integrate to 1, and probabilities.

        ``panels``: as many pieces of the range have eight nodes each; noise should be wider than a piece.
        """
        low, high, panels = number("low", low), number("high", high), whole("panels", panels, least=1)
        if low >= high:
            raise ParameterError(f"the range must have low < high, got {low:g} and {high:g}")
        step = (high - low) / panels
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        values = (low + step * (np.arange(panels)[:, None] + (nodes + 1) / 2)).reshape(-1)
        masses = np.tile(weights * step / 2, panels)
        given = _look("membership", membership, values)
        if given.max() > 1:
            raise ParameterError("membership must be probabilities, got a number above 1")
        believed = _law("belief", belief, values, masses)
        true = believed if reality is None else _law("reality", reality, values, masses)
        model = cls(low, high, step, values, believed, true, given)
        if not 0 < model.prior < 1:
            raise ParameterError(
                f"the guess is certain before anything is released: its prior is {model.prior:g}; give a law of the "
                "number, or memberships, that leave it open"
            )
        return model

    @property
    def prior(self) -> float:
        """f_X(x): how likely the guess is before anything is released, in reality."""
        return float(self.membership @ self.reality)

    def __repr__(self) -> str:
        return f"NumberModel(low={self.low:g}, high={self.high:g}, prior={self.prior:.6g})"


def _law(name: str, density: Function, values: Floats, masses: Floats) -> Floats:
    law = _look(name, density, values) * masses
    total = float(law.sum())
    if abs(total - 1) > _SUM_TOLERANCE:
        raise ParameterError(f"{name} must be a density that integrates to 1 over the range, got {total:.9g}")
    return np.asarray(law / total, dtype=np.float64)


def _look(name: str, function: Function, values: Floats) -> Floats:
    found: Floats = np.asarray(function(values), dtype=np.float64)
    if found.shape != values.shape or not np.isfinite(found).all() or found.min() < 0:
        raise ParameterError(f"{name} must give one finite number >= 0 for each number of an array")
    return found
