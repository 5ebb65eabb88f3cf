"""Random expressions of cells, and the two inequalities that a smooth bound of a derivative must keep."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

import sordino as sd
from sordino.sensitivity import Expression, expression
from tests.oracles.norms import random_tree, tree_length, write_tree

BOUNDS = {"x": (-3.0, 4.0), "y": (0.0, 6.0), "z": (0.5, 5.0), "v": (0.2, 8.0)}
KINDS = ("EE", "FI", "other")


def random_text(random: Generator, names: list[str], depth: int) -> str:
    """A text with products of shared columns, nested filters, powers, extremes and lengths."""
    if depth == 0 or random.random() < 0.1:
        if random.random() < 0.2:
            return f"{random.uniform(-3, 3):.2f}"
        return str(random.choice(names))
    one = random_text(random, names, depth - 1)
    kind = random.integers(13)
    if kind >= 8:
        name = str(random.choice([name for name in names if name != "kind"]))
        steepness = f"{np.exp(random.uniform(-1, 1.5)):.2f}"
        return [
            f"sigmoid({one} - {random.uniform(-2, 2):.2f}, {steepness})",
            f"tauoid({one}, {steepness})",
            f"ramp({one} - 1, {steepness})",
            f"(({one})**{random.choice([2, 3])})",
            f"exp(0.3*{name})/(1 + abs({one}))",
        ][kind - 8]
    two = random_text(random, names, depth - 1)
    return [
        f"(({one}) + {random.uniform(-2, 2):.2f}*({two}))",
        f"(({one})*({two}))",
        f"(({one})*({two}))",
        f"min({one}, {two})",
        f"max({one}, {two}, 0.3)",
        f"sqrt(({one})**2 + ({two})**2)",
        f"linf({one}, 0.5*({two}))",
        f"ln(1 + abs({one}))*({two})",
    ][kind]


@dataclass(frozen=True)
class Case:
    """An expression, the tree of its norm by which distances are measured here, and the cost of another category."""

    function: Expression
    tree: Any
    jump: float

    def distance(self, rows: dict[str, Any], others: dict[str, Any]) -> Any:
        """By the definition."""
        moves = {name: rows[name] - others[name] for name in "xyz"}
        moves["v"] = np.log(rows["v"]) - np.log(others["v"])
        return tree_length(self.tree, moves) + self.jump * (rows["kind"] != others["kind"])


def evaluate(text: str, rows: dict[str, Any]) -> Any:
    """The text as Python reads it."""
    known = {
        "sigmoid": lambda t, a: 1 / (1 + np.exp(-a * t)),
        "tauoid": lambda t, a: 1 / np.cosh(a * t),
        "ramp": lambda t, w: np.clip(t / w + 0.5, 0, 1),
        "min": lambda *parts: np.minimum.reduce(np.broadcast_arrays(*parts)),
        "max": lambda *parts: np.maximum.reduce(np.broadcast_arrays(*parts)),
        "linf": lambda *parts: np.maximum.reduce(np.broadcast_arrays(*map(np.abs, parts))),
        "sqrt": np.sqrt, "exp": np.exp, "ln": np.log, "abs": np.abs,
    }  # fmt: skip
    with np.errstate(over="ignore"):
        return eval(text, {"__builtins__": {}}, known | rows)


def random_case(random: Generator) -> Case:
    """One that is not refused; a third of them with a category."""
    while True:
        tree = random_tree(random, ["x", "y", "z", "v"])
        norm = write_tree(tree).replace("v", "log(v)")
        jump = round(float(np.exp(random.uniform(-1, 1))), 2)
        norm = f"l1({norm}, {jump}*is(kind))"
        text = random_text(random, ["x", "y", "z", "v"], 3)
        if random.random() < 0.3:
            text = f"({text})*(1 + 2*(kind == 'EE')) - (kind == 'FI')*({random_text(random, ['x', 'v'], 1)})"
        try:
            return Case(expression(text, norm=norm, bounds=BOUNDS, domains={"kind": KINDS}), tree, jump)
        except sd.ParameterError:
            continue


def random_rows(random: Generator, count: int) -> dict[str, Any]:
    """Cells within their bounds, some of them at the ends and on round numbers, where kinks are."""
    rows: dict[str, Any] = {}
    for name, (low, high) in BOUNDS.items():
        cells = random.uniform(low, high, count)
        odd = random.random(count)
        cells = np.where(odd < 0.1, random.choice([low, high], count), cells)
        rows[name] = np.clip(np.where((odd > 0.1) & (odd < 0.25), np.round(cells), cells), low, high)
    rows["kind"] = random.choice(np.array(KINDS, dtype=object), count)
    return rows


def moved_rows(random: Generator, rows: dict[str, Any]) -> dict[str, Any]:
    """Near and far, some columns unmoved."""
    count = len(rows["x"])
    others: dict[str, Any] = {}
    size = 10.0 ** random.uniform(-4, 1, count)
    for name, (low, high) in BOUNDS.items():
        move = np.where(random.random(count) < 0.5, random.normal(size=count), 0.0)
        others[name] = np.clip(rows[name] + move * size, low, high)
    jumps = random.random(count) < 0.2
    others["kind"] = np.where(jumps, random.choice(np.array(KINDS, dtype=object), count), rows["kind"])
    return others


def count_violations(random: Generator, case: Case, beta: float, pairs: int) -> tuple[int, int, int]:
    """Pairs, those where c moves faster than e^(βd), and those where f moves further than c allows.

    c(x) ≤ e^(βd)·c(x') integrated along the way from x gives |f(x) − f(x')| ≤ c(x)·(e^(βd) − 1)/β.
    """
    rows = random_rows(random, pairs)
    others = moved_rows(random, rows)
    distance = case.distance(rows, others)
    first, second = case.function.bound(rows, beta), case.function.bound(others, beta)
    values = case.function.value(rows), case.function.value(others)
    allowed = first * np.expm1(np.minimum(beta * distance, 500)) / beta
    assert np.allclose(values[0], evaluate(case.function.text, rows), rtol=1e-9, atol=1e-9)
    noise = 1e-12 * (1 + abs(values[0]) + abs(values[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(np.log(first) - np.log(second))
    ratio = np.where(first == second, 0.0, ratio)
    too_fast = int((ratio > beta * distance * (1 + 1e-9) + 1e-9).sum())
    too_far = int((np.abs(values[0] - values[1]) > allowed * (1 + 1e-9) + noise).sum())
    _, largest = case.function.global_bounds()
    if math.isfinite(largest):
        too_far += int((np.abs(values[0] - values[1]) > largest * distance * (1 + 1e-9) + noise).sum())
    return pairs, too_fast, too_far
