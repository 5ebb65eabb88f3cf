"""A released tree as text and as a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sordino.core import ParameterError, UnsupportedError
from sordino.core.loss import NOT_PRIVATE
from sordino.core.parameters import whole
from sordino.learn.tree import Tree

_LEGIBLE_ENDS = 60


def find_tree(model: Any) -> Tree:
    """The released tree of a `Tree`, a fitted estimator, a search over such, or a pipeline that ends in one."""
    while not isinstance(model, Tree):
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif getattr(model, "steps", None):
            model = model.steps[-1][1]
        elif hasattr(model, "tree_") and isinstance(model.tree_, Tree):
            model = model.tree_
        elif hasattr(model, "forest_"):
            raise UnsupportedError("a random forest has no one tree to show: its trees are drawn at random")
        else:
            raise ParameterError(
                f"tree must be a Tree or a fitted DecisionTreeClassifier of sordino.learn, got {type(model).__name__}"
            )
    return model


def export_text(tree: Any, *, max_depth: int = 10) -> str:
    """One line per node, indented by level; leaves with their class and what was released about them.

    ``tree``: a `Tree`, a fitted `DecisionTreeClassifier`, or a search or pipeline of scikit-learn that holds one.
    A tree that was drawn from a seed has a line before these, which says so.

    >>> from sordino.learn import DecisionTreeClassifier, export_text
    >>> domain = {"member": ["no", "yes"]}
    >>> model = DecisionTreeClassifier(100.0, schema=domain, classes=["left", "stayed"], max_rows=10)
    >>> _ = model.fit([["no"], ["yes"]] * 5, ["left", "stayed"] * 5)
    >>> print(export_text(model))
    member = no  → left  0.95, noisy counts [5, 0]
    member = yes  → stayed  0.95, noisy counts [0, 5]
    """
    tree = find_tree(tree)
    whole("max_depth", max_depth, least=0)
    mark = [] if tree.private else [NOT_PRIVATE]
    return "\n".join([*mark, *_lines(tree, 0, "", max_depth)])


def _lines(tree: Tree, node: int, indent: str, max_depth: int) -> Iterator[str]:
    if tree.attribute[node] < 0:
        yield f"{indent}→ {_verdict(tree, node)}"
        return
    attribute = tree.schema.attributes[int(tree.attribute[node])]
    if tree.level[node] >= max_depth:
        yield f"{indent}… by {attribute.name}, {_size(tree, node) or 'more below'}"
        return
    for code, child in enumerate(tree.children(node)):
        test = f"{attribute.name} = {attribute.label(code)}"
        if attribute.label(code)[0] in "[(" and "," in attribute.label(code):
            test = f"{attribute.name} in {attribute.label(code)}"
        if tree.attribute[child] < 0:
            yield f"{indent}{test}  → {_verdict(tree, child)}"
        else:
            size = _size(tree, child)
            yield f"{indent}{test}{f'  ({size})' if size else ''}"
            yield from _lines(tree, child, indent + "│  ", max_depth)


def _verdict(tree: Tree, node: int) -> str:
    if tree.label[node] >= 0:
        return str(tree.classes[tree.label[node]])
    best = int(tree.probabilities[node].argmax())
    return f"{tree.classes[best]}  {tree.probabilities[node][best]:.2f}, noisy counts {tree.counts[node].tolist()}"


def _size(tree: Tree, node: int) -> str:
    return "" if math.isnan(tree.size[node]) else f"about {tree.size[node]:.0f} rows"


def plot_tree(tree: Any, path: str | Path | None = None, *, max_depth: int | None = None) -> Any:
    """Boxes from left to right, coloured by class, as far as ``max_depth`` levels (None: as many as can be read).

    ``tree`` as in `export_text`. The figure of matplotlib is returned, and saved to ``path`` if one is given.

    >>> from sordino.learn import DecisionTreeClassifier, plot_tree
    >>> domain = {"member": ["no", "yes"]}
    >>> model = DecisionTreeClassifier(100.0, schema=domain, classes=["left", "stayed"], max_rows=10)
    >>> _ = model.fit([["no"], ["yes"]] * 5, ["left", "stayed"] * 5)
    >>> [text.get_text() for text in plot_tree(model).axes[0].texts if text.get_text() in ("member", "no", "yes")]
    ['no', 'yes', 'member']
    """
    from sordino.display.figure import ShownFigure

    tree = find_tree(tree)
    max_depth = _legible_depth(tree) if max_depth is None else whole("max_depth", max_depth, least=0)
    places: dict[int, tuple[float, float]] = {}
    height = _place(tree, 0, max_depth, 0.0, places)
    levels = 1 + max(int(tree.level[node]) for node in places)
    figure = ShownFigure(figsize=(3.2 * levels + 0.5, max(2.5, 0.34 * height + 0.6)), layout="constrained")
    axes = figure.add_subplot()
    for node, (x, y) in places.items():
        inner = tree.attribute[node] >= 0 and any(child in places for child in tree.children(node))
        if inner:
            attribute = tree.schema.attributes[int(tree.attribute[node])]
            for code, child in enumerate(tree.children(node)):
                cx, cy = places[child]
                axes.plot([x, x + 0.32, cx - 0.34, cx], [y, y, cy, cy], color="0.75", lw=0.8, zorder=1)
                axes.text(
                    cx - 0.33,
                    cy,
                    attribute.label(code),
                    fontsize=7,
                    va="bottom",
                    color="0.35",
                    parse_math=False,
                )
        best = int(tree.probabilities[node].argmax())
        axes.text(
            x,
            y,
            _box(tree, node, inner),
            fontsize=8,
            va="center",
            ha="left",
            zorder=2,
            parse_math=False,
            bbox={
                "boxstyle": "round,pad=0.25",
                "fc": _colour(best, tree.probabilities[node][best]),
                "ec": "0.6",
            },
        )
    axes.set_xlim(-0.05, levels - 0.5)
    axes.set_ylim(height - 0.4, -0.6)
    axes.axis("off")
    if not tree.private:
        axes.set_title(NOT_PRIVATE)
    if path is not None:
        figure.savefig(path, dpi=130)
    return figure


def _legible_depth(tree: Tree) -> int:
    """The most levels that show no more than so many ends of branches, but one level at least."""
    depth = 1
    while depth < tree.depth:
        ends = (tree.level == depth + 1) | ((tree.attribute < 0) & (tree.level <= depth))
        if ends.sum() > _LEGIBLE_ENDS:
            break
        depth += 1
    return depth


def _place(
    tree: Tree, node: int, max_depth: int, top: float, places: dict[int, tuple[float, float]]
) -> float:
    """Give every shown node a place; returns the first free line below."""
    level = int(tree.level[node])
    if tree.attribute[node] < 0 or level >= max_depth:
        places[node] = (float(level), top)
        return top + 1
    bottom = top
    for child in tree.children(node):
        bottom = _place(tree, child, max_depth, bottom, places)
    places[node] = (float(level), (top + bottom - 1) / 2)
    return bottom


def _box(tree: Tree, node: int, inner: bool) -> str:
    if inner:
        return tree.schema.attributes[int(tree.attribute[node])].name
    best = int(tree.probabilities[node].argmax())
    more = "" if tree.attribute[node] < 0 else "  …"
    return f"{tree.classes[best]}  {tree.probabilities[node][best]:.2f}{more}"


def _colour(label: int, certainty: float) -> tuple[float, float, float]:
    """The class's colour, paler where it is less certain; opaque, so that no line shines through a box."""
    import matplotlib

    strength = 0.1 + 0.5 * float(certainty)
    red, green, blue, _ = matplotlib.colormaps["tab10"](label % 10)
    return (1 + strength * (red - 1), 1 + strength * (green - 1), 1 + strength * (blue - 1))
