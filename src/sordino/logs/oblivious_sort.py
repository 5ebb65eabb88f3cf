"""Sorting of secret rows by secret bits: Batcher's odd-even merge network, the same exchanges for all inputs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sordino.logs.field import Numbers, add_mod, constant, multiply_mod, subtract_mod
from sordino.logs.machine import Machine

_ONE = constant(1)
_TWO = np.uint64(2)


def sort_rows(keys: Numbers, rows: Numbers, machine: Machine) -> Numbers:
    """The rows in the order of their keys, given as bits with the highest first; rows of equal keys keep their order.

    For that, the bits of a row's place at the start are the lowest bits of its key.
    """
    n = len(keys)
    places = np.arange(n)
    width = max(n - 1, 1).bit_length()
    ties = constant((places[:, None] >> np.arange(width - 1, -1, -1)) & 1)
    state = np.concatenate([keys, ties, rows], axis=1)
    length = keys.shape[1] + width
    for low, high in list_exchanges(n):
        swapped = _is_before(state[high, :length], state[low, :length], machine)
        gap = subtract_mod(state[high], state[low])
        moved = machine.multiply(np.repeat(swapped, gap.shape[1]), gap.reshape(-1)).reshape(gap.shape)
        state[low], state[high] = add_mod(state[low], moved), subtract_mod(state[high], moved)
    return state[:, length:]


def list_exchanges(n: int) -> Iterator[tuple[list[int], list[int]]]:
    """Stages of disjoint exchanges (low, high). A network for the next power of two, without what lies beyond n.

    What lies beyond would be larger than everything, and would never move.
    """
    block = 1
    while block < n:
        distance = block
        while distance:
            low = [
                start + offset
                for start in range(distance % block, n - distance, 2 * distance)
                for offset in range(min(distance, n - distance - start))
                if (start + offset) // (2 * block) == (start + offset + distance) // (2 * block)
            ]
            if low:
                yield low, [place + distance for place in low]
            distance //= 2
        block *= 2


def _is_before(left: Numbers, right: Numbers, machine: Machine) -> Numbers:
    """1 where a row of bits is the smaller number, else 0: pairs of neighbouring bits are joined until one is left."""
    both = machine.multiply(left.reshape(-1), right.reshape(-1)).reshape(left.shape)
    less = subtract_mod(right, both)
    same = add_mod(subtract_mod(subtract_mod(_ONE, left), right), multiply_mod(both, _TWO))
    while less.shape[1] > 1:
        half = less.shape[1] // 2
        above, below = slice(0, 2 * half, 2), slice(1, 2 * half, 2)
        upper = same[:, above]
        factors = np.concatenate([less[:, below], same[:, below]], axis=1)
        found = machine.multiply(np.concatenate([upper, upper], axis=1).reshape(-1), factors.reshape(-1))
        joined_less, joined_same = np.split(found.reshape(factors.shape), 2, axis=1)
        less = np.concatenate([add_mod(less[:, above], joined_less), less[:, 2 * half :]], axis=1)
        same = np.concatenate([joined_same, same[:, 2 * half :]], axis=1)
    return less[:, 0]
