"""The working precision of ball arithmetic: one for the process, and never left changed."""

from __future__ import annotations

import math
import os
import sys
import threading
from fractions import Fraction

import pytest
from flint import arb, ctx

from sordino.core import ParameterError
from sordino.sampling.lattice import draw_many_on_lattice
from sordino.sampling.refined_uniform import precision
from sordino.sampling.shapes import GeneralisedCauchy, Laplace, StudentT


@pytest.fixture(autouse=True)
def _as_found():
    before = ctx.prec
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
    assert ctx.prec == before


def hammer(work, threads=8):
    failures: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    running = [threading.Thread(target=guarded, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if failures:
        raise failures[0]


def test_every_thread_sees_its_own_precision_and_none_stays():
    def work(number: int) -> None:
        bits = 60 + 17 * number
        for _ in range(300):
            with precision(bits):
                assert ctx.prec == bits
                with precision(2 * bits):
                    root = arb(2).sqrt()
                    assert ctx.prec == 2 * bits
                assert root.rel_accuracy_bits() >= 2 * bits - 4
                assert ctx.prec == bits

    before = ctx.prec
    hammer(work)
    assert ctx.prec == before


def test_draws_of_many_threads_follow_their_law_and_leave_the_precision():
    """P(k = 0) of noise of scale 1 rounded to whole numbers is P(|Z| < 1/2).

    8 threads draw 2000 each for three shapes. Hoeffding: the share of zeros among 16000 is off by more than 0.025 with
    probability at most 2·exp(-2·16000·0.025²) = 4e-9 for each shape.
    """
    expected = {
        Laplace(): -math.expm1(-0.5),
        StudentT(1): 2 * math.atan(0.5) / math.pi,
        GeneralisedCauchy(2.0): 2 * math.atan(0.5) / math.pi,
    }
    zeros = {shape: [0] * 8 for shape in expected}

    def work(number: int) -> None:
        for shape in expected:
            drawn = draw_many_on_lattice(shape, Fraction(0), Fraction(1), Fraction(1), 2000)
            zeros[shape][number] = sum(1 for k in drawn if k == 0)

    before = ctx.prec
    hammer(work)
    assert ctx.prec == before
    for shape, share in expected.items():
        assert sum(zeros[shape]) / 16_000 == pytest.approx(share, abs=0.025)


def test_the_precision_is_restored_when_the_block_raises():
    before = ctx.prec
    with pytest.raises(ParameterError), precision(500):
        raise ParameterError("inside")
    assert ctx.prec == before
    with pytest.raises((ValueError, OverflowError, TypeError)), precision(0):
        pass
    assert ctx.prec == before
    with precision(99):  # the lock is free
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_another_thread_is_inside_inherits_nothing():
    before = ctx.prec
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            with precision(777):
                arb(2).sqrt()

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                good = ctx.prec == before
                with precision(100):
                    good &= ctx.prec == 100
                os._exit(0 if good else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        thread.join()
