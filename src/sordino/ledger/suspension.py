"""A failure after payment closes the account until the owner acts.

Whether a database fails is an output, and nobody drew noise for it: an analyst who writes a question that fails if and
only if a certain row is there would learn about that row with certainty, at any price. So what comes after the payment
either ends with a release or suspends the account, durably and before anything is told.

**What failures can tell**: between two acts of the owner, which question of an account was the first to end without a
release, and no more. Questions of the same account that were under way then are withheld: whether they would have been
answered or would have failed, their end is the same sentence. A question whose process died (killed, out of memory,
power) is found by its lock (`alive.py`) by whoever asks next and by every question that is still under way. A lock on
a server ends moments after its process (`alive_postgresql.py`): what ends in between may tell more.
"""

from __future__ import annotations

from sordino.ledger.records import end_reservation, is_suspended
from sordino.ledger.storage import Connection, Liveness

SUSPENSION_NOTICE = (
    "this account is suspended until the owner of the data resumes it, because a question failed after it was paid for "
    "and a failure may depend on rows: 'sordino ledger resume FILE --dataset … --analyst …', Ledger.resume or "
    "Curator.resume"
)


def settle(
    connection: Connection, alive: Liveness, dataset: str, analyst: str, *, but: int | None = None
) -> bool:
    """Write down who died without a word; whether the account is suspended then.

    ``but``: the reservation of who asks. In a writing transaction: what is open there and not held is dead for good.
    """
    for number, holder in find_dead_reservations(connection, alive, dataset, analyst):
        if number != but:
            reserved = {"number": number, "dataset": dataset, "analyst": analyst}
            end_reservation(connection, reserved, "suspend", scope="crash")
            alive.let_go(holder)
    return is_suspended(connection, dataset, analyst)


def find_dead_reservations(
    connection: Connection, alive: Liveness, dataset: str, analyst: str
) -> list[tuple[int, str | None]]:
    """Reservations of an account that have no end and that nobody works on, with their holders."""
    rows = connection.execute(
        "SELECT number, holder FROM unended WHERE dataset = ? AND analyst = ? ORDER BY number",
        (dataset, analyst),
    ).fetchall()
    return [(number, holder) for number, holder in rows if not alive.is_alive(holder)]
