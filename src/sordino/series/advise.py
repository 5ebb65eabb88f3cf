"""advise: which mechanism for running totals has the smallest error, by public parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.core import ParameterError
from sordino.series.block_noise import Budget
from sordino.series.block_tree import BlockTree
from sordino.series.lattice import ChangeLattice
from sordino.series.running_total import RunningTotal
from sordino.series.square_root import SquareRoot
from sordino.series.subtraction_tree import SubtractionTree
from sordino.series.tree_shape import check_horizon

_LONGEST_BAND = 1 << 16
_MOST_TIMES = 1 << 24  # whose errors are tabulated


@dataclass(frozen=True, slots=True)
class SeriesAdvice:
    """The errors of every way to release running totals, the best first.

    ``rows``: name, the largest and the mean standard deviation of a total up to the horizon, and how many numbers the
    state keeps. ``open``: opens the best one that answers as the changes come.
    """

    horizon: int
    rows: tuple[AdviceRow, ...]

    @property
    def best(self) -> AdviceRow:
        """The one with the smallest error at the worst time."""
        return self.rows[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"horizon": self.horizon, "mechanisms": [row.to_dict() for row in self.rows]}

    def __str__(self) -> str:
        lines = [f"{'mechanism':<38}{'worst std':>12}{'mean std':>12}{'memory':>10}"]
        lines += [
            f"{row.name:<38}{row.worst_error:>12.4g}{row.mean_error:>12.4g}{row.memory:>10,}"
            for row in self.rows
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class AdviceRow:
    """One way: its errors, and how it is opened (None for the naive ways, which are there to compare with)."""

    name: str
    worst_error: float
    mean_error: float
    memory: int
    open: Callable[[], RunningTotal] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "name": self.name,
            "worst_error": self.worst_error,
            "mean_error": self.mean_error,
            "memory": self.memory,
        }


def advise(
    horizon: int, epsilon: Any = None, sensitivity: Any = 1, *, rho: Any = None, step: Any = 1
) -> SeriesAdvice:
    """Every mechanism for a horizon and a budget with its exact error; nothing is read and nothing is spent.

    >>> import sordino as sd
    >>> advice = sd.series.advise(365, epsilon=1.0)
    >>> advice.best.name, len(advice.rows)
    ('subtraction tree of base 28', 5)
    >>> sd.series.advise(365, rho=0.5).best.name
    'square-root factorization of band 365'
    """
    times = check_horizon(horizon)
    if times > _MOST_TIMES:
        raise ParameterError(
            f"advice tabulates the errors of at most {_MOST_TIMES} times, got {times}: open a SubtractionTree or a "
            "BlockTree, whose worst_error is known for any horizon"
        )
    budget, lattice = Budget.checked(epsilon, rho), ChangeLattice.checked(step, sensitivity)
    rows = [*_naive(times, budget, lattice)]
    for make in _ways(times, epsilon, rho, sensitivity, step):
        series = make()
        errors = series.deviations(np.arange(1, times + 1))
        rows.append(
            AdviceRow(series.mechanism, float(errors.max()), float(errors.mean()), _memory(series), make)
        )
    return SeriesAdvice(times, tuple(sorted(rows, key=lambda row: row.worst_error)))


def _ways(
    times: int, epsilon: Any, rho: Any, sensitivity: Any, step: Any
) -> Iterator[Callable[[], RunningTotal]]:
    common: dict[str, Any] = {"epsilon": epsilon, "sensitivity": sensitivity, "rho": rho, "step": step}
    yield lambda: BlockTree(times, base=2, **common)
    yield lambda: BlockTree(times, **common)
    yield lambda: SubtractionTree(times, **common)
    if rho is not None:
        band = min(times, _LONGEST_BAND)
        yield lambda: SquareRoot(times, rho, sensitivity, band=band, step=step)


def _naive(times: int, budget: Budget, lattice: ChangeLattice) -> Iterator[AdviceRow]:
    """Every total by itself with its share of the budget; and every change with all of it, which then add up."""

    step = float(lattice.step)
    alone = budget.share(lattice.sensitivity, Fraction(times)).variance ** 0.5 * step
    yield AdviceRow("every total by itself", alone, alone, 1)
    one = budget.share(lattice.sensitivity, Fraction(1)).variance
    growing = np.sqrt(one * np.arange(1, times + 1)) * step
    yield AdviceRow("every change by itself, added up", float(growing.max()), float(growing.mean()), 1)


def _memory(series: RunningTotal) -> int:
    if isinstance(series, SubtractionTree):
        return series.levels * (series.base // 2 + 1)
    return (
        2 * series.levels
        if isinstance(series, BlockTree)
        else 2 * series.band
        if isinstance(series, SquareRoot)
        else 0
    )
