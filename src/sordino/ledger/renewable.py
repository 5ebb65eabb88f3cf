"""RenewableBudget: a budget that comes back, for series whose values forget one another at a known rate."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.core import BudgetError, Distance, Guarantee, Loss, ParameterError, SuspendedError
from sordino.core.parameters import as_written, non_negative, positive, whole
from sordino.ledger.event import write_canonical_json
from sordino.ledger.payment import pay
from sordino.ledger.records import find_granted_account, select_events
from sordino.ledger.reservation import Reservation, StoredRelease
from sordino.ledger.suspension import SUSPENSION_NOTICE, settle

if TYPE_CHECKING:
    from sordino.ledger.ledger import Ledger

SCOPE = "renewable"
_LONGEST = 1 << 12  # bits of an exact number; beyond it is rounded, towards refusing


class RenewableBudget:
    """Decides which losses ε₁, ε₂, … of consecutive values of a series keep Σ_j ρ^{|i−j|}·ε_j ≤ B for every i.

    **Guarantee**: ε per unit of the distance in which moving X_i by 1 moves X_j by ρ^{|i−j|}: B at every time, for
    ever. It is not row privacy, and void if the changes of the series are not independent of one another: its
    `distance` says so, and a ledger refuses to add it to anything else.
    **Requires**: one value per time, ``correlation`` ρ of neighbouring values, public, in (0, 1).
    **Source**: NAPLES report, Section 3.3.12.6, for any ρ; its rate of 13.8 % of B at ρ = 1/√2 is too small, 17.157 %
    is right. **Numerics**: exact fractions; long ones are rounded towards refusing.

    >>> import sordino as sd
    >>> budget = sd.series.RenewableBudget(limit=1, correlation="1/2")
    >>> budget.rate, [budget.spend("1/3") for _ in range(3)] and budget.time
    (Fraction(1, 3), 3)
    """

    __slots__ = ("_ahead", "_correlation", "_limit", "_spent", "_time")

    def __init__(self, limit: Any, correlation: Any) -> None:
        positive("limit", limit)
        self._limit = as_written("limit", limit)
        self._correlation = read_correlation(correlation)
        self._spent = Fraction(0)  # Σ_{j ≤ i} ρ^{i−j}·ε_j at the last time i
        self._ahead = self._limit  # the most that the next losses may add, as seen from all times before
        self._time = 0

    @property
    def correlation(self) -> Fraction:
        """ρ."""
        return self._correlation

    @property
    def time(self) -> int:
        """How many times are over."""
        return self._time

    @property
    def rate(self) -> Fraction:
        """What may be spent at every time, for ever: B(1 − ρ)/(1 + ρ)."""
        return self._limit * (1 - self._correlation) / (1 + self._correlation)

    @property
    def distance(self) -> Distance:
        """What the loss is per unit of: no rows."""
        return Distance(
            "value of a series",
            "replace",
            among=f"series in which moving X_i by 1 moves X_j by {self._correlation}^|i-j|, void unless changes are "
            "independent",
        )

    def spend(self, epsilon: Any) -> Fraction:
        """Take ε for the value of the next time, or BudgetError, and then nothing has changed; 0 passes a time."""
        spent, ahead = self._after(_loss(epsilon))
        self._spent, self._ahead, self._time = spent, ahead, self._time + 1
        return self.available

    @property
    def available(self) -> Fraction:
        """The most that the next time may take."""
        return max(Fraction(0), min(self._limit - self._spent * self._correlation, self._ahead))

    def _after(self, loss: Fraction) -> tuple[Fraction, Fraction]:
        spent = _shorten(self._spent * self._correlation + loss, up=True)
        left = self._ahead - loss
        if spent > self._limit or left < 0:
            raise BudgetError(
                f"epsilon {float(loss):.6g} was asked at time {self._time + 1} and {float(self.available):.6g} is "
                f"there: at every time at most {float(self.rate):.6g} comes back; nothing was spent"
            )
        return spent, _shorten(min(left, self._limit - spent) / self._correlation, up=False)

    def plan(self, times: int | None = None) -> list[Fraction]:
        """Losses of ``times`` values that use all of B at each; without a number, the rate of an endless series."""
        if times is None:
            return [self.rate]
        count = whole("times", times, least=1)
        if count == 1:
            return [self._limit]
        end = self._limit / (1 + self._correlation)
        return [end, *[self.rate] * (count - 2), end]


def spend_renewable(
    ledger: Ledger,
    dataset: str,
    analyst: str,
    *,
    correlation: Any,
    epsilon: Any,
    time: int,
    question: str,
    produce: Callable[[], Mapping[str, Any]],
    mechanism: str = "",
) -> StoredRelease:
    """Pay for the value of a public ``time`` from an account that renews itself, then draw, store and return it.

    The limit of the account is B, less what was spent on it in the ordinary way, which never comes back. Times must
    increase; those between were not asked about. The data set has the Distance of the renewable budget for good, so
    that losses per row are refused on it.
    """
    asked, at = _loss(epsilon), whole("time", time, least=1)
    rho = read_correlation(correlation)
    alive, holder = ledger._store.alive, None
    free: Guarantee | None = None
    try:
        with ledger._store.transaction() as connection:
            suspended = settle(connection, alive, dataset, analyst)
            if not suspended:
                budget = _replay(connection, dataset, analyst, rho, at)
                budget.spend(asked)
                free = Guarantee(
                    Loss(epsilon=0.0),
                    budget.distance,
                    f"renewable budget: epsilon {asked} at time {at}, for B at every time",
                )
                holder = alive.hold()
                told = {"epsilon": str(asked), "correlation": str(rho), "time": at}
                number = pay(
                    connection,
                    dataset,
                    analyst,
                    free,
                    holder,
                    question=question,
                    scope=SCOPE,
                    mechanism=mechanism or None,
                    parameters=write_canonical_json("parameters", told),
                )
    except BaseException:
        alive.let_go(holder)
        raise
    if suspended or free is None:
        raise SuspendedError(SUSPENSION_NOTICE)
    reservation = Reservation(ledger, number, dataset, analyst, free)
    ledger._holders[reservation] = str(holder)
    with reservation:
        return reservation.commit(produce())


def _replay(
    connection: sqlite3.Connection, dataset: str, analyst: str, rho: Fraction, at: int
) -> RenewableBudget:
    """The budget after all that was spent of it, at the time before ``at``."""
    account = find_granted_account(connection, dataset, analyst)
    if account.limit.measure != "epsilon" or not account.left.loss:
        raise BudgetError(
            f"a renewable budget needs an account in epsilon with something left, got {account.limit}"
        )
    budget = RenewableBudget(account.left.loss, rho)
    for row in select_events(connection, dataset, analyst):
        if row["kind"] != "reserve" or row["scope"] != SCOPE:
            continue
        told = json.loads(row["parameters"])
        if Fraction(told["correlation"]) != rho:
            raise ParameterError(
                f"this account renews itself with correlation {told['correlation']}, and {rho} was given: it is one "
                "series"
            )
        _pass_times(budget, told["time"] - 1)
        budget.spend(Fraction(told["epsilon"]))
    if at <= budget.time:
        raise ParameterError(
            f"times are out of order: {budget.time} is over, and {at} was asked; nothing was spent"
        )
    _pass_times(budget, at - 1)
    return budget


def _pass_times(budget: RenewableBudget, until: int) -> None:
    while budget.time < until:
        budget.spend(0)


def read_correlation(value: Any) -> Fraction:
    """ρ in (0, 1): a number as it is written, a Fraction, or a text such as "1/2"."""
    try:
        found = Fraction(value) if isinstance(value, str) else as_written("correlation", value)
    except (ValueError, ZeroDivisionError):
        raise ParameterError(f"correlation must be a number in (0, 1), got {value!r}") from None
    if not 0 < found < 1:
        raise ParameterError(
            f"correlation must be in (0, 1), got {value!r}: 1 is plain composition, 0 is parallel composition"
        )
    return found


def _loss(value: Any) -> Fraction:
    if isinstance(value, str):
        value = Fraction(value)
    non_negative("epsilon", value)
    return as_written("epsilon", value)


def _shorten(value: Fraction, *, up: bool) -> Fraction:
    if value.denominator.bit_length() <= _LONGEST:
        return value
    grid = 1 << 256
    scaled = value * grid
    return Fraction(math.ceil(scaled) if up else math.floor(scaled), grid)
