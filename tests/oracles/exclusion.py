"""Greedy exclusion over any join, from the definition: allowances may grow and joins need not be chains."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence


def include(
    joined: Sequence[tuple[Hashable, ...]],
    arrived: Mapping[Hashable, int],
    uses: Mapping[Hashable, int],
    growth: Sequence[tuple[int, Hashable, int]] = (),
) -> set[tuple[Hashable, ...]]:
    """The joined rows that are included. ``growth``: (arrival number, row, further uses)."""
    order = sorted(joined, key=lambda row: sorted((arrived[part] for part in row), reverse=True))
    spent: dict[Hashable, int] = {}
    found = set()
    for row in order:
        now = max(arrived[part] for part in row)
        allowed = {
            part: uses[part] + sum(more for at, who, more in growth if who == part and at <= now)
            for part in row
        }
        if all(spent.get(part, 0) < allowed[part] for part in row):
            found.add(row)
            for part in row:
                spent[part] = spent.get(part, 0) + 1
    return found
