"""Anchor: what the owner keeps elsewhere of a ledger, so that an older or a rewritten one is found."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from sordino.core import LedgerError, ParameterError
from sordino.ledger.chain import ChainLink, follow_chain
from sordino.ledger.storage import Connection


@dataclass(frozen=True, slots=True)
class Anchor:
    """Number and hash of the last event of a ledger at some time.

    >>> from sordino.ledger import Ledger, Limit
    >>> ledger = Ledger.in_memory()
    >>> account = ledger.grant("shop", "ann", Limit.of(epsilon=2))
    >>> anchor = ledger.anchor()
    >>> account = ledger.grant("shop", "bob", Limit.of(epsilon=2))
    >>> anchor.number, ledger.verify(anchor).number
    (1, 2)
    """

    number: int
    hash: str
    time: str

    @classmethod
    def of(cls, link: ChainLink) -> Anchor:
        """The anchor of now."""
        return cls(link.number, link.hash, datetime.now(UTC).isoformat(timespec="seconds"))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Anchor:
        """From a file that `save` wrote."""
        try:
            content = json.loads(Path(path).read_text("utf-8"))
            number, found, time = (content["sordino_anchor"][name] for name in ("number", "hash", "time"))
        except OSError as error:
            raise ParameterError(f"anchor {path}: {(error.strerror or 'unreadable').lower()}") from None
        except (ValueError, KeyError, TypeError):
            raise ParameterError(
                f"anchor {path}: not an anchor; 'sordino ledger anchor' writes one"
            ) from None
        whole = isinstance(number, int) and not isinstance(number, bool) and number >= 0
        if not whole or not isinstance(found, str) or not re.fullmatch("[0-9a-f]{64}", found):
            raise ParameterError(f"anchor {path}: it has no number and hash of an event")
        return cls(number, found, str(time))

    def save(self, path: str | os.PathLike[str]) -> None:
        """To a small JSON file, replaced as a whole."""
        target = Path(path)
        fresh = target.with_name(f".{target.name}.new")
        try:
            with fresh.open("w", encoding="utf-8") as file:
                file.write(json.dumps({"sordino_anchor": asdict(self)}, indent=2) + "\n")
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(target)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise ParameterError(f"anchor {path}: {(error.strerror or 'not writable').lower()}") from None


def check_chain(connection: Connection, name: str, anchor: Anchor | None) -> ChainLink:
    """The last link, if every event fits the chain and the chain goes through the anchor; LedgerError if not."""
    last = ChainLink()
    anchored = anchor is None or ChainLink(anchor.number, anchor.hash) == last
    try:
        for last in follow_chain(connection):
            if anchor is not None and last.number == anchor.number:
                anchored = last.hash == anchor.hash
    except LedgerError as error:
        raise LedgerError(f"{name}: {error}") from None
    if anchor is None or anchored:
        return last
    if last.number < anchor.number:
        raise LedgerError(
            f"{name}: it has {last.number} events and had {anchor.number} when it was anchored ({anchor.time}): it is "
            "an older copy, or its last events were removed"
        )
    raise LedgerError(
        f"{name}: event {anchor.number} or one before it is not what it was when it was anchored ({anchor.time}): the "
        "ledger was edited, or it is another one"
    )
