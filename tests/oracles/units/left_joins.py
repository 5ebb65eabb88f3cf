"""Left joins of tiny databases, straight from the definition: rows without a partner stay, with NULL in its place.

A row on the right that nobody owns, or that keys which do not hold give to several, is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.oracles.units.owners import Database, Join, Result, Row, Schema, list_combinations, row_owners

Rows = Mapping[str, Row]


@dataclass(frozen=True)
class LeftJoin:
    """An inner join, and tables that are left joined to it one after the other: alias, table and ON.

    ``where`` and ``weight`` are asked behind all of them; a table without a partner has a row of None alone.
    """

    inner: Join
    left: Sequence[tuple[str, str, Callable[[Rows], bool]]]
    where: Callable[[Rows], bool] = lambda rows: True
    weight: Callable[[Rows], int | Fraction] = lambda rows: 1


def left_joined_results(database: Database, schema: Schema, join: LeftJoin) -> list[Result]:
    """Every joined row with the owners of the inner rows; the others must have no further ones."""
    owners = row_owners(database, schema)

    def is_there(table: str, place: int) -> bool:
        return table in schema.public or len(owners[table][place]) == 1

    def joined(
        rows: dict[str, Row], left: Sequence[tuple[str, str, Callable[[Rows], bool]]]
    ) -> list[dict[str, Row]]:
        if not left:
            return [rows]
        (alias, table, on), *rest = left
        found = [
            row for i, row in enumerate(database[table]) if is_there(table, i) and on({**rows, alias: row})
        ]
        nothing = dict.fromkeys(database[table][0] if database[table] else ())
        return [full for row in found or [nothing] for full in joined({**rows, alias: _Absent(row)}, rest)]

    results = []
    for rows, places in list_combinations(database, join.inner):
        theirs = [owners[join.inner.tables[alias]][place] for alias, place in places.items()]
        private = [join.inner.tables[alias] not in schema.public for alias in places]
        if any(needed and not its for needed, its in zip(private, theirs, strict=True)):
            continue
        for full in joined(dict(rows), join.left):
            if join.where(full):
                results.append(Result(Fraction(join.weight(full)), frozenset().union(*theirs)))
    return results


class _Absent(dict):
    """A row of which every column that it does not have is NULL."""

    def __missing__(self, name: str) -> None:
        return None
