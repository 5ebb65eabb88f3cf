"""The report's figures, drawn by matplotlib without a display, as PNG in data URIs."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sordino as sd
from sordino.demo import data
from sordino.demo.questions import (
    by_degree_error,
    central_scores,
    exact_quantile,
    quantile_error,
    triangles,
)
from sordino.graphs import Graph
from sordino.mechanisms.names import MechanismName, QuantileMechanismName

Draw = Callable[[Any, "Palette"], None]

_EPSILONS = np.geomspace(0.05, 5.0, 17)
_NODES_SHOWN = 10
_STEPS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one mode; the series colours are told apart by the colour-blind too."""

    text: str
    grid: str
    ours: str
    theirs: str
    third: str
    fourth: str
    fifth: str


LIGHT = Palette("#1f2430", "#d9dde5", "#0b6e99", "#c8553d", "#6a4c93", "#7a8b99", "#c98a00")
DARK = Palette("#e6e8ee", "#3a4150", "#5cc3ee", "#ff8a70", "#b79be0", "#98a7b5", "#f2c14e")


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture in both modes, with its title, its caption and the text for those who cannot see it."""

    title: str
    caption: str
    light: str
    dark: str


def figures(epsilon: float) -> list[Figure]:
    """All figures of the report."""
    pay, (graph, _) = data.salaries(), data.social_graph()
    return [
        _figure(
            "Error against ε: the median salary",
            "Expected distance from the exact median, by the exact laws. Smooth noise is shown as it is released, "
            "clamped to the bounds. Laplace noise with the global sensitivity, the whole range, is useless here.",
            lambda axes, colours: _median_errors(axes, colours, pay),
        ),
        _figure(
            "Error against ε: the most central node",
            "Expected loss of ego betweenness. The element profile follows the degree, so shifted dampening ranks by "
            "degree; permute-and-flip on the degree itself, which is simpler, is shown beside it and is better still.",
            lambda axes, colours: _central_errors(axes, colours, graph),
        ),
        _figure(
            "A sensitivity profile δ(t)",
            "How much one further edge can move the number of triangles, t edges away from this graph. At "
            f"ε = {epsilon:g} the noise is scaled to the highest point of the discounted curve, not to the global "
            "sensitivity.",
            lambda axes, colours: _profile(axes, colours, graph, epsilon),
        ),
        _figure(
            "An output law: who is named the most central",
            f"Probabilities at ε = {epsilon:g} under two mechanisms, for the {_NODES_SHOWN} highest scores.",
            lambda axes, colours: _law(axes, colours, graph, epsilon),
        ),
        _figure(
            "An output law: the median salary",
            f"Probability of each released value at ε = {epsilon:g}, near the exact median (dotted). Both laws have "
            "tails beyond the picture.",
            lambda axes, colours: _median_law(axes, colours, pay, epsilon),
        ),
        _figure(
            "A noise law: the number of triangles",
            f"Probability of each released count at ε = {epsilon:g}; the dotted line is the exact count.",
            lambda axes, colours: _noise(axes, colours, graph, epsilon),
        ),
    ]


def _figure(title: str, caption: str, draw: Draw) -> Figure:
    return Figure(title, caption, _png(draw, LIGHT), _png(draw, DARK))


def _png(draw: Draw, colours: Palette) -> str:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(6.2, 4.0), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.add_subplot()
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(colours.grid)
    axes.tick_params(colors=colours.text, which="both", labelsize=10)
    axes.grid(True, color=colours.grid, linewidth=0.7)
    axes.set_axisbelow(True)
    draw(axes, colours)
    axes.xaxis.label.set_color(colours.text)
    axes.yaxis.label.set_color(colours.text)
    legend = axes.get_legend()
    if legend is not None:
        legend.get_frame().set_alpha(0.0)
        for text in legend.get_texts():
            text.set_color(colours.text)
    content = io.BytesIO()
    canvas.savefig(content, format="png", dpi=160, transparent=True)
    return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode("ascii")


def _against_epsilon(axes: Any, curves: list[tuple[str, list[float], str, str]], label: str) -> None:
    for name, errors, colour, style in curves:
        axes.plot(_EPSILONS, errors, style, color=colour, linewidth=2, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    marks = (0.05, 0.1, 0.2, 0.5, 1, 2, 5)
    axes.set_xticks(marks, [f"{mark:g}" for mark in marks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("ε")
    axes.set_ylabel(label)


def _median_errors(axes: Any, colours: Palette, pay: NDArray[np.float64]) -> None:
    width = data.SALARY_BOUNDS[1] - data.SALARY_BOUNDS[0]
    half = max(exact_quantile(pay, 0.5), width - exact_quantile(pay, 0.5))

    def errors(mechanism: QuantileMechanismName) -> list[float]:
        return [quantile_error(pay, 0.5, e, mechanism) for e in _EPSILONS.tolist()]

    curves = [
        ("Laplace, global sensitivity", _laplace_errors(pay), colours.fourth, ":"),
        ("smooth-sensitivity noise", _smooth_noise_errors(pay), colours.third, "-."),
        ("exponential on ranks", errors("exponential"), colours.theirs, "--"),
        ("inverse sensitivity (Sordino)", errors("inverse_sensitivity"), colours.ours, "-"),
    ]
    _against_epsilon(axes, curves, "expected error")
    axes.set_ylim(top=half * 1.5)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.legend(loc="lower left", fontsize=9.5)


def _smooth_noise_errors(pay: NDArray[np.float64]) -> list[float]:
    from sordino.stats import order_statistic_bound

    low, high = data.SALARY_BOUNDS
    bound = order_statistic_bound(np.sort(pay) - low, math.ceil(0.5 * len(pay)), high - low)
    return [_clamped_error(pay, bound, "student_t", epsilon) for epsilon in _EPSILONS.tolist()]


def _laplace_errors(pay: NDArray[np.float64]) -> list[float]:
    low, high = data.SALARY_BOUNDS
    return [_clamped_error(pay, high - low, "laplace", epsilon) for epsilon in _EPSILONS.tolist()]


def _clamped_error(pay: NDArray[np.float64], bound: Any, noise: Any, epsilon: float) -> float:
    """E|released − median| of lattice noise clamped to the bounds."""
    low, high = data.SALARY_BOUNDS
    exact = exact_quantile(pay, 0.5)
    law: Any = sd.noise_law(exact, bound, epsilon=epsilon, noise=noise, step=data.SALARY_STEP)
    first, last = round(low / data.SALARY_STEP), round(high / data.SALARY_STEP)
    inside = np.exp(law.log_masses(first, last))
    errors = np.abs(np.arange(first, last + 1) * data.SALARY_STEP - exact)
    scale = float(law.scale)
    below = float(law.shape.cdf((low - data.SALARY_STEP / 2 - exact) / scale))
    above = math.exp(float(law.shape.log_tail((high + data.SALARY_STEP / 2 - exact) / scale)))
    return float(inside @ errors) + below * (exact - low) + above * (high - exact)


def _central_errors(axes: Any, colours: Palette, graph: Graph) -> None:
    scores, profile = central_scores(graph)

    def errors(mechanism: MechanismName) -> list[float]:
        return [
            sd.expected_error(scores, profile=profile, epsilon=e, mechanism=mechanism)
            for e in _EPSILONS.tolist()
        ]

    by_degree = [by_degree_error(graph, e) for e in _EPSILONS.tolist()]
    curves = [
        ("exponential, global sensitivity", errors("exponential"), colours.theirs, "--"),
        ("local dampening", errors("local_dampening"), colours.third, "-."),
        ("shifted dampening (Sordino)", errors("shifted_dampening"), colours.ours, "-"),
        ("permute-and-flip on the degree", by_degree, colours.fifth, ":"),
    ]
    _against_epsilon(axes, curves, "expected loss of ego betweenness")
    axes.set_ylim(bottom=float(scores.max()) * 1e-4, top=float(scores.max()) * 2)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.legend(loc="lower left", fontsize=9.5)


def _profile(axes: Any, colours: Palette, graph: Graph, epsilon: float) -> None:
    _, profile = triangles(graph)
    steps = np.arange(graph.nodes)
    delta = np.array([profile.at(int(t)) for t in steps])
    from sordino.mechanisms.noise import StudentTNoise

    beta = StudentTNoise().default_beta(epsilon, 0.0)
    discounted = np.exp(-beta * steps) * delta
    top = int(discounted.argmax())
    axes.step(steps, delta, where="post", color=colours.ours, linewidth=2, label="δ(t)")
    axes.plot(steps, discounted, color=colours.third, linewidth=2, label=f"e$^{{-βt}}$ δ(t), β = {beta:.3g}")
    axes.axhline(profile.bound, color=colours.theirs, linestyle="--", linewidth=2, label="global sensitivity")
    largest = f"its largest, {discounted[top]:.3g}: the smooth sensitivity"
    axes.plot([top], [discounted[top]], "o", color=colours.third, markersize=8, label=largest)
    axes.set_xlabel("t, edges changed")
    axes.set_ylabel("triangles that one more edge can change")
    axes.set_ylim(0, profile.bound * 1.5)  # room for the legend
    axes.legend(loc="upper left", fontsize=9.5)


def _law(axes: Any, colours: Palette, graph: Graph, epsilon: float) -> None:
    scores, profile = central_scores(graph)
    best = np.argsort(-scores, kind="stable")[:_NODES_SHOWN]
    places = np.arange(len(best))
    compared: tuple[tuple[float, MechanismName, str, str], ...] = (
        (-0.2, "exponential", colours.theirs, "exponential, global sensitivity"),
        (0.2, "shifted_dampening", colours.ours, "shifted dampening"),
    )
    for offset, mechanism, colour, name in compared:
        law = sd.selection_law(scores, profile=profile, epsilon=epsilon, mechanism=mechanism)
        axes.barh(places + offset, law[best], height=0.38, color=colour, label=name)
    axes.set_yticks(places, [f"{graph.label_of(int(i))} ({scores[i]:.0f})" for i in best])
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.xaxis.set_major_formatter(_percent)
    axes.set_xlim(left=0)
    axes.set_xlabel("probability")
    axes.set_ylabel("node (ego betweenness)")
    axes.legend(loc="lower right", fontsize=9.5)


def _median_law(axes: Any, colours: Palette, pay: NDArray[np.float64], epsilon: float) -> None:
    exact = exact_quantile(pay, 0.5)
    asked: dict[str, Any] = {"bounds": data.SALARY_BOUNDS, "step": data.SALARY_STEP, "epsilon": epsilon}
    compared: tuple[tuple[float, QuantileMechanismName, str, str], ...] = (
        (-0.2, "exponential", colours.theirs, "exponential on ranks"),
        (0.2, "inverse_sensitivity", colours.ours, "inverse sensitivity"),
    )
    for offset, mechanism, colour, name in compared:
        points, law = sd.quantile_law(pay, 0.5, mechanism=mechanism, **asked)
        near = np.abs(points - exact) <= _STEPS_SHOWN * data.SALARY_STEP
        width = data.SALARY_STEP
        axes.bar(points[near] + offset * width, law[near], width=0.38 * width, color=colour, label=name)
    axes.axvline(exact, color=colours.text, linestyle=":", linewidth=1.2)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.2)  # room for the legend
    axes.grid(False, axis="x")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_major_formatter(_percent)
    axes.set_xlabel("released salary")
    axes.set_ylabel("probability")
    axes.legend(loc="upper right", fontsize=9.5)


def _percent(value: float, _: Any) -> str:
    return f"{100 * value:.3g} %"


def _noise(axes: Any, colours: Palette, graph: Graph, epsilon: float) -> None:
    exact, profile = triangles(graph)
    plain: Any = sd.noise_law(exact, profile.bound, epsilon=epsilon, noise="laplace", step=1)
    smooth: Any = sd.noise_law(exact, profile, epsilon=epsilon, noise="student_t", step=1)
    reach = math.ceil(2.5 * float(plain.scale))
    counts = np.arange(exact - reach, exact + reach + 1)
    for law, colour, name in (
        (plain, colours.theirs, "Laplace, global sensitivity"),
        (smooth, colours.ours, "Student-t, smooth sensitivity"),
    ):
        masses = np.exp(law.log_masses(int(counts[0]), int(counts[-1])))
        axes.plot(counts, masses, color=colour, linewidth=2, label=name)
        axes.fill_between(counts, masses, color=colour, alpha=0.15, linewidth=0)
    axes.axvline(exact, color=colours.text, linestyle=":", linewidth=1.2)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.2)  # room for the legend
    axes.yaxis.set_major_formatter(_percent)
    axes.set_xlabel("released number of triangles")
    axes.set_ylabel("probability")
    axes.legend(loc="upper right", fontsize=9.5)
