"""Arrow: a map of spaces with its sensitivity, and the ways to put arrows together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sordino.core import ParameterError, UnsupportedError
from sordino.workflow.distance_map import DistanceMap, linear
from sordino.workflow.distances import FiniteDistances, Reals
from sordino.workflow.linear_space import combine_coordinates
from sordino.workflow.space import Space, list_space, product_space, sum_space

Map = Callable[[Any], Any]
_KEPT = ("monotone", "superadditive", "concave", "linear")


@dataclass(frozen=True, slots=True)
class Arrow:
    """f with d(f x, f x') ≤ c(d(x, x')). ``map``: f itself, where it is known.

    **Requires**, and checks where the domain has points: the inequality, for all pairs.
    """

    domain: Space
    codomain: Space
    sensitivity: DistanceMap
    map: Map | None = None

    def __post_init__(self) -> None:
        if (
            self.map is None
            or self.domain.points is None
            or self.domain.metric is None
            or self.codomain.metric is None
        ):
            return
        for x, y in itertools.product(self.domain.points, repeat=2):
            moved = self.codomain.metric(self.map(x), self.map(y))
            allowed = self.sensitivity(self.domain.metric(x, y))
            if not self.codomain.distances.leq(moved, allowed):
                raise ParameterError(
                    f"the sensitivity is too small: {x!r} and {y!r} go {moved!r} apart, {allowed!r} is allowed"
                )


def compose(second: Arrow, first: Arrow) -> Arrow:
    """second ∘ first, of sensitivity c' ∘ c (Prop. 3.32); flags that both have are kept."""
    return Arrow(
        first.domain,
        second.codomain,
        _compose(second.sensitivity, first.sensitivity),
        _chain(second.map, first.map),
    )


def pair(*arrows: Arrow) -> Arrow:
    """⟨f, g, …⟩: all of one point, distances side by side (Prop. 3.34)."""
    maps = [arrow.map for arrow in arrows]
    return Arrow(
        arrows[0].domain,
        product_space(*(arrow.codomain for arrow in arrows)),
        _side_by_side([arrow.sensitivity for arrow in arrows], shared=True),
        None if None in maps else lambda x: tuple(each(x) for each in maps if each is not None),
    )


def product(*arrows: Arrow) -> Arrow:
    """f × g × …: each of its own part."""
    maps = [arrow.map for arrow in arrows]
    return Arrow(
        product_space(*(arrow.domain for arrow in arrows)),
        product_space(*(arrow.codomain for arrow in arrows)),
        _side_by_side([arrow.sensitivity for arrow in arrows], shared=False),
        None
        if None in maps
        else lambda x: tuple(each(a) for each, a in zip(maps, x, strict=True) if each is not None),
    )


def projection(place: int, *spaces: Space) -> Arrow:
    """π: a part of a tuple, as far apart as it is."""
    return Arrow(
        product_space(*spaces),
        spaces[place],
        DistanceMap(lambda v: v[place], frozenset(_KEPT), True),
        lambda x: x[place],
    )


def injection(side: int, left: Space, right: Space) -> Arrow:
    """ι: a point of one side as a point of the disjoint union."""
    space = (left, right)[side]
    return Arrow(
        space,
        sum_space(left, right),
        DistanceMap(lambda v: 0 if v == space.distances.zero else (side, v), frozenset({"monotone"}), True),
        lambda x: (side, x),
    )


def list_map(arrow: Arrow, longest: int) -> Arrow:
    """f at every place of a list; needs c(0) = 0, since equal lists are 0 apart whatever their length."""
    inner, given = arrow.sensitivity, arrow.map
    if inner(arrow.domain.distances.zero) != arrow.codomain.distances.zero:
        raise UnsupportedError("a map of lists needs a sensitivity that is 0 at 0")
    target = list_space(arrow.codomain, longest)

    def lift(v: Any) -> Any:
        if v == 0 or v == math.inf:
            return v
        found = tuple(inner(part) for part in v)
        return 0 if all(part == arrow.codomain.distances.zero for part in found) else found

    return Arrow(
        list_space(arrow.domain, longest),
        target,
        DistanceMap(lift, inner.flags & {"monotone", "superadditive"}, inner.verified),
        None if given is None else lambda x: tuple(given(part) for part in x),
    )


def sequential(f: Arrow, a: Arrow, g: Arrow) -> Arrow:
    """h(x) = g(x, a(f(x))), of sensitivity c_g(v, c_a(c_f(v))) (Prop. 3.35, read as g ∘ ⟨id, a ∘ f⟩).

    >>> from sordino.workflow import Arrow, Reals, Space, linear, product_space, sequential
    >>> numbers = Space(Reals())
    >>> count, post = Arrow(numbers, numbers, linear(0.5)), Arrow(numbers, numbers, linear(1))
    >>> again = Arrow(product_space(numbers, numbers), numbers, linear(0.3, 1))
    >>> print(sequential(count, post, again).sensitivity)
    0.8·v
    """
    inner = _compose(a.sensitivity, f.sensitivity)
    return Arrow(f.domain, g.codomain, _beside(g.sensitivity, inner), _beside_map(f, a, g))


def parallel(
    f: Arrow,
    a: Arrow,
    g: Arrow,
    *,
    rho: Iterable[Iterable[Any]] | None = None,
    sigma: Iterable[Iterable[Any]] | None = None,
    independent: str = "",
    sensitivity: DistanceMap | None = None,
    norm: float = 1,
) -> Arrow:
    """The same h where f ignores ρ, g ignores σ in its first argument, and ρ and σ are independent (Prop. 3.36).

    Any superadditive c with c(v) ≥ c_g(v, 0) and c(v) ≥ c_g(0, c_a(c_f(v))) will do. ``sensitivity`` is such a c; None:
    for linear ones the larger of both, and under another ``norm`` than 1 their dual combination, since then a distance
    is less than the sum of its parts. ``rho``, ``sigma``: for spaces with points, on which everything is checked.
    ``independent``: for others the reason, such as "rows of different tables".
    """
    first = DistanceMap(lambda v: g.sensitivity((v, a.codomain.distances.zero)), g.sensitivity.flags)
    second_inner = _compose(a.sensitivity, f.sensitivity)
    second = DistanceMap(
        lambda v: g.sensitivity((f.domain.distances.zero, second_inner(v))), g.sensitivity.flags
    )
    if f.domain.points is not None and f.map is not None and g.map is not None:
        if rho is None or sigma is None:
            raise ParameterError(
                "parallel composition of spaces with points needs the components rho and sigma"
            )
        _check_parallel(f, g, [set(one) for one in rho], [set(one) for one in sigma])
    elif not independent:
        raise ParameterError(
            "parallel composition needs a reason why the parts are independent, such as 'rows of different tables'"
        )
    weights = _two_weights(g.sensitivity, second_inner)
    if sensitivity is None:
        if weights is None:
            raise UnsupportedError(
                "parallel composition finds a sensitivity for linear ones only: give one that is superadditive"
            )
        # the dual of ℓ₁ is the larger of both
        found = linear(Fraction(combine_coordinates(weights, norm=norm).value))
    else:
        if norm != 1:
            raise UnsupportedError(
                "under another norm than 1 the rule is known for linear sensitivities only"
            )
        sensitivity.require("superadditive", "parallel composition (Prop. 3.36)")
        _check_above(sensitivity, first, second, weights, f.domain, g.codomain)
        found = sensitivity
    return Arrow(f.domain, g.codomain, found, _beside_map(f, a, g))


def are_independent(space: Space, rho: list[set[Any]], sigma: list[set[Any]]) -> bool:
    """Whether any two points are joined by steps within classes of ρ and σ whose distances add up to theirs."""
    if space.points is None or space.metric is None:
        raise ParameterError("independence is checked on spaces with points")
    return all(_joined(space, x, y, [*rho, *sigma]) for x, y in itertools.product(space.points, repeat=2))


def _joined(space: Space, start: Any, end: Any, classes: list[set[Any]]) -> bool:
    # Two steps within one class can be one, so that steps alternate, without a longer sum: triangle inequality.
    metric, distances = space.metric, space.distances
    if metric is None:
        return False
    whole = metric(start, end)
    seen = {(start, distances.zero)}
    waiting = [(start, distances.zero)]
    while waiting:
        at, gone = waiting.pop()
        if at == end and gone == whole:
            return True
        for one in classes:
            for after in one if at in one else ():
                reached = (after, distances.add(gone, metric(at, after)))
                if reached not in seen and distances.leq(reached[1], whole):
                    seen.add(reached)
                    waiting.append(reached)
    return False


def _check_parallel(f: Arrow, g: Arrow, rho: list[set[Any]], sigma: list[set[Any]]) -> None:
    points, f_map, g_map = f.domain.points or (), f.map, g.map
    for classes, name in ((rho, "rho"), (sigma, "sigma")):
        if sorted(map(repr, itertools.chain(*classes))) != sorted(map(repr, points)):
            raise ParameterError(f"{name} must have every point in exactly one class")
    for x, y in itertools.product(points, repeat=2):
        if f_map is not None and any(x in one and y in one for one in rho) and f_map(x) != f_map(y):
            raise ParameterError(f"f does not ignore rho: {x!r} and {y!r} are in one class")
        if g_map is not None and any(x in one and y in one for one in sigma):
            for z in (point[1] for point in g.domain.points or ()):
                if g_map((x, z)) != g_map((y, z)):
                    raise ParameterError(f"g does not ignore sigma: {x!r} and {y!r} are in one class")
    if not are_independent(f.domain, rho, sigma):
        raise ParameterError(
            "rho and sigma are not independent: some distance is no sum of steps within classes"
        )


def _check_above(
    found: DistanceMap,
    first: DistanceMap,
    second: DistanceMap,
    weights: tuple[Fraction, Fraction] | None,
    domain: Space,
    codomain: Space,
) -> None:
    """c is above both branches at every distance."""
    if isinstance(domain.distances, FiniteDistances):
        places: Iterable[Any] = domain.distances.names
    elif weights is not None and isinstance(domain.distances, Reals) and found.corners is not None:
        # a piecewise linear map is above a line where it is so at its corners and in its last slope
        if found.last_slope < max(weights):
            raise ParameterError(
                "the sensitivity given is below a branch far out: its last slope is too small"
            )
        places = [corner for corner, _ in found.corners]
    elif weights is not None and found.weights is not None:
        places = [Fraction(1)]
    else:
        raise UnsupportedError(
            "whether this sensitivity is above both branches cannot be checked: give a linear one"
        )
    for place in places:
        for branch in (first, second):
            if not codomain.distances.leq(branch(place), found(place)):
                raise ParameterError(f"the sensitivity given is below a branch at the distance {place!r}")


def _two_weights(outer: DistanceMap, inner: DistanceMap) -> tuple[Fraction, Fraction] | None:
    if outer.weights is None or len(outer.weights) != 2 or inner.weights is None or len(inner.weights) != 1:
        return None
    return outer.weights[0], outer.weights[1] * inner.weights[0]


def _beside(outer: DistanceMap, inner: DistanceMap) -> DistanceMap:
    """v ↦ outer(v, inner(v))."""
    weights = _two_weights(outer, inner)
    if weights is not None:
        return linear(sum(weights))
    return DistanceMap(
        lambda v: outer((v, inner(v))), outer.flags & inner.flags, outer.verified and inner.verified
    )


def _beside_map(f: Arrow, a: Arrow, g: Arrow) -> Map | None:
    f_map, a_map, g_map = f.map, a.map, g.map
    if f_map is None or a_map is None or g_map is None:
        return None
    return lambda x: g_map((x, a_map(f_map(x))))


def _compose(second: DistanceMap, first: DistanceMap) -> DistanceMap:
    if second.weights is not None and first.weights is not None and len(second.weights) == 1:
        return linear(*(second.weights[0] * weight for weight in first.weights))
    return DistanceMap(
        lambda v: second(first(v)), second.flags & first.flags, second.verified and first.verified
    )


def _side_by_side(several: list[DistanceMap], *, shared: bool) -> DistanceMap:
    flags = frozenset.intersection(*(one.flags for one in several))
    verified = all(one.verified for one in several)
    if shared:
        return DistanceMap(lambda v: tuple(one(v) for one in several), flags, verified)
    return DistanceMap(
        lambda v: tuple(one(part) for one, part in zip(several, v, strict=True)), flags, verified
    )


def _chain(second: Map | None, first: Map | None) -> Map | None:
    if second is None or first is None:
        return None
    return lambda x: second(first(x))
