"""Three computing parties as processes on this machine: started here, fed with shares, and always ended here."""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

import sordino
from sordino.core import EngineError, MissingExtraError
from sordino.logs.field import Numbers
from sordino.logs.operations import Operations
from sordino.logs.secret_program import SharedLog
from sordino.logs.sharing import PARTIES, share

_MODULE = "sordino.logs.mpyc_party"
_STARTS = 3  # a port that was free may be taken before its party listens
_PATIENCE = 2.0
PORT_TAKEN = 75
_OPTIONS = ("-T", "1", "--no-log", "--no-prss", "--no-uvloop")

Message = tuple[int, dict[str, Any] | None]


def run_parties(
    log: SharedLog, *, timeout: float, report: Callable[[int], None]
) -> tuple[list[list[Numbers]], Operations]:
    """Each party's shares of every owner's result, and what it took.

    Each party gets its own shares through a pipe and never another's; they talk to one another over loopback. Whatever
    happens here, they are ended; if this process dies, its pipes close and they end themselves.
    """
    if importlib.util.find_spec("mpyc") is None:
        raise MissingExtraError(
            "a secret correlation needs mpyc, which is not installed: pip install 'sordino[mpc]'; "
            "backend='emulate' takes the same steps without secrecy"
        )
    orders = _write_orders(log)
    for attempt in range(1, _STARTS + 1):
        parties = _Parties(timeout)
        try:
            return parties.run(orders, report)
        except _PortTakenError:
            if attempt == _STARTS:
                raise EngineError(
                    "the computing parties found no free ports on this machine; nothing was opened"
                ) from None
        finally:
            parties.end()
    raise EngineError("the computing parties could not be started; nothing was opened")


class _PortTakenError(Exception):
    """Another process was faster."""


class _Parties:
    """Three processes and what they say."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._said: queue.Queue[Message] = queue.Queue()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads: list[threading.Thread] = []
        self._complaints: list[list[str]] = [[] for _ in range(PARTIES)]

    def run(
        self, orders: list[bytes], report: Callable[[int], None]
    ) -> tuple[list[list[Numbers]], Operations]:
        addresses = [part for port in _find_ports() for part in ("-P", f"127.0.0.1:{port}")]
        for index in range(PARTIES):
            self._start(index, addresses)
        for index, order in enumerate(orders):
            self._spawn(self._send, index, order)
        return self._listen(report)

    def end(self) -> None:
        """End the three processes, by their ids."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for thread in self._threads:
            thread.join(_PATIENCE)
        for process in self._processes:
            for pipe in (process.stdin, process.stdout, process.stderr):
                with suppress(OSError):  # what was not sent yet goes nowhere
                    if pipe is not None:
                        pipe.close()

    def _start(self, index: int, addresses: list[str]) -> None:
        places = [str(Path(sordino.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        process = subprocess.Popen(
            # -P: what lies in the working directory is not imported.
            [sys.executable, "-P", "-m", _MODULE, *addresses, "-I", str(index), *_OPTIONS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, places)), "OMP_NUM_THREADS": "1"},
            start_new_session=True,  # an interrupt from the keyboard is for this process, which ends them
        )
        self._processes.append(process)
        self._spawn(self._read, index, process.stdout)
        self._spawn(self._read_complaints, index, process.stderr)

    def _spawn(self, target: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _send(self, index: int, order: bytes) -> None:
        """The pipe stays open after it: its end tells a party that this process is gone."""
        pipe = self._processes[index].stdin
        with suppress(OSError, ValueError):  # a party that has ended is noticed where it is listened to
            if pipe is not None:
                pipe.write(order)
                pipe.flush()

    def _read(self, index: int, pipe: IO[bytes] | None) -> None:
        # A party that dies may leave half a line, and a pipe may be closed while it is read: both are its end.
        with suppress(ValueError, OSError):
            for line in pipe or ():
                self._said.put((index, json.loads(line)))
        self._said.put((index, None))

    def _read_complaints(self, index: int, pipe: IO[bytes] | None) -> None:
        for line in pipe or ():
            self._complaints[index] = [*self._complaints[index][-20:], line.decode(errors="replace")]

    def _listen(self, report: Callable[[int], None]) -> tuple[list[list[Numbers]], Operations]:
        results: dict[int, dict[str, Any]] = {}
        now = time.monotonic()
        heard, moved = [now] * PARTIES, now
        while len(results) < PARTIES:
            try:
                index, message = self._said.get(timeout=min(1.0, self._timeout / 4))
            except queue.Empty:
                pass
            else:
                heard[index] = time.monotonic()
                if message is None:
                    if index not in results:
                        self._say_ended(index)
                elif "result" in message:
                    results[index] = message
                    moved = heard[index]
                elif "done" in message:
                    moved = heard[index]
                    report(message["done"])
            now = time.monotonic()
            for index, last in enumerate(heard):
                if index not in results and now - last > self._timeout:
                    raise EngineError(
                        f"party {index + 1} of {PARTIES} has not answered for {self._timeout:g} s; "
                        "nothing was opened"
                    )
            if now - moved > self._timeout:
                raise EngineError(
                    f"the computing parties have made no progress for {self._timeout:g} s; nothing was opened"
                )
        return _read_results([results[index] for index in range(PARTIES)])

    def _say_ended(self, index: int) -> None:
        code = self._processes[index].wait(_PATIENCE)
        if code == PORT_TAKEN:
            raise _PortTakenError
        time.sleep(0.1)  # its last words may still be on their way
        raise EngineError(
            f"party {index + 1} of {PARTIES} ended with exit code {code} before it answered; nothing was opened",
            "".join(self._complaints[index]),
        )


def pack_numbers(numbers: Numbers) -> dict[str, Any]:
    """An array as JSON."""
    return {"shape": numbers.shape, "numbers": b64encode(numbers.astype("<u8").tobytes()).decode()}


def unpack_numbers(packed: dict[str, Any]) -> Numbers:
    """The array again."""
    return np.frombuffer(b64decode(packed["numbers"]), "<u8").astype(np.uint64).reshape(packed["shape"])


def _write_orders(log: SharedLog) -> list[bytes]:
    """What each party is told: its shares, and what is public. Owners are public where times are."""
    sorts = bool(log.times.shape[1])
    columns = {"codes": log.codes, "payload": log.payload, "times": log.times}
    if sorts:
        columns["owned"] = log.owned
    shared = {name: share(column) for name, column in columns.items()}
    if not sorts:
        shared["owned"] = [log.owned] * PARTIES
    return [
        json.dumps(
            {"by_column": log.by_column}
            | {name: pack_numbers(shares[index]) for name, shares in shared.items()}
        ).encode()
        + b"\n"
        for index in range(PARTIES)
    ]


def _read_results(results: list[dict[str, Any]]) -> tuple[list[list[Numbers]], Operations]:
    found = [[unpack_numbers(owner) for owner in result["result"]] for result in results]
    counted = [
        Operations(r["products"], r["sent"], r["rounds"], tuple((kind, size) for kind, size in r["trace"]))
        for r in results
    ]
    if counted[1:] != counted[:-1]:
        raise EngineError("the computing parties did not do the same; nothing was opened")
    return found, counted[0]


def _find_ports() -> list[int]:
    sockets = [socket.socket() for _ in range(PARTIES)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()
