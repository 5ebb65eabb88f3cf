"""SeriesRelease: many running totals at once, which may be published together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import Release
from sordino.core.errors import missing_package


@dataclass(frozen=True, slots=True)
class SeriesRelease(Release):
    """Running totals of the times ``first``, ``first`` + 1, …; ``radii``: the 95 % radius of each.

    >>> import sordino as sd
    >>> tree = sd.series.BlockTree(horizon=7, epsilon=1.0)
    >>> release = tree.extend([3, 0, 2])
    >>> list(release.times), len(release.value)
    ([1, 2, 3], 3)
    """

    first: int = 1
    radii: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)

    @property
    def times(self) -> range:
        """The times of the totals."""
        return range(self.first, self.first + len(self.value))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, with the times and radii."""
        content = Release.to_dict(self) | {"times": list(self.times)}
        return content if self.radii is None else content | {"radii": self.radii.tolist()}

    def plot(self, column: str | None = None, *, smoothed: Any = None, title: str = "") -> Any:
        """The totals over time with the band of their 95 % radii; a matplotlib figure.

        ``smoothed``: a second line, such as the estimates of a `Kalman` filter. ``column`` is for tables.
        """
        from sordino.series.picture import plot_totals

        try:
            return plot_totals(self, smoothed=smoothed, title=title)
        except ModuleNotFoundError as error:
            raise missing_package(error) from None
