"""Tokens: who may ask, kept in one SQLite file of hashes. A token itself is shown once, when it is made."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sordino.core import LedgerError, ParameterError
from sordino.core.closing import Closing
from sordino.sampling.source import random_bytes
from sordino.server.hashing import hash_token, matches_token
from sordino.server.identity import Identity
from sordino.server.scram import Verifier, make_verifier, mock_salt

_SCHEMA = """
CREATE TABLE IF NOT EXISTS names (name TEXT PRIMARY KEY, salt BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tokens (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, owner INTEGER NOT NULL, made TEXT NOT NULL, expires TEXT, revoked TEXT,
  hash TEXT NOT NULL, stored_key BLOB NOT NULL, server_key BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS visits (hash BLOB PRIMARY KEY, token TEXT NOT NULL, until TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS server (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), secret BLOB NOT NULL);
"""
_APPLICATION = 0x536F7254  # "SorT"
_TOKEN = re.compile(r"sdt_([a-z2-7]{8})_([A-Za-z0-9_-]{43})")
_LIFE = re.compile(r"([1-9][0-9]{0,5}) ?(minute|hour|day|week|year)s?")
_SECONDS = {"minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400, "year": 365 * 86400}
_REMEMBERED = 1000
_VISITS = 20  # of one token at once, the latest


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token that was made: all but itself."""

    id: str
    name: str
    owner: bool
    made: str
    expires: str | None
    revoked: str | None

    @property
    def valid(self) -> bool:
        """Whether it opens anything now."""
        return self.revoked is None and (self.expires is None or self.expires > _now())

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {name: getattr(self, name) for name in self.__slots__} | {"valid": self.valid}


class Tokens(Closing):
    """The tokens of a server.

    **What is kept**: of every token an argon2id hash for HTTP and Flight, and the two keys of SCRAM-SHA-256 for
    PostgreSQL's protocol. A token has 256 random bits, so neither hash can be searched. All tokens of a name share one
    salt, since SCRAM shows a salt before it knows which of them is used. A visit to the console has a random cookie, of
    which the digest is kept: nothing in the file opens anything.
    **What is told**: nothing tells a wrong token from an unknown, an expired or a revoked one, by text or by time.
    A revoked token stops working at the next request, in every process that uses the file.
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = False) -> None:
        """``create``: make the file if there is none."""
        self.path = Path(path)
        if not create and not self.path.exists():
            raise ParameterError(
                f"tokens {self.path}: no such file; 'sordino token add NAME --owner --tokens {self.path}' makes it"
            )
        self._lock = threading.RLock()
        self._checked: dict[bytes, str] = {}  # digests of tokens whose slow hash was compared already
        try:
            if not self.path.exists():
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            self._connection = sqlite3.connect(
                self.path, timeout=10, check_same_thread=False, isolation_level=None
            )
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise LedgerError(
                f"tokens {self.path}: the file cannot be opened ({type(error).__name__})"
            ) from None

    def add(self, name: str, *, owner: bool = False, expires: str | None = None) -> tuple[str, Token]:
        """A new token and what is kept of it. ``expires``: a length such as "30 days"; never unless given."""
        _check_name(name)
        ends = None if expires is None else _text(datetime.now(UTC) + read_life(expires))
        identity = base64.b32encode(random_bytes(5)).decode().lower()
        secret = base64.urlsafe_b64encode(random_bytes(32)).decode().rstrip("=")
        text = f"sdt_{identity}_{secret}"
        made = Token(identity, name, owner, _now(), ends, None)
        with self._transaction() as connection:
            # As it looked while nobody had the name: who asked for it before learns nothing from it now.
            connection.execute("INSERT OR IGNORE INTO names VALUES (?, ?)", (name, self.salt(name)))
            (salt,) = connection.execute("SELECT salt FROM names WHERE name = ?", (name,)).fetchone()
            keys = make_verifier(text, salt)
            connection.execute(
                "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?)",
                (identity, name, owner, made.made, ends, hash_token(text), keys.stored_key, keys.server_key),
            )
        return text, made

    def revoke(self, token_id: str) -> Token:
        """Close a token for good; revoking it again changes nothing."""
        with self._transaction() as connection:
            found = self._find(token_id)
            if found is None:
                raise ParameterError(f"no token {token_id!r} in {self.path}; 'sordino token list' shows them")
            if found.revoked is None:
                connection.execute("UPDATE tokens SET revoked = ? WHERE id = ?", (_now(), token_id))
        revoked = self._find(token_id)
        return found if revoked is None else revoked

    def all(self) -> list[Token]:
        """All tokens, in the order in which they were made."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT id, name, owner, made, expires, revoked FROM tokens ORDER BY made, id"
            ).fetchall()
        return [_token(row) for row in rows]

    def check(self, text: str | None) -> Identity | None:
        """Who a token speaks for; None for every other text, after the same work."""
        found = _TOKEN.fullmatch(text or "")
        identity = found[1] if found is not None else ""
        digest = _digest(text or "")
        with self._lock:
            row = self._connection.execute("SELECT hash FROM tokens WHERE id = ?", (identity,)).fetchone()
            known = self._checked.get(digest) == identity and bool(identity)
        if not known and not matches_token(None if row is None else row[0], text or ""):
            return None
        token = self._find(identity)
        if token is None or not token.valid:
            return None
        with self._lock:
            if len(self._checked) >= _REMEMBERED:
                self._checked.clear()
            self._checked[digest] = identity
        return Identity(token.name, token.owner, token.id)

    def salt(self, name: str) -> bytes:
        """The salt of a name for SCRAM; one that looks the same for names that nobody has."""
        with self._lock:
            row = self._connection.execute("SELECT salt FROM names WHERE name = ?", (name,)).fetchone()
            (secret,) = self._connection.execute("SELECT secret FROM server").fetchone()
        return mock_salt(secret, name) if row is None else bytes(row[0])

    def verifiers(self, name: str) -> list[tuple[Identity, Verifier]]:
        """The SCRAM keys of the valid tokens of a name."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT id, name, owner, made, expires, revoked, stored_key, server_key FROM tokens WHERE name = ?",
                (name,),
            ).fetchall()
        found = [(_token(row[:6]), Verifier(bytes(row[6]), bytes(row[7]))) for row in rows]
        return [(Identity(item.name, item.owner, item.id), keys) for item, keys in found if item.valid]

    def still_valid(self, identity: Identity) -> bool:
        """Whether the token of a connection that is open has not been revoked or ended since."""
        token = self._find(identity.token)
        return token is not None and token.valid

    def begin_visit(self, identity: Identity, hours: float) -> str:
        """A cookie that stands for a token that was shown, for some hours, in every process that uses the file."""
        cookie = base64.urlsafe_b64encode(random_bytes(32)).decode().rstrip("=")
        until = _text(datetime.now(UTC) + timedelta(hours=hours))
        with self._transaction() as connection:
            connection.execute("DELETE FROM visits WHERE until <= ?", (_now(),))
            connection.execute(
                "INSERT INTO visits VALUES (?, ?, ?)", (_digest(cookie), identity.token, until)
            )
            connection.execute(
                "DELETE FROM visits WHERE token = ? AND rowid NOT IN "
                "(SELECT rowid FROM visits WHERE token = ? ORDER BY rowid DESC LIMIT ?)",
                (identity.token, identity.token, _VISITS),
            )
        return cookie

    def visitor(self, cookie: str | None) -> Identity | None:
        """Whose visit a cookie is, if it lasts and its token still opens."""
        with self._lock:
            row = self._connection.execute(
                "SELECT token FROM visits WHERE hash = ? AND until > ?", (_digest(cookie or ""), _now())
            ).fetchone()
        token = None if row is None else self._find(row[0])
        return Identity(token.name, token.owner, token.id) if token is not None and token.valid else None

    def end_visit(self, cookie: str | None) -> None:
        """The cookie opens nothing more."""
        if self.visitor(cookie) is None:
            return
        with self._transaction() as connection:
            connection.execute("DELETE FROM visits WHERE hash = ?", (_digest(cookie or ""),))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _find(self, token_id: str) -> Token | None:
        with self._lock:
            row = self._connection.execute(
                "SELECT id, name, owner, made, expires, revoked FROM tokens WHERE id = ?", (token_id,)
            ).fetchone()
        return None if row is None else _token(row)

    def _prepare(self) -> None:
        application = self._connection.execute("PRAGMA application_id").fetchone()[0]
        empty = not self._connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        if not empty and application != _APPLICATION:
            raise LedgerError(f"tokens {self.path}: the file is something else, not a file of tokens")
        with self._transaction() as connection:
            for statement in _SCHEMA.split(";\n"):
                connection.execute(statement)
            connection.execute("INSERT OR IGNORE INTO server VALUES (1, ?)", (random_bytes(32),))
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise


def read_life(text: str) -> timedelta:
    """``"30 days"``, ``"12 hours"``."""
    found = _LIFE.fullmatch(text.strip().lower()) if isinstance(text, str) else None
    if found is None:
        raise ParameterError(f"expires must be a length such as '30 days' or '12 hours', got {text!r}")
    return timedelta(seconds=int(found[1]) * _SECONDS[found[2]])


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.strip() or len(name) > 63 or not name.isprintable():
        raise ParameterError(f"a name must be printable and of 1 to 63 characters, got {name!r}")


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="replace")).digest()


def _token(row: tuple[Any, ...]) -> Token:
    return Token(row[0], row[1], bool(row[2]), row[3], row[4], row[5])


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _now() -> str:
    return _text(datetime.now(UTC))
