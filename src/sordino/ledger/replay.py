"""An account as its events make it: what `Ledger.verify` compares the kept sums with."""

from __future__ import annotations

import sqlite3

from sordino.core import Guarantee
from sordino.ledger.account import Account
from sordino.ledger.composition import Amount
from sordino.ledger.limit import Limit
from sordino.ledger.records import event_rows, read_limit, reserved_guarantee


def replayed_account(connection: sqlite3.Connection, dataset: str, analyst: str) -> Account | None:
    """Limit and sum after all events; None if some payment exceeded the limit that stood when it was made.

    A limit may be lowered below what was spent: that leaves nothing, and is no mistake.
    """
    limit: Limit | None = None
    spent = Amount()
    paid: dict[int, Guarantee] = {}
    for row in event_rows(connection, dataset, analyst or None):
        if row["kind"] == "grant" and row["analyst"] == analyst:
            measure = "epsilon" if row["rho"] is None else "rho"
            limit = read_limit(measure, row[measure], row["delta"], row["at_delta"])
            spent = sum((limit.cost(guarantee) for guarantee in paid.values()), Amount())
        elif row["kind"] == "reserve":
            paid[row["number"]] = guarantee = reserved_guarantee(row)
            if limit is not None:
                spent += limit.cost(guarantee)
                if not spent.within(limit.amount):
                    return None
        elif row["kind"] == "refund" and row["reservation"] in paid:
            guarantee = paid.pop(row["reservation"])
            if limit is not None:
                spent -= limit.cost(guarantee)
    return None if limit is None else Account(dataset, analyst or None, limit, spent)
