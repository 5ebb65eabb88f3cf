"""Which reservations somebody still works on: a locked file each, whose lock ends with its process, however it ends.

A reservation without an end whose lock is gone belongs to a process that died: a crash is a failure that nobody could
write down.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import ModuleType

from sordino.core import LedgerError

flock: ModuleType | None
try:
    import fcntl as flock
except ImportError:  # no such locks on this system: what this process does not hold itself counts as dead
    flock = None


class Alive:
    """The reservations of one open ledger, and whether those of others are still worked on.

    **Guarantee**: a holder is never called alive after its process has ended, and dead only if nobody holds it.
    In doubt (no locks on this system, a file that may not be read) it is dead: that suspends and tells nothing.
    **How**: `hold` makes a file beside the ledger and locks it *before* the reservation that names it is committed;
    `let_go` removes it *after* the reservation's end is. Who finds the reservation open in a writing transaction
    therefore finds the file locked, unless its process died.
    """

    def __init__(self, path: Path | None) -> None:
        """``path``: the ledger's file; None for one in memory, which dies with its process."""
        self._path = None if path is None else path.resolve()  # one place, whatever links lead to it
        self._held: dict[str, int | None] = {}
        self._turns = count(1)

    def hold(self) -> str:
        """A new holder: the name of a file that is locked until it is let go or this process ends."""
        if self._path is None or flock is None:
            name = f"{os.getpid()}-{id(self)}-{next(self._turns)}"
            self._held[name] = None
            return name
        holder: str | None = None
        try:
            descriptor, name = tempfile.mkstemp(prefix=f"{self._path.name}-open-", dir=self._path.parent)
            holder = Path(name).name
            self._held[holder] = descriptor
            flock.flock(descriptor, flock.LOCK_EX | flock.LOCK_NB)
            os.fchmod(descriptor, self._path.stat().st_mode & 0o666)  # whoever may read the ledger may look
        except OSError as error:
            self.let_go(holder)
            raise LedgerError(
                f"ledger {self._path}: its folder does not take locked files "
                f"({(error.strerror or 'failed').lower()}); nothing was released"
            ) from None
        return holder

    def is_alive(self, holder: str | None) -> bool:
        """Whether somebody holds it: this ledger, another one in this process, or another process."""
        if holder is None or holder in self._held:
            return holder is not None
        if self._path is None or flock is None:
            return False
        try:
            descriptor = os.open(self._path.with_name(holder), os.O_RDONLY)
        except (OSError, ValueError):
            return False
        try:
            flock.flock(
                descriptor, flock.LOCK_SH | flock.LOCK_NB
            )  # shared: two who look do not see one another
            return False
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            os.close(descriptor)

    def let_go(self, holder: str | None) -> None:
        """Its reservation has ended, or must count as dead from now on."""
        if holder is None:
            return
        descriptor = self._held.pop(holder, None)
        if self._path is not None and flock is not None:
            with suppress(OSError, ValueError):
                self._path.with_name(holder).unlink()
        if descriptor is not None:
            os.close(descriptor)

    def sweep(self, named: set[str]) -> None:
        """Remove what processes left that died before the reservation was there; in a writing transaction.

        ``named``: the holders of reservations without an end, which tell something. `hold` is called in such
        transactions only, so nobody is between making a file and locking it.
        """
        if self._path is None or flock is None:
            return
        start = f"{self._path.name}-open-"
        with suppress(OSError):  # a folder that may not be listed, a file of somebody else
            for file in self._path.parent.iterdir():
                if file.name.startswith(start) and file.name not in named and not self.is_alive(file.name):
                    file.unlink()

    def let_go_of_all(self) -> None:
        """The ledger closes: nobody can end its reservations any more."""
        for holder in list(self._held):
            self.let_go(holder)

    def after_fork(self) -> None:
        """In the child: the locks are the parent's and must not outlive it here."""
        for descriptor in self._held.values():
            if descriptor is not None:
                os.close(descriptor)
        self._held = {}
