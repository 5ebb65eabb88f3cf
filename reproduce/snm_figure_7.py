"""Smooth noisy max, Fig. 7: the p-th percentile with utility 1 where a candidate has its value and 0 elsewhere.

Reading that gives the thesis's published figures to the last digit: the records are the 4096 bins, their values the
counts, k = ⌊pn/100⌋ counted from 0, the candidates are the records themselves (all with the value at k win), and
S = max(e^(−(2j+1)ε), 0.01). The sound mechanisms choose among the integers 0 … Λ, which can be public.
"""

from __future__ import annotations

import math

import data
import numpy as np
import output
from matplotlib.figure import Figure
from numpy.typing import NDArray
from printed_percentile import printed_profile

import sordino as sd
from sordino.mechanisms.selection.noisy_max_law import log_law
from sordino.sampling.shapes import Laplace, Shape, StudentT

Floats = NDArray[np.float64]

EPSILONS = np.logspace(-1, 2, 30)  # the thesis's grid
PERCENTILES = (50, 90, 99)
DELTA = 1e-6
CLOSE = 5.0
# E[A(x)] of SNM-T in the results that accompany the thesis: (data, p): {index of ε: value}.
PUBLISHED = {
    ("HEPTH", 50): {0: 84.816883, 9: 70.764364, 10: 50.910383, 12: 43.910899},
    ("HEPTH", 90): {0: 84.819202, 14: 99.372717, 15: 210.881131, 16: 235.125},
    ("PATENT", 50): {0: 6823.299722, 14: 6866.142183, 15: 7585.58102, 16: 7755.342081},
    ("INCOME", 50): {0: 5064.53667, 4: 4297.754491, 10: 729.524915, 16: 20.365948},
}
# Budget that SNM-T saves against LD, as stated.
SAVINGS = {"HEPTH": ("69 %", "51 %", "51 %"), "PATENT": ("51 %", "70 %", "70 %"), "INCOME": ("–", "–", "–")}
# Tuples and share of zeros in the thesis's Table 3.
TABLE_3 = {"HEPTH": "347 414, 21.17 %", "PATENT": "32 558, 97.80 %", "INCOME": "20 787 122, 44.97 %"}
STYLES = {
    "EM": ("#7f7f7f", "-"),
    "PF": ("#000000", ":"),
    "LD": ("#ff7f0e", "-"),
    "LD2": ("#8c564b", "-"),
    "SNM-LAP": ("#e377c2", "--"),
    "SNM-T, as printed": ("#d62728", "--"),
    "SNM-T, as computed": ("#d62728", "-"),
    "winner law": ("#1f77b4", "-"),
    "polynomial noise": ("#17becf", "-"),
    "Laplace noise": ("#17becf", "--"),
    "rank, permute-and-flip": ("#2ca02c", "-"),
}
PRINTED = tuple(STYLES)[:7]
SOUND = ("EM on 0/1", *tuple(STYLES)[7:])
STYLES["EM on 0/1"] = STYLES["EM"]


def noisy_max(shape: Shape, utility: Floats, scale: float) -> Floats:
    """The law of argmax u + scale·Z; a vanishing scale leaves the winners."""
    if scale < 1e-12:
        return utility / utility.sum()
    return np.exp(log_law(shape, utility / scale))


def printed_laws(values: Floats, p: int) -> tuple[float, int, dict[str, list[Floats]]]:
    """The value asked for, j, and each method's law over the sorted records for every ε, as printed."""
    place = p * len(values) // 100
    truth = float(values[place])
    utility = (values == truth).astype(float)
    j = int(min(utility[:place].sum(), utility[place + 1 :].sum()))
    distance = 2 * j + 1
    profile = sd.Profile.from_table(np.zeros(distance), bound=1.0)
    distances = -np.abs(values - truth)
    far = sd.Profile.grouped(
        *printed_profile(values, place + 1, float(values.max()), lemma=False), bound=float(values.max())
    )
    laws: dict[str, list[Floats]] = {method: [] for method in PRINTED}
    for epsilon in EPSILONS.tolist():
        smooth = math.exp(-distance * epsilon)
        student = 2 * math.sqrt(3) / 4
        dampening = {"epsilon": epsilon, "mechanism": "local_dampening", "sampler": "exponential"}
        laws["EM"].append(sd.selection_law(utility, profile=1.0, epsilon=epsilon, mechanism="exponential"))
        laws["PF"].append(
            sd.selection_law(utility, profile=1.0, epsilon=epsilon, mechanism="permute_and_flip")
        )
        laws["LD"].append(sd.selection_law(utility, profile=profile, **dampening))
        laws["LD2"].append(sd.selection_law(distances, profile=far, **dampening))
        laws["SNM-LAP"].append(noisy_max(Laplace(), utility, 2 * smooth / (epsilon / 2)))
        laws["SNM-T, as printed"].append(noisy_max(StudentT(3), utility, 2 * smooth / student))
        floor = 2 * max(smooth, 0.01) / (student * epsilon / 2)
        laws["SNM-T, as computed"].append(noisy_max(StudentT(3), utility, floor))
    return truth, j, laws


def survived(values: Floats, truth: float, p: int) -> int:
    """Rows that may be added or removed before x_(k(n)), k(n) = ⌊pn/100⌋ + 1, can take another value in [0, Λ]."""
    below, upto, n = int((values < truth).sum()), int((values <= truth).sum()), len(values)
    changes = 0
    while True:
        changes += 1
        for added in range(changes + 1):
            rows = n + 2 * added - changes
            rank = p * rows // 100 + 1
            removed = changes - added
            if (truth < values.max() and upto - removed < rank) or (truth > 0 and below + added >= rank):
                return changes - 1


def sound_errors(values: Floats, truth: float, p: int) -> dict[str, Floats]:
    """E|x_k − A(x)| among the integers 0 … Λ, one row added or removed."""
    grid = np.arange(values.max() + 1)
    utility = (grid == truth).astype(float)
    miss = float(np.abs(grid - truth).sum() / (len(grid) - 1))
    profile = sd.Profile.from_table(np.zeros(survived(values, truth, p)), bound=1.0)
    loser = int(truth != 0) - 1
    noises = {"winner law": "winner", "polynomial noise": "polynomial", "Laplace noise": "laplace"}
    found: dict[str, list[float]] = {method: [] for method in SOUND}
    for epsilon in EPSILONS.tolist():
        lost = (len(grid) - 1) / (len(grid) - 1 + math.exp(min(700.0, epsilon / 2)))
        found["EM on 0/1"].append(miss * lost)
        for method, noise in noises.items():
            delta = DELTA if noise == "laplace" else 0.0
            law = sd.selection_law(
                utility,
                profile=profile,
                epsilon=epsilon,
                delta=delta,
                mechanism="smooth_noisy_max",
                noise=noise,
                log=True,
            )
            found[method].append(miss * (len(grid) - 1) * math.exp(law[loser]))
        points, law = sd.quantile_law(
            values,
            (p * len(values) // 100 + 0.5) / len(values),
            bounds=(0, values.max()),
            step=1,
            epsilon=epsilon,
            mechanism="permute_and_flip",
            distance=sd.add_remove_row(),
        )
        found["rank, permute-and-flip"].append(float(law @ np.abs(points - truth)))
    return {method: np.array(error) for method, error in found.items()}


def reached(error: Floats) -> float | None:
    """The smallest ε of the grid from which the error stays within 5."""
    above = np.flatnonzero(error > CLOSE)
    if not len(above):
        return float(EPSILONS[0])
    return float(EPSILONS[above[-1] + 1]) if above[-1] + 1 < len(EPSILONS) else None


def shown(epsilon: float | None) -> str:
    return "> 100" if epsilon is None else f"{epsilon:.3g}"


def draw(
    name: str, results: dict[tuple[str, int], dict[str, Floats]], methods: tuple[str, ...], label: str
) -> None:
    figure = Figure(figsize=(11, 8.5), layout="constrained")
    panels = figure.subplots(len(data.NAMES), len(PERCENTILES), sharex=True)
    for row, dataset in zip(panels, data.NAMES, strict=True):
        for axes, p in zip(row, PERCENTILES, strict=True):
            found = results[dataset, p]
            for method in methods:
                colour, style = STYLES[method]
                axes.plot(EPSILONS, np.maximum(found[method], 1e-6), style, color=colour, label=method)
            top = max(float(found[method].max()) for method in methods)
            axes.set(xscale="log", yscale="log", ylim=(0.1, top * 2), title=f"{dataset}, p = {p}")
            axes.axhline(CLOSE, color="#bbbbbb", linewidth=0.8)
            axes.grid(alpha=0.3)
    for axes in panels[-1]:
        axes.set_xlabel("ε (log scale)")
    for axes in panels[:, 0]:
        axes.set_ylabel(f"{label} (log scale)")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    output.save_figure(name, figure)


def main() -> None:
    path = data.data_file()
    if path is None:
        raise SystemExit("the DPBench histograms are not there")
    biased: dict[tuple[str, int], dict[str, Floats]] = {}
    honest: dict[tuple[str, int], dict[str, Floats]] = {}
    facts: list[list[str]] = []
    for name, column in data.histograms(path).items():
        values = np.sort(column)
        for p in PERCENTILES:
            truth, j, laws = printed_laws(values, p)
            means = {method: np.array([law @ values for law in found]) for method, found in laws.items()}
            biased[name, p] = {method: np.abs(mean - truth) for method, mean in means.items()}
            off = np.abs(values - truth)
            honest[name, p] = {
                method: np.array([law @ off for law in found]) for method, found in laws.items()
            }
            honest[name, p] |= sound_errors(values, truth, p)
            published = PUBLISHED.get((name, p), {})
            worst = max(
                (abs(means["SNM-T, as computed"][i] - value) for i, value in published.items()), default=None
            )
            facts.append(
                [
                    name,
                    str(p),
                    f"{truth:g}",
                    str(j),
                    str(2 * j + 1),
                    str(survived(values, truth, p)),
                    "–" if worst is None else f"{worst:.1e}",
                ]
            )
    _write(biased, honest)
    draw("snm_figure_7_printed", biased, PRINTED, "|x_k − E[A(x)]|")
    draw("snm_figure_7_sound", honest, ("LD2", "SNM-T, as computed", *SOUND), "E|x_k − A(x)|")
    header = [
        "data", "p", "x_k", "j", "2j + 1", "rows survived", "largest difference to the published SNM-T means"
    ]  # fmt: skip
    output.rewrite("snm-figure-7-facts", output.table(header, facts))
    lines = []
    for (name, p), found in biased.items():
        ours, theirs = reached(found["SNM-T, as computed"]), reached(found["LD"])
        saved = "–" if ours is None or theirs is None else f"{100 * (1 - ours / theirs):.0f} %"
        needed = (shown(reached(found[method])) for method in PRINTED)
        lines.append([name, str(p), *needed, saved, SAVINGS[name][PERCENTILES.index(p)]])
    header = ["data", "p", *PRINTED, "SNM-T (computed) saves against LD", "thesis"]
    output.rewrite("snm-figure-7-printed", output.table(header, lines))
    lines = [
        [name, f"{column.sum():,.0f}".replace(",", " "), f"{100 * (column == 0).mean():.2f} %", TABLE_3[name]]
        for name, column in data.histograms(path).items()
    ]
    header = ["data", "sum of the 4096 counts", "counts that are zero", "thesis, Table 3"]
    output.rewrite("snm-data", output.table(header, lines))
    lines = [
        [name, str(p), *(shown(reached(found[method])) for method in ("SNM-T, as computed", *SOUND))]
        for (name, p), found in honest.items()
    ]
    output.rewrite("snm-figure-7-sound", output.table(["data", "p", "SNM-T, as computed", *SOUND], lines))


def _write(
    biased: dict[tuple[str, int], dict[str, Floats]], honest: dict[tuple[str, int], dict[str, Floats]]
) -> None:
    rows = [
        (name, p, float(EPSILONS[i]), method, float(biased[name, p].get(method, error)[i]), float(error[i]))
        if method in biased[name, p]
        else (name, p, float(EPSILONS[i]), method, "", float(error[i]))
        for (name, p), found in honest.items()
        for method, error in found.items()
        for i in range(len(EPSILONS))
    ]
    output.write_csv(
        "snm_figure_7", ["data", "p", "epsilon", "method", "aee", "expected_absolute_error"], rows
    )


if __name__ == "__main__":
    main()
