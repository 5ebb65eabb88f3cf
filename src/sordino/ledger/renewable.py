"""RenewableBudget: a budget that comes back, for series whose values forget one another at a known rate."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.core import BudgetError, Distance, Guarantee, Loss, ParameterError, SuspendedError
from sordino.core.parameters import as_written, from_text, non_negative, positive, whole
from sordino.ledger.account import Account
from sordino.ledger.event import write_canonical_json
from sordino.ledger.payment import RENEWABLE, VALUE_OF_SERIES, pay
from sordino.ledger.records import CAP, find_account, find_granted_account, select_events
from sordino.ledger.reservation import Reservation, StoredRelease
from sordino.ledger.storage import Connection
from sordino.ledger.suspension import SUSPENSION_NOTICE, settle

if TYPE_CHECKING:
    from sordino.ledger.ledger import Ledger

_LONGEST = 1 << 12  # bits of an exact number; beyond it is rounded, towards refusing
_MOST_PASSED = 1 << 12  # times without a loss that are followed; what came back after so many is not counted
_MOST_PLANNED = 10**6


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
            VALUE_OF_SERIES,
            "replace",
            among=f"series in which moving X_i by 1 moves X_j by {self._correlation}^|i-j|, void unless changes are "
            "independent",
        )

    def spend(self, epsilon: Any) -> Fraction:
        """Take ε for the value of the next time, or BudgetError, and then nothing has changed; 0 passes a time."""
        spent, ahead = self._after(_loss(epsilon))
        self._spent, self._ahead, self._time = spent, ahead, self._time + 1
        return self.available

    def pass_until(self, time: int) -> None:
        """Go to a later time without a loss between; after many times no more comes back, which is sound."""
        for _ in range(min(time - self._time, _MOST_PASSED)):
            self.spend(0)
        self._time = max(self._time, time)

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
        if count > _MOST_PLANNED:
            raise ParameterError(
                f"times must be at most {_MOST_PLANNED}, got {times!r}: plan() has the rate of an endless series"
            )
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

    The limit of the account is B. Times must increase; those between were not asked about. The data set has the
    Distance of the renewable budget for good, so that losses per row are refused on it, and losses per value of a
    series that are paid in the ordinary way are refused everywhere.
    **Guarantee**: what an analyst is told costs at most B at every time, and what all are told together at most the cap
    of the data set, if it has one. A crash after payment suspends the account, and what was paid stays paid.
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
                _check_cap(connection, dataset, rho, at, asked)
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
                    scope=RENEWABLE,
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


def _replay(connection: Connection, dataset: str, analyst: str, rho: Fraction, at: int) -> RenewableBudget:
    """The budget after all that was spent of it, at the time before ``at``."""
    budget = RenewableBudget(_limit_of(find_granted_account(connection, dataset, analyst)), rho)
    for correlation, time, loss in _read_losses(connection, dataset, analyst):
        if correlation != rho:
            raise ParameterError(
                f"this account renews itself with correlation {correlation}, and {rho} was given: it is one series"
            )
        budget.pass_until(time - 1)
        budget.spend(loss)
    if at <= budget.time:
        raise ParameterError(
            f"times are out of order: {budget.time} is over, and {at} was asked; nothing was spent"
        )
    budget.pass_until(at - 1)
    return budget


def _check_cap(connection: Connection, dataset: str, rho: Fraction, at: int, loss: Fraction) -> None:
    """All analysts together, at all times: Σ_j ρ^{|i−j|}·ε_j is largest at a time i with a loss of its own."""
    cap = find_account(connection, dataset, CAP)
    if cap is None:
        return
    losses: dict[int, Fraction] = {at: loss}
    for _, time, paid in _read_losses(connection, dataset, None):
        losses[time] = losses.get(time, Fraction(0)) + paid
    times = sorted(losses)
    before, after = _gather(times, losses, rho), _gather(times[::-1], losses, rho)
    limit = _limit_of(cap)
    if any(before[time] + after[time] - losses[time] > limit for time in times):
        raise BudgetError(
            f"epsilon {float(loss):.6g} was asked at time {at} and the cap of data set {dataset!r} over all analysts "
            "does not allow it; nothing was spent; ask the owner of the data"
        )


def _gather(times: list[int], losses: Mapping[int, Fraction], rho: Fraction) -> dict[int, Fraction]:
    """At each time its loss and what is left of those of the times that come before it in the list; rounded up."""
    found: dict[int, Fraction] = {}
    total, last = Fraction(0), times[0]
    for time in times:
        faded = total * rho ** min(abs(time - last), _MOST_PASSED)
        total, last = _shorten(faded + losses[time], up=True), time
        found[time] = total
    return found


def _limit_of(account: Account) -> Fraction:
    if account.limit.measure != "epsilon" or not account.left.loss:
        raise BudgetError(
            f"a renewable budget needs a limit in epsilon with something left, got {account.limit}"
        )
    return account.left.loss


def _read_losses(
    connection: Connection, dataset: str, analyst: str | None
) -> Iterator[tuple[Fraction, int, Fraction]]:
    """Correlation, time and loss of all that was paid, in the order in which it was."""
    for row in select_events(connection, dataset, analyst):
        if row["kind"] == "reserve" and row["scope"] == RENEWABLE:
            told = json.loads(row["parameters"])
            yield Fraction(told["correlation"]), told["time"], Fraction(told["epsilon"])


def read_correlation(value: Any) -> Fraction:
    """ρ in (0, 1): a number as it is written, a Fraction, or a text such as "1/2"."""
    read = from_text if isinstance(value, str) else as_written
    found = read("correlation", value)
    if not 0 < found < 1:
        raise ParameterError(
            f"correlation must be in (0, 1), got {value!r}: 1 is plain composition, 0 is parallel composition"
        )
    return found


def _loss(value: Any) -> Fraction:
    if isinstance(value, str):
        value = from_text("epsilon", value)
    non_negative("epsilon", value)
    return as_written("epsilon", value)


def _shorten(value: Fraction, *, up: bool) -> Fraction:
    if value.denominator.bit_length() <= _LONGEST:
        return value
    grid = 1 << 256
    scaled = value * grid
    return Fraction(math.ceil(scaled) if up else math.floor(scaled), grid)
