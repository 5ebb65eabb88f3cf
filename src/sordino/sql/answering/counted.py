"""The statement that counts rows without repeats, by one rule of what equals what on every engine."""

from __future__ import annotations

from sqlglot import exp

from sordino.engines import Snapshot
from sordino.sql.aggregates import RowCount
from sordino.sql.aggregates.distinct import write_counted
from sordino.sql.answering.exact import write_join
from sordino.sql.question import CountedOperation, CountedRows, CountedSelect

_NODES: dict[str, type[exp.SetOperation]] = {
    "union": exp.Union,
    "intersect": exp.Intersect,
    "except": exp.Except,
}


def compute_counted(snapshot: Snapshot, rows: CountedRows) -> int:
    """How many there are. It is private: wrap what is kept of it in a Secret."""
    return int(snapshot.aggregate(write_counted_query(rows)).column(0)[0].as_py())


def write_counted_query(rows: CountedRows) -> exp.Select:
    """SELECT of the number of rows as ``measure_0``. NULLs are equal to one another, as in every DISTINCT."""
    number = exp.alias_(RowCount().total(), "measure_0", quoted=True)
    source = _write(rows).subquery(exp.to_identifier("counted", quoted=True), copy=False)
    return exp.select(number, copy=False).from_(source, copy=False)


def _write(rows: CountedRows) -> exp.Query:
    match rows:
        case CountedSelect():
            return _write_select(rows)
        case CountedOperation():
            left, right = (_bracket(_write(side)) for side in (rows.left, rows.right))
            return _NODES[rows.operator](this=left, expression=right, distinct=True)


def _write_select(rows: CountedSelect) -> exp.Select:
    columns = [
        exp.alias_(write_counted(value.expression), f"c{place}", quoted=True)
        for place, value in enumerate(rows.outputs)
    ]
    return write_join(columns, rows.occurrences, rows.conditions).distinct(copy=False)


def _bracket(query: exp.Query) -> exp.Select:
    """As a table: not every engine takes brackets around a side."""
    return exp.select("*").from_(
        query.subquery(exp.to_identifier("side", quoted=True), copy=False), copy=False
    )
