"""Values as 61-bit codes: a keyed hash, with a key that the owners have in common and the parties never see."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from sordino.logs.entries import Entries
from sordino.logs.field import PRIME, Numbers, draw_numbers
from sordino.sampling.source import random_bytes

_KEY_BYTES = 32


def draw_key() -> bytes:
    """A fresh key for one run."""
    return random_bytes(_KEY_BYTES)


def encode_secretly(entries: Entries, key: bytes) -> Numbers:
    """One row of codes per entry; a NULL gets a code of its own, uniform and fresh.

    Among n entries with v columns, two different values get equal codes, or a NULL that of a value, with probability
    below n²v²·2⁻⁶⁰.
    """
    codes = draw_numbers((len(entries), len(entries.values)))
    for place, column in enumerate(entries.values):
        for row, text in enumerate(entries.compared(column).to_pylist()):
            if text is not None:
                codes[row, place] = np.uint64(hash_text(text, key))
    return codes


def hash_text(text: str, key: bytes) -> int:
    """The code of a value: 128 bits of BLAKE2b, reduced."""
    return int.from_bytes(blake2b(text.encode(), key=key, digest_size=16).digest(), "little") % PRIME
