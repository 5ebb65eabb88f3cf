"""The largest codegree of every node, walking its light neighbours and looking candidates up in the heavy ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.graphs.kernels.rows import Offsets, Positions
from sordino.graphs.kernels.wide_pairs import find_slot
from sordino.mechanisms.compiled import compiled


@compiled
def walk_hub(
    v: int,
    offsets: Offsets,
    neighbours: Positions,
    count: Positions,
    most: Positions,
) -> None:
    """Raise ``most[x]`` to the number of common neighbours with v, for all other nodes x; ``count`` holds zeros."""
    for arc in range(offsets[v], offsets[v + 1]):
        w = neighbours[arc]
        for further in range(offsets[w], offsets[w + 1]):
            count[neighbours[further]] += 1
    count[v] = 0
    largest = 0
    for x in range(len(count)):
        if count[x] > 0:
            largest = max(largest, count[x])
            most[x] = max(most[x], count[x])
            count[x] = 0
    most[v] = max(most[v], largest)


@compiled
def find_max_codegrees(
    first: int,
    last: int,
    offsets: Offsets,
    neighbours: Positions,
    reaching: Positions,
    count: Positions,
    touched: Positions,
    seen: Positions,
    known: Positions,
    most: NDArray[np.int64],
) -> None:
    """The largest number of common neighbours with another node, for the ranks first … last − 1, into ``most``.

    ``known`` holds numbers of common neighbours that some pair of each node has, and is raised on the way.
    ``reaching[d]`` is the first rank of degree at least d. ``count`` holds zeros, ``seen`` −1 or other ranks.

    A node x with more than L common neighbours with v, of degree d, is adjacent to one of any d − L neighbours of v:
    the lightest d − L are walked, for candidates, and then further ones as long as that is less than to look up every
    candidate; the rest, the hubs, are looked up in the candidates' rows.
    """
    for v in range(last - 1, first - 1, -1):
        begin, end = offsets[v], offsets[v + 1]
        best = known[v]
        if best >= end - begin:
            most[v] = best
            continue
        new = 0
        arc = begin
        while arc < end:
            w = neighbours[arc]
            finding = arc < end - best
            size = offsets[w + 1] - offsets[w]
            if not finding and size > 2 * new:
                break
            least = reaching[best + 1]
            place = offsets[w]
            if neighbours[place] < least:
                place = find_slot(neighbours, place, offsets[w + 1], least)
            if finding:
                for further in range(place, offsets[w + 1]):
                    x = neighbours[further]
                    if count[x] == 0:
                        touched[new] = x
                        new += 1
                    count[x] += 1
            else:
                for further in range(place, offsets[w + 1]):
                    x = neighbours[further]
                    if count[x] > 0:
                        count[x] += 1
            arc += 1
        count[v] = 0
        left = end - arc
        if left == 0:
            for t in range(new):
                x = touched[t]
                common = count[x]
                count[x] = 0
                best = max(best, common)
                known[x] = max(known[x], common)
        else:
            heavy = neighbours[arc]
            for further in range(arc, end):
                seen[neighbours[further]] = v
            # The most promising candidate first: what it has spares the others.
            leading = 0
            for t in range(1, new):
                if count[touched[t]] > count[touched[leading]]:
                    leading = t
            touched[0], touched[leading] = touched[leading], touched[0]
            for t in range(new):
                x = touched[t]
                common = count[x]
                count[x] = 0
                if common == 0 or common + left <= best:
                    continue
                place = find_slot(neighbours, offsets[x], offsets[x + 1], heavy)
                stop = offsets[x + 1]
                while place < stop and common + (stop - place) > best:
                    if seen[neighbours[place]] == v:
                        common += 1
                    place += 1
                best = max(best, common)
                known[x] = max(known[x], common)
        known[v] = best
        most[v] = best
