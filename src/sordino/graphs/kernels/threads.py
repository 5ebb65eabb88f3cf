"""Run a compiled loop over ranges of nodes in threads, the heaviest ranges first."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sordino.display.progress import show_progress

Run = Callable[[int, int], None]

_RANGES_PER_THREAD = 64
_WORTH_THREADS = 1e5  # below it, starting threads takes longer than the loop
_TICK_SECONDS = 0.1


def count_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_in_threads(
    work: NDArray[np.float64], prepare: Callable[[], Run], *, title: str = "", progress: bool | None = False
) -> None:
    """Call ``run(first, last)`` on ranges that cover all nodes, about equal in ``work`` (one figure per node).

    Every thread calls ``prepare`` once, for a ``run`` with memory of its own. Ranges are taken from the last node
    backwards: callers number nodes by increasing degree, so the light ones fill the gaps at the end.
    A bar shows after a second if ``progress`` is True, or None and somebody watches (`sordino.display.progress`).
    """
    nodes = len(work)
    if not nodes:
        return
    if work.sum() < _WORTH_THREADS:
        prepare()(0, nodes)
        return
    threads = min(count_processors(), nodes)
    ranges = _equal_ranges(work, threads * _RANGES_PER_THREAD)
    done = 0.0
    stop = False
    lock = threading.Lock()

    def worker() -> None:
        nonlocal done
        run = prepare()
        while True:
            with lock:
                if stop or not ranges:
                    return
                first, last, share = ranges.pop()
            run(first, last)
            with lock:
                done += share

    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(worker) for _ in range(threads)]
        try:
            _wait(futures, lambda: done, title=title, progress=progress)
        finally:
            stop = True
    for future in futures:
        future.result()


def _equal_ranges(work: NDArray[np.float64], parts: int) -> list[tuple[int, int, float]]:
    total = np.cumsum(work + 1.0)
    targets = total[-1] * np.arange(1, parts) / parts
    cuts = np.unique(np.concatenate([[0], np.searchsorted(total, targets) + 1, [len(work)]]))
    cuts = cuts[cuts <= len(work)]
    before = np.concatenate([[0.0], total])
    return [
        (int(first), int(last), float((before[last] - before[first]) / total[-1]))
        for first, last in pairwise(cuts)
    ]


def _wait(
    futures: list[Future[None]], done: Callable[[], float], *, title: str, progress: bool | None
) -> None:
    if progress is False:
        wait(futures, return_when=FIRST_EXCEPTION)
        return
    with show_progress(title, wanted=progress) as step:
        while wait(futures, timeout=_TICK_SECONDS, return_when=FIRST_EXCEPTION).not_done:
            step(done(), 1.0)
            if any(future.done() and future.exception() for future in futures):
                return
