"""Running totals as a picture: the released line, its band of 95 %, and a smoothed line if there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.core import ParameterError
from sordino.core.loss import NOT_PRIVATE
from sordino.display.lines import Line, draw_lines

if TYPE_CHECKING:
    from sordino.series.series_release import SeriesRelease


def plot_totals(release: SeriesRelease, *, smoothed: Any = None, title: str = "") -> Any:
    """A matplotlib figure of a release, and of nothing else."""
    values = np.asarray(release.value, dtype=np.float64)
    lines = [Line("released", list(release.times), values.tolist(), _listed(release.radii))]
    if smoothed is not None:
        curve = np.asarray(smoothed, dtype=np.float64)
        if len(curve) != len(values):
            raise ParameterError(f"smoothed must have {len(values)} numbers, one per time, got {len(curve)}")
        lines.append(Line("smoothed", list(release.times), curve.tolist()))
    note = f"{release.guarantee.loss} for all times together; the band holds 95 % of draws at each time"
    return draw_lines(
        lines,
        title=title or release.mechanism,
        note=note,
        warning="" if release.private else NOT_PRIVATE,
    )


def _listed(radii: Any) -> list[float] | None:
    return None if radii is None else np.asarray(radii, dtype=np.float64).tolist()
