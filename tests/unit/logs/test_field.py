"""Arithmetic of the field against Python's whole numbers, and sharing."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from sordino import ParameterError
from sordino.logs.field import PRIME, add_mod, constant, draw_numbers, multiply_mod, subtract_mod, sum_mod
from sordino.logs.sharing import _share_with, open_shares, share

EDGES = [0, 1, 2, PRIME - 1, PRIME - 2, 2**29, 2**32 - 1, 2**32, 2**60, 2**60 - 1]


def draw(seed: str) -> list[int]:
    random = Random(seed)
    return [*EDGES, *(random.randrange(PRIME) for _ in range(500))]


def numbers(values: list[int]) -> np.ndarray:
    return np.array(values, np.uint64)


def test_every_pair_of_edges_and_random_numbers_is_exact():
    values = draw("pairs")
    left, right = (numbers(values)[:, None], numbers(values)[None, :])
    for found, exact in (
        (multiply_mod(left, right), lambda a, b: a * b),
        (add_mod(left, right), lambda a, b: a + b),
        (subtract_mod(left, right), lambda a, b: a - b),
    ):
        assert found.tolist() == [[exact(a, b) % PRIME for b in values] for a in values]


def test_sums_of_many_large_numbers_do_not_overflow():
    values = numbers([PRIME - 1] * 5000 + draw("sum"))
    assert sum_mod(np.stack([values, values], axis=1)).tolist() == [sum(map(int, values)) % PRIME] * 2


def test_constants_may_be_negative():
    assert constant([-1, 0, 3]).tolist() == [PRIME - 1, 0, 3]


def test_drawn_numbers_are_below_the_prime_and_differ():
    drawn = draw_numbers((100, 7))
    assert drawn.shape == (100, 7)
    assert int(drawn.max()) < PRIME
    assert len(np.unique(drawn)) == 700  # fails with probability below 700² / 2⁶² < 2e-13


def test_a_share_is_uniform_whatever_the_secret():
    """For every secret and every share there is exactly one slope: seen alone, a share says nothing."""
    secrets, shares = numbers(draw("secrets")), numbers(draw("shares"))
    for party, point in enumerate((1, 2, 3)):
        inverse = np.uint64(pow(point, -1, PRIME))
        slopes = multiply_mod(subtract_mod(shares, secrets), inverse)
        assert (_share_with(secrets, slopes)[party] == shares).all()


def test_shares_open_to_the_secret_and_sums_of_shares_to_the_sum():
    secret, other = numbers(draw("one")), numbers(draw("two"))
    first, second = share(secret), share(other)
    assert (open_shares(first) == secret).all()
    assert (
        open_shares([add_mod(a, b) for a, b in zip(first, second, strict=True)]) == add_mod(secret, other)
    ).all()
    assert all((a != secret).any() for a in first)


def test_shares_that_do_not_lie_on_a_line_are_refused():
    shares = share(numbers([5, 6]))
    shares[1] = add_mod(shares[1], constant([0, 1]))
    with pytest.raises(ParameterError, match="do not fit together; nothing was opened"):
        open_shares(shares)
