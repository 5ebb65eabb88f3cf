"""Local dampening, Fig. 7 (Example 9): the error of shifted dampening while the profile u·t/β falls with β."""

from __future__ import annotations

import math

import numpy as np
import output
from matplotlib.figure import Figure

import sordino as sd

SCORES = np.array([10.0, 20.0, 30.0])
BOUND = 100.0
EPSILON = 1.0
BETAS = np.logspace(-2, 3, 51)


def profile(beta: float) -> sd.Profile:
    """min(u·t/β, Δ), written down until the slowest score reaches Δ."""
    horizon = math.ceil(BOUND * beta / SCORES.min()) + 1
    steps = np.arange(horizon)
    return sd.Profile.from_table(np.minimum(SCORES[:, None] * steps / beta, BOUND), bound=BOUND)


def error(beta: float, sampler: str) -> float:
    return sd.expected_error(
        SCORES, profile=profile(beta), epsilon=EPSILON, mechanism="shifted_dampening", sampler=sampler
    )


def shift_by_hand(beta: float) -> float:
    """The print's recipe: local dampening of u − s for an s past its s₀; the largest difference to the closed form."""
    options = {"profile": profile(beta), "epsilon": EPSILON, "sampler": "exponential"}
    shift = BOUND * (profile(beta).at(0).size + math.ceil(BOUND * beta / SCORES.min()) + 2)
    shifted = sd.selection_law(SCORES - shift, mechanism="local_dampening", **options)
    closed = sd.selection_law(SCORES, mechanism="shifted_dampening", **options)
    return float(np.abs(shifted - closed).max())


def main() -> None:
    plain = sd.expected_error(SCORES, profile=BOUND, epsilon=EPSILON, mechanism="exponential")
    rows = [(float(b), error(b, "exponential"), error(b, "permute_and_flip")) for b in BETAS]
    output.write_csv("ld_figure_7", ["beta", "shifted_dampening", "shifted_dampening_permute_and_flip"], rows)
    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    axes = figure.subplots()
    columns = np.array(rows).T
    axes.axhline(plain, color="#7f7f7f", linestyle=":", label="exponential mechanism")
    axes.plot(columns[0], columns[1], color="#d62728", label="shifted dampening (as in the paper)")
    axes.plot(columns[0], columns[2], color="#1f77b4", linestyle="--", label="… drawn by permute-and-flip")
    axes.set(xscale="log", xlabel="β (log scale)", ylabel="expected error", ylim=(0, 11))
    axes.set_title("Example 9: u = (10, 20, 30), Δ = 100, ε = 1")
    axes.legend(loc="lower left")
    axes.grid(alpha=0.3)
    output.save_figure("ld_figure_7", figure)
    shown = [0.01, 0.1, 1.0, 10.0, 100.0]
    lines = [
        [
            f"{b:g}",
            f"{error(b, 'exponential'):.4f}",
            f"{error(b, 'permute_and_flip'):.4f}",
            f"{shift_by_hand(b):.0e}",
        ]
        for b in shown
    ]
    lines.append(["exponential mechanism", f"{plain:.4f}", "", ""])
    header = ["β", "expected error", "drawn by permute-and-flip", "closed form − shift by hand"]
    output.rewrite("ld-figure-7", output.table(header, lines))


if __name__ == "__main__":
    main()
