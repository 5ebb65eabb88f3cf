"""A reproducible source of bits. What it produces is marked as not private."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from sordino.core.parameters import whole
from sordino.sampling import source


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Make every draw inside the block reproducible, and every release inside it say that it is not private.

    >>> import sordino as sd
    >>> from sordino.testing import seeded
    >>> def draw():
    ...     with seeded(7):
    ...         return sd.add_noise(41, 1, epsilon=0.5, step=1)
    >>> draw().value == draw().value, draw().private
    (True, False)
    """
    whole("seed", seed, least=0)
    drawn = 0

    def generate(count: int) -> bytes:
        nonlocal drawn
        drawn += 1
        return hashlib.shake_256(f"sordino-test/{seed}/{drawn}".encode()).digest(count)

    with source.overridden(generate):
        yield
