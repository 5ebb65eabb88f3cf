"""A uniform number in [0, 1) of which only as many bits exist as some comparison needed."""

from __future__ import annotations

import os
import threading
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpz

from sordino.sampling.source import random_bits

FIRST_BITS = 64


class RefinedUniform:
    """U lies in [numerator, numerator + 1] / 2^bits; `refine` draws more bits of the same U.

    The law of whatever is decided by comparing U with a real number is exact: bits are added until the comparison
    is certain, and only then is it answered.
    """

    __slots__ = ("bits", "numerator")

    def __init__(self, numerator: int | None = None, bits: int = FIRST_BITS) -> None:
        self.bits = bits
        self.numerator = random_bits(bits) if numerator is None else numerator

    def refine(self) -> None:
        """Double the number of known bits."""
        self.numerator = (self.numerator << self.bits) | random_bits(self.bits)
        self.bits *= 2

    def lower(self) -> arb:
        """The lower end of what is known, as a ball at the current precision."""
        return arb(fmpq(fmpz(self.numerator), fmpz(1) << self.bits))

    def upper(self) -> arb:
        """The upper end of what is known, as a ball at the current precision."""
        return arb(fmpq(fmpz(self.numerator + 1), fmpz(1) << self.bits))

    def midpoint(self) -> float:
        """A float near U, for first guesses only."""
        return float(Fraction(2 * self.numerator + 1, 1 << (self.bits + 1)))


# python-flint has one working precision for the whole process. Whoever changes it holds this lock until it is restored.
_lock = threading.RLock()


class precision:  # noqa: N801 - reads as a statement: `with precision(bits):`
    """Run the block with ball arithmetic of ``bits`` bits, and no other thread's block meanwhile.

    Blocks may nest within a thread; the precision that was found is restored, whatever happens inside. A fork waits
    until no other thread is in a block, so that a child never inherits a precision that nobody will restore. Balls are
    rigorous at every precision: the lock keeps draws fast and the precision of other users of python-flint untouched,
    and the law of a draw does not rest on it.
    """

    __slots__ = ("bits", "saved")

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def __enter__(self) -> None:
        _lock.acquire()
        try:
            self.saved = ctx.prec
            ctx.prec = self.bits
        except BaseException:
            _lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            ctx.prec = self.saved
        finally:
            _lock.release()


os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
