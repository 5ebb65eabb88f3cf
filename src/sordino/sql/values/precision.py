"""How precise filters on protected columns should be, from public assumptions alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sordino.core import ParameterError
from sordino.core.parameters import choice, positive, whole

# ∫|s(x) − [x > 0]|dx of a filter of largest slope 1: of the sigmoid with α = 4, and of the ramp.
_AREAS = {"sigmoid": 2 * math.log(2) / 4, "ramp": 1 / 4}


@dataclass(frozen=True, slots=True)
class FilterPrecision:
    """``filters``: what to ask with. ``approximation``, ``noise``: the errors that are expected; ``total``: their sum.

    ``exact_noise``: the noise of exact filters, which have no other error; None if no granularity was given.
    """

    filters: str
    slope: float
    approximation: float
    noise: float
    exact_noise: float | None

    @property
    def total(self) -> float:
        """Of both."""
        return self.approximation + self.noise

    @property
    def prefers_exact(self) -> bool:
        """Whether exact filters are expected to be at least as good."""
        return self.exact_noise is not None and self.exact_noise <= self.total


def advise_precision(
    rows: int,
    *,
    density: float,
    size: float,
    noise_per_unit: float,
    kind: str = "ramp",
    granularity: float | None = None,
) -> FilterPrecision:
    """The filter whose error of approximation and whose noise together are expected to be smallest.

    ``rows``: how many there are, which is public. ``density``: of the rows per unit of what is compared, near the
    limit, as a part of all rows; ``size``: the mean size of a term; both are assumptions, or come from public or
    synthetic rows. ``noise_per_unit``: the error of the noise with a filter of largest slope 1, such as
    `curator.explain` tells for ``ramp(1)`` on synthetic rows. Nothing here may be read from the private rows: two
    precisions have two answers, and where a choice between them flips the answer jumps.

    The approximation is off by about κ/k at slope k, with κ = rows·density·size/4 (ramp) or ·0.347 (sigmoid, α = 4k),
    the noise by νk; so k = √(κ/ν), and both errors are √(κν).

    >>> import sordino as sd
    >>> advice = sd.sql.advise_precision(10_000, density=0.01, size=1, noise_per_unit=4, granularity=0.01)
    >>> print(advice.filters, advice.approximation, advice.noise, advice.exact_noise)
    ramp(0.4) 10.0 10.0 400.0
    """
    choice("kind", kind, tuple(_AREAS))
    count = whole("rows", rows, least=1)
    shape = _AREAS[kind] * count * positive("density", density) * positive("size", size)
    noise = positive("noise_per_unit", noise_per_unit)
    slope = math.sqrt(shape / noise)
    if not 1e-9 <= slope <= 1e9:
        raise ParameterError(f"the best slope would be {slope:g}: density, size or noise_per_unit is far off")
    filters = f"ramp({1 / slope:.6g})" if kind == "ramp" else f"sigmoid({4 * slope:.6g})"
    exact = None if granularity is None else noise / positive("granularity", granularity)
    return FilterPrecision(filters, slope, shape / slope, noise * slope, exact)
