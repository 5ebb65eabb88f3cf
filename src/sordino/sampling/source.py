"""Where random bits come from: the operating system, buffered, safe across forks and threads.

Every draw in Sordino ends in `random_bits` or `random_words`. A seeded source can be put in their place only by
``sordino.testing.seeded``; `is_private` says whether that has happened.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BUFFER_BYTES = 4096

_override: ContextVar[Callable[[int], bytes] | None] = ContextVar("sordino_seeded_source", default=None)
_generation = 0


class _Buffer(threading.local):
    """Unused entropy of one thread; a fork starts a new generation, which drops what the parent had fetched."""

    def __init__(self) -> None:
        self.content = b""
        self.position = 0
        self.generation = _generation


_buffer = _Buffer()


def _new_generation() -> None:
    global _generation
    _generation += 1


os.register_at_fork(after_in_child=_new_generation)


def random_bytes(count: int) -> bytes:
    """``count`` fresh bytes; no byte is ever handed out twice, in no thread and no forked process."""
    seeded = _override.get()
    if seeded is not None:
        return seeded(count)
    if count > _BUFFER_BYTES // 4:
        return os.urandom(count)
    if _buffer.generation != _generation or _buffer.position + count > len(_buffer.content):
        _buffer.content = os.urandom(_BUFFER_BYTES)
        _buffer.position = 0
        _buffer.generation = _generation
    start = _buffer.position
    _buffer.position = start + count
    return _buffer.content[start : start + count]


def random_bits(count: int) -> int:
    """A uniform integer of ``count`` bits."""
    size = (count + 7) // 8
    return int.from_bytes(random_bytes(size), "little") >> (8 * size - count)


def random_below(bound: int) -> int:
    """A uniform integer in [0, bound), by rejection: exact for every bound."""
    bits = (bound - 1).bit_length()
    while True:
        value = random_bits(bits)
        if value < bound:
            return value


def random_words(count: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """``count`` uniform machine words of the given unsigned type."""
    return np.frombuffer(random_bytes(count * np.dtype(dtype).itemsize), dtype=dtype)


def is_private() -> bool:
    """Whether draws come from the operating system (False inside ``sordino.testing.seeded``)."""
    return _override.get() is None


@contextmanager
def overridden(generate: Callable[[int], bytes]) -> Iterator[None]:
    """Put ``generate`` in place of the operating system; for ``sordino.testing`` only."""
    token = _override.set(generate)
    try:
        yield
    finally:
        _override.reset(token)
