"""The sorting network, and rows sorted by secret bits."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np

from sordino.logs.machine import Emulation, Machine
from sordino.logs.oblivious_sort import list_exchanges, sort_rows


def test_the_network_sorts_all_zeros_and_ones():
    """A network that sorts all sequences of zeros and ones sorts everything."""
    for n in range(13):
        stages = list(list_exchanges(n))
        assert all(len({*low, *high}) == 2 * len(low) for low, high in stages)
        for sequence in product((0, 1), repeat=n):
            state = list(sequence)
            for low, high in stages:
                for i, j in zip(low, high, strict=True):
                    state[i], state[j] = sorted((state[i], state[j]))
            assert state == sorted(sequence)


def test_a_network_without_its_last_stage_does_not_sort():
    *stages, _ = list_exchanges(8)
    failed = 0
    for sequence in product((0, 1), repeat=8):
        state = list(sequence)
        for low, high in stages:
            for i, j in zip(low, high, strict=True):
                state[i], state[j] = sorted((state[i], state[j]))
        failed += state != sorted(sequence)
    assert failed


def test_rows_are_sorted_stably_with_one_trace_for_all_keys():
    random = Random("sort")
    for n in (1, 2, 7, 13):
        traces = set()
        for _ in range(20):
            keys = [random.randrange(8) for _ in range(n)]
            bits = np.array([[(key >> bit) & 1 for bit in (2, 1, 0)] for key in keys], np.uint64)
            rows = np.array([[place, random.randrange(2**60)] for place in range(n)], np.uint64)
            machine = Machine(Emulation())
            found = sort_rows(bits, rows, machine)
            order = sorted(range(n), key=lambda place: keys[place])
            assert found.tolist() == rows[order].tolist()
            traces.add(machine.operations.trace)
        assert len(traces) == 1
