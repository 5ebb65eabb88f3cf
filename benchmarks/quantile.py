"""Quantiles: time for 10⁶ values, and error at the same ε, beside diffprivlib's percentile and OpenDP's quantile.

The error is that of 10⁴ records of each data set (with 10⁶ and these ε it would be 0 nearly everywhere), a mean over 20
samples: in a single one, how its ranks happen to fall decides who is ahead. Values are bin numbers 0 … 4095, the step
is 1, one record is replaced. Sordino's error is exact, from its law; the peers' are exact too, from the laws that their
sources state, and measured, as a check of those laws.
"""

from __future__ import annotations

import math
import tempfile
import time
from pathlib import Path

import numpy as np
from histograms import histograms, records
from numpy.typing import NDArray
from peers import Peer
from report import Check, Report, interleaved, medians

import sordino as sd

LAST = 4095
SHARES = (0.5, 0.9, 0.99)
EPSILONS = (0.01, 0.1, 1.0)
RECORDS = 10_000

Ints = NDArray[np.int32]


def truth(values: Ints, q: float) -> int:
    return int(np.sort(values)[max(1, math.ceil(q * len(values))) - 1])


def sordino_error(values: Ints, q: float, epsilon: float) -> float:
    points, law = sd.quantile_law(
        values, q, bounds=(0, LAST), step=1, epsilon=epsilon, distance=sd.replace_row()
    )
    return float(law @ np.abs(points - truth(values, q)))


def diffprivlib_error(values: Ints, q: float, epsilon: float) -> float:
    """A uniform number between two neighbouring records i, with probability ∝ length·exp(−ε|i − qn|/2)."""
    edges = np.concatenate([[0], np.sort(values), [LAST]]).astype(np.float64)
    length = np.diff(edges)
    exponent = -epsilon / 2 * np.abs(np.arange(len(values) + 1) - q * len(values))
    weight = length * np.exp(exponent - exponent[length > 0].max())
    # the true quantile is a record, so it lies inside no gap: the mean distance is that of the middle
    middle = (edges[1:] + edges[:-1]) / 2
    return float(weight @ np.abs(middle - truth(values, q)) / weight.sum())


def opendp_error(values: Ints, q: float, epsilon: float) -> float:
    """Permute-and-flip on −|(1−q)·(records below) − q·(records above)|, which one replacement moves by 1 at most."""
    counts = np.bincount(values, minlength=LAST + 1)
    upto = np.cumsum(counts)
    scores = -np.abs((1 - q) * (upto - counts) - q * (len(values) - upto))
    law = sd.selection_law(scores, profile=1.0, epsilon=epsilon, mechanism="permute_and_flip")
    return float(law @ np.abs(np.arange(LAST + 1) - truth(values, q)))


LAWS = {"Sordino": sordino_error, "OpenDP": opendp_error, "diffprivlib": diffprivlib_error}


def speed(quick: bool, folder: Path, opendp: Peer, dpl: Peer) -> Report:
    counts = next(iter(histograms().values()))
    values = records(counts, 10**6, 7)
    file = str(folder / "million.npy")
    np.save(file, values)

    def ours() -> float:
        start = time.perf_counter()
        sd.quantile(values, 0.5, bounds=(0, LAST), step=1, epsilon=0.1, distance=sd.replace_row())
        return time.perf_counter() - start

    def theirs(peer: Peer) -> float:
        request = {"op": "quantile", "file": file, "q": 0.5, "epsilon": 0.1, "last": LAST, "draws": 1}
        return float(peer.ask(**request)["seconds"])

    methods = {"Sordino": ours, "OpenDP": lambda: theirs(opendp), "diffprivlib": lambda: theirs(dpl)}
    found = medians(interleaved(methods, 2 if quick else 5))
    rows = [
        [name, f"{1e3 * seconds:.3g} ms", f"{seconds / found['Sordino']:.1f}×"]
        for name, seconds in found.items()
    ]
    return Report("quantile-speed", ["median of 10⁶ values", "time", "beside Sordino"], rows, (), found)


def errors(quick: bool, folder: Path, opendp: Peer, dpl: Peer) -> Report:
    samples, runs = (2, 20) if quick else (20, 200)
    rows, raw, losses, worst, far = [], {}, 0, 0.0, 0.0
    for name, counts in histograms().items():
        columns = [records(counts, RECORDS, seed) for seed in range(samples)]
        file = str(folder / f"{name}.npy")
        np.save(file, columns[0])
        for q in SHARES:
            for epsilon in EPSILONS:
                exact = {
                    label: np.array([law(values, q, epsilon) for values in columns])
                    for label, law in LAWS.items()
                }
                means = {label: float(found.mean()) for label, found in exact.items()}
                for label, peer in (("OpenDP", opendp), ("diffprivlib", dpl)):
                    request = {"op": "quantile", "file": file, "q": q, "epsilon": epsilon, "last": LAST}
                    drawn = np.array(peer.ask(**request, draws=runs)["results"]) - truth(columns[0], q)
                    mean, spread = (
                        float(np.abs(drawn).mean()),
                        float(np.abs(drawn).std(ddof=1) / math.sqrt(runs)),
                    )
                    raw[f"{name}, {q}, {epsilon}, {label}"] = [float(exact[label][0]), mean, spread]
                    if spread > 0.01:
                        far = max(far, abs(mean - float(exact[label][0])) / spread)
                ratio = means["Sordino"] / min(means["OpenDP"], means["diffprivlib"])
                behind = int((exact["Sordino"] > np.minimum(exact["OpenDP"], exact["diffprivlib"])).sum())
                worst, losses = (
                    max(worst, ratio),
                    losses + (not ratio <= 1),
                )  # a law that is not a number is lost
                shown = [f"{means[label]:.3g}" for label in LAWS]
                measured = [
                    "{:.3g}, {:.3g} ± {:.2g}".format(*raw[f"{name}, {q}, {epsilon}, {label}"])
                    for label in ("OpenDP", "diffprivlib")
                ]
                rows.append(
                    [name, str(q), str(epsilon), *shown, f"{ratio:.3f}", f"{behind}/{samples}", *measured]
                )
    checks = [
        Check(
            "mean error over the samples never above the best peer's at the same ε",
            f"above it in {losses} of {len(rows)} cells, by at most {max(0.0, 100 * (worst - 1)):.1f} %",
            losses == 0,
        ),
        Check(
            "the peers' measured errors agree with the laws used for them",
            f"largest deviation {far:.1f} standard errors in {len(raw)} comparisons",
            far <= 4.5,
        ),
    ]
    header = [
        "data", "q", "ε", *LAWS, "Sordino / best peer", "samples behind", "OpenDP on one sample: law, measured",
        "diffprivlib on one sample: law, measured",
    ]  # fmt: skip
    return Report("quantile-error", header, rows, checks, raw)


def run(quick: bool = False) -> list[Report]:
    with tempfile.TemporaryDirectory() as name, Peer("opendp") as opendp, Peer("diffprivlib") as dpl:
        folder = Path(name)
        return [speed(quick, folder, opendp, dpl), errors(quick, folder, opendp, dpl)]
