"""Random join queries and tiny databases, from a seeded generator."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import numpy as np

from tests.oracles.joins import (
    And,
    Column,
    Compare,
    Count,
    Database,
    IsNull,
    JoinQuery,
    Not,
    Or,
    Predicate,
    Sum,
    Table,
    Value,
    rows_of,
)


def _random_column(rng: np.random.Generator, query: JoinQuery, position: int) -> Column:
    alias, table = query.occurrences[position]
    return Column(alias, str(rng.choice(query.table(table).columns)))


def _random_edges(rng: np.random.Generator, n: int) -> list[tuple[int, int]]:
    shape = rng.choice(["chain", "star", "cycle", "product", "random"], p=[0.35, 0.2, 0.2, 0.05, 0.2])
    if shape == "chain":
        return [(i, i + 1) for i in range(n - 1)]
    if shape == "star":
        return [(0, i) for i in range(1, n)]
    if shape == "cycle":
        return [(i, (i + 1) % n) for i in range(n)] if n > 2 else [(0, n - 1)] * (n > 1)
    if shape == "product":
        return []
    pairs = list(itertools.combinations(range(n), 2))
    return [pair for pair in pairs if rng.random() < 0.6]


def _random_atom(rng: np.random.Generator, query: JoinQuery) -> Predicate:
    left, right = (_random_column(rng, query, int(i)) for i in rng.integers(len(query.occurrences), size=2))
    kind = rng.random()
    if kind < 0.15:
        return IsNull(left)
    op = str(rng.choice(["=", "<>", "<", "<="]))
    return Compare(op, left, int(rng.integers(2)) if kind < 0.5 else right)


def _random_filter(rng: np.random.Generator, query: JoinQuery, depth: int = 2) -> Predicate:
    kind = rng.random()
    if depth == 0 or kind < 0.5:
        return _random_atom(rng, query)
    if kind < 0.65:
        return Not(_random_filter(rng, query, depth - 1))
    parts = tuple(_random_filter(rng, query, depth - 1) for _ in range(2))
    return Or(parts) if kind < 0.85 else And(parts)


def random_query(rng: np.random.Generator, *, most_occurrences: int = 4, weights: bool = False) -> JoinQuery:
    """Chains, stars, cycles, products with self-joins, public tables, constants, NULLs and other predicates."""
    n = int(rng.choice(range(1, most_occurrences + 1), p=_occurrence_shares(most_occurrences)))
    values: tuple[Value, ...] = (0, 1, 2)  # rows of the database hold 0 and 1; 2 is a value that none has
    if rng.random() < 0.3:
        values = (0, 1, None) if n > 2 else (0, 1, 2, None)
    tables = []
    for t in range(int(rng.integers(1, min(n, 3) + 1))):
        width = 1 if rng.random() < 0.25 else 2
        private = t == 0 or rng.random() < 0.7
        weight = int(rng.choice([1, 2])) if weights else 1
        tables.append(Table("RSU"[t], ("a", "b")[:width], values, private, weight))
    names = [t.name for t in tables] + [
        str(rng.choice([t.name for t in tables])) for _ in range(n - len(tables))
    ]
    rng.shuffle(names)
    query = JoinQuery(tuple(tables), tuple((f"t{i}", str(name)) for i, name in enumerate(names)))
    parts: list[Predicate] = []
    for i, j in _random_edges(rng, n):
        parts.append(Compare("=", _random_column(rng, query, i), _random_column(rng, query, j)))
    if rng.random() < 0.2:
        parts.append(Compare("=", _random_column(rng, query, int(rng.integers(n))), int(rng.integers(2))))
    while rng.random() < 0.35:
        parts.append(_random_filter(rng, query))
    return JoinQuery(query.tables, query.occurrences, And(tuple(parts)), _random_aggregate(rng, query))


def _occurrence_shares(most: int) -> np.ndarray:
    shares = np.array([0.08, 0.34, 0.38, 0.2])[:most]
    return shares / shares.sum()


def _random_aggregate(rng: np.random.Generator, query: JoinQuery) -> Count | Sum:
    kind = rng.random()
    if kind < 0.75:
        return Count()
    some = [_random_column(rng, query, int(i)) for i in rng.integers(len(query.occurrences), size=2)]
    if kind < 0.85:
        return Count(some[0])
    terms = tuple((int(rng.integers(-2, 3)), column) for column in some[: int(rng.integers(0, 3))])
    low = int(rng.integers(-3, 1))
    return Sum(terms, int(rng.integers(-2, 3)), low, low + int(rng.integers(1, 4)))


def random_database(rng: np.random.Generator, query: JoinQuery, most_rows: int = 6) -> Database:
    """Few rows over the active domain, some of them often repeated."""
    database = {}
    for table in query.tables:
        active = [row for row in rows_of(table) if 2 not in row]
        picks = rng.integers(len(active), size=int(rng.integers(most_rows + 1)))
        rows = Counter(active[i] for i in picks)
        if rows and rng.random() < 0.2:
            rows[active[picks[0]]] += int(rng.integers(1, 40))
        database[table.name] = rows
    return database


def random_walk(
    rng: np.random.Generator, query: JoinQuery, steps: int
) -> Iterator[tuple[Table | None, Database]]:
    """Databases where each differs from the one before in a row of the table given with it."""
    database = random_database(rng, query)
    yield None, database
    for _ in range(steps):
        table = query.private[int(rng.integers(len(query.private)))]
        changed = database[table.name].copy()
        if changed and rng.random() < 0.35:
            changed[list(changed)[int(rng.integers(len(changed)))]] -= 1
        else:
            changed[rows_of(table)[int(rng.integers(len(rows_of(table))))]] += 1
        database = {**database, table.name: +changed}
        yield table, database
