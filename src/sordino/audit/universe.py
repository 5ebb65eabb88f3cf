"""A universe of small databases and all of its ordered neighbouring pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.audit.outcome import outcome_key
from sordino.core.errors import ProofError

Neighbours = Callable[[Any], Iterable[Any]]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class NeighbouringPairs:
    """Every database once, and the index arrays of all ordered neighbouring pairs."""

    databases: tuple[Any, ...]
    left: NDArray[np.intp]
    right: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.left)


def pair_neighbours(
    universe: Iterable[Any], neighbours: Neighbours, *, partial: bool = False
) -> NeighbouringPairs:
    """Enumerate the pairs, refusing whatever would make a proof over them empty or one-sided.

    A database that is named as its own neighbour, or a neighbour named twice, is counted once at most: such a
    pair has no loss. ``partial`` leaves out neighbours that are not in the universe. Databases are the same if their
    contents are equal; where a universe holds several that Python calls equal, such as 0.0 and -0.0, they are told
    apart as outcomes are.
    """
    databases = tuple(universe)
    place: dict[Any, list[int]] = {}
    for index, database in enumerate(databases):
        equal = place.setdefault(_identity(database), [])
        if equal and outcome_key(database) in [outcome_key(databases[at]) for at in equal]:
            raise ProofError(
                f"the universe holds the database {database!r} twice; every database once is accepted"
            )
        equal.append(index)
    left: list[int] = []
    right: list[int] = []
    for index, database in enumerate(databases):
        found: set[int] = set()
        for neighbour in neighbours(database):
            equal = place.get(_identity(neighbour), [])
            if len(equal) > 1:
                key = outcome_key(neighbour)
                equal = [at for at in equal if outcome_key(databases[at]) == key]
            if equal:
                found.add(equal[0])
            elif not partial:
                raise ProofError(
                    f"{neighbour!r}, a neighbour of {database!r}, is not in the universe; "
                    "close the universe under neighbours or pass partial=True to leave such pairs out"
                )
        found.discard(index)
        left.extend([index] * len(found))
        right.extend(sorted(found))
    if not left:
        raise ProofError(
            f"no neighbouring pairs among {len(databases)} databases: this would prove nothing; "
            "at least two neighbouring databases are needed"
        )
    pairs = NeighbouringPairs(databases, np.array(left, dtype=np.intp), np.array(right, dtype=np.intp))
    _check_symmetry(pairs)
    return pairs


def _check_symmetry(pairs: NeighbouringPairs) -> None:
    count = len(pairs.databases)
    forward = pairs.left * count + pairs.right
    lonely = np.flatnonzero(~np.isin(forward, pairs.right * count + pairs.left))
    if len(lonely):
        x = pairs.databases[pairs.left[lonely[0]]]
        y = pairs.databases[pairs.right[lonely[0]]]
        raise ProofError(
            f"neighbours are not symmetric: {y!r} is a neighbour of {x!r} but not the other way round "
            f"({len(lonely)} such pairs); a symmetric relation is accepted"
        )


def _identity(database: Any) -> Any:
    """What makes two databases the same one: the content, for the usual containers that cannot be hashed."""
    try:
        hash(database)
    except TypeError:
        pass
    else:
        return database
    if isinstance(database, np.ndarray):
        return _identity(database.tolist())
    if isinstance(database, list | tuple):
        return tuple(map(_identity, database))
    if isinstance(database, Mapping):
        return frozenset((key, _identity(value)) for key, value in database.items())
    if isinstance(database, Set):
        return frozenset(database)
    raise ProofError(
        f"a database must be hashable, an array, a list, a set or a mapping, got {type(database).__name__}"
    )
