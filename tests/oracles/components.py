"""Components of finite metric spaces, word for word from their definitions, and all small spaces to try them on.

Points are 0 … n−1, a component is a list of disjoint sets, distances are a list of lists. Nothing is shared between the
functions but the definition of a friend.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

Metric = Any
Classes = list[set[int]]


def all_metrics(points: int, values: tuple[int, ...]) -> Iterator[list[list[int]]]:
    """All matrices with these distances between different points that satisfy the triangle inequality."""
    pairs = list(itertools.combinations(range(points), 2))
    for chosen in itertools.product(values, repeat=len(pairs)):
        metric = [[0] * points for _ in range(points)]
        for (one, other), value in zip(pairs, chosen, strict=True):
            metric[one][other] = metric[other][one] = value
        if is_metric(metric):
            yield metric


def is_metric(metric: Metric) -> bool:
    everywhere = range(len(metric))
    return all(
        (metric[x][y] == 0) == (x == y)
        and metric[x][y] == metric[y][x]
        and all(metric[x][z] <= metric[x][y] + metric[y][z] for z in everywhere)
        for x in everywhere
        for y in everywhere
    )


def all_partitions(points: int) -> list[Classes]:
    if points == 0:
        return [[]]
    found: list[Classes] = []
    for smaller in all_partitions(points - 1):
        found.append([*[set(one) for one in smaller], {points - 1}])
        for place in range(len(smaller)):
            grown = [set(one) for one in smaller]
            grown[place].add(points - 1)
            found.append(grown)
    return found


def class_of(x: int, rho: Classes) -> set[int]:
    (own,) = (one for one in rho if x in one)
    return own


def meet(rho: Classes, sigma: Classes) -> Classes:
    return [one & other for one in rho for other in sigma if one & other]


def is_friend(metric: Metric, x: int, friend: int, among: set[int]) -> bool:
    """``friend`` is a nearest point to x of a set."""
    return friend in among and all(metric[x][friend] <= metric[x][other] for other in among)


def set_distance(metric: Metric, one: set[int], other: set[int], kind: str) -> Any:
    if kind == "max":
        return max(metric[x][y] for x in one for y in other)
    return max(
        max(min(metric[x][y] for y in other) for x in one),
        max(min(metric[x][y] for x in one) for y in other),
    )


def is_adjacent(metric: Metric, rho: Classes, sigma: Classes) -> bool:
    fine = meet(rho, sigma)
    everywhere = range(len(metric))
    return all(
        any(
            is_friend(metric, x, middle, class_of(friend, rho))
            and is_friend(metric, friend, middle, class_of(x, sigma))
            for middle in everywhere
        )
        for x in everywhere
        for friend in everywhere
        if is_friend(metric, x, friend, class_of(friend, fine))
    )


def is_equidistant(metric: Metric, rho: Classes) -> bool:
    for one, other in itertools.combinations(rho, 2):
        apart = {metric[x][y] for x in one for y in other if is_friend(metric, x, y, other)}
        apart |= {metric[x][y] for x in one for y in other if is_friend(metric, y, x, one)}
        if len(apart) > 1:
            return False
    return True


def is_expanding(metric: Metric, rho: Classes, sigma: Classes, kind: str = "hausdorff") -> bool:
    fine = meet(rho, sigma)
    return all(
        set_distance(metric, class_of(x, coarse), class_of(y, coarse), kind)
        <= set_distance(metric, class_of(x, fine), class_of(y, fine), kind)
        for coarse in (rho, sigma)
        for x in range(len(metric))
        for y in range(len(metric))
        if class_of(x, coarse) != class_of(y, coarse)
    )


def subsets(of: set[int]) -> Iterator[set[int]]:
    for size in range(1, len(of) + 1):
        yield from map(set, itertools.combinations(sorted(of), size))


def are_friendly(metric: Metric, part: set[int], other_part: set[int], other: set[int]) -> bool:
    return all(any(is_friend(metric, x, y, other) for y in other_part) for x in part) and all(
        any(is_friend(metric, x, y, other) for x in part) for y in other_part
    )


def image_distance(outputs: list[int], one: set[int], other: set[int], kind: str) -> Any:
    values, others = sorted({outputs[x] for x in one}), sorted({outputs[y] for y in other})
    places = {value: place for place, value in enumerate(sorted({*values, *others}))}
    line = [[abs(a - b) for b in places] for a in places]
    return set_distance(line, {places[value] for value in values}, {places[value] for value in others}, kind)


def local_constant(
    metric: Metric, outputs: list[int], rho: Classes, own: set[int], kind: str, distance: str = "hausdorff"
) -> Fraction:
    """The least c with which the definition of a kind holds for friends that begin in one class."""
    least = Fraction(0)
    for other in rho:
        if other == own:
            continue
        apart = set_distance(metric, own, other, distance)
        if kind in "AB":
            for x in own:
                for y in other:
                    if is_friend(metric, x, y, other):
                        moved = abs(outputs[x] - outputs[y])
                        least = max(least, Fraction(moved, metric[x][y] if kind == "A" else apart))
        else:
            for part in subsets(own):
                for other_part in subsets(other):
                    if are_friendly(metric, part, other_part, other):
                        moved = image_distance(outputs, part, other_part, distance)
                        below = set_distance(metric, part, other_part, distance) if kind == "C" else apart
                        least = max(least, Fraction(moved, below))
    return least


def constant(
    metric: Metric, outputs: list[int], rho: Classes, kind: str, distance: str = "hausdorff"
) -> Fraction:
    return max(
        (local_constant(metric, outputs, rho, own, kind, distance) for own in rho), default=Fraction(0)
    )


def all_orthogonal_complements(metric: Metric, rho: Classes) -> list[Classes]:
    """Def. 3.46: friends are in one class of it, and both classes of a point together name the point."""
    everywhere = range(len(metric))
    return [
        other
        for other in all_partitions(len(metric))
        if all(len(one) == 1 for one in meet(rho, other))
        and all(
            class_of(x, other) == class_of(y, other)
            for x in everywhere
            for y in everywhere
            if is_friend(metric, x, y, class_of(y, rho))
        )
    ]
