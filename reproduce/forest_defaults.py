"""How deep should a forest's trees be, and how much should their log-odds weigh together? Mean accuracy decides.

`_ROWS_PER_LEAF` sets the depth from public numbers; `POOLED_TREES` the weight of all trees' log-odds together. 32
trees, ε from 0.05 to 1, the tables of `tree_defaults`. Every depth is grown once and scored with every weight.
"""

from __future__ import annotations

import argparse
import math
from fractions import Fraction
from unittest.mock import patch

import forest_runs
import numpy as np
import output
import tree_data
from tree_runs import measured

from sordino.learn import forest, forest_depth
from sordino.testing import seeded

EPSILONS = (0.05, 0.1, 0.5, 1.0)
TREES, MOST_LEVELS = 32, 10
WEIGHTS = (1.0, 2.0, 3.0, 4.0, 6.0, 32.0)
ROWS_PER_LEAF = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
REPETITIONS = {"Adult": 4, "NLTCS": 4, "digits": 2, "breast cancer": 4, "wine": 12, "iris": 12}


def depth(name: str, epsilon: float, rows_per_leaf: float) -> int:
    task = tree_data.task(name)
    with patch.object(forest_depth, "_ROWS_PER_LEAF", rows_per_leaf):
        afforded = forest_depth.find_affordable_depth(task.max_rows, TREES, epsilon)
    return min(MOST_LEVELS, forest_depth.find_fletcher_islam_depth(task.schema), afforded)


def accuracies(job: tuple[str, int]) -> dict[tuple[int, float, float], float]:
    """By depth, ε and weight."""
    name, repetition = job
    task, found = tree_data.task(name), {}
    with seeded(repetition):
        for levels in sorted({depth(name, e, rows) for e in EPSILONS for rows in ROWS_PER_LEAF}):
            grown = forest_runs.grown(task, TREES, levels, repetition)
            for epsilon in EPSILONS:
                for weight in WEIGHTS:
                    with patch.object(forest, "POOLED_TREES", weight):
                        made = grown.counted(Fraction(str(epsilon)), "pooled")
                    found[levels, epsilon, weight] = grown.accuracy(made)
    return found


def main(*, quick: bool = False) -> None:
    jobs = [
        (name, repetition)
        for name, count in REPETITIONS.items()
        if name not in tree_data.SHARED or tree_data.folder()
        for repetition in range(2 if quick else count)
    ]
    runs = measured(jobs, accuracies)
    rows = [(*job, *key, value) for job, one in runs.items() for key, value in one.items()]
    output.write_csv(
        "forest_defaults", ["data", "repetition", "depth", "epsilon", "weight", "accuracy"], rows
    )
    names = list(dict.fromkeys(name for name, _ in jobs))
    lines = []
    for rows_per_leaf in ROWS_PER_LEAF:
        cells = []
        for weight in WEIGHTS:
            means, variance = [], 0.0
            for name in names:
                for epsilon in EPSILONS:
                    levels = depth(name, epsilon, rows_per_leaf)
                    found = [one[levels, epsilon, weight] for job, one in runs.items() if job[0] == name]
                    means.append(np.mean(found))
                    variance += np.var(found, ddof=1) / len(found)
            error = math.sqrt(variance) / len(means)
            cells.append(f"{100 * np.mean(means):.1f} ± {100 * error:.1f}")
        lines.append([f"{rows_per_leaf:g}", *cells])
    header = ["rows per leaf", *(f"weight {weight:g}" for weight in WEIGHTS)]
    output.rewrite("forest-defaults", output.table(header, lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two repetitions")
    main(quick=parser.parse_args().quick)
