"""Local dampening, Fig. 9: which record stands at the p-th percentile? Expected error against ε.

Reading of the data that gives the paper's figures: the records are the 4096 bins, their values the counts, values lie
in [0, Λ] with Λ the largest count, k = ⌈p(n+1)/100⌉. All curves are exact laws; the paper drew permute-and-flip 100 000
times.
"""

from __future__ import annotations

import data
import numpy as np
import output
from matplotlib.figure import Figure
from numpy.typing import NDArray
from printed_percentile import printed_profile

import sordino as sd

Floats = NDArray[np.float64]

EPSILONS = np.logspace(-1, 2, 31)
PERCENTILES = (50, 90, 99)
# Largest reductions of the error against the exponential mechanism that the paper states, in per cent.
HEADLINES = {
    "PATENT": ("44", "52", "59"),
    "HEPTH": ("12", "52", "73"),
    "INCOME": ("≈ 0", "≈ 0", "3"),
}


def errors(
    values: Floats, scores: Floats, profile: sd.Profile | float, mechanism: str, **options: str
) -> Floats:
    """E|released record's value − value at rank k| for every ε: minus the expected score."""
    return np.array(
        [
            sd.expected_error(scores, profile=profile, epsilon=epsilon, mechanism=mechanism, **options)
            for epsilon in EPSILONS
        ]
    )


def value_errors(values: Floats, k: int, top: float) -> Floats:
    """The same for the value itself, on the integers 0 … Λ, by inverse sensitivity (one record replaced)."""
    truth = np.sort(values)[k - 1]
    found = []
    for epsilon in EPSILONS:
        points, law = sd.quantile_law(
            values, (k - 0.5) / len(values), bounds=(0, top), step=1, epsilon=epsilon
        )
        found.append(float(law @ np.abs(points - truth)))
    return np.array(found)


def curves(values: Floats, p: int, top: float) -> dict[str, Floats]:
    """Every method's expected error for every ε."""
    k = -(-p * (len(values) + 1) // 100)
    scores, exact = sd.percentile_question(values, p, bounds=(0, top))
    printed = {
        lemma: sd.Profile.grouped(*printed_profile(values, k, top, lemma=lemma), bound=top)
        for lemma in (False, True)
    }
    dampening = "local_dampening"
    return {
        "exponential": errors(values, scores, top, "exponential"),
        "permute-and-flip": errors(values, scores, top, "permute_and_flip"),
        "LD, printed profile": errors(values, scores, printed[False], dampening, sampler="exponential"),
        "LD, printed profile and Lemma 10": errors(
            values, scores, printed[True], dampening, sampler="exponential"
        ),
        "LD, exact profile": errors(values, scores, exact, dampening, sampler="exponential"),
        "LD, exact profile, permute-and-flip": errors(values, scores, exact, dampening),
        "value, inverse sensitivity": value_errors(values, k, top),
    }


def reduction(lower: Floats, upper: Floats) -> str:
    """The largest relative reduction, and the ε where it is."""
    gain = 1 - lower / upper
    at = int(np.nanargmax(gain))
    return f"{100 * gain[at]:.1f} % (ε = {EPSILONS[at]:.3g})"


def too_small(values: Floats, p: int, top: float) -> tuple[int, int, float]:
    """Cells (t, distinct value) in which the printed profile lies below the exact one, of how many, and by how much."""
    k = -(-p * (len(values) + 1) // 100)
    table, _ = printed_profile(values, k, top, lemma=False)
    _, exact = sd.percentile_question(values, p, bounds=(0, top))
    below, cells, worst = 0, 0, 0.0
    for start, block in exact.blocks():
        part = table[:, start : start + block.shape[1]]
        truth = block[:, : part.shape[1]]
        if not part.size:
            break
        short = truth - part
        below += int((short > 1e-3).sum())
        cells += short.size
        worst = max(worst, float((short / np.maximum(truth, 1e-9)).max()))
    return below, cells, worst


def draw(results: dict[tuple[str, int], dict[str, Floats]]) -> None:
    styles = {
        "exponential": "-",
        "permute-and-flip": ":",
        "LD, printed profile": "-",
        "LD, exact profile": "--",
    }
    styles["value, inverse sensitivity"] = "-"
    figure = Figure(figsize=(11, 8.5), layout="constrained")
    panels = figure.subplots(len(data.NAMES), len(PERCENTILES), sharex=True)
    for row, name in zip(panels, data.NAMES, strict=True):
        for axes, p in zip(row, PERCENTILES, strict=True):
            for method, style in styles.items():
                error = np.maximum(results[name, p][method], 1e-3)
                width = 2.6 if style == "-" else 1.6
                axes.plot(EPSILONS, error, style, color=output.COLOURS[method], label=method, linewidth=width)
            top = max(results[name, p]["exponential"])
            axes.set(xscale="log", yscale="log", ylim=(0.1, top * 2), title=f"{name}, p = {p}")
            axes.grid(alpha=0.3)
    for axes in panels[-1]:
        axes.set_xlabel("ε (log scale)")
    for axes in panels[:, 0]:
        axes.set_ylabel("expected error (log scale)")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    output.save_figure("ld_figure_9", figure)


def main() -> None:
    path = data.data_file()
    if path is None:
        raise SystemExit("the DPBench histograms are not there")
    columns = data.histograms(path)
    results, tops = {}, {name: float(values.max()) for name, values in columns.items()}
    for name, values in columns.items():
        for p in PERCENTILES:
            results[name, p] = curves(values, p, tops[name])
    methods = list(next(iter(results.values())))
    output.write_csv(
        "ld_figure_9",
        ["data", "p", "epsilon", *methods],
        (
            (name, p, float(epsilon), *(float(found[method][i]) for method in methods))
            for (name, p), found in results.items()
            for i, epsilon in enumerate(EPSILONS)
        ),
    )
    draw(results)
    lines, values_lines, wide_lines = [], [], []
    for (name, p), found in results.items():
        plain, flipped = found["exponential"], found["permute-and-flip"]
        below, cells, worst = too_small(columns[name], p, tops[name])
        lines.append(
            [
                name,
                str(p),
                HEADLINES[name][PERCENTILES.index(p)] + " %",
                reduction(found["LD, printed profile"], plain),
                reduction(found["LD, printed profile and Lemma 10"], plain),
                reduction(found["LD, exact profile"], plain),
                reduction(found["LD, exact profile, permute-and-flip"], flipped),
                f"{100 * below / cells:.2g} %, by up to {100 * worst:.2g} %" if below else "nowhere",
                f"{np.abs(found['LD, printed profile'] / found['LD, exact profile'] - 1).max():.1g}",
            ]
        )
        shown = [int(np.argmin(np.abs(EPSILONS - e))) for e in (0.1, 1.0, 10.0, 100.0)]
        for method in (
            "permute-and-flip",
            "LD, exact profile, permute-and-flip",
            "value, inverse sensitivity",
        ):
            values_lines.append([name, str(p), method, *(f"{found[method][i]:.4g}" for i in shown)])
        wide_lines.append(
            [name, str(p), *(_wide(columns[name], p, factor * tops[name]) for factor in (1, 2, 10))]
        )
    header = [
        "data", "p", "paper", "printed profile", "printed, with Lemma 10", "exact profile",
        "exact, both by permute-and-flip", "printed below exact (cells)",
        "largest relative difference of the errors",
    ]  # fmt: skip
    output.rewrite("ld-figure-9", output.table(header, lines))
    output.rewrite("ld-figure-9-bounds", output.table(["data", "p", "Λ = maximum", "2×", "10×"], wide_lines))
    header = ["data", "p", "method", "ε = 0.1", "1", "10", "100"]
    output.rewrite("ld-figure-9-values", output.table(header, values_lines))


def _wide(values: Floats, p: int, top: float) -> str:
    scores, exact = sd.percentile_question(values, p, bounds=(0, top))
    plain = errors(values, scores, top, "exponential")
    return reduction(errors(values, scores, exact, "local_dampening", sampler="exponential"), plain)


if __name__ == "__main__":
    main()
