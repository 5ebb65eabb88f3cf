"""Processes that may be killed, without paying for their imports each time: one process imports and then forks.

It is a process of its own, because the tests' own has threads by the time that a test wants a fork.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

_SERVER = """
import json, os, sys, tempfile, traceback
import duckdb, sqlglot
import sordino as sd
sd.connect, sqlglot.transpile("SELECT 1", "duckdb", "duckdb")  # loads what sessions need; no connection, so no threads
for line in sys.stdin:
    source, arguments = json.loads(line)
    outputs = [tempfile.TemporaryFile() for _ in range(2)]
    child = os.fork()
    if child == 0:
        for target, output in zip((1, 2), outputs):
            os.dup2(output.fileno(), target)
        status = 0
        try:
            sys.argv = ["-c", *arguments]
            exec(compile(source, "<process>", "exec"), {"__name__": "__main__"})
        except SystemExit as leaving:
            status = leaving.code or 0
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    texts = []
    for output in outputs:
        output.seek(0)
        texts.append(output.read().decode())
        output.close()
    print(json.dumps([status, *texts]), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a process ended: below zero by that signal."""

    returncode: int
    stdout: str
    stderr: str


class Forks:
    """Runs the text of a program in a fork that has imported Sordino already."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-c", _SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )

    def run(self, source: str, *arguments: object) -> Finished:
        """Waits until it has ended, by itself or by a signal."""
        self._server.stdin.write(json.dumps([source, [str(one) for one in arguments]]) + "\n")
        self._server.stdin.flush()
        return Finished(*json.loads(self._server.stdout.readline()))

    def close(self) -> None:
        self._server.stdin.close()
        self._server.wait(timeout=60)
        self._server.stdout.close()
