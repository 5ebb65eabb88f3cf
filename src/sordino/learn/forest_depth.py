"""How deep random trees should be, from public numbers alone."""

from __future__ import annotations

import math

from sordino.learn.schema import Continuous, Schema

MOST_LEVELS = 16
_MANY_ROWS = 1 << 100  # more change no depth, and are no float
_ROWS_PER_LEAF = 2.0  # measured, docs/benchmarks/reproduction-trees.md


def find_fletcher_islam_depth(schema: Schema) -> int:
    """The depth at which a path is expected to have tested half of the attributes.

    A discrete attribute is tested at most once: half of k of them take k/2 levels. Of m continuous ones, m(1 − 1/m)^d
    are expected to be untested after d levels: the smallest d that brings this below m/2.
    **Source**: Fletcher and Islam 2017. The depths that the thesis prints for its data sets follow no one reading of
    that rule (`docs/benchmarks/reproduction-trees.md`).
    """
    useful = [attribute for attribute in schema.attributes if attribute.size > 1]
    continuous = sum(isinstance(attribute, Continuous) for attribute in useful)
    discrete = len(useful) - continuous
    levels = math.ceil(discrete / 2)
    if continuous == 1:
        levels += 1
    elif continuous:
        levels += math.ceil(math.log(2) / -math.log1p(-1 / continuous))
    return max(1, min(levels, MOST_LEVELS))


def find_affordable_depth(max_rows: int, trees: int, epsilon: float) -> int:
    """The depth at which a leaf of an even tree still holds more rows than its noise."""
    rows_per_tree = min(max_rows, _MANY_ROWS) / trees
    return max(
        1,
        min(MOST_LEVELS, math.floor(math.log2(max(2.0, rows_per_tree * min(1.0, epsilon) / _ROWS_PER_LEAF)))),
    )
