"""PublicNumber: what needs no noise, such as the number of rows where only contents are protected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sordino.sensitivity import SmoothBound
from sordino.sql.answering.cell_noise import DrawnSteps


@dataclass(frozen=True, slots=True)
class PublicNumber:
    """The number itself.

    **Guarantee**: nothing is spent. **Requires**: no cell that is protected is in it, and rows do not come and go.
    """

    betas: tuple[float, ...] = ()
    uses_delta: bool = False
    confidence: float = 1.0

    @property
    def name(self) -> str:
        """As a Release names it."""
        return "none"

    @property
    def theorem(self) -> str:
        """Nothing protected is read."""
        return "public number"

    def draw(self, exact: int, follows: SmoothBound) -> DrawnSteps:
        """It."""
        return DrawnSteps(exact)

    def radius(self, drawn: DrawnSteps) -> float:
        """Exact."""
        return 0.0

    def note(self) -> str | None:
        """Nothing."""
        return None

    def facts(self, exact: int, follows: SmoothBound, confidences: tuple[float, ...]) -> dict[str, Any]:
        """Without noise."""
        return {"beta": None, "smooth_bound": 0.0, "noise_scale": 0.0, "radii": [0.0 for _ in confidences]}
