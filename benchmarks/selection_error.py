"""Selection error at the same ε on the DPBench sets.

*Largest bin*: which of 4096 bins has most records? Scores are counts, one record is added or removed, so all libraries
may use the rate for monotone scores. *Record at a percentile*: which bin's count stands at the p-th percentile of all
counts? One count is replaced; the peers know only the global sensitivity Λ, Sordino also the profile.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
from histograms import histograms
from numpy.typing import NDArray
from peers import Peer
from report import Check, Report

import sordino as sd

Floats = NDArray[np.float64]

NOTHING = 1e-12  # an expected error of no bin at all


def public_top(counts: NDArray[np.int64]) -> float:
    """A bound on the counts such as a data owner would state: the next power of two."""
    return float(2 ** math.ceil(math.log2(counts.max() + 1)))


def measured(drawn: list[int], scores: Floats) -> str:
    error = scores.max() - scores[np.array(drawn)]
    return f"{error.mean():.3g} ± {error.std(ddof=1) / math.sqrt(len(error)):.2g}"


def run(quick: bool = False) -> Report:
    rows, raw, worst, losses = [], {}, 0.0, []
    with tempfile.TemporaryDirectory() as name, Peer("opendp") as opendp, Peer("diffprivlib") as dpl:
        for dataset, counts in histograms().items():
            top = public_top(counts)
            cases: list[tuple[str, Floats, sd.Profile | float, float, bool, str, tuple[float, ...]]] = [
                ("largest bin", counts.astype(float), 1.0, 1.0, True, "permute_and_flip", (0.001, 0.01, 0.1))
            ]
            for p in (50, 99):
                scores, profile = sd.percentile_question(counts, p, bounds=(0, top))
                cases.append(
                    (f"record at p = {p}", scores, profile, top, False, "local_dampening", (1, 10, 100))
                )
            for question, scores, profile, bound, monotone, mechanism, epsilons in cases:
                file = str(Path(name) / f"{dataset}-{question}.npy")
                np.save(file, scores / bound)  # the peers get sensitivity 1
                for epsilon in epsilons:
                    ours = sd.expected_error(
                        scores, profile=profile, epsilon=epsilon, mechanism=mechanism, monotone=monotone
                    )
                    flips, plain = (
                        sd.expected_error(
                            scores, profile=bound, epsilon=epsilon, mechanism=law, monotone=monotone
                        )
                        for law in ("permute_and_flip", "exponential")
                    )
                    request = {"op": "select", "file": file, "monotone": monotone}
                    scale = (1 if monotone else 2) / epsilon
                    draws = 50 if quick else 400
                    theirs = opendp.ask(
                        **request, kind="numpy", noise="exponential", scale=scale, draws=draws
                    )
                    slow = dpl.ask(**request, mechanism="exponential", epsilon=epsilon, draws=draws // 4)
                    ratio = ours / flips if flips > NOTHING else 1.0
                    worst = max(worst, ratio)
                    if ratio > 1 + 1e-9:
                        losses.append(f"{dataset}, {question}, ε = {epsilon:g}")
                    raw[f"{dataset}, {question}, {epsilon}"] = [ours, flips, plain]
                    rows.append(
                        [
                            dataset,
                            question,
                            f"{epsilon:g}",
                            f"{ours:.4g} ({mechanism})",
                            f"{flips:.4g} ({measured(theirs['results'], scores)})",
                            f"{plain:.4g} ({measured(slow['results'], scores)})",
                            f"{ratio:.3f}",
                        ]
                    )
    found = f"at most {worst:.4f} of its error" + (f"; losses: {'; '.join(losses)}" if losses else "")
    check = Check("never worse than the best peer at the same ε", found, worst <= 1 + 1e-9)
    header = [
        "data", "question", "ε", "Sordino", "OpenDP and diffprivlib, permute-and-flip (OpenDP measured)",
        "diffprivlib Exponential (measured)", "Sordino / best peer",
    ]  # fmt: skip
    return Report("selection-error", header, rows, [check], raw)
