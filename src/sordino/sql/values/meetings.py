"""Whether a row of a table is in at most one joined row: then its slopes need no adding up by row.

Another table is met at most once if a column of it that no two of its rows agree in must equal a column of what is met
already. Whether no two rows agree is asked in the snapshot that is answered from, once for as long as the data stays,
and only where the engine can tell; nothing but the statement that is sent depends on it, not what it says.
"""

from __future__ import annotations

from sqlglot import exp

from sordino.engines import KeepingSnapshot, Snapshot
from sordino.sql.answering.exact import write_join
from sordino.sql.question import JoinQuestion, Occurrence


def meets_once(snapshot: Snapshot, join: JoinQuestion, alias: str) -> bool:
    """Whether no row of an occurrence is in two joined rows; False also where that would cost too much to know."""
    met, rest = {alias}, [o for o in join.occurrences if o.alias != alias]
    by_alias = {occurrence.alias: occurrence for occurrence in join.occurrences}
    while rest:
        found = next(
            (
                other
                for other in rest
                for column in _list_equal(other, met, by_alias, join.conditions)
                if _is_unique(snapshot, other, column)
            ),
            None,
        )
        if found is None:
            return False
        rest.remove(found)
        met.add(found.alias)
    return True


def _list_equal(
    other: Occurrence, met: set[str], by_alias: dict[str, Occurrence], conditions: tuple[exp.Expr, ...]
) -> list[str]:
    """Columns of whole numbers that a condition sets equal to one of what is met: of other types engines compare less
    plainly."""
    found = []
    for condition in conditions:
        if not isinstance(condition, exp.EQ):
            continue
        sides = condition.this.unnest(), condition.expression.unnest()
        for own, theirs in (sides, sides[::-1]):
            if (
                isinstance(own, exp.Column)
                and isinstance(theirs, exp.Column)
                and own.table == other.alias
                and theirs.table in met
                and other.columns.get(own.name) == "integer"
                and by_alias[theirs.table].columns.get(theirs.name) == "integer"
            ):
                found.append(own.name)
    return found


def _is_unique(snapshot: Snapshot, occurrence: Occurrence, column: str) -> bool:
    """Whether no two rows agree in a column; NULLs meet nobody."""
    if occurrence.rows is not None or occurrence.grouped is not None or occurrence.lookups:
        return False
    kept = snapshot.kept([occurrence.table]) if isinstance(snapshot, KeepingSnapshot) else None
    if kept is None:
        return False
    key = (occurrence.table, (column,), "repeated")
    if key not in kept:
        cell = exp.column(column, table=occurrence.alias, quoted=True)
        repeated = exp.Sub(
            this=exp.Count(this=cell), expression=exp.Count(this=exp.Distinct(expressions=[cell.copy()]))
        )
        query = write_join([exp.alias_(repeated, "repeated", quoted=True)], [occurrence], [])
        kept[key] = int(snapshot.aggregate(query).column(0)[0].as_py())
    return kept[key] == 0
