"""DistanceMap: a map of distances, with flags that are verified where it is linear, piecewise linear or a table."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sordino.core import ParameterError, UnsupportedError
from sordino.core.parameters import as_written
from sordino.workflow.distances import FiniteDistances

FLAGS = ("monotone", "superadditive", "concave", "linear")
LINEAR = frozenset(FLAGS)


@dataclass(frozen=True, slots=True)
class DistanceMap:
    """v ↦ c(v). ``flags``: what holds of it; ``verified``: checked here, not only declared.

    A linear map has ``weights``: one for numbers, several for tuples of numbers, Σ wᵢvᵢ. A piecewise linear map of
    numbers has ``corners``: (v, c(v)) from 0 on, and the slope after the last.
    """

    function: Callable[[Any], Any]
    flags: frozenset[str]
    verified: bool = False
    weights: tuple[Fraction, ...] | None = None
    corners: tuple[tuple[Fraction, Fraction], ...] | None = None
    last_slope: Fraction = Fraction(0)

    def __call__(self, distance: Any) -> Any:
        """c of a distance."""
        return self.function(distance)

    def __str__(self) -> str:
        if self.weights is not None:
            names = (
                ["v"] if len(self.weights) == 1 else [f"v{place + 1}" for place in range(len(self.weights))]
            )
            return " + ".join(f"{float(w):g}·{name}" for w, name in zip(self.weights, names, strict=True))
        return f"a map that is {', '.join(sorted(self.flags)) or 'not known to be anything'}"

    def require(self, flag: str, rule: str) -> None:
        """Refuse a rule that needs a flag which is not there."""
        if flag not in self.flags:
            raise UnsupportedError(f"{rule} needs a sensitivity that is {flag}; this one is {self}")


def linear(*weights: Any) -> DistanceMap:
    """Σ wᵢvᵢ of a tuple of numbers, or w·v of a number; linear, so everything else too.

    >>> from sordino.workflow import linear
    >>> linear(0.3, 1)((2, 1))
    Fraction(8, 5)
    """
    found = tuple(as_written(f"weight {place}", weight) for place, weight in enumerate(weights))
    if not found or min(found) < 0:
        raise ParameterError(f"weights must be numbers >= 0, at least one, got {list(weights)!r}")
    if len(found) == 1:
        return DistanceMap(lambda v: found[0] * v, LINEAR, True, found)
    return DistanceMap(lambda v: sum(w * part for w, part in zip(found, v, strict=True)), LINEAR, True, found)


def piecewise_linear(corners: Sequence[Sequence[Any]], last_slope: Any) -> DistanceMap:
    """A map of numbers through its corners (v, c(v)), the first at v = 0; all flags are worked out.

    Superadditive: c(u + v) − c(u) − c(v) is linear between lines u, v, u + v = corner, so its least value is taken
    where two of them meet.
    """
    points = tuple((as_written("a corner", v), as_written("c", c)) for v, c in corners)
    slope = as_written("last_slope", last_slope)
    places = [v for v, _ in points]
    if not points or places[0] != 0 or sorted(set(places)) != places or points[0][1] < 0:
        raise ParameterError("corners must begin at v = 0 with c >= 0 and go up in v")
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.pairwise(points)] + [slope]

    def value(v: Any) -> Any:
        if v == float("inf"):
            return v if slope else points[-1][1]
        number = as_written("a distance", v)
        place = max(at for at, (start, _) in enumerate(points) if start <= number)
        return points[place][1] + slopes[place] * (number - points[place][0])

    if min(slopes) < 0:
        raise ParameterError("a sensitivity must be monotone: a slope is below 0")
    flags = {"monotone"}
    if all(a >= b for a, b in itertools.pairwise(slopes)):
        flags.add("concave")
    meeting = {*places, *(b - a for a in places for b in places if b >= a)}
    if all(value(u + v) >= value(u) + value(v) for u in meeting for v in meeting):
        flags.add("superadditive")
    if points[0][1] == 0 and len(set(slopes)) == 1:
        return linear(slope)
    return DistanceMap(value, frozenset(flags), True, None, points, slope)


def table(
    values: Mapping[Any, Any], domain: FiniteDistances, codomain: FiniteDistances | None = None
) -> DistanceMap:
    """A map of finitely many distances; must be monotone, superadditive where it is. No multiples: never concave."""
    missing = [name for name in domain.names if name not in values]
    if missing:
        raise ParameterError(f"the map has no value for the distance {missing[0]!r}")
    found = {name: values[name] for name in domain.names}
    leq: Callable[[Any, Any], bool] = codomain.leq if codomain else lambda a, b: bool(a <= b)
    add: Callable[[Any, Any], Any] = codomain.add if codomain else lambda a, b: a + b
    for one, other in itertools.product(domain.names, repeat=2):
        if domain.leq(one, other) and not leq(found[one], found[other]):
            raise ParameterError(
                f"a sensitivity must be monotone: {one!r} is below {other!r}, "
                f"but {found[one]!r} not below {found[other]!r}"
            )
    flags = {"monotone"}
    if all(
        leq(add(found[one], found[other]), found[domain.add(one, other)])
        for one, other in itertools.product(domain.names, repeat=2)
    ):
        flags.add("superadditive")
    return DistanceMap(found.__getitem__, frozenset(flags), True)


def declared(function: Callable[[Any], Any], *, flags: Iterable[str] = ("monotone",)) -> DistanceMap:
    """Any monotone map, with flags that its author declares and nobody checks."""
    found = frozenset(flags)
    unknown = sorted(found - set(FLAGS))
    if unknown or "monotone" not in found:
        raise ParameterError(
            f"flags are {', '.join(FLAGS)}, and every sensitivity is monotone; got {sorted(found)}"
        )
    return DistanceMap(function, LINEAR if "linear" in found else found)
