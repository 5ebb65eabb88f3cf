"""Distance: what changes between two databases that a guarantee calls neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sordino.core.errors import ParameterError

Change = Literal["add_remove", "replace", "flip", "move"]

WITH_ALL_ROWS = " with all their rows"
_VERBS: dict[str, str] = {
    "add_remove": "one {unit} added or removed",
    "replace": "one {unit} replaced by another",
    "flip": "one {unit} added or removed between existing nodes",
    "move": "cells moved by one unit of {unit}",
}


@dataclass(frozen=True, slots=True)
class Distance:
    """The metric between databases that a loss is counted in.

    ``unit`` is what changes (row, record, edge, user, cell), ``change`` how it changes, and ``weights`` how many
    units of distance one change costs in a named part of the data (1 where nothing is said). A change of weight
    G costs G times the loss of the guarantee. ``among``: the databases that are considered, where these are not all.

    >>> import sordino as sd
    >>> print(sd.Distance("user", "add_remove"))
    one user added or removed
    """

    unit: str
    change: Change
    weights: tuple[tuple[str, float], ...] = ()
    among: str = ""

    def __post_init__(self) -> None:
        if self.change not in _VERBS:
            raise ParameterError(f"change must be one of {', '.join(_VERBS)}, got {self.change!r}")
        for part, weight in self.weights:
            if not (0 < weight < float("inf")):
                raise ParameterError(f"weight of {part} must be finite and > 0, got {weight!r}")

    def __str__(self) -> str:
        text = _VERBS[self.change].format(unit=self.unit)
        if self.weights:
            text += " (weights: " + ", ".join(f"{part} {weight:g}" for part, weight in self.weights) + ")"
        return f"{text}, between {self.among}" if self.among else text

    @property
    def per_person(self) -> bool:
        """Whether all that one person contributed counts as one change."""
        return self.unit == "user" or self.unit.endswith(WITH_ALL_ROWS)


def check_distance(value: Any) -> Distance:
    """A Distance, or an error that shows how to make one."""
    if not isinstance(value, Distance):
        raise ParameterError(f"distance must be a Distance such as sd.replace_row(), got {value!r}")
    return value


def add_remove_row() -> Distance:
    """Neighbours differ by one row added or removed; the number of rows is private.

    >>> import sordino as sd
    >>> print(sd.add_remove_row())
    one row added or removed
    """
    return Distance("row", "add_remove")


def replace_row() -> Distance:
    """Neighbours differ in one row's content; the number of rows is public.

    >>> import sordino as sd
    >>> print(sd.replace_row())
    one row replaced by another
    """
    return Distance("row", "replace")


def flip_edge() -> Distance:
    """Neighbours differ by one edge between existing nodes; the node set is public.

    >>> import sordino as sd
    >>> print(sd.flip_edge())
    one edge added or removed between existing nodes
    """
    return Distance("edge", "flip")
