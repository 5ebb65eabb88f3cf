"""An account computed anew from its events, and whether these can have happened: what `Ledger.verify` compares with."""

from __future__ import annotations

from sordino.core import Loss
from sordino.ledger.account import Account
from sordino.ledger.composition import Amount
from sordino.ledger.limit import Limit
from sordino.ledger.records import read_limit, read_reserved_loss, select_events
from sordino.ledger.schema import UNENDED_BY_EVENTS
from sordino.ledger.storage import Connection


def list_accounts(connection: Connection) -> list[tuple[str, str]]:
    """Data set and analyst of every account that is kept, or that a grant has made and nobody may remove."""
    accounts = connection.execute(
        "SELECT dataset, analyst FROM accounts UNION SELECT dataset, analyst FROM events WHERE kind = 'grant'"
    )
    return [(dataset, analyst) for dataset, analyst in accounts.fetchall()]


def replay_account(connection: Connection, dataset: str, analyst: str) -> Account | None:
    """Limit and sum after all events; None if some payment exceeded the limit that stood when it was made.

    A limit may be lowered below what was spent: that leaves nothing, and is no mistake.
    """
    limit: Limit | None = None
    spent = Amount()
    suspended = False
    paid: dict[int, Loss] = {}
    for row in select_events(connection, dataset, analyst or None):
        if row["kind"] == "grant" and row["analyst"] == analyst:
            measure = "epsilon" if row["rho"] is None else "rho"
            limit = read_limit(measure, row[measure], row["delta"], row["at_delta"])
            spent = sum((limit.cost(loss) for loss in paid.values()), Amount())
        elif row["kind"] == "reserve":
            paid[row["number"]] = loss = read_reserved_loss(row)
            if limit is not None:
                spent += limit.cost(loss)
                if not spent.within(limit.amount):
                    return None
        elif row["kind"] == "refund" and row["reservation"] in paid:
            returned = paid.pop(row["reservation"])
            if limit is not None:
                spent -= limit.cost(returned)
        elif row["kind"] in ("suspend", "resume") and analyst:
            suspended = row["kind"] == "suspend"
    return None if limit is None else Account(dataset, analyst or None, limit, spent, suspended)


def find_disorder(connection: Connection) -> str | None:
    """What no questions could have left, such as an end of somebody else's reservation; None if all fits."""
    stray = connection.execute(
        "SELECT ending.number FROM events AS ending LEFT JOIN events AS paid ON paid.number = ending.reservation "
        "AND paid.kind = 'reserve' AND paid.dataset = ending.dataset AND paid.analyst = ending.analyst "
        "WHERE (ending.kind IN ('commit', 'refund', 'suspend')) != (ending.reservation IS NOT NULL) "
        "OR (ending.reservation IS NOT NULL AND paid.number IS NULL) LIMIT 1"
    ).fetchone()
    if stray is not None:
        return f"event {stray[0]} does not end a reservation of its own account"
    kept = "SELECT number, dataset, analyst FROM unended ORDER BY number"
    found = f"SELECT number, dataset, analyst FROM ({UNENDED_BY_EVENTS}) AS found ORDER BY number"
    if connection.execute(kept).fetchall() != connection.execute(found).fetchall():
        return "the list of open reservations does not match its events"
    return None
