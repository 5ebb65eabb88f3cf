"""Which criterion, selection, shares of ε and stopping rule should be a tree's defaults? Mean accuracy decides.

Depth 5 and 2, ε from 0.05 to 1, Adult, NLTCS and scikit-learn's bundled tables with equal weight; one choice is
varied at a time. The means of the two large tables and of the four small ones stand beside: they need not agree.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import numpy as np
import output
import tree_data
from tree_runs import FOLDS, Method, Run, measured

EPSILONS = (0.05, 0.1, 0.5, 1.0)
FOLDS_OF = {"Adult": 10, "NLTCS": 20, "digits": 20, "breast cancer": 60, "wine": 100, "iris": 100}
QUICK = {"Adult": 3, "NLTCS": 3, "digits": 3, "breast cancer": 10, "wine": 20, "iris": 20}
GAIN, MAX = "information_gain", "max_operator"

SPLITS = {
    f"{criterion}, {selection}{', ' + direction if selection == 'shifted_dampening' else ''}": Method(
        "ours", criterion, selection, direction
    )
    for criterion, selection, direction in (
        (MAX, "permute_and_flip", "plus"),
        ("gini", "permute_and_flip", "plus"),
        (GAIN, "permute_and_flip", "plus"),
        ("gini", "local_dampening", "plus"),
        (GAIN, "local_dampening", "plus"),
        ("gini", "shifted_dampening", "plus"),
        ("gini", "shifted_dampening", "minus"),
        (GAIN, "shifted_dampening", "plus"),
        (GAIN, "shifted_dampening", "minus"),
        (MAX, "smooth_noisy_max", "plus"),
    )
}
SHARES = {
    ", ".join(f"{share:g}" for share in shares): Method("ours", MAX, shares=shares)
    for shares in ((0.6, 0.1, 0.3), (0.7, 0.1, 0.2), (0.5, 0.1, 0.4), (0.4, 0.2, 0.4), (0.3, 0.1, 0.6))
}
STOPS = {
    f"{factor:g} deviations, {kind}": Method("ours", MAX, stop=(kind, factor))
    for kind, factor in (("widest", 1.0), ("widest", 0.25), ("mean", 0.5), ("narrowest", 1.0))
}
QUESTIONS: dict[str, tuple[int, dict[str, Method]]] = {
    "criterion and selection, depth 5": (5, SPLITS),
    "criterion and selection, depth 2": (2, SPLITS),
    "shares of selection, count and leaf (max operator, depth 5)": (5, SHARES),
    "rows per cell, of which attribute (max operator, depth 5)": (5, STOPS),
}

Found = Mapping[tuple[str, float], np.ndarray]


def mean_and_error(found: Found, names: list[str]) -> tuple[float, float]:
    """In per cent: the mean over tables and ε, and its standard error from the folds of each."""
    cells = [found[name, epsilon] for name in names for epsilon in EPSILONS]
    variance = sum(cell.var(ddof=1) / len(cell) for cell in cells)
    return 100 * float(np.mean([cell.mean() for cell in cells])), 100 * float(np.sqrt(variance)) / len(cells)


def main(*, quick: bool = False) -> None:
    folds = {
        name: count
        for name, count in (QUICK if quick else FOLDS_OF).items()
        if name not in tree_data.SHARED or tree_data.folder()
    }
    large, small = (
        [n for n in folds if n in tree_data.SHARED],
        [n for n in folds if n not in tree_data.SHARED],
    )
    todo = {
        (question, name): [
            Run(data, method, epsilon, depth, start // FOLDS, min(FOLDS, count - start))
            for data, count in folds.items()
            for epsilon in EPSILONS
            for start in range(0, count, FOLDS)
        ]
        for question, (depth, methods) in QUESTIONS.items()
        for name, method in methods.items()
    }
    accuracies = measured({run for runs in todo.values() for run in runs})
    rows, lines = [], []
    for (question, name), runs in todo.items():
        gathered: dict[tuple[str, float], list[float]] = {}
        for run in runs:
            gathered.setdefault((run.data, run.epsilon), []).extend(accuracies[run])
        found = {key: np.array(values) for key, values in gathered.items()}
        rows += [
            (question, name, data, epsilon, len(values), float(values.mean()), float(values.std(ddof=1)))
            for (data, epsilon), values in found.items()
        ]
        groups = [mean_and_error(found, group) for group in ([*large, *small], large, small) if group]
        lines.append([question, name, *(f"{mean:.2f} ± {error:.2f}" for mean, error in groups)])
    header = ["question", "method", "data", "epsilon", "folds", "accuracy", "standard_deviation"]
    output.write_csv("tree_defaults", header, rows)
    columns = ["question", "choice", "all tables", *(["Adult and NLTCS"] if large else []), "bundled tables"]
    counted = ", ".join(f"{name} {count}" for name, count in folds.items())
    output.rewrite("tree-defaults", f"{output.table(columns, lines)}\n\nFolds per cell: {counted}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer folds")
    main(quick=parser.parse_args().quick)
