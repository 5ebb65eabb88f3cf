"""Journal: who did what, as an append-only file in which every line holds the hash of the one before.

It says who asked which question and how that ended, who logged in or failed to, and what the owner did. It holds no
answer and nothing else that was computed from rows. A line that was changed, removed or put in breaks the chain from
there on; that lines were cut off at the end is seen by whoever kept the last hash (`Journal.verify`).
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

from sordino.core import LedgerError
from sordino.core.json_form import plain_data

flock: ModuleType | None
try:
    import fcntl as flock
except ImportError:  # no such locks on this system: one process at a time
    flock = None

FIRST = "0" * 64  # the hash before the first line
_STEP = 1 << 20  # bytes that are read at once, from the end


class Journal:
    """One file; several threads and processes may write to it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._last: tuple[int, int, str] | None = None  # size, number and hash after our latest line
        try:
            self._descriptor = os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
            with suppress(OSError):
                os.lseek(self._descriptor, 0, os.SEEK_END)
        except OSError as error:
            raise LedgerError(
                f"journal {self.path}: {(error.strerror or 'cannot be opened').lower()}"
            ) from None

    def write(self, event: str, **facts: Any) -> None:
        """Append one line, durably."""
        with self._lock:
            try:
                self._append(event, facts)
            except OSError as error:
                raise LedgerError(
                    f"journal {self.path}: {(error.strerror or 'cannot be written').lower()}; nothing was done"
                ) from None

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _append(self, event: str, facts: Mapping[str, Any]) -> None:
        if flock is not None:
            flock.flock(self._descriptor, flock.LOCK_EX)
        try:
            number, previous = self._tail()
            moment = datetime.now(UTC).isoformat(timespec="milliseconds")
            content = {"number": number + 1, "time": moment, "event": event, **plain_data(dict(facts))}
            line, digest = chain(content, previous)
            os.write(self._descriptor, line)
            os.fsync(self._descriptor)
            self._last = os.fstat(self._descriptor).st_size, number + 1, digest
        finally:
            if flock is not None:
                flock.flock(self._descriptor, flock.LOCK_UN)

    def _tail(self) -> tuple[int, str]:
        """Number and hash of the last line; read again if somebody else wrote."""
        size = os.fstat(self._descriptor).st_size
        if self._last is not None and self._last[0] == size:
            return self._last[1], self._last[2]
        if not size:
            return 0, FIRST
        start, text = size, b""
        while (
            start
        ):  # backwards, until there is a whole line: a question may be long, and a broken line longer
            step = min(start, _STEP)
            start -= step
            text = os.pread(self._descriptor, step, start) + text
            lines = text.split(b"\n")
            for line in reversed(lines if not start else lines[1:]):
                with suppress(ValueError, KeyError, TypeError):
                    known = json.loads(line)
                    self._mend(text)
                    return int(known["number"]), str(known["hash"])
        raise LedgerError(f"journal {self.path}: the file is something else, not a journal")

    def _mend(self, text: bytes) -> None:
        if not text.endswith(b"\n"):  # a writer died within its line: that line stays, visibly broken
            os.write(self._descriptor, b"\n")


def chain(content: Mapping[str, Any], previous: str) -> tuple[bytes, str]:
    """A line and its hash, which covers the hash of the line before."""
    text = json.dumps(content, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(f"{previous}\n{text}".encode()).hexdigest()
    line = json.dumps(
        {**content, "previous": previous, "hash": digest}, ensure_ascii=True, separators=(",", ":")
    )
    return f"{line}\n".encode(), digest


def verify_journal(path: str | os.PathLike[str], *, last: str | None = None) -> tuple[int, str]:
    """The number of lines and the last hash; LedgerError at the first line that does not fit.

    ``last``: a hash that was kept before; the journal must still hold it.
    """
    previous, number, seen = FIRST, 0, last is None or last == FIRST
    try:
        with open(path, encoding="ascii") as lines:
            for number, line in enumerate(lines, 1):
                content = json.loads(line)
                digest = content.pop("hash")
                if content.pop("previous") != previous or content["number"] != number:
                    raise ValueError
                if chain(content, previous)[1] != digest:
                    raise ValueError
                previous, seen = digest, seen or digest == last
    except OSError as error:
        raise LedgerError(f"journal {path}: {(error.strerror or 'cannot be read').lower()}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise LedgerError(
            f"journal {path}: line {number} was changed, or stands in the wrong place"
        ) from None
    if not seen:
        raise LedgerError(
            f"journal {path}: the hash that was kept is not in it: lines were cut off or rewritten"
        )
    return number, previous
