"""A watch on files that somebody may write to while they are read."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from sordino.core import EngineError
from sordino.engines.files import LONGEST_LINE

# File systems give times in steps of up to two seconds, and a second write within one shows no other time.
_TICK = 2 * 10**9


@dataclass(frozen=True, slots=True)
class Mark:
    """What tells a file from every other that stood or stands in its place.

    ``touched``: when its contents, name or owner last changed, which no program sets at will.
    """

    device: int
    number: int
    size: int
    written: int
    touched: int

    @property
    def settled(self) -> bool:
        """Whether every write from now on gives another mark."""
        return max(self.written, self.touched) < time.time_ns() - _TICK


@dataclass(frozen=True, slots=True)
class FileWatch:
    """``tables``: files of rows, read anew by every statement. ``database``: the file of an open database.

    A database file is read a part at a time, when it is needed, as it was when it was opened: another file in its place
    is not seen, but a write to it is the end.
    """

    tables: tuple[Path, ...]
    headers: tuple[bytes, ...]
    database: Path | None
    opened: Mark | None

    @classmethod
    def of(cls, tables: tuple[Path, ...] = (), database: Path | None = None) -> FileWatch:
        """From now on; of a database, before it is opened."""
        opened = None if database is None else _mark(database)
        return cls(tables, _read_headers(tables), database, opened)

    def take_state(self) -> tuple[Mark, ...]:
        """Equal before and after means that nobody wrote in between, but for two writes within a tick of the clock."""
        self._check_database()
        return tuple(map(_mark, self.tables))

    def check_headers(self) -> None:
        """What columns are called was read once, and views stand on it."""
        if _read_headers(self.tables) != self.headers:
            raise EngineError("a file has another header than when it was connected: connect again")

    def check(self, before: tuple[Mark, ...]) -> None:
        """Raise if somebody wrote since."""
        for path, now, then in zip(self.tables, self.take_state(), before, strict=True):
            if now != then:
                raise EngineError(
                    f"{path.name} changed during the snapshot: ask again when nobody writes to it"
                )

    def _check_database(self) -> None:
        if self.database is None or self.opened is None:
            return
        try:
            now = _mark(self.database)
        except EngineError:
            return  # what is open stays
        then = self.opened
        if (now.device, now.number) == (then.device, then.number) and (
            (now.size, now.written) != (then.size, then.written)
        ):
            raise EngineError(f"{self.database.name} was written to while it was open: connect again")


def _mark(path: Path) -> Mark:
    try:
        status = os.stat(path)
    except OSError:
        raise EngineError(f"{path.name} is gone: the files must stay as they were at connect") from None
    return Mark(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _read_headers(paths: tuple[Path, ...]) -> tuple[bytes, ...]:
    """The first line of each CSV file: what its columns are called. Nothing of the others."""
    lines = []
    for path in paths:
        try:
            with path.open("rb") as stream:
                lines.append(b"" if path.suffix.lower() == ".parquet" else stream.readline(LONGEST_LINE))
        except OSError:
            raise EngineError(
                f"{path.name} cannot be opened: check that it is there and may be read"
            ) from None
    return tuple(lines)
