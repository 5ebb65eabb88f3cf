"""Enumeration: the number from all databases over a few values, without a solver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, islice, product
from math import prod

from sordino.core import UnsupportedError
from sordino.sql.solver.query import (
    GroupedLeaf,
    JoinLeaf,
    Shapes,
    SolverQuery,
    TableShape,
    list_leaves,
    list_tables,
)
from sordino.sql.solver.terms import Plain, RowField
from sordino.sql.solver.witness import DatabaseWitness, Values

MOST_DATABASES = 20_000


def enumerate_databases(
    query: SolverQuery, shapes: Shapes, table: str, values: tuple[int, ...]
) -> DatabaseWitness:
    """Of all databases whose columns hold ``values``, one with the row of ``table`` whose removal changes most.

    Tables are sets of rows that obey keys and checks; columns are numbers or truth values. Refuses where there would be
    more than `MOST_DATABASES`.
    """
    names = list_tables(query)
    if table not in names:
        names = (*names, table)
    # One more than would be looked at is enough to refuse.
    relations = {
        name: list(islice(list_relations(shapes[name], values), MOST_DATABASES + 1)) for name in names
    }
    if prod(map(len, relations.values())) > MOST_DATABASES:
        raise UnsupportedError(
            f"there are more than {MOST_DATABASES} databases over {len(values)} values: give fewer values, or install "
            "the solver: pip install 'sordino[solver]'"
        )
    columns = {name: tuple(column.name for column in shapes[name].columns) for name in names}
    best: DatabaseWitness | None = None
    for chosen in product(*relations.values()):
        database = dict(zip(names, chosen, strict=True))
        for row in database[table]:
            number = _count_changed(query, database, table, row, columns)
            if best is None or number > best.number:
                best = DatabaseWitness(table, row, database, columns, number)
    if best is None:
        raise UnsupportedError(f"no row over these values obeys the checks of {table}")
    return best


def list_relations(shape: TableShape, values: tuple[int, ...]) -> Iterator[tuple[Values, ...]]:
    """All sets of rows that obey keys and checks."""
    names = [column.name for column in shape.columns]
    domains = [(False, True) if column.kind == "boolean" else values for column in shape.columns]
    rows = [
        row
        for row in product(*domains)
        if all(check.holds(lambda field, row=row: row[names.index(field.column)]) for check in shape.checks)  # type: ignore[misc]
    ]
    keys = [[names.index(column) for column in key] for key in shape.keys]
    for size in range(len(rows) + 1):
        for chosen in combinations(rows, size):
            if all(len({tuple(row[i] for i in key) for row in chosen}) == size for key in keys):
                yield chosen


def _count_changed(
    query: SolverQuery,
    database: dict[str, tuple[Values, ...]],
    table: str,
    row: Values,
    columns: dict[str, tuple[str, ...]],
) -> int:
    without = {**database, table: tuple(other for other in database[table] if other != row)}
    if isinstance(query, GroupedLeaf) or (isinstance(query, JoinLeaf) and not query.distinct):
        leaf = list_leaves(query)[0]
        before, after = (Counter(_join(leaf, rows, columns)) for rows in (database, without))
        lost = before - after
        return len({output for output, _ in lost}) if isinstance(query, GroupedLeaf) else lost.total()
    results = [
        query.combine(
            tuple(frozenset(output for output, _ in _join(leaf, rows, columns)) for leaf in query.leaves())
        )
        for rows in (database, without)
    ]
    return len(results[0] ^ results[1])


def _join(
    leaf: JoinLeaf, database: dict[str, tuple[Values, ...]], columns: dict[str, tuple[str, ...]]
) -> Iterator[tuple[Values, tuple[Values, ...]]]:
    """What is selected of every combination that satisfies the condition, and the combination."""
    places = [{name: k for k, name in enumerate(columns[table])} for table in leaf.tables]
    for rows in product(*(database[table] for table in leaf.tables)):

        def read(field: RowField, rows: tuple[Values, ...] = rows) -> Plain:
            return rows[field.position][places[field.position][field.column]]

        if leaf.condition.holds(read):
            yield tuple(term.compute(read) for term in leaf.outputs), rows
