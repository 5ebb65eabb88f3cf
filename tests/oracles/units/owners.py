"""Who owns which row: units, neighbours and joined results of tiny databases, straight from the definition.

A database maps table names to lists of rows; NULL is None and equals nothing. A unit is an entity's name with one
value of its key. A row is owned by the unit it stands for, if its table is an entity, and by every owner of every row
that one of its foreign keys points to; nothing here assumes that a key is unique or that it points to anything.
A private row that nobody owns is left out of every answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Row = Mapping[str, object]
Database = Mapping[str, Sequence[Row]]
Unit = tuple[str, object]
Place = tuple[str, str]  # (table, column) in a schema, (alias, column) in a join


@dataclass(frozen=True)
class Schema:
    """Entities with their key column, foreign keys as {table: {column: (table, column)}}, and the public tables."""

    entities: Mapping[str, str]
    foreign_keys: Mapping[str, Mapping[str, Place]] = field(default_factory=dict)
    public: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Join:
    """An inner join: aliases with their tables, the equalities, a predicate, a weight of what remains."""

    tables: Mapping[str, str]
    equal: Sequence[tuple[Place, Place]] = ()
    where: Callable[[Mapping[str, Row]], bool] = lambda rows: True
    weight: Callable[[Mapping[str, Row]], int | Fraction] = lambda rows: 1


@dataclass(frozen=True)
class Result:
    """One joined result: how much it counts, who can make it disappear, and a value for COUNT(DISTINCT)."""

    weight: Fraction
    owners: frozenset[Unit]
    value: object = None


def row_owners(database: Database, schema: Schema) -> dict[str, list[frozenset[Unit]]]:
    """For every table, the owners of each of its rows; ValueError where ownership runs in a circle."""

    def owners_in(table: str, path: tuple[str, ...]) -> list[frozenset[Unit]]:
        if table in path:
            raise ValueError(f"ownership runs in a circle through {table}")
        found: list[set[Unit]] = [set() for _ in database.get(table, ())]
        if table in schema.public:
            return [frozenset() for _ in found]
        key = schema.entities.get(table)
        for row, owners in zip(database.get(table, ()), found, strict=True):
            if key is not None and row[key] is not None:
                owners.add((table, row[key]))
        for column, (other, other_column) in schema.foreign_keys.get(table, {}).items():
            theirs = owners_in(other, (*path, table))
            for row, owners in zip(database.get(table, ()), found, strict=True):
                for referenced, their in zip(database.get(other, ()), theirs, strict=True):
                    if row[column] is not None and row[column] == referenced[other_column]:
                        owners |= their
        return [frozenset(owners) for owners in found]

    return {table: owners_in(table, ()) for table in database}


def units(database: Database, schema: Schema) -> set[Unit]:
    """Every unit that is in the database: the keys of the entities' rows."""
    return {
        (entity, row[key])
        for entity, key in schema.entities.items()
        for row in database.get(entity, ())
        if row[key] is not None
    }


def remove_unit(database: Database, schema: Schema, unit: Unit) -> dict[str, list[Row]]:
    """The database without the unit: without its entity row or rows and without every row that it owns."""
    owners = row_owners(database, schema)
    return {
        table: [row for row, its in zip(rows, owners[table], strict=True) if unit not in its]
        for table, rows in database.items()
    }


def neighbours(database: Database, schema: Schema) -> dict[Unit, dict[str, list[Row]]]:
    """All databases with one unit less, by the unit that is missing."""
    return {unit: remove_unit(database, schema, unit) for unit in units(database, schema)}


def joined_results(
    database: Database,
    schema: Schema,
    join: Join,
    value: Callable[[Mapping[str, Row]], object] = lambda rows: None,
) -> list[Result]:
    """Every combination of rows that satisfies the join, with its weight and the owners of all its rows."""
    owners = row_owners(database, schema)
    answers = []
    for rows, places in list_combinations(database, join):
        theirs = [owners[join.tables[alias]][place] for alias, place in places.items()]
        private = [join.tables[alias] not in schema.public for alias in places]
        if any(needed and not its for needed, its in zip(private, theirs, strict=True)):
            continue
        answers.append(Result(Fraction(join.weight(rows)), frozenset().union(*theirs), value(rows)))
    return answers


def joined_rows(database: Database, join: Join, public: frozenset[str] = frozenset()) -> list[Result]:
    """Rows as units: the owners of a result are the private rows it is made of, as (table, position)."""
    return [
        Result(
            Fraction(join.weight(rows)),
            frozenset((join.tables[a], i) for a, i in places.items() if join.tables[a] not in public),
        )
        for rows, places in list_combinations(database, join)
    ]


def list_combinations(database: Database, join: Join) -> list[tuple[dict[str, Row], dict[str, int]]]:
    """Every combination of rows that satisfies the join, with the places of its rows."""
    aliases = list(join.tables)
    kept = []
    for places in itertools.product(*(range(len(database[join.tables[alias]])) for alias in aliases)):
        position = dict(zip(aliases, places, strict=True))
        rows = {alias: database[join.tables[alias]][i] for alias, i in position.items()}
        equal = all(
            rows[a][column] is not None and rows[a][column] == rows[b][other]
            for (a, column), (b, other) in join.equal
        )
        if equal and join.where(rows):
            kept.append((rows, position))
    return kept
