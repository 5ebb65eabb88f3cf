"""Shamir's secret sharing among three parties with threshold 1, modulo 2⁶¹ − 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sordino.core import ParameterError
from sordino.logs.field import PRIME, Numbers, add_mod, draw_numbers, multiply_mod, subtract_mod

PARTIES = 3


def share(secret: Numbers) -> list[Numbers]:
    """Three shares: the values at 1, 2 and 3 of a line through the secret at 0.

    Guarantee: the slope is uniform and independent of the secret, so any one share is uniform whatever the secret is.
    Two shares give the secret: parties must not collude.
    Requires: numbers below 2⁶¹ − 1.
    Source: Shamir, How to share a secret (1979).
    Numerics: exact; slopes from the operating system's entropy by rejection.
    """
    return _share_with(secret, draw_numbers(secret.shape))


def open_shares(shares: Sequence[Numbers]) -> Numbers:
    """The secret, from three shares that lie on a line; shares that do not are refused."""
    first, second, third = shares
    slope = subtract_mod(second, first)
    if (add_mod(second, slope) != third).any():
        raise ParameterError("the shares of the three parties do not fit together; nothing was opened")
    return subtract_mod(first, slope)


def _share_with(secret: Numbers, slopes: Numbers) -> list[Numbers]:
    return [
        add_mod(secret, multiply_mod(slopes, np.uint64(point % PRIME))) for point in range(1, PARTIES + 1)
    ]
