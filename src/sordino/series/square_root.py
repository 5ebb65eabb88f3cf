"""SquareRoot: running totals by the square-root factorization, for budgets in ρ."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.core import Distance, ParameterError
from sordino.core.parameters import whole
from sordino.ledger.library_payment import AccountName, LedgerSource
from sordino.series.block_noise import BlockNoise, Budget
from sordino.series.lattice import ChangeLattice, Steps
from sordino.series.running_total import RunningTotal
from sordino.series.tree_shape import check_horizon

_BITS = 16  # of the coefficients after the point
_NORMAL = 1.959963984540054


class SquareRoot(RunningTotal):
    """Totals A·x with A = L·R, where R is close to √A: R·x gets the noise and L undoes R.

    A is the triangle of ones. R has the coefficients of (1 − z)^{−1/2} rounded to 16 bits, cut after ``band`` of them
    (the horizon unless given), and L = A·R⁻¹, so that the totals are exact but for the noise.

    **Guarantee**: ρ-zCDP for one change by at most ``sensitivity``: R·x in whole steps of 2⁻¹⁶ gets independent
    discrete Gaussian noise with σ² = Δ²·‖column of R‖²/(2ρ), the norm taken of the rounded numbers; the rest follows
    from that.
    **Requires**: see `RunningTotal`. **Source**: Fichtenberger, Henzinger and Upadhyay 2022; Henzinger, Upadhyay and
    Upadhyay 2023; Canonne, Kamath and Steinke 2020 for the noise. **Numerics**: R·x and its noise are exact whole
    numbers; totals are computed from them in doubles, which is post-processing.

    Memory and time per change are those of the band. A short band costs accuracy at times far beyond it.

    >>> import sordino as sd
    >>> root = sd.series.SquareRoot(horizon=365, rho=0.5)
    >>> round(root.worst_error, 2)
    2.94
    """

    _most_mass = 2 ** (52 - _BITS)  # times the largest coefficient, whole numbers that are exact in doubles

    def __init__(
        self,
        horizon: int,
        rho: Any,
        sensitivity: Any = 1,
        *,
        band: int | None = None,
        step: Any = 1,
        distance: Distance | None = None,
        ledger: LedgerSource | None = None,
        account: AccountName | None = None,
    ) -> None:
        times = check_horizon(horizon)
        width = times if band is None else whole("band", band, least=1)
        if min(width, times) > 1 << 20:
            raise ParameterError("a band of more than 2**20 coefficients is not followed: give band=")
        budget, lattice = Budget.checked(None, rho), ChangeLattice.checked(step, sensitivity)
        self.band = min(width, times)
        self._coefficients = make_coefficients(self.band)
        norm = sum(int(c) ** 2 for c in self._coefficients)
        self.noise = budget.share(lattice.sensitivity, Fraction(norm))
        super().__init__(
            times,
            budget,
            lattice,
            theorem="square-root factorization: discrete Gaussian noise for the norm of one column",
            mechanism=f"square-root factorization of band {self.band}",
            distance=distance,
            ledger=ledger,
            account=account,
        )
        self._ratios = self._coefficients / self._coefficients[0]
        self._recent = np.zeros(0)  # the last changes, the newest last
        self._undone = np.zeros(self.band - 1)  # what undoing R still owes to the next times
        self._total = 0.0
        self._factors = np.zeros(0)

    def _advance(self, steps: Steps) -> NDArray[Any]:
        from scipy.signal import lfilter

        history = np.concatenate([self._recent, steps.astype(np.float64)])
        mixed = _convolve_exactly(history, self._coefficients, len(steps))
        noisy = (mixed.astype(np.int64) + self.noise.draw(len(steps))) / float(self._coefficients[0])
        if self.band == 1:
            undone = noisy
        else:
            undone, self._undone = lfilter([1.0], self._ratios, noisy, zi=self._undone)
        self._recent = (
            history[len(history) - min(len(history), self.band - 1) :] if self.band > 1 else history[:0]
        )
        totals = self._total + np.cumsum(undone)
        self._total = float(totals[-1])
        return totals * float(self.lattice.step)

    def _variances(self, times: Steps) -> NDArray[np.float64]:
        """σ² times the squared norm of a row of L."""
        needed = int(times.max(initial=1))
        if len(self._factors) < needed:
            self._factors = undo_coefficients(self._ratios, max(needed, min(self.horizon or needed, 1 << 16)))
        norms = np.cumsum(self._factors**2)
        scale = self.noise.variance / float(self._coefficients[0]) ** 2
        variances: NDArray[np.float64] = norms[times - 1] * scale
        return variances

    @property
    def worst_error(self) -> float:
        """That of the last total: they only grow."""
        return self.error(self.horizon or 1)

    def radii(self, times: ArrayLike) -> NDArray[np.float64]:
        """The radius within which 95 % of draws of each total lie: sums of Gaussians."""
        return _NORMAL * self.deviations(times)

    def _draws(self, times: Steps) -> Steps:
        return times

    def _noises(self, draws: int) -> tuple[tuple[BlockNoise, int], ...]:
        return ((self.noise, draws),)


def make_coefficients(count: int) -> NDArray[np.float64]:
    """2¹⁶ times the coefficients of (1 − z)^{−1/2}, rounded: f₀ = 1, f_k = f_{k−1}(1 − 1/(2k))."""
    ratios = 1 - 0.5 / np.arange(1, count, dtype=np.float64)
    factors = np.concatenate([[1.0], np.cumprod(ratios)])
    rounded: NDArray[np.float64] = np.round(factors * 2.0**_BITS)
    return rounded


def undo_coefficients(ratios: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """The first column of L = A·R⁻¹: the inverse power series by Newton's steps, summed up."""
    from scipy.signal import fftconvolve

    inverse = np.ones(1)
    while len(inverse) < count:
        size = min(2 * len(inverse), count)
        product = fftconvolve(ratios[:size], inverse)[:size]
        correction = np.zeros(size)
        correction[: len(product)] = -product
        correction[0] += 2
        inverse = fftconvolve(inverse, correction)[:size]
    column: NDArray[np.float64] = np.cumsum(inverse)
    return column


def _convolve_exactly(
    values: NDArray[np.float64], coefficients: NDArray[np.float64], count: int
) -> NDArray[np.float64]:
    """The last ``count`` sums of products of whole numbers, which stay below 2⁵³: no order of doubles rounds them."""
    used = coefficients[: len(values)]
    before = np.zeros(max(0, count + len(used) - 1 - len(values)))
    padded = np.concatenate([before, values])[-(count + len(used) - 1) :]
    mixed: NDArray[np.float64] = np.convolve(padded, used, mode="valid")
    return mixed
