"""Chains of log entries by brute force, from the rule alone: every earlier entry is looked at for every entry."""

from __future__ import annotations

from collections.abc import Sequence

Entry = tuple[int, str, tuple[str | None, ...]]  # time, owner, values


def matches(later: Entry, earlier: Entry, match: str) -> bool:
    if match == "column":
        return any(a is not None and a == b for a, b in zip(later[2], earlier[2], strict=True))
    return any(a is not None and a == b for a in later[2] for b in earlier[2])


def list_chains(entries: Sequence[Entry], match: str) -> tuple[list[Entry], list[list[int]]]:
    """The entries in order, and chains as lists of places from 1."""
    ordered = sorted(entries, key=lambda entry: entry[0])  # sorted() keeps the input's order among equals
    chains: list[list[int]] = []
    for place, entry in enumerate(ordered, start=1):
        candidates = [chain for chain in chains if matches(entry, ordered[chain[-1] - 1], match)]
        if candidates:
            max(candidates, key=lambda chain: chain[-1]).append(place)
        else:
            chains.append([place])
    return ordered, chains


def give_owner(
    ordered: Sequence[Entry], chains: list[list[int]], owner: str
) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """What an owner gets: (place, time, owner, values, chain, position) in order, and the uncorrelated entries."""
    shown = []
    alone = []
    for chain in chains:
        if len(chain) == 1:
            time, who, values = ordered[chain[0] - 1]
            if who == owner:
                alone.append((chain[0], time, who, *values))
        elif any(ordered[place - 1][1] == owner for place in chain):
            for position, place in enumerate(chain, start=1):
                time, who, values = ordered[place - 1]
                shown.append((place, time, who, *values, chain[0], position))
    return sorted(shown), sorted(alone)
