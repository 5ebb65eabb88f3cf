"""The noise of running totals has the variance and the radius that are stated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

import sordino as sd
from sordino.sampling.gaussian import draw_discrete_gaussians

S = sd.series
RUNS = 400
FALSE_ALARM = 1e-7


def last_errors(make):
    return np.array([make().extend(np.zeros(7)).value[-1] for _ in range(RUNS)], dtype=np.float64)


@pytest.mark.parametrize(
    "make",
    [
        lambda: S.BlockTree(7, 0.5, base=2),
        lambda: S.SubtractionTree(7, 0.5, base=3),
        lambda: S.BlockTree(7, rho=0.01, base=3),
        lambda: S.SquareRoot(7, rho=0.01),
    ],
)
def test_the_last_total_has_its_deviation_and_radius(make):
    """Chebyshev on the mean square: kurtosis of these sums is at most 6, so 400 runs tell factors of 2 apart.

    The mean square of 400 draws has a relative deviation of at most √(5/400) = 0.11; a factor of 2 is nine of them.
    """
    errors, stated = last_errors(make), make().error(7)
    assert 0.5 < np.mean(errors**2) / stated**2 < 2
    inside = np.mean(np.abs(errors) <= make().radii([7])[0])
    assert inside > 0.85  # binomial tail below 1e-12 at 95 %
    assert not 0.5 < np.mean((errors / 2) ** 2) / stated**2 < 2, "the control: half the noise"


def test_discrete_gaussians_follow_their_law():
    """χ² over 9 cells of 20 000 draws; the control has another variance."""
    sigma_squared = 3
    draws = draw_discrete_gaussians(sd.core.parameters.exact("σ²", sigma_squared), 20_000)
    k = np.arange(-60, 61)
    for variance, fits in ((3.0, True), (3.6, False)):
        masses = np.exp(-(k**2) / (2 * variance))
        masses /= masses.sum()
        cells = np.clip(k, -4, 4) + 4
        expected = np.bincount(cells, weights=masses) * len(draws)
        observed = np.bincount(np.clip(draws, -4, 4) + 4, minlength=9)
        statistic = float(((observed - expected) ** 2 / expected).sum())
        assert (statistic < chi2.isf(FALSE_ALARM, 8)) == fits
