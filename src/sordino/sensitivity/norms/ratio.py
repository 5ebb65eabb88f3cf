"""How much larger one norm can be than another."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from sordino.sensitivity.norms.combination import combine_lengths
from sordino.sensitivity.norms.leaf import NormLeaf
from sordino.sensitivity.norms.part import NormPart
from sordino.sensitivity.norms.shared import bound_shared_dual, has_shared

# What the few roundings of a ratio cannot exceed.
_UP = 1 + 2.0**-40


def bound_ratio(part: NormPart, other: NormPart) -> float:
    """An upper bound on sup part(x)/other(x) over all moves x; infinite if the other does not see a column.

    Two bounds hold, and the smaller is taken. (1) part ≤ Σ uᵢ|xᵢ| with the weights u of its columns, so the ratio is at
    most the dual of u in the other norm: exact if part is such a sum. (2) With q the least exponent in part and p the
    largest in the other, part ≤ ‖(uᵢxᵢ)‖_q and other ≥ ‖(wᵢxᵢ)‖_p, and Hölder's inequality bounds the ratio of these by
    max uᵢ/wᵢ if q ≥ p, else by ‖(uᵢ/wᵢ)‖_r with 1/r = 1/q − 1/p. Of a column that stands in a norm several times, u is
    the sum of its weights, as ‖(a, b)‖_q ≤ a + b, and w the largest of them.
    **Source**: NAPLES report, Lemmas 3.74–3.77; (1) and the exponent r are ours.
    **Numerics**: rounded up.
    """
    kinds = {leaf.column: leaf.kind for leaf, _ in other.leaves()}
    if any(kinds.get(leaf.column) != leaf.kind for leaf, _ in part.leaves()):
        return math.inf
    mine = add_weights(part.leaves())
    weights = {column: float(weight) for column, weight in mine.items()}
    by_dual = float(bound_shared_dual(other, weights) if has_shared(other) else other.dual(weights)) * _UP
    return min(bound_ratio_by_weights(part, other), by_dual)


def bound_ratio_by_weights(part: NormPart, other: NormPart) -> float:
    """The second of the two bounds, for norms of the same columns."""
    theirs: dict[str, Fraction] = {}
    for leaf, factor in other.leaves():
        theirs[leaf.column] = max(factor, theirs.get(leaf.column, factor))
    ratios = [weight / theirs[column] for column, weight in add_weights(part.leaves()).items()]
    q = min(part.exponents(), default=Fraction(1))
    p = max(other.exponents(), default=Fraction(1))
    if len(ratios) == 1 or q >= p:
        largest = max(ratios)
        rounded = float(largest)
        return rounded if Fraction(rounded) >= largest else math.nextafter(rounded, math.inf)
    above = 0 if p == math.inf else 1 / Fraction(p)
    exponent = 1 / (1 / Fraction(q) - above)
    return float(combine_lengths([float(ratio) for ratio in ratios], exponent)) * _UP


def add_weights(leaves: Iterable[tuple[NormLeaf, Fraction]]) -> dict[str, Fraction]:
    """The weight of every column, those of its occurrences added up."""
    total: dict[str, Fraction] = {}
    for leaf, factor in leaves:
        total[leaf.column] = total.get(leaf.column, Fraction(0)) + factor
    return total
