"""What a client refers to by a handle: prepared questions, and tickets of answers."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sordino.sampling.source import random_bytes

_MOST = 200  # of one token, those used last


@dataclass(slots=True)
class SentQuestion:
    """A question that was sent, and its answer once it was fetched."""

    sql: str
    options: dict[str, Any]
    answer: pa.Table | None = None
    turn: threading.Lock = field(default_factory=threading.Lock)


class Handles:
    """Questions by token and handle: nobody finds those of another, nor makes room at another's cost."""

    def __init__(self) -> None:
        self._kept: dict[str, OrderedDict[bytes, SentQuestion]] = {}
        self._lock = threading.Lock()

    def keep(self, token: str, asked: SentQuestion) -> bytes:
        """A new handle."""
        handle = random_bytes(16)
        with self._lock:
            own = self._kept.setdefault(token, OrderedDict())
            own[handle] = asked
            if len(own) > _MOST:
                own.popitem(last=False)
        return handle

    def find(self, token: str, handle: bytes) -> SentQuestion | None:
        """What was kept, which is then the last to be forgotten."""
        with self._lock:
            own = self._kept.get(token, OrderedDict())
            if handle in own:
                own.move_to_end(handle)
            return own.get(handle)

    def forget(self, token: str, handle: bytes) -> None:
        """Nothing happens where nothing is kept."""
        with self._lock:
            self._kept.get(token, OrderedDict()).pop(handle, None)
