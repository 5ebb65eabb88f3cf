"""Entropy: never the same bytes twice, in no thread and no forked process."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from sordino.core import ParameterError
from sordino.sampling import source
from sordino.testing import seeded


def test_forked_workers_never_draw_the_same_bytes():
    source.random_bytes(5)  # leaves a buffer that a child must not use
    drawn = []
    for _ in range(8):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            os.write(write, source.random_bytes(16))
            os._exit(0)
        os.close(write)
        drawn.append(os.read(read, 16))
        os.close(read)
        os.waitpid(child, 0)
    drawn += [source.random_bytes(16) for _ in range(8)]
    assert all(len(piece) == 16 for piece in drawn)
    assert len(set(drawn)) == 16


def test_the_fork_test_would_catch_a_shared_buffer():
    """Control: with the generation counter held still, a child repeats what its parent draws next."""
    source.random_bytes(5)
    read, write = os.pipe()
    held = source._generation
    child = os.fork()
    if child == 0:
        source._generation = held
        os.write(write, source.random_bytes(16))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 16) == source.random_bytes(16)
    os.close(read)
    os.close(write)


def test_threads_never_draw_the_same_bytes():
    drawn: list[bytes] = []
    lock = threading.Lock()

    def work():
        pieces = [source.random_bytes(12) for _ in range(2000)]
        with lock:
            drawn.extend(pieces)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == 16_000


@pytest.mark.parametrize("count", [1, 100, 1024, 4096, 10_000])
def test_every_size_is_served(count):
    assert len(source.random_bytes(count)) == count
    assert len(source.random_words(count, np.uint16)) == count


def test_uniform_integers_are_exact_at_the_edges():
    assert source.random_below(1) == 0
    with seeded(0):
        values = [source.random_below(3) for _ in range(3000)]
    # 3000 throws of a three-sided die: 6 standard deviations, a false alarm below 1e-8 over seeds
    assert all(abs(values.count(face) - 1000) < 6 * np.sqrt(3000 * 2 / 9) for face in range(3))
    assert {source.random_bits(3) for _ in range(400)} == set(range(8))


def test_seeds_are_checked_and_end_with_their_block():
    with pytest.raises(ParameterError, match="seed must be >= 0"), seeded(-1):
        pass
    with seeded(3):
        assert not source.is_private()
    assert source.is_private()
