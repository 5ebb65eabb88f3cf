"""The exact answer to a question, in whole steps of its measure, computed inside the engine: only totals come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from sordino.engines import Snapshot
from sordino.sql.aggregates.measure import whole_number
from sordino.sql.lookups import Numbering, make_source
from sordino.sql.question import (
    GroupKey,
    JoinQuestion,
    Occurrence,
    OuterJoin,
    Statement,
    equate,
    is_place,
    write_literal,
    write_place,
)


def write_answer_query(question: JoinQuestion) -> exp.Select:
    """SELECT of the exact answer in steps, as one integer named ``answer``."""
    total = question.measure.total()
    answer = exp.alias_(total, "answer", quoted=True)
    return write_join([answer], question.occurrences, question.conditions, outer=question.outer)


def compute_answer(snapshot: Snapshot, question: JoinQuestion) -> int:
    """The exact answer, a whole number of the measure's steps. It is private: wrap what is kept of it in a Secret."""
    return int(snapshot.aggregate(write_answer_query(question)).column(0)[0].as_py())


def write_grouped_query(statement: Statement) -> exp.Select:
    """SELECT of all measures of all groups at once.

    Columns ``key_0``, … are places among the key's public values, so not even public values of rows come back; rows
    outside every group are left out. Columns ``measure_0``, … are whole numbers of steps. Rows are grouped by what the
    keys are and only then are the places looked for, so that many groups take hardly longer than few.
    """
    statement.groups()
    keys = [exp.alias_(key.column.copy(), f"key_{i}", quoted=True) for i, key in enumerate(statement.keys)]
    totals = [
        exp.alias_(measure.total(), f"measure_{i}", quoted=True)
        for i, measure in enumerate(statement.measures)
    ]
    join = statement.join
    query = write_join([*keys, *totals], join.occurrences, join.conditions, outer=join.outer)
    if not keys:
        return query
    query.group_by(*(key.column.copy() for key in statement.keys), copy=False)
    names = [total.alias for total in totals]
    return place_groups(query, statement.keys, names, total=names[0])


def place_groups(
    query: exp.Select, keys: Sequence[GroupKey], others: Sequence[str], *, total: str
) -> exp.Select:
    """SELECT of the places of ``key_0``, … among the keys' public values, and of the other columns of a grouped query.

    ``total``: one of the others that is never NULL.
    """
    columns = [exp.column(f"key_{i}", quoted=True) for i in range(len(keys))]
    numbers = [exp.column(name, quoted=True) for name in others]
    places = exp.select(
        *(
            exp.alias_(write_place_of(key, column.copy()), column.name, quoted=True)
            for key, column in zip(keys, columns, strict=True)
        ),
        *numbers,
    ).from_(query.subquery(exp.to_identifier("groups", quoted=True), copy=False), copy=False)
    known = [is_place(column, exp.column(total, quoted=True)) for column in columns]
    chosen = exp.select(*columns, *(number.copy() for number in numbers))
    chosen.from_(places.subquery(exp.to_identifier("places", quoted=True), copy=False), copy=False)
    return chosen.where(*known, copy=False)


def compute_answers(snapshot: Snapshot, statement: Statement) -> dict[tuple[Any, ...], tuple[int, ...]]:
    """Every group, empty ones too, with the exact number of steps of every measure. Private, like `compute_answer`."""
    if statement.counted is not None:
        raise TypeError("rows without repeats are counted by compute_counted")
    answers = {group: (0,) * len(statement.measures) for group in statement.groups()}
    table = snapshot.aggregate(write_grouped_query(statement))
    depth = len(statement.keys)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        group = tuple(key.values[place] for key, place in zip(statement.keys, row[:depth], strict=True))
        before = answers[group]
        answers[group] = tuple(a + int(number) for a, number in zip(before, row[depth:], strict=True))
    return answers


def write_places(keys: Sequence[GroupKey]) -> list[exp.Expr]:
    """Of every key, the place of its value among the public ones, −1 if it is none of them (`write_among`).

    The key is written twice and not once per value: what is computed, such as the week of a day, may be long.
    """
    return [write_place_of(key, key.column) for key in keys]


def write_among(keys: Sequence[GroupKey]) -> list[exp.Expr]:
    """Of every key, the condition that its value is a public one."""
    return [_among(key) for key in keys]


def _among(key: GroupKey) -> exp.Expr:
    values = [write_literal(value) for value in key.values if value is not None]
    # An empty list is no SQL: NULL may be the only group.
    found: list[exp.Expr] = [exp.In(this=key.column.copy(), expressions=values)] if values else []
    if None in key.values:
        found.append(equate(key.column, None))
    return exp.or_(*found)


def write_place_of(key: GroupKey, column: exp.Expr) -> exp.Expr:
    """The place of one value of a key, which stands in ``column``, among the public ones."""
    absent = whole_number(key.values.index(None)) if None in key.values else exp.Neg(this=whole_number(1))
    return write_place(column, key.values, absent=absent)


def write_join(
    columns: Sequence[exp.Expr],
    occurrences: Sequence[Occurrence],
    conditions: Sequence[exp.Expr],
    derived: Sequence[tuple[str, exp.Select | exp.Union]] = (),
    outer: Sequence[OuterJoin] = (),
    numbered: Mapping[str, Numbering] | None = None,
) -> exp.Select:
    """SELECT of some columns over the join of some tables, and of derived ones by their names.

    LEFT JOINs stand last: they add columns to combinations of all other rows, and conditions are asked behind them.
    ``numbered``: the aliases of tables whose rows are numbered.
    """
    numbers = numbered or {}
    first, *others = (_write_source(occurrence, numbers.get(occurrence.alias)) for occurrence in occurrences)
    query = exp.select(*columns, copy=False).from_(first, copy=False)
    for other in others:
        query.join(other, join_type="cross", copy=False)
    for name, inner in derived:
        query.join(inner.subquery(exp.to_identifier(name, quoted=True)), join_type="cross", copy=False)
    for join in outer:
        on = exp.and_(*map(exp.paren, join.on), copy=False) if join.on else exp.true()
        query.join(_write_source(join.occurrence), on=on, join_type="left", copy=False)
    return query.where(*map(exp.paren, conditions), copy=False) if conditions else query


def _write_source(occurrence: Occurrence, numbering: Numbering | None = None) -> exp.Expr:
    if occurrence.rows is not None:
        return occurrence.rows.subquery(exp.to_identifier(occurrence.alias, quoted=True))
    return make_source(occurrence.table, occurrence.alias, occurrence.lookups, numbering)
