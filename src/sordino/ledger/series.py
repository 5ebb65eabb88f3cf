"""A series in the ledger: one payment when it is opened, and then one release per interval that costs nothing more.

**Guarantee**: a series is paid for once, whatever crashed and however often it is opened; and of every interval at most
one value is ever stored, so at most one is ever handed out. Opening and paying are one transaction. An interval is
claimed by one process at a time; who dies with a claim suspends the account like any question that failed, and after
the owner has resumed it the interval is drawn anew: what was drawn before was never seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sordino.core import BudgetError, Guarantee, Loss, SuspendedError
from sordino.ledger.event import write_canonical_json, write_question_key
from sordino.ledger.payment import pay
from sordino.ledger.records import end_reservation
from sordino.ledger.reservation import Reservation, StoredRelease
from sordino.ledger.storage import Connection
from sordino.ledger.suspension import SUSPENSION_NOTICE, settle

if TYPE_CHECKING:
    from sordino.ledger.ledger import Ledger


def open_series(
    ledger: Ledger,
    dataset: str,
    analyst: str,
    guarantee: Guarantee,
    *,
    name: str,
    mechanism: str,
    definition: Mapping[str, Any],
) -> StoredRelease:
    """Pay for a series and write down what it is, at once; one that is there already is returned as it is."""
    question = name_series(name)
    text = write_canonical_json("a series", {"series": name, "definition": dict(definition)}, in_order=True)
    fields = {"mechanism": mechanism, "parameters": text, "question": question, "scope": f"series {name}"}
    alive, holder = ledger._store.alive, None
    try:
        with ledger._store.transaction() as connection:
            ledger._reached("opening")
            suspended = settle(connection, alive, dataset, analyst)
            known = None if suspended else _find(connection, dataset, analyst, question)
            if not suspended and known is None:
                holder = alive.hold()
                number = pay(connection, dataset, analyst, guarantee, holder, **fields)
                ledger._reached("series paid")
                reserved = {"number": number, "dataset": dataset, "analyst": analyst}
                end_reservation(connection, reserved, "commit", question=question, release=text)
                known = _find(connection, dataset, analyst, question)
            ledger._reached("opening written")
    finally:
        alive.let_go(holder)
    if suspended or known is None:
        raise SuspendedError(SUSPENSION_NOTICE)
    ledger._reached("opened")
    return known


def claim_interval(
    ledger: Ledger, dataset: str, analyst: str, guarantee: Guarantee, *, name: str, interval: int
) -> Reservation | StoredRelease:
    """The right to draw an interval of a series, or what is stored of it; refused while another process draws it.

    ``guarantee``: that of the series. It is paid, so the claim costs nothing; but it ends with a release or suspends.
    """
    question = name_interval(name, interval)
    free = Guarantee(
        Loss(epsilon=0.0), guarantee.distance, f"an interval of series {name}, which was paid when opened"
    )
    alive, holder = ledger._store.alive, None
    try:
        with ledger._store.transaction() as connection:
            ledger._reached("claiming")
            suspended = settle(connection, alive, dataset, analyst)
            known = _find(connection, dataset, analyst, question)
            if not suspended and known is None:
                _refuse_claimed(connection, dataset, analyst, question, interval)
                holder = alive.hold()
                number = pay(
                    connection, dataset, analyst, free, holder, question=question, scope=f"series {name}"
                )
                ledger._reached("claim written")
    except BaseException:
        alive.let_go(holder)
        raise
    if suspended:
        raise SuspendedError(SUSPENSION_NOTICE)
    if known is not None:
        return known
    reservation = Reservation(ledger, number, dataset, analyst, free)
    ledger._holders[reservation] = str(holder)
    ledger._reached("claimed")
    return reservation


def name_series(name: str) -> str:
    """The key under which the opening of a series is stored."""
    return write_question_key("series", name=name)


def name_interval(name: str, interval: int) -> str:
    """The key of one interval."""
    return write_question_key("series interval", name=name, interval=interval)


def _find(connection: Connection, dataset: str, analyst: str, question: str) -> StoredRelease | None:
    row = connection.execute(
        "SELECT release, number, time FROM events WHERE kind = 'commit' AND dataset = ? AND analyst = ? "
        "AND question = ? ORDER BY number LIMIT 1",
        (dataset, analyst, question),
    ).fetchone()
    return None if row is None else StoredRelease(json.loads(row[0]), row[1], row[2], reused=True)


def _refuse_claimed(connection: Connection, dataset: str, analyst: str, question: str, interval: int) -> None:
    open_claims = connection.execute(
        "SELECT 1 FROM unended JOIN events ON events.number = unended.number "
        "WHERE unended.dataset = ? AND unended.analyst = ? AND events.question = ? LIMIT 1",
        (dataset, analyst, question),
    ).fetchone()
    if open_claims is not None:
        raise BudgetError(
            f"interval {interval} of this series is being answered by another process: ask again"
        )
