"""Attempts: how fast tokens may be tried and questions asked. What is refused says nothing about why."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

_KEPT = 10_000  # of names and addresses, the latest ones


@dataclass(slots=True)
class Allowance:
    """So many at once, and so many per second after that, for each key by itself; memory is bounded.

    A key that was forgotten begins anew. Who fills the memory with keys can therefore forget only what is older than
    all of them; the address as a whole has an allowance too.
    """

    burst: float
    per_second: float
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _left: OrderedDict[Hashable, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, key: Hashable) -> bool:
        """Use one up; False if there is none."""
        with self._lock:
            left = self._present(key)
            self._keep(key, left - 1 if left >= 1 else left)
            return left >= 1

    def has(self, key: Hashable) -> bool:
        """Whether there is one."""
        with self._lock:
            return self._present(key) >= 1

    def _present(self, key: Hashable) -> float:
        left, since = self._left.get(key, (self.burst, self.clock()))
        return min(self.burst, left + (self.clock() - since) * self.per_second)

    def _keep(self, key: Hashable, left: float) -> None:
        self._left[key] = (left, self.clock())
        self._left.move_to_end(key)
        while len(self._left) > _KEPT:
            self._left.popitem(last=False)


class Attempts:
    """Failed tries of tokens, by who tries what from where.

    Ten wrong tries with one name from one address, or a hundred from one address, close that door for further tries
    until some time has passed. A closed door answers like a wrong token, to right ones as well, so that nothing is
    learned by trying on.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._by_name = Allowance(10, 10 / 60, clock)
        self._by_address = Allowance(100, 100 / 60, clock)

    def open_for(self, address: str, name: str) -> bool:
        """Whether a try is looked at."""
        return self._by_name.has((address, name)) and self._by_address.has(address)

    def failed(self, address: str, name: str) -> None:
        """A try was wrong."""
        self._by_name.take((address, name))
        self._by_address.take(address)
