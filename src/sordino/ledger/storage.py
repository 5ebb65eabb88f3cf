"""What a ledger needs of the place that keeps it: `store.py` is a file, `store_postgresql.py` a database on a server.

The statements of a ledger are written once, in the SQL that both speak, with ``?`` for what is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Rows(Protocol):
    """What a statement found."""

    @property
    def description(self) -> Any:
        """One entry per column, each beginning with its name."""

    def fetchone(self) -> Any:
        """The next row, or None."""

    def fetchall(self) -> list[Any]:
        """All rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """The rows that are left, one by one."""


class Connection(Protocol):
    """Runs statements inside the transaction that it was given for."""

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> Rows:
        """Run one statement."""


class Liveness(Protocol):
    """The reservations of one open ledger, and whether those of others are still worked on (`alive.py`)."""

    def hold(self) -> str:
        """A new holder, until it is let go or this process ends; in a writing transaction."""

    def is_alive(self, holder: str | None) -> bool:
        """Whether somebody holds it."""

    def let_go(self, holder: str | None) -> None:
        """Its reservation has ended, or must count as dead from now on."""


class Storage(Protocol):
    """Writing transactions follow one another and are durable when they return; reading ones see one state."""

    write: bool

    @property
    def alive(self) -> Liveness:
        """The reservations that have not ended."""

    @property
    def address(self) -> str | None:
        """What another process opens the same ledger by; None if it cannot."""

    def transaction(self) -> AbstractContextManager[Connection]:
        """All or nothing; durable when the block has ended without an error."""

    def reading(self) -> AbstractContextManager[Connection]:
        """One consistent view."""

    def close(self) -> None:
        """Later use is refused."""
