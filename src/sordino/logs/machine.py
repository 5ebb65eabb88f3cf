"""Machine: batches of products of secrets, counted, on whatever computes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from sordino.logs.field import Numbers, multiply_mod, sum_mod
from sordino.logs.operations import Operations


class Products(Protocol):
    """Who multiplies secrets. Sums, differences and public factors need nobody: each party does them on its shares."""

    def multiply(self, left: Numbers, right: Numbers) -> Numbers:
        """Products, place by place."""

    def combine(self, weights: Numbers, rows: Numbers) -> Numbers:
        """Σ weight·row: one number is sent for each column of the rows, however many rows there are."""


class Machine:
    """Counts every batch, and says after each how many products are done."""

    def __init__(self, products: Products, report: Callable[[int], None] | None = None) -> None:
        self._products = products
        self._report = report
        self._done = self._sent = 0
        self._trace: list[tuple[str, int]] = []

    def multiply(self, left: Numbers, right: Numbers) -> Numbers:
        """Products, place by place, in one round."""
        if not left.size:
            return left
        found = self._products.multiply(left, right)
        self._count("multiply", found.size, found.size)
        return found

    def combine(self, weights: Numbers, rows: Numbers) -> Numbers:
        """Σ weight·row in one round."""
        found = self._products.combine(weights, rows)
        self._count("combine", rows.size, found.size)
        return found

    @property
    def operations(self) -> Operations:
        """What has been done so far."""
        return Operations(self._done, self._sent, len(self._trace), tuple(self._trace))

    def _count(self, kind: str, products: int, sent: int) -> None:
        self._done += products
        self._sent += sent
        self._trace.append((kind, products))
        if self._report is not None:
            self._report(self._done)


class Emulation:
    """Products of the numbers themselves, in this process: the same steps without any secrecy."""

    def multiply(self, left: Numbers, right: Numbers) -> Numbers:
        """Products, place by place."""
        return multiply_mod(left, right)

    def combine(self, weights: Numbers, rows: Numbers) -> Numbers:
        """Σ weight·row."""
        return sum_mod(multiply_mod(weights[:, None], rows))


class CountingOnly:
    """No numbers at all, for knowing beforehand what a run will take."""

    def multiply(self, left: Numbers, right: Numbers) -> Numbers:
        """Zeros of the right shape."""
        return np.zeros(np.broadcast_shapes(left.shape, right.shape), np.uint64)

    def combine(self, weights: Numbers, rows: Numbers) -> Numbers:
        """Zeros of the right shape."""
        return np.zeros(rows.shape[1], np.uint64)
