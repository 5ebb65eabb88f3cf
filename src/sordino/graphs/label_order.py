"""The order of node labels, decided by the labels alone."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.core import ParameterError, PrivateDataError

Key = tuple[str, Any]

_MOST_WITH_FRACTIONS = 2**53  # floats above are whole
_KINDS: tuple[type[Any], ...] = (int, float, Fraction, Decimal, str, bytes, tuple, frozenset)
_HELP = (
    "give nodes= as the list of all labels in an order of your own, which must not follow the edges, "
    "or rename them to integers or text"
)


def order_labels(labels: Iterable[Hashable]) -> list[Any]:
    """The labels in an order that is a function of their set: no edge, and no order of insertion, has a part in it.

    Bytes and text come by their codes, numbers by value, sets by their sorted members, tuples place by place, and the
    kinds in alphabetical order. Labels that are equal (1, 1.0, True, numpy's 1) are one node, which is called by its
    plainest name (1): which of them a graph happens to hold is up to its first edge.

    **Guarantee**: equal sets of labels give equal lists, of equal types.
    **Requires**: labels whose equality is that of Python's numbers, text, bytes, tuples and frozen sets. Others are
    refused, as their order could be that of addresses in memory.
    """
    listed: list[Any] = [label.item() if isinstance(label, np.generic) else label for label in labels]
    if {type(label) for label in listed} in ({int}, {str}):
        return sorted(listed)
    plain = sorted((_plain(label) for label in listed), key=lambda pair: pair[0])
    return [label for _, label in plain]


def simplify_label(label: Any) -> Any:
    """The plainest of the labels that are equal to this one."""
    return _plain(label)[1]


def _plain(label: Any) -> tuple[Key, Any]:
    """The key of a label in the order, and its plainest form."""
    if isinstance(label, np.generic):
        label = label.item()
    if label is None:
        return ("", ""), None
    base = next((kind for kind in _KINDS if isinstance(label, kind)), None)
    own: type[Any] = type(label)
    # a subclass that is equal to something else than its value has an order of its own, or none
    if base is None or own.__eq__ is not base.__eq__ or own.__hash__ is not base.__hash__:
        raise ParameterError(
            f"labels of type {type(label).__name__} have no order that is known not to follow the edges: {_HELP}"
        )
    if base in (int, float, Fraction, Decimal):
        return _number(label)
    if base is str:
        text = str.__str__(label)
        return ("text", text), text
    if base is bytes:
        return ("bytes", bytes(label)), bytes(label)
    pairs = [_plain(part) for part in label]
    if base is frozenset:
        pairs.sort(key=lambda pair: pair[0])
        return ("set", tuple(key for key, _ in pairs)), frozenset(part for _, part in pairs)
    return ("tuple", tuple(key for key, _ in pairs)), tuple(part for _, part in pairs)


def _number(label: Any) -> tuple[Key, Any]:
    if label != label:
        raise PrivateDataError("node labels contain NaN: drop those nodes before building the graph")
    for infinity in (math.inf, -math.inf):
        if label == infinity:
            return ("number", infinity), infinity
    value = Fraction(label)
    if value.denominator == 1:
        return ("number", value), int(value)
    is_float = abs(value) < _MOST_WITH_FRACTIONS and Fraction(float(value)) == value
    return ("number", value), float(value) if is_float else value
