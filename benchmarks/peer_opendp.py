"""OpenDP's side of the benchmarks; runs in OpenDP's environment."""

from __future__ import annotations

import functools
import json
import sys
import time
from typing import Any

import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")


@functools.cache
def loaded(path: str, kind: str) -> Any:
    values = np.load(path)
    return values.tolist() if kind == "list" else values


@functools.cache
def selector(noise: str, scale: float, monotone: bool) -> Any:
    """Exponential noise is permute-and-flip, Gumbel noise (their zCDP variant) the exponential mechanism."""
    measure = dp.max_divergence() if noise == "exponential" else dp.zero_concentrated_divergence()
    space = (
        dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        dp.linf_distance(T=float, monotonic=monotone),
    )
    return dp.m.make_noisy_max(*space, measure, scale=scale)


@functools.cache
def quantiler(size: int, alpha: float, epsilon: float, last: int) -> Any:
    """The number of records is public and one is replaced: symmetric distance 2."""
    domain = dp.vector_domain(dp.atom_domain(T="i32"), size=size)
    made = dp.m.make_private_quantile(
        domain,
        dp.symmetric_distance(),
        dp.max_divergence(),
        candidates=list(range(last + 1)),
        alpha=alpha,
        scale=2 / epsilon,
    )
    if not made.map(2) <= epsilon * (1 + 1e-9):
        raise SystemExit("the calibration does not give the epsilon asked for")
    return made


@functools.cache
def noisy_tree(leaves: int, branching: int, epsilon: float) -> Any:
    """Noisy sums of all nodes of a b-ary tree over counts that one row moves by 1, made consistent."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    tree = dp.t.make_b_ary_tree(*space, leaf_count=leaves, branching_factor=branching)

    def made(scale: float) -> Any:
        return tree >> dp.m.then_laplace(scale)

    measurement = made(dp.binary_search_param(made, d_in=1, d_out=epsilon, T=float))
    return measurement, dp.t.make_consistent_b_ary_tree(branching)


def answer_tree(request: dict[str, Any]) -> dict[str, Any]:
    leaves = request["leaves"]
    measure, consist = noisy_tree(leaves, request["branching"], request["epsilon"])
    counts = [0] * leaves
    start = time.process_time()
    found = [consist(measure(counts))[:leaves] for _ in range(request["draws"])]
    seconds = time.process_time() - start
    return {
        "seconds": seconds,
        "results": [] if request.get("silent") else [list(map(float, row)) for row in found],
    }


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if request["op"] == "tree":
        return answer_tree(request)
    if request["op"] == "select":
        data = loaded(request["file"], request["kind"])
        ask = selector(request["noise"], request["scale"], request.get("monotone", False))
    else:
        data = loaded(request["file"], "numpy")
        ask = quantiler(len(data), request["q"], request["epsilon"], request["last"])
    start = time.perf_counter()
    found = [ask(data) for _ in range(request["draws"])]
    return {"seconds": time.perf_counter() - start, "results": [int(value) for value in found]}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
