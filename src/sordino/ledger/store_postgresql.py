"""A ledger in a PostgreSQL database: one connection per process, writers one after another, errors in plain words."""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from sordino.core import LedgerError, MissingExtraError, ParameterError, Secret
from sordino.ledger.alive_postgresql import AdvisoryLocks
from sordino.ledger.schema_postgresql import CREATION, FORMAT, SCHEMA
from sordino.ledger.storage import Connection, Rows

SCHEMES = ("postgresql://", "postgres://")
_MAKING = 0x536F7264  # "Sord": the lock of who makes the tables
# What a session of ours says of itself. A client whose machine vanished is noticed after half a minute at most.
_SESSION = {
    "search_path": f"pg_catalog, {SCHEMA}, pg_temp",
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "idle_session_timeout": "0",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "4",
    "standard_conforming_strings": "on",
}
_DURABLE = {"fsync": ("on",), "full_page_writes": ("on",), "synchronous_commit": ("on", "remote_apply")}
_WORDS = {
    "25006": "the server or this user only reads, and a ledger must write before it answers",
    "28000": "the server refuses this user: check name and password",
    "28P01": "the server refuses this user and password: check both",
    "3D000": "there is no such database on the server",
    "42501": "permission denied to this user",
    "53100": "the server's disk is full",
    "53300": "the server has no connection left",
    "55P03": "another process has kept it locked for more than {patience:g} s",
    "57P03": "the server is starting or stopping",
}
_stores: weakref.WeakSet[PostgreSQLStore] = weakref.WeakSet()
_inherited: list[
    Any
] = []  # a parent's connections: never used again, nor closed, which would end its session


class PostgreSQLStore:
    """A ledger in the schema ``sordino_ledger`` of a database; safe to share among threads and to meet after a fork.

    **Durability**: the server must keep what it acknowledges: fsync, full_page_writes and synchronous_commit are
    checked for every connection, so that a transaction that has returned survives kill −9 of either side and loss of
    power. Every writing transaction locks the ledger against other writers before it reads: what it reads is what it
    writes upon, whatever other processes do.

    A connection that is lost is made anew by the next transaction. What was under way on it counts as dead, since its
    locks are gone (`alive_postgresql.py`).
    """

    def __init__(self, url: str, *, create: bool, patience: float, write: bool = True) -> None:
        self._psycopg = _driver()
        self._url = Secret(url)
        self._name, self._shown = _describe(self._psycopg, url)
        self._create = create
        self.write = write
        self._patience = patience
        self._lock = threading.RLock()
        self._connection: Any = None
        self._closed = False
        self._identity: str | None = None
        self.alive = AdvisoryLocks(self)
        with self._in_plain_words():
            self._connect()
        _stores.add(self)

    def __str__(self) -> str:
        return self._name

    @property
    def address(self) -> str | None:
        """The address, unless it has a password in it, which copies do not carry on."""
        return self._url.reveal() if self._shown else None

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """All or nothing; durable when the block has ended without an error."""
        if not self.write:
            raise LedgerError(f"{self} is open for reading only; nothing was released")
        with self._lock, self._in_plain_words():
            connection = self._begun("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
            try:
                # Each statement after the lock sees what all before have committed.
                connection.execute(f"LOCK TABLE {SCHEMA}.ledger IN EXCLUSIVE MODE")
                self._check_same_ledger(connection)
                yield _Statements(connection)
                if connection.execute("COMMIT").statusmessage != "COMMIT":
                    raise LedgerError(f"{self}: a transaction did not end well; nothing was released")
            except BaseException:
                self._roll_back(connection)
                raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent view."""
        with self._lock, self._in_plain_words():
            connection = self._begun("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                self._check_same_ledger(connection)
                yield _Statements(connection)
            finally:
                self._roll_back(connection)

    @contextmanager
    def between(self) -> Iterator[Connection | None]:
        """The session itself, in a transaction of this thread or outside of any; None if there is none."""
        with self._lock:
            connection = self._connection
            usable = connection is not None and not connection.closed
            yield _Statements(connection) if usable else None

    def say(self, statement: str, parameters: Sequence[Any]) -> None:
        """Tell the session something, if there is one; one that does not take it is ended."""
        with self.between() as connection:
            try:
                if connection is not None:
                    connection.execute(statement, parameters)
            except self._psycopg.Error:
                self._drop()

    def close(self) -> None:
        """End the session; later use is refused."""
        with self._lock:
            self._closed = True
            self.say(
                "SELECT pg_catalog.pg_advisory_unlock_all()", ()
            )  # now, and not when the server has noticed
            self._drop()

    def after_fork(self) -> None:
        """In the child: leave the parent's session and lock alone, and do not keep it open after the parent."""
        self._lock = threading.RLock()
        self.alive.forget()
        if self._connection is not None:
            with suppress(self._psycopg.Error, OSError):
                os.close(self._connection.fileno())
            _inherited.append(self._connection)
            self._connection = None

    def _begun(self, statement: str) -> Any:
        """A transaction has begun; on a new connection if the old one is gone, for nothing has happened yet."""
        connection = self._connection
        if connection is not None:
            try:
                connection.execute(statement)
                return connection
            except self._psycopg.Error:
                if not connection.closed:
                    raise
                self._drop()
        connection = self._connect()
        connection.execute(statement)
        return connection

    def _roll_back(self, connection: Any) -> None:
        """The first error is the one to tell; what cannot be rolled back is no session any more."""
        if connection.closed or not connection.info.transaction_status:
            return
        try:
            connection.execute("ROLLBACK")
        except self._psycopg.Error:
            self._drop()

    def _drop(self) -> None:
        """End the session, and with it all its locks."""
        self.alive.forget()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> Any:
        if self._closed:
            raise LedgerError(f"{self} is closed")
        connection = self._psycopg.connect(
            self._url.reveal(),
            autocommit=True,  # transactions are begun and ended here, by hand
            connect_timeout=max(2, round(self._patience)),
            client_encoding="utf8",
            application_name=f"sordino ledger {os.getpid()}",
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        self._create = False  # a ledger that vanishes later must not come back empty
        return connection

    def _prepare(self, connection: Any) -> None:
        if (
            connection.execute("SELECT pg_catalog.pg_backend_pid()").fetchone()[0]
            != connection.info.backend_pid
        ):
            raise LedgerError(
                f"{self}: a pooler stands between, and locks must stay with their process; connect to the server itself"
            )
        if connection.execute("SHOW server_encoding").fetchone()[0] != "UTF8":
            raise LedgerError(f"{self}: the database must be made with ENCODING 'UTF8'")
        known = {name for (name,) in connection.execute("SELECT name FROM pg_catalog.pg_settings").fetchall()}
        settings = {name: value for name, value in _SESSION.items() if name in known}
        settings["lock_timeout"] = str(max(1, round(1000 * self._patience)))
        if connection.execute("SHOW synchronous_commit").fetchone()[0] != "remote_apply":
            settings["synchronous_commit"] = "on"
        for name, value in settings.items():
            connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", (name, value))
        if self.write:
            for name, good in _DURABLE.items():
                value = connection.execute(f"SHOW {name}").fetchone()[0]
                if value not in good:
                    raise LedgerError(
                        f"{self}: the server has {name} = {value}, so that a payment could be lost after its answer "
                        f"was told; it must be {good[0]}"
                    )
        if not _has_schema(connection):
            if not self._create:
                raise LedgerError(f"{self}: there is no ledger in this database")
            self._make(connection)
        self._check_kind(connection)
        if self._identity is None:
            self._identity = connection.execute(f"SELECT identity FROM {SCHEMA}.ledger").fetchone()[0]

    def _make(self, connection: Any) -> None:
        with connection.transaction():
            connection.execute("SELECT pg_catalog.pg_advisory_xact_lock(%s)", (_MAKING,))
            if not _has_schema(connection):  # another process may have been here meanwhile
                connection.execute(CREATION)

    def _check_kind(self, connection: Any) -> None:
        try:
            found = connection.execute(f"SELECT format FROM {SCHEMA}.ledger").fetchone()
        except (self._psycopg.errors.UndefinedTable, self._psycopg.errors.UndefinedColumn):
            found = None
        if found is None:
            raise LedgerError(f"{self}: its schema {SCHEMA} is of something else, not a ledger")
        if found[0] > FORMAT:
            raise LedgerError(
                f"{self}: written by a newer Sordino (format {found[0]}; this one knows up to {FORMAT}); update Sordino"
            )

    def _check_same_ledger(self, connection: Any) -> None:
        found = connection.execute(f"SELECT identity FROM {SCHEMA}.ledger").fetchone()
        if found is None or found[0] != self._identity:
            raise LedgerError(
                f"{self}: the ledger was removed or replaced while it was open; nothing was released"
            )

    @contextmanager
    def _in_plain_words(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            told = _tell(error).format(patience=self._patience)
            raise LedgerError(f"{self}: {told}; nothing was released") from None


class _Statements:
    """A connection that is spoken to as every store is."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> Rows:
        """No statement of a ledger has a mark of its own."""
        rows: Rows = self._connection.execute(statement.replace("?", "%s"), tuple(parameters) or None)
        return rows


def has_ledger(url: str) -> bool:
    """Whether there is a ledger, or something in its place, in a database that can be reached."""
    psycopg = _driver()
    name, _ = _describe(psycopg, url)
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=10) as connection:
            return _has_schema(connection)
    except psycopg.Error as error:
        raise LedgerError(f"{name}: {_tell(error).format(patience=10)}") from None


def _has_schema(connection: Any) -> bool:
    found = connection.execute("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %s", (SCHEMA,))
    return found.fetchone() is not None


def _tell(error: Any) -> str:
    """What went wrong, without what the driver says of the address."""
    state = error.sqlstate
    if state in _WORDS:
        return _WORDS[state]
    if state is not None and not state.startswith(("08", "57P")):
        said = error.diag.message_primary or state
        return f"PostgreSQL says {said}".replace("{", "(").replace("}", ")")
    text = str(error)
    if "password" in text or "authentication" in text:
        return _WORDS["28P01"]
    if "does not exist" in text:
        return "there is no such database or user on the server"
    if state is None and not isinstance(error, _driver().OperationalError):
        return f"it cannot keep this ({type(error).__name__}: a text with a zero byte, for instance)"
    return "the server cannot be reached, or the connection to it was lost"


def _describe(psycopg: Any, url: str) -> tuple[str, bool]:
    """Where and what, without the password; and whether the address can be shown as it is."""
    try:
        parts = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        parts = {"port": ""}
    host, port = parts.get("host", "localhost"), str(parts.get("port", 5432))
    # What cannot be parsed, or only by taking the password apart at its @ or /, cannot be shown either.
    if not re.fullmatch("[0-9,]+", port) or "@" in host or "@" in parts.get("dbname", ""):
        raise ParameterError(
            "the address of the ledger cannot be read: it must be postgresql://user:password@host:port/database, with "
            "special characters of the password percent-encoded"
        )
    where = f"ledger at {host}:{port} (database {parts.get('dbname', 'default')}, user {parts.get('user', 'default')})"
    return where, not {"password", "sslpassword"} & parts.keys()


def _driver() -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError(
            "a ledger on PostgreSQL needs psycopg: pip install 'sordino[postgres]'"
        ) from None
    return psycopg


def _after_fork() -> None:
    for store in list(_stores):
        store.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
