"""Rows as owners: for every joined row, the private rows that it is made of.

Removing a row removes exactly the joined rows that it is part of: inner joins are monotone. So the truncation that
protects users protects rows too, and pays for what the rows that are there add, not for rows that might be added.

**Rows inside others.** Where an enforced key says that every row of one table meets at most one row of another, all
joined rows of the first lie inside those of the second. Whatever limits the outer row limits the inner one: it takes at
most tau with it, and dropping the outer row drops it. So only outermost rows are owners. A table that stands in FROM
twice is never inside: a row of it may lie inside one row here and inside another there.

**Which row is which.** An enforced key of one column names a row where the question makes it equal something, so that
it is not NULL. Otherwise rows are numbered in the order of the columns that the question reads. Ties are rows that the
question cannot tell apart, so whichever way an engine breaks them the numbered rows are the same set, also where a
table stands in FROM twice and is numbered twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from sordino.core import UnsupportedError
from sordino.engines import ColumnType
from sordino.sql.lookups import Numbering
from sordino.sql.policy import ColumnName, match_name
from sordino.sql.question import Occurrence, Statement
from sordino.sql.reading.groups import find_equal_places
from sordino.sql.units.owners import Owner, Owners

_NUMBER = "row_number"
_NAMES_ROWS: tuple[ColumnType, ...] = ("integer", "text")


def find_row_owners(statement: Statement) -> Owners:
    """The outermost private rows of the joined rows of a question."""
    join = statement.join
    private = [occurrence for occurrence in join.occurrences if occurrence.private]
    if not private:
        raise UnsupportedError(
            "the question reads public tables only: nothing in it is protected, ask the database itself"
        )
    outer = list_outermost(join.occurrences, join.conditions)
    owners, numbered = [], []
    for occurrence in outer:
        key = _find_name(occurrence.table, outer, statement)
        if key is None:
            numbering = _number_rows(statement, occurrence.table)
            numbered.append((occurrence.alias, numbering))
            key = numbering.name
        owners.append(
            Owner(ColumnName(occurrence.table, key), exp.column(key, table=occurrence.alias, quoted=True))
        )
    return Owners(tuple(owners), (), (), join, tuple(numbered), nested=len(outer) < len(private))


def list_outermost(occurrences: Sequence[Occurrence], conditions: Sequence[exp.Expr]) -> list[Occurrence]:
    """The private tables whose rows are not inside those of another one that is listed.

    Being inside is transitive, so what goes because of a table that goes later is inside what that one is inside.
    """
    private = [occurrence for occurrence in occurrences if occurrence.private]
    tables = [occurrence.table for occurrence in private]
    kept = {occurrence.alias for occurrence in private}
    for occurrence in private:
        if tables.count(occurrence.table) == 1:
            met_once = _list_met_once(occurrence, occurrences, conditions)
            if met_once & (kept - {occurrence.alias}):
                kept.remove(occurrence.alias)
    return [occurrence for occurrence in private if occurrence.alias in kept]


def lie_apart(statement: Statement) -> bool:
    """Whether every private row has all its joined rows in one group.

    They have where the group is computed from the row itself and from rows that it meets at most once; no table may
    stand in FROM twice. `Statement.partitions` knows of other cases, without keys.
    """
    join = statement.join
    private = [occurrence for occurrence in join.occurrences if occurrence.private]
    if not statement.keys or len({occurrence.table for occurrence in private}) < len(private):
        return False
    by_alias, given = {occurrence.alias: occurrence for occurrence in join.occurrences}, list(join.conditions)
    equal = [
        {alias for alias, _ in find_equal_places((column.table, column.name), by_alias, given)}
        for key in statement.keys
        for column in key.column.find_all(exp.Column)
    ]
    for occurrence in private:
        known = _list_met_once(occurrence, join.occurrences, given) | {occurrence.alias}
        if not all(aliases & known for aliases in equal):
            return False
    return True


def _list_met_once(
    start: Occurrence, occurrences: Sequence[Occurrence], conditions: Sequence[exp.Expr]
) -> set[str]:
    """The private tables of which a row of ``start`` meets at most one row, in every database that obeys the keys.

    All columns of their key equal columns of the row, or of rows that it meets at most once. Columns that equal
    something are not NULL, so the key holds for them.
    """
    by_alias, given = {occurrence.alias: occurrence for occurrence in occurrences}, list(conditions)
    known = {start.alias}
    while True:
        found = {
            other.alias
            for other in occurrences
            if other.private
            and other.alias not in known
            and other.key
            and all(
                {alias for alias, _ in find_equal_places((other.alias, column), by_alias, given)} & known
                for column in _match(other.key, other)
            )
        }
        if not found:
            return known - {start.alias}
        known |= found


def _find_name(table: str, outer: Sequence[Occurrence], statement: Statement) -> str | None:
    """A column that names the rows of a table wherever it stands in FROM: an enforced key of integers or texts."""
    same = [occurrence for occurrence in outer if occurrence.table == table]
    if len(same[0].key) != 1:
        return None
    (column,) = _match(same[0].key, same[0])
    by_alias = {occurrence.alias: occurrence for occurrence in statement.join.occurrences}
    given = list(statement.join.conditions)
    equal = [len(find_equal_places((occurrence.alias, column), by_alias, given)) > 1 for occurrence in same]
    return column if same[0].columns[column] in _NAMES_ROWS and all(equal) else None


def _number_rows(statement: Statement, table: str) -> Numbering:
    """By all columns that the question reads of a table, wherever it stands in FROM."""
    same = [occurrence for occurrence in statement.join.occurrences if occurrence.table == table]
    own = {own for occurrence in same for lookup in occurrence.lookups for own, _ in lookup.on}
    aliases = {occurrence.alias for occurrence in same}
    for tree in _list_read(statement):
        own |= {column.name for column in tree.find_all(exp.Column) if column.table in aliases}
    found = {name for occurrence in same for lookup in occurrence.lookups for name, _ in lookup.columns}
    taken = {column.casefold() for occurrence in same for column in occurrence.columns}
    name = _NUMBER
    while name in taken:
        name += "_"
    return Numbering(name, tuple(sorted(own - found)))


def _list_read(statement: Statement) -> Iterable[exp.Expr]:
    """Every expression of the question that is computed from rows."""
    yield from statement.join.conditions
    for measure in statement.measures:
        yield from measure.conditions()
        if measure.value is not None:
            yield measure.value
    for key in statement.keys:
        yield from (key.column, *key.equals)


def _match(columns: Iterable[str], occurrence: Occurrence) -> list[str]:
    return [match_name(column, occurrence.columns) or column for column in columns]
