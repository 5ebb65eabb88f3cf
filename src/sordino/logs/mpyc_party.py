"""One computing party: a process that runs the program on its shares, with MPyC for products. Started by `parties`.

It reads its shares from standard input and writes its shares of the results to standard output, one JSON document per
line. It opens nothing.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
import time
from functools import partial
from typing import Any

import mpyc.runtime
import numpy as np
from mpyc.runtime import mpc

from sordino.logs.field import PRIME, Numbers
from sordino.logs.machine import Machine
from sordino.logs.parties import PORT_TAKEN, pack_numbers, unpack_numbers
from sordino.logs.secret_program import SharedLog, run_program

_BEAT = 0.5
_ORPHANED = 3
_writing = threading.Lock()


class SharedProducts:
    """Products of shares: each party multiplies its own and shares the product anew, so that it lies on a line again.

    Guarantee: what a party receives are fresh shares of threshold 1, uniform whatever is multiplied.
    Source: Gennaro, Rabin and Rabin (1998), by MPyC's `np_multiply` and `np_matmul`.
    """

    def __init__(self) -> None:
        self._array = mpc.SecFld(modulus=PRIME).array

    def multiply(self, left: Numbers, right: Numbers) -> Numbers:
        """Products, place by place."""
        first = self._secret(left)
        second = first if right is left else self._secret(right)
        return self._shares(mpc.np_multiply(first, second))

    def combine(self, weights: Numbers, rows: Numbers) -> Numbers:
        """Σ weight·row: one number is sent per column."""
        return self._shares(mpc.np_matmul(self._secret(weights), self._secret(rows)))

    def _secret(self, shares: Numbers) -> Any:
        return self._array(shares.astype(object))

    def _shares(self, secret: Any) -> Numbers:
        found: Numbers = mpc.run(mpc.gather(secret)).value.astype(np.uint64)
        return found


class PlainMessages:
    """Messages between parties as 64-bit numbers, where MPyC would pickle them: reading one runs no code."""

    @staticmethod
    def dumps(content: Any) -> bytes:
        """Numbers of the field as bytes."""
        return np.asarray(content).astype("<u8").tobytes()

    @staticmethod
    def loads(message: bytes) -> Any:
        """The numbers again."""
        return np.frombuffer(message, "<u8").astype(object)


def run_party() -> None:
    """Read, compute, write."""
    if getattr(mpyc.runtime, "pickle", None) is None:
        raise ImportError("this version of MPyC does not pickle its messages; look how it writes them")
    mpyc.runtime.pickle = PlainMessages
    pipe = sys.stdin.buffer
    order = json.loads(pipe.readline() or "null")
    if order is None:
        os._exit(_ORPHANED)
    threading.Thread(target=_end_with, args=(pipe,), daemon=True).start()
    threading.Thread(target=_beat, daemon=True).start()
    _connect()
    codes, owned, payload, times = (
        unpack_numbers(order[name]) for name in ("codes", "owned", "payload", "times")
    )
    log = SharedLog(codes, owned, payload, times, order["by_column"])
    machine = Machine(SharedProducts(), _Reporter())
    result = run_program(log, machine)
    done = machine.operations
    _say({"result": [pack_numbers(owner) for owner in result], "trace": done.trace, **done.to_dict()})
    mpc.run(mpc.shutdown())


class _Reporter:
    """Says how far it is, ten times a second at most."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if now - self._last > 0.1:
            self._last = now
            _say({"done": done})


def _connect() -> None:
    """Meet the others. MPyC would listen on every interface of the machine; this one listens on loopback only."""
    loop = mpc._loop
    loop.create_server = partial(loop.create_server, host="127.0.0.1")
    try:
        mpc.run(mpc.start())
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        os._exit(PORT_TAKEN)


def _say(message: dict[str, Any]) -> None:
    with _writing:
        print(json.dumps(message), flush=True)


def _beat() -> None:
    """A sign of life, also while a product is computed."""
    while True:
        time.sleep(_BEAT)
        _say({})


def _end_with(pipe: Any) -> None:
    """End when whoever started this process has ended."""
    while pipe.read(4096):
        pass
    os._exit(_ORPHANED)


if __name__ == "__main__":
    run_party()
