"""RunningTotal: what every mechanism for running totals has in common, whatever noise it shares among the times."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.core import (
    Distance,
    Guarantee,
    ParameterError,
    PrivateDataError,
    Release,
    add_remove_row,
    check_distance,
)
from sordino.core.parameters import whole
from sordino.ledger.library_payment import AccountName, LedgerSource, pay_before
from sordino.sampling.source import is_private
from sordino.series.block_noise import BlockNoise, Budget, find_radius, sum_variances
from sordino.series.lattice import MOST_MASS, ChangeLattice, Steps
from sordino.series.series_release import SeriesRelease

PRECONDITION = (
    "each {unit} is in the change of one time only; one that is in the changes of k times is protected k times "
    "less"
)


class RunningTotal(ABC):
    """A stream of changes x₁, x₂, … whose totals x₁ + … + xᵢ are released as they come, for one budget in all.

    **Guarantee**: that of the subclass, for all totals together, and also where later changes are chosen after
    earlier totals were seen: for every sequence of totals the streams that lead to it are fixed, and the same shift
    of the noise carries one of two neighbouring streams to the other.
    **State**: what it keeps between two changes is the owner's; only `BlockTree` with ``pan_private`` says what it
    tells. A refusal leaves it as it was.
    **Requires**: changes of different times depend on different rows (or users, or whatever ``distance`` names). Where
    ``ids`` are given with the changes this is checked; otherwise it is the caller's word.
    """

    _most_mass = MOST_MASS

    def __init__(
        self,
        horizon: int | None,
        budget: Budget,
        lattice: ChangeLattice,
        *,
        theorem: str,
        mechanism: str,
        distance: Distance | None,
        ledger: LedgerSource | None,
        account: AccountName | None,
    ) -> None:
        self.horizon = horizon
        self.budget = budget
        self.lattice = lattice
        self.mechanism = mechanism
        where = add_remove_row() if distance is None else check_distance(distance)
        stated = Guarantee(budget.loss, where, theorem)
        self.guarantee = pay_before(stated, ledger, account, mechanism=mechanism)
        self._time = 0
        self._mass = 0
        self._private = True
        self._seen: set[Hashable] = set()

    @property
    def time(self) -> int:
        """How many changes have been pushed."""
        return self._time

    def push(self, change: Any, *, ids: Iterable[Hashable] | None = None) -> Release:
        """The total including one more change. ``ids``: the rows or users that the change depends on."""
        release = self.extend([change], ids=None if ids is None else [ids])
        return Release(
            release.value[0].item(),
            self.guarantee,
            self.mechanism,
            error=release.error,
            notes=release.notes,
            private=release.private,
        )

    def extend(self, changes: ArrayLike, *, ids: Iterable[Iterable[Hashable]] | None = None) -> SeriesRelease:
        """The totals after each of many changes; refused before anything is drawn if one is too many."""
        steps = self.lattice.round(changes)
        count = len(steps)
        if not count:
            raise ParameterError("there must be at least one change")
        if self.horizon is not None and self._time + count > self.horizon:
            raise ParameterError(
                f"the horizon of this series is {self.horizon} times and {self._time} are over: {count} more would go "
                "past it; nothing was released; open a new series, with a budget of its own"
            )
        mass, seen = self._check_mass(steps), self._check_ids(count, ids)
        self._mass, self._seen = mass, seen
        self._private = self._private and is_private()
        first = self._time + 1
        totals = self._advance(steps)
        self._time += count
        radii = self.radii(np.arange(first, first + count))
        return SeriesRelease(
            totals,
            self.guarantee,
            self.mechanism,
            error=float(radii.max()),
            notes=(PRECONDITION.format(unit=self.guarantee.distance.unit),),
            private=self._private,
            first=first,
            radii=radii,
        )

    def error(self, time: int) -> float:
        """The standard deviation of the total at a time: exact, and public."""
        return float(self.deviations(np.array([self._check_time(time)]))[0])

    def deviations(self, times: ArrayLike) -> NDArray[np.float64]:
        """The same for many times."""
        given = np.asarray(times, dtype=np.int64)
        return np.sqrt(self._variances(given)) * float(self.lattice.step)

    @property
    def worst_error(self) -> float:
        """The largest standard deviation of any total up to the horizon."""
        if self.horizon is None:
            raise ParameterError("without a horizon there is no largest error")
        return float(np.sqrt(sum_variances(self._noises(self._most_draws()))) * float(self.lattice.step))

    def _most_draws(self) -> int:
        """The largest of all `_draws`."""
        return int(self._draws(np.arange(1, (self.horizon or 1) + 1)).max())

    def radii(self, times: ArrayLike) -> NDArray[np.float64]:
        """The radius within which 95 % of draws of each total lie."""
        return self._table(times, find_radius) * float(self.lattice.step)

    def _check_time(self, time: int) -> int:
        whole("time", time, least=1)
        if self.horizon is not None and time > self.horizon:
            raise ParameterError(f"time must be at most the horizon {self.horizon}, got {time!r}")
        return int(time)

    def _check_mass(self, steps: Steps) -> int:
        """All changes together, which must stay within 64 bits with their noise."""
        mass = self._mass + int(np.abs(steps).sum())
        if mass > self._most_mass:
            raise PrivateDataError(
                f"all changes together must be at most 2**{self._most_mass.bit_length() - 1} steps: give a larger step"
            )
        return mass

    def _check_ids(self, count: int, ids: Iterable[Iterable[Hashable]] | None) -> set[Hashable]:
        """All that were named so far, none of them at two times."""
        if ids is None:
            return self._seen
        given = [set(one) for one in ids]
        if len(given) != count:
            raise ParameterError(f"ids must be given for each of {count} changes, got {len(given)}")
        seen = set(self._seen)
        for one in given:
            if not seen.isdisjoint(one):
                raise PrivateDataError(
                    f"a {self.guarantee.distance.unit} is in the changes of two times: combine them at one time, or "
                    "open the series with as many times the sensitivity as the times one is in; nothing was released"
                )
            seen |= one
        return seen

    @abstractmethod
    def _advance(self, steps: Steps) -> NDArray[Any]:
        """Take the changes in and return the totals, noise included."""

    @abstractmethod
    def _draws(self, times: Steps) -> Steps:
        """How many draws of noise the total of each time holds, or a number that tells."""

    @abstractmethod
    def _noises(self, draws: int) -> tuple[tuple[BlockNoise, int], ...]:
        """Which noises these draws are, and how many of each."""

    def _variances(self, times: Steps) -> NDArray[np.float64]:
        """The variance of each total, in squared steps."""
        return self._table(times, sum_variances)

    def _table(
        self, times: ArrayLike, compute: Callable[[tuple[tuple[BlockNoise, int], ...]], float]
    ) -> NDArray[np.float64]:
        """A number per time, computed once for all times whose noises are the same."""
        keys, places = np.unique(self._draws(np.asarray(times, dtype=np.int64)), return_inverse=True)
        found: NDArray[np.float64] = np.array([compute(self._noises(key)) for key in keys.tolist()])[places]
        return found
