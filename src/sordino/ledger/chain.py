"""The chain of the events: each holds a hash of its own content and of the hash before it.

**Guarantee**: whoever knows the hash of event n knows everything that events 1 to n say: other events with the same
hash would be a collision of SHA-256. So a chain that does not fit was edited, and a ledger that does not have the hash
which its owner has kept elsewhere (`anchor.py`) was edited, cut or replaced.
**Requires**: an anchor, against those who can write all of the ledger: they can chain what they like anew.
**How**: the hash is of the ASCII JSON of all columns that are not NULL, in the order of their names, and of the hash
before under ``previous``; that before the first event is 64 zeros. It is written with its event, in one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sordino.core import LedgerError
from sordino.ledger.storage import Connection, Rows


@dataclass(frozen=True, slots=True)
class ChainLink:
    """An event's number and hash; number 0 is before the first."""

    number: int = 0
    hash: str = "0" * 64


def hash_event(content: Mapping[str, Any], previous: str) -> str:
    """The hash of an event, as hexadecimal digits; ``content``: its columns by name."""
    told = {name: value for name, value in content.items() if value is not None and name != "hash"}
    text = json.dumps(told | {"previous": previous}, sort_keys=True, separators=(",", ":"), default=repr)
    return sha256(text.encode("ascii")).hexdigest()


def write_event(connection: Connection, content: Mapping[str, Any], previous: str) -> str:
    """Write an event with its hash, which is returned."""
    found = hash_event(content, previous)
    row = {**content, "hash": found}
    columns, marks = ", ".join(row), ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO events ({columns}) VALUES ({marks})", tuple(row.values()))
    return found


def find_last_link(connection: Connection) -> ChainLink:
    """Where the chain ends."""
    row = connection.execute("SELECT number, hash FROM events ORDER BY number DESC LIMIT 1").fetchone()
    return ChainLink() if row is None else ChainLink(*row)


def follow_chain(connection: Connection) -> Iterator[ChainLink]:
    """Every link, computed anew from what the events say; LedgerError where what is stored differs.

    A file of an older format, which is only looked at, has no hashes: there they are what an upgrade would write.
    """
    link = ChainLink()
    for row in read_by_name(connection.execute("SELECT * FROM events ORDER BY number")):
        if row["number"] != link.number + 1:
            raise LedgerError(f"event {link.number + 1} is missing: the events are not a chain")
        link = ChainLink(row["number"], hash_event(row, link.hash))
        if row["hash"] is not None and row["hash"] != link.hash:
            raise LedgerError(f"event {link.number} does not fit the chain: it, or one before it, was edited")
        yield link


def chain_anew(connection: Connection, events: str) -> None:
    """Write the events that the statement ``events`` finds in an older table, in its order and with their numbers."""
    previous = ChainLink().hash
    for row in read_by_name(connection.execute(events)):
        previous = write_event(connection, row, previous)


def read_by_name(rows: Rows) -> Iterator[dict[str, Any]]:
    """Every row by the names of its columns."""
    names = [column[0] for column in rows.description]
    for row in rows:
        yield dict(zip(names, row, strict=True))
