"""What a policy says about budgets, and whether it is news: the owner's latest word counts, wherever it was said."""

from __future__ import annotations

from collections.abc import Mapping

from sordino.core import Distance, UnsupportedError
from sordino.ledger.account import Account
from sordino.ledger.composition import Amount
from sordino.ledger.limit import Limit
from sordino.ledger.records import CAP, find_account, read_limit, set_limit, write_limit
from sordino.ledger.storage import Connection

POLICY = "policy"  # the scope of a grant that a policy made


def declare(
    connection: Connection,
    dataset: str,
    limits: Mapping[str, Limit],
    *,
    distance: Distance,
    asked: bool,
) -> None:
    """Apply what differs from what a policy declared last; `CAP` names the cap.

    What a policy repeats changes nothing, so that what was granted since then holds. An analyst whom it names no
    more has no budget until a policy or a grant gives one again; a cap that it names no more stands.

    ``asked``: whether the data set has been asked about. Before that nobody can tell which word is the later one,
    that of the first policy or that of a grant by hand: the smaller limit holds.
    """
    last = _declared(connection, dataset)
    for analyst in sorted(last.keys() - limits.keys()):
        connection.execute("DELETE FROM declared WHERE dataset = ? AND analyst = ?", (dataset, analyst))
        account = find_account(connection, dataset, analyst)
        if analyst != CAP and account is not None:
            set_limit(connection, dataset, analyst, account.limit.nothing(), scope=POLICY)
    for analyst, limit in limits.items():
        if last.get(analyst) == limit:
            continue
        connection.execute("DELETE FROM declared WHERE dataset = ? AND analyst = ?", (dataset, analyst))
        connection.execute(
            "INSERT INTO declared VALUES (?, ?, ?, ?, ?, ?)",
            (dataset, analyst, *write_limit(limit)),
        )
        present = find_account(connection, dataset, analyst)
        if present is None or not (present.limit == limit or (not asked and _smaller(present.limit, limit))):
            _apply(connection, dataset, analyst, limit, present, distance)


def _apply(
    connection: Connection,
    dataset: str,
    analyst: str,
    limit: Limit,
    present: Account | None,
    distance: Distance,
) -> None:
    """Every analyst causes this, so that no error may tell what another one has spent."""
    try:
        set_limit(connection, dataset, analyst, limit, distance=distance, scope=POLICY)
    except UnsupportedError:
        if analyst == CAP or present is None:
            raise UnsupportedError(
                f"the cap of the policy is in epsilon, in which not everything that was released of data set "
                f"{dataset!r} can be counted: the owner declares it as rho"
            ) from None
        set_limit(connection, dataset, analyst, present.limit.nothing(), scope=POLICY)


def _declared(connection: Connection, dataset: str) -> dict[str, Limit]:
    rows = connection.execute(
        "SELECT analyst, measure, loss_limit, delta_limit, at_delta FROM declared WHERE dataset = ?",
        (dataset,),
    )
    return {analyst: read_limit(*limit) for analyst, *limit in rows.fetchall()}


def _smaller(one: Limit, other: Limit) -> bool:
    """Nothing is less than any budget; limits of two measures are not compared."""
    nothing = one.amount == Amount()
    return nothing or (one.measure == other.measure and one.amount.within(other.amount))
