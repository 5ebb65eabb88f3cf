"""Norms by their definition: random trees as texts, their lengths by a formula of their own, duals by search."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator

Tree = Any  # ("col", name) | ("scale", a, tree) | ("lp", p, [trees])


def random_tree(random: Generator, columns: list[str], depth: int = 3) -> Tree:
    """A norm that has each of the columns once."""
    if len(columns) == 1 and (depth == 0 or random.random() < 0.6):
        return ("col", columns[0])
    if random.random() < 0.4 and depth > 0:
        return (
            "scale",
            round(float(np.exp(random.uniform(-1.5, 1.5))), 3),
            random_tree(random, columns, depth - 1),
        )
    p = [1.0, 1.5, 2.0, 3.0, math.inf][random.integers(5)]
    pieces = max(1, int(random.integers(1, len(columns) + 1))) if depth > 0 else len(columns)
    cuts = (
        sorted(random.choice(np.arange(1, len(columns)), size=pieces - 1, replace=False))
        if pieces > 1
        else []
    )
    parts = np.split(np.array(columns), cuts)
    return ("lp", p, [random_tree(random, [str(name) for name in part], max(depth - 1, 0)) for part in parts])


def write_tree(tree: Tree) -> str:
    """As an owner writes it."""
    if tree[0] == "col":
        return str(tree[1])
    if tree[0] == "scale":
        return f"{tree[1]}*{write_tree(tree[2])}"
    name = "inf" if tree[1] == math.inf else f"{tree[1]:g}"
    return f"l{name}({', '.join(write_tree(part) for part in tree[2])})"


def tree_length(tree: Tree, move: dict[str, Any]) -> Any:
    """By the definition; arrays give one length per entry."""
    if tree[0] == "col":
        return np.abs(move[tree[1]])
    if tree[0] == "scale":
        return tree[1] * tree_length(tree[2], move)
    parts = np.array([tree_length(part, move) for part in tree[2]])
    return parts.max(axis=0) if tree[1] == math.inf else (parts ** tree[1]).sum(axis=0) ** (1 / tree[1])


def search_dual(random: Generator, tree: Tree, slopes: dict[str, float], tries: int = 4000) -> float:
    """The best slope·move/length that a random search with shrinking steps finds: never more than the dual."""
    names = list(slopes)
    gradient = np.array([slopes[name] for name in names])
    best = np.sign(gradient) * random.random(len(names))
    reached = 0.0
    for spread in (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003):
        factors = np.exp(spread * random.normal(size=(tries // 7, len(names))))
        zeros = np.where(random.random(factors.shape) < 0.15, 1e-9, 1.0)
        moves = np.vstack([best, np.sign(gradient) * np.maximum(np.abs(best), 1e-6) * factors * zeros])
        moves /= np.abs(moves).max(axis=1, keepdims=True)
        found = moves @ gradient / tree_length(tree, {name: moves[:, i] for i, name in enumerate(names)})
        best, reached = moves[found.argmax()], max(reached, float(found.max()))
    return reached
