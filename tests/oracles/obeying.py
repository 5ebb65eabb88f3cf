"""Databases that obey keys and checks: which they are, and random walks among them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tests.oracles.joins import Compare, Database, JoinQuery, Row, Table, rows_of, truth


@dataclass(frozen=True, slots=True)
class Promises:
    """Per table the columns of its key, and a check over columns without alias; either may be missing."""

    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    checks: dict[str, Compare] = field(default_factory=dict)

    def allows(self, table: Table, row: Row) -> bool:
        """SQL's rule: a check is broken where it is false, not where it is unknown."""
        cells = dict(zip(table.columns, row, strict=True))
        check = self.checks.get(table.name)
        return check is None or truth(check, lambda column: cells[column.name]) is not False

    def same_key(self, table: Table) -> list[list[int]]:
        """The places of possible rows that share a key without NULL."""
        columns = [table.columns.index(name) for name in self.keys.get(table.name, ())]
        if not columns:
            return []
        groups: dict[tuple, list[int]] = {}
        for place, row in enumerate(rows_of(table)):
            groups.setdefault(tuple(row[i] for i in columns), []).append(place)
        return [places for key, places in groups.items() if None not in key]

    def obeyed(self, query: JoinQuery, vectors: np.ndarray) -> np.ndarray:
        """Whether each row of multiplicities, of the private tables' possible rows in order, is such a database."""
        result, start = np.ones(len(vectors), dtype=bool), 0
        for table in query.private:
            rows = rows_of(table)
            mine = vectors[:, start : start + len(rows)]
            for places in self.same_key(table):
                result &= mine[:, places].sum(axis=1) <= 1
            broken = [place for place, row in enumerate(rows) if not self.allows(table, row)]
            result &= (mine[:, broken] == 0).all(axis=1)
            start += len(rows)
        return result

    def holds(self, table: Table, rows: Counter) -> bool:
        """The same of one table."""
        count = [rows[row] for row in rows_of(table)]
        return all(sum(count[i] for i in places) <= 1 for places in self.same_key(table)) and all(
            self.allows(table, row) for row in +rows
        )


def random_promises(rng: np.random.Generator, query: JoinQuery, make_check) -> Promises:
    """Keys of one or both columns of most tables, and checks of some; ``make_check`` writes one for a table."""
    keys, checks = {}, {}
    for table in query.tables:
        if rng.random() < 0.75:
            choices = [c for n in (1, 2) for c in itertools.combinations(table.columns, n)]
            keys[table.name] = choices[int(rng.integers(len(choices)))]
        if len(table.columns) > 1 and rng.random() < 0.3:
            checks[table.name] = make_check(table)
    return Promises(keys, checks)


def walk_obeying(
    rng: np.random.Generator, query: JoinQuery, promises: Promises, steps: int, most_rows: int = 5
) -> Iterator[tuple[Table | None, Database]]:
    """Databases that obey, each one row from the one before."""
    database: Database = {}
    for table in query.tables:
        rows: Counter = Counter()
        for place in rng.integers(len(rows_of(table)), size=int(rng.integers(most_rows + 1))):
            more = rows + Counter([rows_of(table)[place]])
            rows = more if promises.holds(table, more) else rows
        database[table.name] = rows
    yield None, database
    for _ in range(steps):
        table = query.private[int(rng.integers(len(query.private)))]
        near = [database[table.name] + Counter([row]) for row in rows_of(table)]
        near += [database[table.name] - Counter([row]) for row in database[table.name]]
        near = [rows for rows in near if promises.holds(table, rows)]
        if not near:
            return
        database = {**database, table.name: near[int(rng.integers(len(near)))]}
        yield table, database
