"""Component: a partition of a finite space into classes, and the coarsest one that is finer than two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sordino.core import ParameterError

Component = tuple[frozenset[int], ...]


def read_component(classes: Any, names: Sequence[str]) -> Component:
    """Classes of points, each named by its place or its name; every point is in exactly one class.

    Where all names are single letters, a class may be a word of them.
    """
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise ParameterError(f"a component is a list of classes of points, got {classes!r}")
    found: list[frozenset[int]] = []
    seen: dict[int, int] = {}
    for number, given in enumerate(classes):
        if not isinstance(given, Iterable) or (
            isinstance(given, str) and any(len(name) > 1 for name in names)
        ):
            raise ParameterError(f"class {number} of the component must be a list of points, got {given!r}")
        places = [read_point(point, names) for point in given]
        if not places:
            raise ParameterError(f"class {number} of the component is empty: leave it out")
        for place in places:
            if place in seen:
                raise ParameterError(
                    f"point {names[place]} is in two places of the component, in class {seen[place]} and in {number}"
                )
            seen[place] = number
        found.append(frozenset(places))
    missing = [name for place, name in enumerate(names) if place not in seen]
    if missing:
        raise ParameterError(
            f"point {missing[0]} is in no class of the component: a partition has every point"
        )
    return tuple(sorted(found, key=min))


def read_point(point: Any, names: Sequence[str]) -> int:
    """The place of a point that is given by its place or by its name."""
    if isinstance(point, str):
        if point in names:
            return names.index(point)
    elif hasattr(point, "__index__") and not isinstance(point, bool) and 0 <= int(point) < len(names):
        return int(point)
    raise ParameterError(f"there is no point {point!r}: the points are {', '.join(names[:12])}")


def meet(rho: Component, sigma: Component) -> Component:
    """ρ⊓σ: two points are in one class of it where they are in one class of both."""
    return tuple(sorted((one & other for one in rho for other in sigma if one & other), key=min))


def class_of(point: int, rho: Component) -> frozenset[int]:
    """The class [x]_ρ of a point."""
    return next(one for one in rho if point in one)
