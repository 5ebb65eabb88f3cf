"""Which reservations somebody still works on: an advisory lock each, which ends with its session, however it ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sordino.core import LedgerError
from sordino.ledger.storage import Connection

_CLASS = 0x536F7264  # "Sord": tells our locks from those of others in the same database
_TRIES = 100


class LockSession(Protocol):
    """The connection whose end ends the locks."""

    def between(self) -> AbstractContextManager[Connection | None]:
        """The session itself; None if there is none."""

    def say(self, statement: str, parameters: Sequence[Any]) -> None:
        """Tell the session something, if there is one; one that does not take it is ended."""


class AdvisoryLocks:
    """The reservations of one open ledger, and whether those of others are still worked on.

    **Guarantee**: a holder is dead only if nobody holds it, and never called alive once the server has noticed that
    its process is gone. That is when its connection closes, which a system does as it ends a process; the session
    ends a moment later. Of a machine that vanished (power, network) the server learns within 30 s. Until then the
    account is not suspended yet: what failures can tell (`suspension.py`) is one failure, and what ended meanwhile.
    **How**: `hold` takes a lock of a number that nobody has *before* the reservation that names it is committed;
    `let_go` releases it *after* the reservation's end is. A session that is lost has lost its locks: its reservations
    are dead, for this process too, unless they end before anybody looks.
    """

    def __init__(self, session: LockSession) -> None:
        self._session = session
        self._held: set[str] = set()

    def hold(self) -> str:
        """A new holder: a number that is locked until it is let go or the session ends."""
        with self._session.between() as connection:
            if connection is not None:
                for number in _numbers(connection):
                    lock = connection.execute("SELECT pg_try_advisory_lock(?, ?)", (_CLASS, number))
                    if lock.fetchone()[0]:
                        self._held.add(str(number))
                        return str(number)
        raise LedgerError("no lock was free for a reservation; nothing was released")

    def is_alive(self, holder: str | None) -> bool:
        """Whether somebody holds it: this ledger, another one in this process, or another process."""
        if holder is None or holder in self._held:
            return holder is not None
        with self._session.between() as connection:
            if connection is None or not holder.isdecimal():
                return False
            found = connection.execute(
                "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = ?::bigint::oid "
                "AND objid = ?::bigint::oid AND objsubid = 2 AND database = "
                "(SELECT oid FROM pg_database WHERE datname = current_database())",
                (_CLASS, int(holder)),
            )
            return found.fetchone() is not None

    def let_go(self, holder: str | None) -> None:
        """Its reservation has ended, or must count as dead from now on."""
        if holder not in self._held or holder is None:
            return
        self._held.discard(holder)
        self._session.say("SELECT pg_advisory_unlock(?, ?)", (_CLASS, int(holder)))

    def forget(self) -> None:
        """The session has ended, or it is the parent's."""
        self._held = set()


def _numbers(connection: Connection) -> Iterator[int]:
    for _ in range(_TRIES):
        yield connection.execute("SELECT nextval('holders')").fetchone()[0]
