"""Trees and forests on Adult beside diffprivlib's at the same ε: accuracy and time.

diffprivlib knows numbers only: it gets Adult's codes as they are, and once more with a 0/1 column per value. Every
repetition splits the rows anew, four fifths to learn from, the same for everyone.
"""

from __future__ import annotations

import math
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import tree_files
from peers import Peer
from report import Check, Report

from sordino.learn import DecisionTreeClassifier, RandomForestClassifier

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0)
MAX_ROWS = 50_000
OURS = {
    "Sordino tree (default)": (DecisionTreeClassifier, {}),
    "Sordino tree, max operator, permute-and-flip": (DecisionTreeClassifier, {"criterion": "max_operator"}),
    "Sordino tree, Gini, permute-and-flip": (DecisionTreeClassifier, {"criterion": "gini"}),
    "Sordino tree, information gain, permute-and-flip at ε/Δ": (
        DecisionTreeClassifier,
        {"criterion": "information_gain"},
    ),
    "Sordino tree, information gain, shifted dampening": (
        DecisionTreeClassifier,
        {"criterion": "information_gain", "selection": "shifted_dampening"},
    ),
    "Sordino forest, 32 trees (default)": (RandomForestClassifier, {}),
}
# trees (0: a single one), depth, one-hot
THEIRS = {
    "diffprivlib tree": (0, 5, False),
    "diffprivlib forest, 10 trees (default)": (10, 5, False),
    "diffprivlib forest, 32 trees": (32, 5, False),
    "diffprivlib forest, 32 trees, depth 8": (32, 8, False),
    "diffprivlib forest, 32 trees, one-hot": (32, 5, True),
}

Found = dict[tuple[str, float], list[tuple[float, float]]]

TIE = 5e-5  # less than the last digit shown is no lead


def measure(quick: bool, folder: Path, peer: Peer) -> Found:
    table = tree_files.adult()
    if table is None:
        raise SystemExit(f"{tree_files.ADULT} is not there (set SORDINO_DATA to the folder that holds it)")
    schema = tree_files.adult_schema()
    found: Found = {}
    for repetition in range(3 if quick else 10):
        part = tree_files.split(table, schema, repetition)
        files = {
            one_hot: part.save(folder / f"{repetition}-{one_hot}.npz", one_hot=one_hot)
            for one_hot in (False, True)
        }
        for epsilon in EPSILONS:
            for name, (kind, options) in OURS.items():
                model = kind(epsilon, schema=schema, classes=[0, 1], max_rows=MAX_ROWS, **options)
                start = time.perf_counter()
                model.fit(part.train, part.train_labels)
                seconds = time.perf_counter() - start
                right = float((model.predict(part.test) == part.test_labels).mean())
                found.setdefault((name, epsilon), []).append((right, seconds))
            for name, (trees, depth, one_hot) in THEIRS.items():
                request = {"file": files[one_hot], "trees": trees, "depth": depth, "epsilon": epsilon}
                answer = peer.ask(op="grow", draws=1, **request)["results"][0]
                found.setdefault((name, epsilon), []).append((answer["accuracy"], answer["fit"]))
    return found


def report(found: Found) -> Report:
    epsilons = sorted({epsilon for _, epsilon in found})
    means = {key: float(np.mean([right for right, _ in values])) for key, values in found.items()}
    rows = []
    for name in (*OURS, *THEIRS):
        cells = []
        for epsilon in epsilons:
            right = [value for value, _ in found[name, epsilon]]
            spread = np.std(right, ddof=1) / math.sqrt(len(right)) if len(right) > 1 else math.nan
            cells.append(f"{100 * means[name, epsilon]:.2f} ± {100 * spread:.2f}")
        seconds = median(value for epsilon in epsilons for _, value in found[name, epsilon])
        rows.append([name, *cells, f"{1e3 * seconds:.0f} ms"])
    checks = []
    for ours in ("Sordino tree (default)", "Sordino forest, 32 trees (default)"):
        leads = {
            epsilon: means[ours, epsilon] - max(means[name, epsilon] for name in THEIRS)
            for epsilon in epsilons
        }
        worst = min(leads, key=lambda epsilon: leads[epsilon])
        checks.append(
            Check(
                f"{ours}: mean accuracy above the best of diffprivlib's at every ε",
                f"lead from {100 * leads[worst]:+.2f} points (ε = {worst:g}) to {100 * max(leads.values()):+.2f}",
                leads[worst] > TIE,
            )
        )
    runs = len(next(iter(found.values())))
    header = [f"Adult, {runs} runs", *(f"ε = {epsilon:g}" for epsilon in epsilons), "median time to fit"]
    raw = {f"{name}, {epsilon}": values for (name, epsilon), values in found.items()}
    return Report("tree-accuracy", header, rows, checks, raw)


def run(quick: bool = False) -> list[Report]:
    with tempfile.TemporaryDirectory() as name, Peer("diffprivlib") as peer:
        return [report(measure(quick, Path(name), peer))]
