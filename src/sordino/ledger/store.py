"""The SQLite file under a ledger: one connection per process, immediate transactions, errors in plain words."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sordino.core import LedgerError
from sordino.ledger.alive import Alive
from sordino.ledger.chain import chain_anew
from sordino.ledger.schema import SCHEMA_VERSION, SEEN_AS_PRESENT, UPGRADES

_APPLICATION = 0x536F7264  # "Sord": tells a ledger from any other SQLite file
_WORDS = {
    sqlite3.SQLITE_NOTADB: "it is not a ledger (not an SQLite database)",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; restore it from a copy that knows of every release since",
    sqlite3.SQLITE_READONLY: "the file or its directory is read-only, and a ledger must write before it answers",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened or made there",
    sqlite3.SQLITE_PERM: "permission denied",
    sqlite3.SQLITE_AUTH: "permission denied",
    sqlite3.SQLITE_IOERR: "reading or writing the file failed",
}
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_stores: weakref.WeakSet[Store] = weakref.WeakSet()
_inherited: list[sqlite3.Connection] = []  # SQLite forbids using a connection after a fork, even to close it


class Store:
    """A connection that is safe to share among threads and to meet again in a forked process.

    **Durability**: write-ahead log with synchronous=FULL, so that a transaction that has returned survives kill −9
    and loss of power (as far as the disk keeps what it acknowledged). Every writing transaction is BEGIN IMMEDIATE:
    what it reads is what it writes upon, whatever other processes do.

    Without ``write`` nothing is written, not even beside the file. While somebody has the ledger open, its log is
    there and readers take part in it. Else the file alone is the ledger, and SQLite is told that it stays as it is,
    because it would have to make a log to lock it; that nobody came meanwhile is checked after reading.

    ``alive``: the reservations of this process that have not ended (`alive.py`).
    """

    def __init__(self, path: Path | None, *, create: bool, patience: float, write: bool = True) -> None:
        self._name = "the ledger in memory" if path is None else f"ledger {path}"
        self.path = None if path is None else path.absolute()
        self._create = create
        self.write = write
        self._quiet: tuple[int, int] | None = None
        self._patience = patience
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._foreign = False
        self._closed = False
        self._identity: tuple[int, int] | None = None
        self.alive = Alive(self.path)
        self._connect()
        _stores.add(self)

    def __str__(self) -> str:
        return self._name

    @property
    def address(self) -> str | None:
        """The file's path; a ledger in memory has none."""
        return None if self.path is None else str(self.path)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; durable when the block has ended without an error."""
        if not self.write:
            raise LedgerError(f"{self} is open for reading only; nothing was released")
        with self._lock, self._in_plain_words():
            connection = self._connection or self._connect()
            self._check_same_file()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    with suppress(sqlite3.Error):  # the first error is the one to tell
                        connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent view."""
        with self._lock, self._in_plain_words():
            connection = self._connection or self._connect()
            self._check_same_file()
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            if self._quiet is not None and self._quiet != self._state():
                raise LedgerError(f"{self}: somebody wrote to it while it was read; ask again")

    def close(self) -> None:
        """Close the file; later use is refused."""
        with self._lock:
            self._closed = True
            self.alive.let_go_of_all()
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def after_fork(self) -> None:
        """In the child: leave the parent's connection and lock alone."""
        self._lock = threading.RLock()
        self.alive.after_fork()
        if self._connection is not None:
            _inherited.append(self._connection)
            self._connection = None
            self._foreign = self.path is None

    def _connect(self) -> sqlite3.Connection:
        if self._closed:
            raise LedgerError(f"{self} is closed")
        if self._foreign:
            raise LedgerError(
                "a ledger in memory stays in the process that made it: two processes would each spend its budget; "
                "use Ledger.open(path)"
            )
        with self._in_plain_words():
            if self.path is not None:
                self._check_place(self.path)
            connection = sqlite3.connect(
                self._address(),
                uri=not self.write,
                timeout=self._patience,
                isolation_level=None,  # transactions are begun and ended here, by hand
                check_same_thread=False,  # the lock sees to it
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
        self._connection = connection
        self._create = False  # a file that vanishes later must not come back empty
        return connection

    def _address(self) -> str:
        if self.path is None:
            return ":memory:"
        if self.write:
            return os.fspath(self.path)
        self._quiet = self._state()
        return f"{self.path.as_uri()}?{'mode=ro' if self._quiet is None else 'immutable=1'}"

    def _state(self) -> tuple[int, int] | None:
        """Size and time of a file that nobody has open; None if somebody has, or went without closing it."""
        try:
            if self.path is None or any(Path(f"{self.path}{end}").exists() for end in ("-wal", "-journal")):
                return None
            status = self.path.stat()
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns

    def _prepare(self, connection: sqlite3.Connection) -> None:
        known = self._check_kind(connection)  # before anything is written
        if not self.write:
            if not known:
                raise LedgerError(f"{self}: the file is empty")
            if self._identity is None and self.path is not None:
                self._identity = _identity(self.path)
            if known < SCHEMA_VERSION:
                connection.execute("PRAGMA temp_store = MEMORY")
                for view in SEEN_AS_PRESENT[known]:
                    connection.execute(view)
            return
        if self.path is not None and self._write_ahead(connection) != "wal":
            raise LedgerError(f"{self}: the file system does not support a write-ahead log")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")
        connection.execute("PRAGMA foreign_keys = OFF")  # until the tables are what they shall be
        connection.execute("BEGIN IMMEDIATE")  # also finds out now whether the file can be written
        try:
            version = self._check_kind(connection)  # again: another process may have been here meanwhile
            if version < SCHEMA_VERSION:
                upgrade = UPGRADES[version]
                for statement in _statements(upgrade.before):
                    connection.execute(statement)
                if upgrade.events is not None:
                    chain_anew(connection, upgrade.events)
                for statement in _statements(upgrade.after):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            self.alive.sweep({holder for (holder,) in connection.execute("SELECT holder FROM unended")})
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        connection.execute("PRAGMA foreign_keys = ON")
        if self.path is not None and self._identity is None:
            self._identity = _identity(self.path)

    def _write_ahead(self, connection: sqlite3.Connection) -> str:
        """Switching to the log needs the file alone, and SQLite does not wait for that by itself."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in _LOCKED or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)

    def _check_kind(self, connection: sqlite3.Connection) -> int:
        """The format of a ledger, 0 for an empty file; anything else is refused untouched."""
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        empty = not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        if empty and application == 0 and version == 0:
            return 0
        if application != _APPLICATION:
            raise LedgerError(f"{self}: it is an SQLite database of something else, not a ledger")
        if version > SCHEMA_VERSION:
            raise LedgerError(
                f"{self}: written by a newer Sordino (format {version}; this one knows up to {SCHEMA_VERSION}); "
                "update Sordino"
            )
        return int(version)

    def _check_same_file(self) -> None:
        if self.path is not None and _identity(self.path) != self._identity:
            raise LedgerError(
                f"{self}: the file was removed or replaced while it was open; nothing was released"
            )

    @contextmanager
    def _in_plain_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", None)
            primary = None if code is None else code & 0xFF
            if primary in _LOCKED:
                words = f"another process has kept it locked for more than {self._patience:g} s"
            elif primary in _WORDS:
                words = _WORDS[primary]
            else:
                words = f"SQLite says {error}"
            raise LedgerError(f"{self}: {words}; nothing was released") from error

    def _check_place(self, path: Path) -> None:
        try:
            if path.is_dir():
                raise LedgerError(f"{self}: is a directory")
            if not self._create and not path.exists():
                raise LedgerError(f"{self}: no such file")
        except OSError as error:
            raise LedgerError(f"{self}: {(error.strerror or 'unreadable').lower()}") from None


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _statements(script: str) -> Iterator[str]:
    """One by one: `executescript` would end the transaction first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _after_fork() -> None:
    for store in list(_stores):
        store.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
