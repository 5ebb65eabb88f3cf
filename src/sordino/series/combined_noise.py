"""CombinedNoise: the noise of a series where also who is joined with whom, and when, is private."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sordino.core import CalibrationError, ParameterError
from sordino.core.parameters import non_negative, positive, whole


@dataclass(frozen=True, slots=True)
class CombinedNoise:
    """Scales of noise for SUM series over joins in which rows appear, disappear and change.

    ``uses`` M: the most joined rows that one row is part of over all time, a hard limit (`check_uses`); ``largest`` L:
    what a joined row adds at most; ``per_use`` K: how far a joined row moves when one component moves by 1, globally;
    ``weight`` G: the distance of adding or removing a row.

    **Guarantee** of `scale`: M·levels released numbers change by L when a row of weight G comes or goes, and by K per
    unit when its contents move, so Laplace noise of scale M·levels·max(L/G, K)/ε is ε per unit of distance.
    **Guarantee** of `local_scale`, generalised Cauchy noise: the value part costs (γ+1)b·uses = ε_b per unit, and the
    scale moves by e^{βG} per row and number, which costs (γ+1)βG·M·levels = ε_β·G. The floor e^{−βG}K holds because K
    is a constant: a row that comes moves κ within [0, K].
    **Source**: NAPLES report, Section 3.3.12.5, with digits of the horizon for its log₂ n and K in its floor.

    >>> import sordino as sd
    >>> noise = sd.series.CombinedNoise(uses=3, largest=2, per_use=0.7, weight=5)
    >>> round(noise.scale(epsilon=1, levels=11), 6)
    23.1
    """

    uses: int
    largest: float
    per_use: float
    weight: float = 1.0

    def __post_init__(self) -> None:
        whole("uses", self.uses, least=1)
        (
            positive("largest", self.largest),
            non_negative("per_use", self.per_use),
            positive("weight", self.weight),
        )

    def scale(self, *, epsilon: Any, levels: int, excluding: bool = False) -> float:
        """Of Laplace noise. ``excluding``: where rows beyond M uses are left out, which changes 2 numbers per use."""
        moved = (2 if excluding else 1) * self.largest / self.weight
        return self.uses * levels * max(moved, self.per_use) / positive("epsilon", epsilon)

    def local_scale(
        self, measured: Any, *, epsilon_value: Any, epsilon_scale: Any, levels: int, gamma: float = 4.0
    ) -> float:
        """Of generalised Cauchy noise where the smooth bound per use is ``measured`` in this block."""
        value, moves = positive("epsilon_value", epsilon_value), positive("epsilon_scale", epsilon_scale)
        bound = non_negative("measured", measured)
        if gamma <= 1:
            raise CalibrationError(f"gamma must be above 1, got {gamma!r}")
        rate = (gamma + 1) * self.uses * levels
        beta = moves / rate
        floor = math.exp(-beta * self.weight) * self.per_use
        return rate * max(self.largest / self.weight, bound, floor) / value

    def check_uses(self, uses: int) -> None:
        """Refuse before the M+1-st use of a row: the guarantee rests on it."""
        if uses > self.uses:
            raise ParameterError(
                f"a row would be used more than {self.uses} times, which is what the noise pays for: exclude its "
                "further uses, or give a larger limit before the series begins; nothing was released"
            )

    def advise(self, measured: Any, *, epsilon: Any, levels: int, share: float = 0.75) -> dict[str, Any]:
        """Both scales side by side and which is smaller; for the owner, since ``measured`` follows the data."""
        total = positive("epsilon", epsilon)
        everywhere = self.scale(epsilon=total, levels=levels)
        local = self.local_scale(
            measured, epsilon_value=share * total, epsilon_scale=(1 - share) * total, levels=levels
        )
        return {"global": everywhere, "local": local, "best": "local" if local < everywhere else "global"}
