"""Messages that are nearly right, for the fuzzers of both binary protocols."""

from __future__ import annotations

import random


def mutate(content: bytes, draw: random.Random) -> bytes:
    """A few bytes changed, lost or added, or the end cut off."""
    made = bytearray(content)
    for _ in range(draw.randint(1, 6)):
        way = draw.randrange(4)
        place = draw.randrange(len(made) + 1)
        if way == 0 and made:
            made[place % len(made)] = draw.randrange(256)
        elif way == 1:
            del made[place : place + draw.randint(1, 8)]
        elif way == 2:
            made[place:place] = draw.randbytes(draw.randint(1, 8))
        else:
            made = made[:place]
    return bytes(made)
