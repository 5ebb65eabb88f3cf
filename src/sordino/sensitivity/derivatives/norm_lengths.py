"""Finding the lengths in an expression that the norm itself measures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from sordino.sensitivity.derivatives.column import PlainColumn
from sordino.sensitivity.derivatives.constant import Number, PublicColumn
from sordino.sensitivity.derivatives.lengths import Length, NormLength
from sordino.sensitivity.derivatives.node import CellFunction
from sordino.sensitivity.derivatives.rebuild import exchange, parts_of, walk
from sordino.sensitivity.derivatives.sum import WeightedSum
from sordino.sensitivity.norms import Norm
from sordino.sensitivity.norms.combination import CombinedNorm
from sordino.sensitivity.norms.leaf import NormLeaf
from sordino.sensitivity.norms.part import NormPart
from sordino.sensitivity.norms.ratio import bound_ratio
from sordino.sensitivity.norms.scaled import ScaledNorm


def measure_lengths(root: CellFunction, norms: Mapping[str, Norm]) -> tuple[CellFunction, dict[str, Norm]]:
    """The expression with every `Length` that is a norm of columns as one column, and the norms that have it.

    ``norms``: of each row that meets in a joined row, with columns of its own.
    """
    found = dict(norms)
    for number, length in enumerate(dict.fromkeys(node for node in walk(root) if isinstance(node, Length))):
        forms = _read_forms(length)
        if forms is None or _occurs_elsewhere(root, length):
            continue
        changed = _replace_parts(length, forms, found, f"length {number}")
        if changed is None:
            continue
        found |= dict(changed.values())
        node = NormLength(length, tuple(changed))

        def put(part: CellFunction, old: Length = length, new: NormLength = node) -> CellFunction | None:
            return new if part == old else None

        root = exchange(root, put)
    return root, found


def _read_forms(length: Length) -> list[dict[str, float]] | None:
    """The factors of the private columns in each part, if all parts are sums of columns and public numbers."""
    forms = []
    for part in length.parts:
        terms = part.terms if isinstance(part, WeightedSum) else ((1.0, part),)
        if not all(isinstance(below, PlainColumn | PublicColumn | Number) for _, below in terms):
            return None
        forms.append({below.name: factor for factor, below in terms if isinstance(below, PlainColumn)})
    return forms if len({name for form in forms for name in form}) > 1 else None


def _occurs_elsewhere(root: CellFunction, length: Length) -> bool:
    """Whether a column of the length is also used outside of it."""
    if root == length:
        return False
    below = parts_of(root)
    if not below:
        return bool(root.columns & length.columns)
    return any(_occurs_elsewhere(part, length) for part in below)


def _replace_parts(
    length: Length, forms: list[dict[str, float]], norms: Mapping[str, Norm], name: str
) -> dict[str, tuple[str, Norm]] | None:
    """For each row that the length depends on: the name of its new column, the row and its new norm."""
    changed = {}
    for row, norm in norms.items():
        own = [{column: form[column] for column in form if column in norm.columns} for form in forms]
        columns = [column for form in own for column in form]
        if not columns:
            continue
        # each column in one part, and one column of this row in each part
        if len(set(columns)) < len(columns) or any(len(form) > 1 for form in own):
            return None
        place = norm.part_over(frozenset(columns))
        if place is None:
            return None
        part, whole = place
        leaves: tuple[NormPart, ...] = tuple(
            ScaledNorm(abs(Fraction(factor)), NormLeaf(column))
            for form in own
            for column, factor in form.items()
        )
        exponent = math.inf if math.isinf(length.exponent) else Fraction(length.exponent)
        ratio = bound_ratio(CombinedNorm(exponent, leaves), part)
        if math.isinf(ratio):
            return None
        changed[f"{name} of {row}"] = (row, whole.with_column(part, f"{name} of {row}", 1 / Fraction(ratio)))
    return changed or None
