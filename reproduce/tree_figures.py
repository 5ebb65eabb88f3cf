"""Local dampening, Fig. 11, and smooth noisy max, Fig. 9: accuracy of private decision trees against ε.

ACS, the papers' third table, is not at hand; scikit-learn's bundled tables stand beside Adult and NLTCS. Every curve is
a mean over repeated 10-fold cross-validations; the standard error is that of the mean over folds.
"""

from __future__ import annotations

import argparse
from fractions import Fraction

import numpy as np
import output
import tree_data
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tree_runs import FOLDS, Method, Run, measured

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0)
DEPTHS = (2, 5)
# How many folds are held out in all, ten to a repetition; wide digits are slow and only in the full run.
FULL = {"Adult": 50, "NLTCS": 50, "digits": 10, "breast cancer": 50, "wine": 100, "iris": 100}
QUICK = {"Adult": 4, "NLTCS": 4, "breast cancer": 10, "wine": 20, "iris": 20}
HALF = Fraction(1, 2)
GAIN, MAX = "information_gain", "max_operator"

PRINTED = {
    "exponential, ε/(2Δ)": Method("printed", GAIN, "exponential", rate=HALF),
    "permute-and-flip, ε/(2Δ)": Method("printed", GAIN, "permute_and_flip", rate=HALF),
    "permute-and-flip, ε/Δ": Method("printed", GAIN, "permute_and_flip"),
    "LD": Method("printed", GAIN, "local_dampening"),
    "SLD": Method("printed", GAIN, "shifted_dampening"),
    "SNM-T as printed, not private": Method("printed", MAX, "student as printed"),
    "SNM, sound": Method("printed", MAX, "smooth_noisy_max"),
    "max operator, permute-and-flip, ε/Δ": Method("printed", MAX),
    "Gini, permute-and-flip, ε/Δ": Method("printed", "gini"),
}
OURS = {
    "Gini, permute-and-flip": Method("ours", "gini"),
    "max operator, permute-and-flip": Method("ours", MAX),
    "information gain, permute-and-flip": Method("ours", GAIN),
    "information gain, permute-and-flip, ε/(2Δ)": Method("ours", GAIN, rate=HALF),
    "information gain, LD": Method("ours", GAIN, "local_dampening"),
    "information gain, SLD": Method("ours", GAIN, "shifted_dampening"),
    "max operator, SNM, sound": Method("ours", MAX, "smooth_noisy_max"),
}
LEAVES = {
    "noisy counts, pooled with the parent": Method("ours", MAX),
    "noisy counts, largest": Method("ours", MAX, predict="argmax"),
    "label by permute_and_flip": Method("ours", MAX, leaves="permute_and_flip"),
    "label by exponential": Method("ours", MAX, leaves="exponential"),
    "label by local_dampening": Method("ours", MAX, leaves="local_dampening"),
    "label by smooth_noisy_max": Method("ours", MAX, leaves="smooth_noisy_max"),
}
CEILINGS = {
    "ID3, not private": Method("not private", GAIN),
    "scikit-learn, not private": Method("scikit-learn"),
    "majority class, not private": Method("majority"),
}
COLOURS = {
    "exponential, ε/(2Δ)": "#7f7f7f",
    "permute-and-flip, ε/(2Δ)": "#000000",
    "permute-and-flip, ε/Δ": "#2ca02c",
    "LD": "#9ecae1",
    "SLD": "#1f77b4",
    "SNM-T as printed, not private": "#d62728",
    "SNM, sound": "#ff9896",
    "max operator, permute-and-flip, ε/Δ": "#9467bd",
    "Gini, permute-and-flip, ε/Δ": "#ff7f0e",
    "ours: max operator, permute-and-flip": "#8c564b",
}
FIGURE_11 = (
    "exponential, ε/(2Δ)",
    "LD",
    "SLD",
    "permute-and-flip, ε/Δ",
    "ours: max operator, permute-and-flip",
)
FIGURE_9 = (
    "exponential, ε/(2Δ)", "permute-and-flip, ε/(2Δ)", "SLD", "SNM-T as printed, not private", "SNM, sound",
    "max operator, permute-and-flip, ε/Δ", "ours: max operator, permute-and-flip",
)  # fmt: skip

Found = dict[tuple[str, str, int, float], np.ndarray]


def names(found: Found) -> list[str]:
    """The tables that were measured, in the order of the pages."""
    there = {data for data, *_ in found}
    return [data for data in (*tree_data.SHARED, *tree_data.BUNDLED) if data in there]


def methods() -> dict[str, Method]:
    """Every method under its name in the CSV."""
    listed = {f"printed: {name}": method for name, method in PRINTED.items()}
    listed |= {f"ours: {name}": method for name, method in OURS.items()}
    listed |= {f"leaves: {name}": method for name, method in LEAVES.items()}
    return listed | CEILINGS


def runs(quick: bool) -> list[tuple[str, Run]]:
    todo = []
    for data, folds in (QUICK if quick else FULL).items():
        if data in tree_data.SHARED and not tree_data.folder():
            continue
        parts = [min(FOLDS, folds - start) for start in range(0, folds, FOLDS)]
        for name, method in methods().items():
            for depth in DEPTHS[1:] if name.startswith("leaves") else DEPTHS:
                for epsilon in (0.0,) if name in CEILINGS else EPSILONS:
                    todo += [(name, Run(data, method, epsilon, depth, r, n)) for r, n in enumerate(parts)]
    return todo


def collect(quick: bool) -> Found:
    """Accuracies of all folds of all repetitions, by (data, method, depth, ε)."""
    todo = runs(quick)
    accuracies = measured({run for _, run in todo})
    found: dict[tuple[str, str, int, float], list[float]] = {}
    for name, run in todo:
        found.setdefault((run.data, name, run.depth, run.epsilon), []).extend(accuracies[run])
    return {key: np.array(values) for key, values in found.items()}


def error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def draw(found: Found, name: str, curves: tuple[str, ...], title: str) -> None:
    shown = [data for data in names(found) if data in (*tree_data.SHARED, "breast cancer")]
    figure = Figure(figsize=(12, 7.5), layout="constrained")
    panels = figure.subplots(len(DEPTHS), len(shown), sharex=True, sharey="col", squeeze=False)
    for row, depth in zip(panels, DEPTHS, strict=True):
        for axes, data in zip(row, shown, strict=True):
            _panel(axes, found, data, depth, curves)
    for axes in panels[-1]:
        axes.set_xlabel("ε (log scale)")
    for axes in panels[:, 0]:
        axes.set_ylabel("accuracy")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    figure.suptitle(title)
    output.save_figure(name, figure)


def _panel(axes: Axes, found: Found, data: str, depth: int, curves: tuple[str, ...]) -> None:
    for curve in curves:
        key = curve if curve.startswith("ours") else f"printed: {curve}"
        values = [found[data, key, depth, epsilon] for epsilon in EPSILONS]
        style = "--" if "not private" in curve else "-"
        axes.errorbar(
            EPSILONS,
            [float(v.mean()) for v in values],
            yerr=[error(v) for v in values],
            color=COLOURS[curve],
            label=curve,
            linestyle=style,
            linewidth=1.8,
            marker="o",
            markersize=3,
        )
    level = float(found[data, "ID3, not private", depth, 0.0].mean())
    axes.axhline(level, color="#bcbd22", linestyle=":", label="ID3, not private")
    level = float(found[data, "majority class, not private", depth, 0.0].mean())
    axes.axhline(level, color="#cccccc", linestyle=":", label="majority class")
    axes.set(xscale="log", title=f"{data}, depth {depth}")
    axes.grid(alpha=0.3)


def shown(values: np.ndarray) -> str:
    return f"{100 * values.mean():.1f} ± {100 * error(values):.1f}"


def accuracy_table(found: Found, prefix: str, listed: list[str], depths: tuple[int, ...] = DEPTHS) -> str:
    lines = []
    for data in names(found):
        for depth in depths:
            for name in listed:
                cells = [shown(found[data, prefix + name, depth, epsilon]) for epsilon in EPSILONS]
                lines.append([data, str(depth), name, *cells])
    return output.table(["data", "depth", "method", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)], lines)


def gain(found: Found, data: str, depth: int, better: str, baseline: str) -> str:
    """Largest and smallest difference over ε in points, with its standard error."""
    points = []
    for epsilon in EPSILONS:  # the folds are the same for both
        lead = 100 * (found[data, better, depth, epsilon] - found[data, baseline, depth, epsilon])
        points.append((float(lead.mean()), error(lead), epsilon))
    best, worst = max(points), min(points)
    mean = np.mean([point for point, _, _ in points])
    return " ".join(
        (
            f"{best[0]:+.1f} ± {best[1]:.1f} (ε = {best[2]:g}),",
            f"{worst[0]:+.1f} ± {worst[1]:.1f} (ε = {worst[2]:g});",
            f"mean {mean:+.1f}",
        )
    )


def gains(found: Found) -> str:
    pairs = {
        "LD over exponential ε/(2Δ)": ("printed: LD", "printed: exponential, ε/(2Δ)"),
        "SLD over exponential ε/(2Δ)": ("printed: SLD", "printed: exponential, ε/(2Δ)"),
        "SLD over permute-and-flip ε/Δ, same score": ("printed: SLD", "printed: permute-and-flip, ε/Δ"),
        "SLD over Gini by permute-and-flip ε/Δ": ("printed: SLD", "printed: Gini, permute-and-flip, ε/Δ"),
        "printed SNM-T over SLD": ("printed: SNM-T as printed, not private", "printed: SLD"),
        "sound SNM over SLD": ("printed: SNM, sound", "printed: SLD"),
        "sound SNM over max operator by permute-and-flip": (
            "printed: SNM, sound",
            "printed: max operator, permute-and-flip, ε/Δ",
        ),
        "ours (max operator) over Algorithm 4 with SLD": (
            "ours: max operator, permute-and-flip",
            "printed: SLD",
        ),
        "ours: SLD over max operator by permute-and-flip": (
            "ours: information gain, SLD",
            "ours: max operator, permute-and-flip",
        ),
    }
    lines = [
        [label, data, str(depth), gain(found, data, depth, *pair)]
        for label, pair in pairs.items()
        for data in names(found)
        for depth in DEPTHS
        if data in (*tree_data.SHARED, "breast cancer")
    ]
    return output.table(["comparison", "data", "depth", "largest and smallest gain in points"], lines)


def ceilings(found: Found) -> str:
    lines = []
    for data in names(found):
        for depth in DEPTHS:
            cells = [shown(found[data, name, depth, 0.0]) for name in CEILINGS]
            lines.append([data, str(depth), str(len(found[data, "printed: LD", depth, EPSILONS[0]])), *cells])
    return output.table(["data", "depth", "folds per point", *CEILINGS], lines)


def main(*, quick: bool = False) -> None:
    found = collect(quick)
    output.write_csv(
        "tree_figures",
        ["data", "method", "depth", "epsilon", "folds", "accuracy", "standard_error"],
        (
            (data, name, depth, epsilon, len(values), float(values.mean()), error(values))
            for (data, name, depth, epsilon), values in found.items()
        ),
    )
    draw(found, "tree_figure_11", FIGURE_11, "Algorithm 4 as printed, information gain (LD Fig. 11)")
    draw(found, "tree_figure_9", FIGURE_9, "Algorithm 4 as printed (SNM Fig. 9)")
    output.rewrite("tree-ceilings", ceilings(found))
    output.rewrite("tree-gains", gains(found))
    output.rewrite("tree-printed", accuracy_table(found, "printed: ", list(PRINTED)))
    output.rewrite("tree-ours", accuracy_table(found, "ours: ", list(OURS)))
    output.rewrite("tree-leaves", accuracy_table(found, "leaves: ", list(LEAVES), DEPTHS[1:]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer folds, and no digits")
    main(quick=parser.parse_args().quick)
