"""Smooth noisy max, Fig. 10: accuracy of private random forests of 32 trees against ε.

As in the thesis: four fifths of the rows to learn from, a fifth to test, one hard vote per tree. Of its tables only
Adult is at hand; NLTCS and scikit-learn's bundled ones stand in for the others. All methods of one repetition share
the trees and the rows in them. Most leaves are empty, so ties matter: they are broken in an order drawn for every
leaf, also without privacy; one row of the table keeps the fixed order of `majority_labels`. Depth is Fletcher and
Islam's; the last two curves are our forest with the depth that the rows can fill.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from fractions import Fraction

import forest_runs
import numpy as np
import output
import tree_data
from forest_runs import Grown, Wholes
from matplotlib.figure import Figure
from tree_runs import measured

from sordino.learn.forest_depth import find_affordable_depth, find_fletcher_islam_depth
from sordino.testing import seeded

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0)
TREES = 32
REPETITIONS = 10
MOST_LEVELS = 10
DEGREES = 3
FIXED = "SNM, sound, first label wins ties"
COLOURS = {
    "exponential on 0/1, ε/2": "#7f7f7f",
    "permute-and-flip on 0/1, ε/2": "#000000",
    "SNM-T as printed, not private": "#d62728",
    "SNM, sound": "#ff9896",
    FIXED: "#e377c2",
    "LD, sound": "#1f77b4",
    "exponential on counts": "#c5b0d5",
    "permute-and-flip on counts": "#9467bd",
    "noisy counts": "#ff7f0e",
    "ours: noisy counts, hard votes": "#2ca02c",
    "ours: noisy counts, pooled": "#8c564b",
    "not private": "#bcbd22",
}


def printed_student(counts: Wholes, epsilon: float, generator: np.random.Generator) -> Wholes:
    """The thesis's labels: 0/1 utilities plus Student-t noise of scale 2e^(−jε)/α, j the lead. **Not private**."""
    alpha = 2 * math.sqrt(DEGREES) / (DEGREES + 1)
    ranked = np.sort(counts, axis=1)
    scale = 2 * np.exp(-epsilon * (ranked[:, -1] - ranked[:, -2])) / alpha
    utilities = np.arange(counts.shape[1]) == counts.argmax(axis=1)[:, None]
    return np.asarray(
        (utilities + scale[:, None] * generator.standard_t(DEGREES, counts.shape)).argmax(axis=1)
    )


def on_winner(counts: Wholes, epsilon: float, generator: np.random.Generator, *, flip: bool) -> Wholes:
    """Exponential mechanism or permute-and-flip on the 0/1 utility with sensitivity 1, as the thesis's baselines."""
    others, weight = counts.shape[1] - 1, math.exp(-epsilon / 2)
    exponential = 1 / (1 + others * weight)
    flipped = (1 - (1 - weight) ** (others + 1)) / (weight * (others + 1))
    chance = flipped if flip else exponential
    return forest_runs.by_winner(counts, lambda _: chance, generator)


def accuracies(job: tuple[str, int]) -> dict[tuple[str, float], float]:
    """The accuracy of every method at every ε, in one repetition."""
    name, repetition = job
    task = tree_data.task(name)
    generator = np.random.default_rng(10_000 + repetition)
    found: dict[tuple[str, float], float] = {}
    with seeded(repetition):
        deep = forest_runs.grown(task, TREES, depth(name), repetition)
        best = forest_runs.in_random_order(deep.exact, lambda counts: counts.argmax(axis=1), generator)
        found["not private", 0.0] = deep.accuracy(deep.voted(best))
        for epsilon in EPSILONS:
            found |= {
                (method, epsilon): value for method, value in _methods(deep, epsilon, generator).items()
            }
            own = min(depth(name), find_affordable_depth(task.max_rows, TREES, epsilon))
            ours = forest_runs.grown(task, TREES, own, repetition)
            for voting in ("hard", "pooled"):
                kind = "hard votes" if voting == "hard" else voting
                value = ours.accuracy(ours.counted(Fraction(str(epsilon)), voting))
                found[f"ours: noisy counts, {kind}", epsilon] = value
    return found


def depth(name: str) -> int:
    return min(MOST_LEVELS, find_fletcher_islam_depth(tree_data.task(name).schema))


def _methods(forest: Grown, epsilon: float, generator: np.random.Generator) -> dict[str, float]:
    exact, rate = forest.exact, Fraction(str(epsilon))

    def ordered(label: Callable[[Wholes], Wholes]) -> Wholes:
        return forest_runs.in_random_order(exact, label, generator)

    def by(mechanism: str, counts: Wholes) -> Wholes:
        return forest_runs.labels(counts, rate, mechanism, generator)

    labels = {
        "exponential on 0/1, ε/2": ordered(lambda c: on_winner(c, epsilon, generator, flip=False)),
        "permute-and-flip on 0/1, ε/2": ordered(lambda c: on_winner(c, epsilon, generator, flip=True)),
        "SNM-T as printed, not private": ordered(lambda c: printed_student(c, epsilon, generator)),
        "SNM, sound": ordered(lambda c: by("smooth_noisy_max", c)),
        FIXED: by("smooth_noisy_max", exact),
        "LD, sound": ordered(lambda c: by("local_dampening", c)),
        "exponential on counts": by("exponential", exact),
        "permute-and-flip on counts": by("permute_and_flip", exact),
        "noisy counts": (exact + generator.laplace(scale=1 / epsilon, size=exact.shape)).argmax(axis=1),
    }
    return {method: forest.accuracy(forest.voted(found)) for method, found in labels.items()}


def draw(found: dict[tuple[str, str, float], np.ndarray], names: tuple[str, ...]) -> None:
    figure = Figure(figsize=(12, 7.5), layout="constrained")
    panels = figure.subplots(2, -(-len(names) // 2), sharex=True, squeeze=False)
    for axes, name in zip(panels.flat, names, strict=False):
        for method, colour in COLOURS.items():
            if method == FIXED:
                continue
            if method == "not private":
                level = float(found[name, method, 0.0].mean())
                axes.axhline(level, color=colour, linestyle=":", label="not private, hard votes")
                continue
            values = [found[name, method, epsilon] for epsilon in EPSILONS]
            axes.errorbar(
                EPSILONS,
                [float(v.mean()) for v in values],
                yerr=[_error(v) for v in values],
                color=colour,
                label=method,
                linestyle="--" if "not private" in method else "-",
                linewidth=1.8,
                marker="o",
                markersize=3,
            )
        axes.set(xscale="log", title=f"{name}, depth {depth(name)}")
        axes.grid(alpha=0.3)
    for axes in panels[-1]:
        axes.set_xlabel("ε (log scale)")
    for axes in panels[:, 0]:
        axes.set_ylabel("accuracy")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    output.save_figure("forest_figure_10", figure)


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def main(*, quick: bool = False) -> None:
    shared = tree_data.SHARED if tree_data.folder() else ()
    names = (*shared, *tree_data.BUNDLED)
    repetitions = 3 if quick else REPETITIONS
    runs = measured([(name, r) for name in names for r in range(repetitions)], accuracies)
    gathered: dict[tuple[str, str, float], list[float]] = {}
    for (name, _), one in runs.items():
        for (method, epsilon), value in one.items():
            gathered.setdefault((name, method, epsilon), []).append(value)
    found = {key: np.array(values) for key, values in gathered.items()}
    output.write_csv(
        "forest_figure_10",
        ["data", "method", "epsilon", "runs", "accuracy", "standard_error"],
        (
            (name, method, epsilon, len(values), float(values.mean()), _error(values))
            for (name, method, epsilon), values in found.items()
        ),
    )
    draw(found, names)
    lines = []
    for name in names:
        for method in COLOURS:
            grid = (0.0,) * len(EPSILONS) if method == "not private" else EPSILONS
            cells = [found[name, method, epsilon] for epsilon in grid]
            lines.append([name, method, *(f"{100 * v.mean():.1f} ± {100 * _error(v):.1f}" for v in cells)])
    if quick:
        print("--quick: the page is left as it is")
        return
    header = ["data", "leaves", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)]
    output.rewrite("forest-figure-10", output.table(header, lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three repetitions, the page stays as it is")
    main(quick=parser.parse_args().quick)
