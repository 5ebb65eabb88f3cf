"""How long does one selection among 10⁵ and 10⁶ candidates take?

Sordino: the whole call `sd.select`, with its checks, from a numpy array. OpenDP: `make_noisy_max`, made beforehand.
diffprivlib: constructor and draw, from a list. numpy: argmax of scores·rate plus exponential noise, which is the law of
permute-and-flip without its exactness.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from peers import Peer
from report import Check, Report, interleaved, medians

import sordino as sd

EPSILON = 1.0
RATE = EPSILON / 2
# which Sordino mechanism draws from the same law as each peer
SAME_LAW = {
    "OpenDP, exponential noise, numpy": "Sordino permute_and_flip",
    "OpenDP, Gumbel noise, numpy": "Sordino exponential",
    "OpenDP, exponential noise, list": "Sordino permute_and_flip",
    "diffprivlib PermuteAndFlip": "Sordino permute_and_flip",
    "diffprivlib Exponential": "Sordino exponential",
}


def methods(
    scores: np.ndarray, file: str, draws: int, opendp: Peer, dpl: Peer
) -> dict[str, Callable[[], float]]:
    """Seconds per draw, each over some draws."""
    generator = np.random.default_rng()

    def timed(draw: Callable[[], object]) -> Callable[[], float]:
        def run() -> float:
            start = time.perf_counter()
            for _ in range(draws):
                draw()
            return (time.perf_counter() - start) / draws

        return run

    def ours(mechanism: str) -> Callable[[], float]:
        return timed(lambda: sd.select(scores, profile=1.0, epsilon=EPSILON, mechanism=mechanism))

    def theirs(peer: Peer, **request: object) -> Callable[[], float]:
        return lambda: float(peer.ask(op="select", file=file, draws=draws, **request)["seconds"]) / draws

    return {
        "numpy, inexact": timed(
            lambda: int((scores * RATE + generator.exponential(size=len(scores))).argmax())
        ),
        "Sordino permute_and_flip": ours("permute_and_flip"),
        "Sordino exponential": ours("exponential"),
        "OpenDP, exponential noise, numpy": theirs(opendp, noise="exponential", scale=1 / RATE, kind="numpy"),
        "OpenDP, Gumbel noise, numpy": theirs(opendp, noise="gumbel", scale=1 / RATE, kind="numpy"),
        "OpenDP, exponential noise, list": theirs(opendp, noise="exponential", scale=1 / RATE, kind="list"),
        "diffprivlib PermuteAndFlip": theirs(dpl, mechanism="permute_and_flip", epsilon=EPSILON),
        "diffprivlib Exponential": theirs(dpl, mechanism="exponential", epsilon=EPSILON),
    }


def measure(
    scores: np.ndarray, folder: Path, rounds: int, draws: int, opendp: Peer, dpl: Peer
) -> dict[str, float]:
    """Median seconds per draw of every method."""
    file = str(folder / f"{len(scores)}-{scores.max():.0f}.npy")
    np.save(file, scores)
    interleaved(methods(scores, file, 1, opendp, dpl), 1, warm_up=False)
    return medians(interleaved(methods(scores, file, draws, opendp, dpl), rounds, warm_up=False))


def run(quick: bool = False) -> Report:
    generator = np.random.default_rng(20260)
    found: dict[tuple[int, str], dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder, Peer("opendp") as opendp, Peer("diffprivlib") as dpl:
        for size, draws in ((10**5, 20), (10**6, 4)):
            for label, scores in (
                ("spread over 0–100", generator.random(size) * 100),
                ("all equal", np.zeros(size)),
            ):
                rounds, batch = (2, max(1, draws // 5)) if quick else (5, draws)
                found[size, label] = measure(scores, Path(folder), rounds, batch, opendp, dpl)
    rows = []
    worst = {"numpy": 0.0, "opendp": np.inf, "diffprivlib": np.inf}
    for (size, label), seconds in found.items():
        for method, value in seconds.items():
            beside_numpy = value / seconds["numpy, inexact"]
            row = [f"10^{len(str(size)) - 1}", label, method, f"{1e3 * value:.3g} ms", f"{beside_numpy:.2f}×"]
            if method in SAME_LAW:
                ratio = value / seconds[SAME_LAW[method]]
                row.append(f"{ratio:.1f}×")
                if "list" not in method:
                    name = "opendp" if method.startswith("OpenDP") else "diffprivlib"
                    worst[name] = min(worst[name], ratio)
            else:
                row.append("")
            if method.startswith("Sordino"):
                worst["numpy"] = max(worst["numpy"], beside_numpy)
            rows.append(row)
    checks = [
        Check("at most 4× numpy's inexact draw", f"at most {worst['numpy']:.2f}×", worst["numpy"] <= 4),
        Check(
            "at least 3× faster than OpenDP from a numpy array, law by law",
            f"at least {worst['opendp']:.1f}×",
            worst["opendp"] >= 3,
        ),
        Check(
            "at least 20× faster than diffprivlib, law by law",
            f"at least {worst['diffprivlib']:.0f}×",
            worst["diffprivlib"] >= 20,
        ),
    ]
    header = ["candidates", "scores", "method", "per draw", "beside numpy", "beside Sordino's same law"]
    raw = {f"{size}, {label}": seconds for (size, label), seconds in found.items()}
    return Report("selection-speed", header, rows, checks, raw)
