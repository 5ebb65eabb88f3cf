"""Paying for a question: the cost leaves the analyst's account and the data set's cap, or nothing does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sordino.core import BudgetError, Guarantee, ParameterError
from sordino.ledger.composition import Amount, make_printable
from sordino.ledger.records import (
    CAP,
    append_event,
    charge,
    find_account,
    find_granted_account,
    fix_distance,
    write_guarantee,
)
from sordino.ledger.storage import Connection

RENEWABLE = "renewable"  # the scope of what a renewable budget has paid for
VALUE_OF_SERIES = "value of a series"  # the unit of its Distance


def pay(
    connection: Connection,
    dataset: str,
    analyst: str,
    guarantee: Guarantee,
    holder: str,
    **fields: Any,
) -> int:
    """Subtract the cost of a guarantee and write its reservation; the reservation's number, or BudgetError.

    ``holder``: who works on it (`alive.py`). ``fields``: what else its event says.
    """
    if guarantee.distance.unit == VALUE_OF_SERIES and fields.get("scope") != RENEWABLE:
        raise ParameterError(
            f"losses per {VALUE_OF_SERIES} are counted by a renewable budget and do not add up with what never comes "
            "back: pay with spend_renewable; nothing was spent"
        )
    account = find_granted_account(connection, dataset, analyst)
    fix_distance(connection, dataset, guarantee.distance)
    cost = account.limit.cost(guarantee.loss)
    if cost.delta and not account.limit.amount.delta:
        raise BudgetError(
            f"{account.limit.shown(cost)} was asked and the budget of {analyst!r} on data set {dataset!r} has "
            f"no delta to spend, {account.limit.measure} alone; nothing was spent; ask without a delta, or "
            f"have the owner give one beside {account.limit.measure}"
        )
    whose = f"the budget of {analyst!r} on data set {dataset!r}"
    if not (account.spent + cost).within(account.limit.amount):
        if cost == Amount():
            raise BudgetError(_say_lowered(whose))
        raise BudgetError(
            f"{account.limit.shown(cost)} was asked and {account.limit.shown(account.left, left=True)} is left "
            f"of {whose}; nothing was spent"
        )
    charge(connection, account, cost)
    cap = find_account(connection, dataset, CAP)
    if cap is not None:
        shared = cap.limit.cost(guarantee.loss)
        if not (cap.spent + shared).within(cap.limit.amount):
            if cost == Amount():
                raise BudgetError(_say_lowered(f"the cap of data set {dataset!r} over all analysts"))
            raise BudgetError(
                f"{account.limit.shown(cost)} was asked and the cap of data set {dataset!r} over all analysts "
                "does not allow it; nothing was spent; ask the owner of the data"
            )
        charge(connection, cap, shared)
    number = append_event(
        connection,
        kind="reserve",
        dataset=dataset,
        analyst=analyst,
        guarantee=str(replace(guarantee, loss=make_printable(guarantee.loss))),
        **write_guarantee(guarantee),
        **fields,
    )
    connection.execute("INSERT INTO unended VALUES (?, ?, ?, ?)", (number, dataset, analyst, holder))
    return number


def _say_lowered(what: str) -> str:
    return (
        f"this was paid before, and {what} is below what was spent by now: it is answered once the owner raises it; "
        "nothing was spent"
    )
