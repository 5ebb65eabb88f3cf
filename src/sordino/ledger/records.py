"""What a ledger reads from and writes to its tables; always inside a transaction of the caller."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.core import BudgetError, Distance, Guarantee, LedgerError, Loss, ParameterError
from sordino.core.parameters import as_written
from sordino.ledger.account import Account
from sordino.ledger.chain import find_last_link, read_by_name, write_event
from sordino.ledger.composition import Amount
from sordino.ledger.event import Event, write_distance_key
from sordino.ledger.limit import Limit
from sordino.ledger.storage import Connection

if TYPE_CHECKING:
    from sordino.ledger.reservation import Reservation

REVOKED = "revoked"  # the scope of a limit of nothing that the owner set by hand
CAP = ""  # the analyst's name under which the cap of a data set is kept


def find_account(connection: Connection, dataset: str, analyst: str) -> Account | None:
    """The account as it stands, if there is one."""
    row = connection.execute(
        "SELECT loss_spent, delta_spent, measure, loss_limit, delta_limit, at_delta FROM accounts "
        "WHERE dataset = ? AND analyst = ?",
        (dataset, analyst),
    ).fetchone()
    if row is None:
        return None
    loss, delta, *limit = row
    spent = Amount(Fraction(loss), Fraction(delta))
    suspended = analyst != CAP and is_suspended(connection, dataset, analyst)
    return Account(dataset, analyst or None, read_limit(*limit), spent, suspended)


def is_suspended(connection: Connection, dataset: str, analyst: str) -> bool:
    """Whether a suspension was written and not lifted since; whether somebody died unnoticed is `suspension.py`'s."""
    row = connection.execute(
        "SELECT kind FROM events WHERE kind IN ('suspend', 'resume') AND dataset = ? AND analyst = ? "
        "ORDER BY number DESC LIMIT 1",
        (dataset, analyst),
    ).fetchone()
    return row is not None and row[0] == "suspend"


def read_limit(measure: str, loss: str, delta: str, at_delta: str | None) -> Limit:
    """A limit from its four columns."""
    amount = Amount(Fraction(loss), Fraction(delta))
    return Limit(measure, amount, None if at_delta is None else Fraction(at_delta))


def write_limit(limit: Limit) -> tuple[str, str, str, str | None]:
    """The four columns of a limit."""
    at_delta = None if limit.at_delta is None else str(limit.at_delta)
    return limit.measure, str(limit.amount.loss), str(limit.amount.delta), at_delta


def set_limit(
    connection: Connection,
    dataset: str,
    analyst: str,
    limit: Limit,
    *,
    distance: Distance | None = None,
    scope: str | None = None,
) -> Account:
    """Write a limit and its event; what was spent is counted anew, in the measure of the limit."""
    spent = sum_events(connection, dataset, analyst, limit)
    measure, loss, delta, at_delta = write_limit(limit)
    connection.execute("DELETE FROM accounts WHERE dataset = ? AND analyst = ?", (dataset, analyst))
    connection.execute(
        "INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (dataset, analyst, measure, loss, delta, at_delta, str(spent.loss), str(spent.delta)),
    )
    append_event(
        connection,
        kind="grant",
        dataset=dataset,
        analyst=analyst,
        delta=delta,
        at_delta=at_delta,
        distance=None if distance is None else str(distance),
        scope=scope,
        **{measure: loss},
    )
    suspended = analyst != CAP and is_suspended(connection, dataset, analyst)
    return Account(dataset, analyst or None, limit, spent, suspended)


def find_granted_account(connection: Connection, dataset: str, analyst: str) -> Account:
    """The account, or a refusal that says who can grant one."""
    account = find_account(connection, dataset, analyst) if analyst else None
    if account is None or account.withdrawn:
        if account is not None and _is_uncountable(connection, account):
            raise BudgetError(
                f"the policy gives {analyst!r} a budget of data set {dataset!r} in epsilon, in which not everything "
                "that was answered before can be counted: the owner declares it as rho"
            )
        raise BudgetError(
            f"no budget was granted to {analyst!r} on data set {dataset!r}, neither by this policy nor in the ledger: "
            "the owner grants one with 'sordino ledger grant FILE --dataset … --analyst … --epsilon …', Ledger.grant "
            "or in the policy"
        )
    return account


def _is_uncountable(connection: Connection, account: Account) -> bool:
    """Whether it is empty because the policy's limit is in ε and ρ was spent; not because the owner took it back."""
    whose = (account.dataset, account.analyst)
    declared = connection.execute(
        "SELECT measure FROM declared WHERE dataset = ? AND analyst = ?", whose
    ).fetchone()
    last = connection.execute(
        "SELECT scope FROM events WHERE kind = 'grant' AND dataset = ? AND analyst = ? ORDER BY number DESC LIMIT 1",
        whose,
    ).fetchone()
    return (
        declared is not None
        and (declared[0], account.limit.measure) == ("epsilon", "rho")
        and last[0] != REVOKED
    )


def find_known_account(connection: Connection, dataset: str, analyst: str) -> Account:
    """The account that the owner means to change, or an error that says that there is none."""
    account = find_account(connection, dataset, analyst)
    if account is None:
        raise ParameterError(f"data set {dataset!r} has no account of {analyst!r} in this ledger")
    return account


def charge(connection: Connection, account: Account, cost: Amount) -> None:
    """Write the new sum of an account."""
    spent = account.spent + cost
    connection.execute(
        "UPDATE accounts SET loss_spent = ?, delta_spent = ? WHERE dataset = ? AND analyst = ?",
        (str(spent.loss), str(spent.delta), account.dataset, account.analyst or CAP),
    )


def fix_distance(connection: Connection, dataset: str, distance: Distance) -> bool:
    """The first Distance that is named is the data set's for good; whether one was named before."""
    key = write_distance_key(distance)
    known, text = connection.execute(
        "SELECT distance, distance_text FROM datasets WHERE dataset = ?", (dataset,)
    ).fetchone()
    if known is None:
        connection.execute(
            "UPDATE datasets SET distance = ?, distance_text = ? WHERE dataset = ?",
            (key, str(distance), dataset),
        )
    elif known != key:
        raise ParameterError(
            f"data set {dataset!r} is counted per {text}, and this is per {distance}: losses of two distances do not "
            "add up; ask with the first, or give the data set another name and its own budget"
        )
    return known is not None


def append_event(connection: Connection, **fields: Any) -> int:
    """Write one event, chained to the last one; its number."""
    last = find_last_link(connection)
    content = {
        "number": last.number + 1,
        "time": datetime.now(UTC).isoformat(timespec="microseconds"),
    } | fields
    write_event(connection, content, last.hash)
    return last.number + 1


def select_events(
    connection: Connection, dataset: str | None = None, analyst: str | None = None
) -> Iterator[dict[str, Any]]:
    """Every event as it is stored, in order."""
    cursor = connection.execute(
        "SELECT * FROM events WHERE dataset = coalesce(?, dataset) AND analyst = coalesce(?, analyst) ORDER BY number",
        (dataset, analyst),
    )
    yield from read_by_name(cursor)


def read_events(
    connection: Connection, dataset: str | None = None, analyst: str | None = None
) -> list[Event]:
    """Every event in order, of one data set or one analyst if asked."""
    return [_event(row) for row in select_events(connection, dataset, analyst)]


def _event(row: dict[str, Any]) -> Event:
    for name in ("parameters", "release"):
        row[name] = None if row[name] is None else json.loads(row[name])
    return Event(**(row | {"analyst": row["analyst"] or None}))


def write_guarantee(guarantee: Guarantee) -> dict[str, str | None]:
    """The columns of a guarantee; losses as exact text."""
    losses = {name: getattr(guarantee, name) for name in ("epsilon", "delta", "rho")}
    written = {name: None if loss is None else str(as_written(name, loss)) for name, loss in losses.items()}
    facts = "bounded_range" if guarantee.loss.bounded_range else None
    return written | {"facts": facts, "distance": str(guarantee.distance), "theorem": guarantee.theorem}


def find_reservation(connection: Connection, reservation: Reservation) -> dict[str, Any]:
    """The reserve event that a reservation claims to be. The record counts: what differs from it is refused.

    With ``end``: the kind of the event that has ended it, or None; and ``holder``: who works on it.
    """
    number = reservation.number
    if isinstance(number, bool) or not isinstance(number, int) or not -(2**63) <= number < 2**63:
        raise LedgerError(
            "a reservation is known by the whole number that it was given; nothing was released"
        )
    found = connection.execute("SELECT * FROM events WHERE number = ? AND kind = 'reserve'", (number,))
    row = next(read_by_name(found), None)
    if row is None:
        raise LedgerError(f"reservation {number} is not in this ledger; nothing was released")
    if not isinstance(reservation.guarantee, Guarantee):
        raise LedgerError(f"reservation {number} has no Guarantee; nothing was released")
    claimed = write_guarantee(reservation.guarantee)
    claimed |= {"dataset": reservation.dataset, "analyst": reservation.analyst}
    for name, value in claimed.items():
        if row[name] != value:
            raise LedgerError(
                f"reservation {number} was recorded with another {name} than it is shown with; nothing was released"
            )
    ended = connection.execute("SELECT kind FROM events WHERE reservation = ?", (number,)).fetchone()
    holder = connection.execute("SELECT holder FROM unended WHERE number = ?", (number,)).fetchone()
    return row | {
        "end": None if ended is None else ended[0],
        "holder": None if holder is None else holder[0],
    }


def find_open_reservation(connection: Connection, reservation: Reservation) -> dict[str, Any]:
    """The same, if nothing has ended it."""
    row = find_reservation(connection, reservation)
    if row["end"] is not None:
        raise LedgerError(f"reservation {row['number']} has ended with a {row['end']}; nothing was released")
    return row


def end_reservation(connection: Connection, reserved: Mapping[str, Any], kind: str, **fields: Any) -> int:
    """Write the one event that ends a reservation, on the account that paid for it; its number."""
    connection.execute("DELETE FROM unended WHERE number = ?", (reserved["number"],))
    whose = {name: reserved[name] for name in ("dataset", "analyst")}
    return append_event(connection, kind=kind, reservation=reserved["number"], **whose, **fields)


def read_reserved_loss(reserved: Mapping[str, Any]) -> Loss:
    """What was reserved, for its cost; exact, since costs read fractions as they are."""
    exact: dict[str, Any] = {
        name: None if reserved[name] is None else Fraction(reserved[name])
        for name in ("epsilon", "delta", "rho")
    }
    return Loss(**exact, bounded_range=reserved["facts"] == "bounded_range")


def sum_events(connection: Connection, dataset: str, analyst: str, limit: Limit) -> Amount:
    """The sum over the events: reservations that were not refunded, of one analyst or (the cap) of all."""
    total = Amount()
    refunded = {row[0] for row in connection.execute("SELECT reservation FROM events WHERE kind = 'refund'")}
    for row in select_events(connection, dataset, analyst or None):
        if row["kind"] == "reserve" and row["number"] not in refunded:
            total += limit.cost(read_reserved_loss(row))
    return total
