"""Answering: the exact number of steps, computed inside the engine; one number comes back.

Numerics. A count is an integer. For a sum every joined row adds a whole number of steps, computed from its own
values: integers with a step of 1 in the engine's integers, everything else in doubles by v·q/p + ½ rounded down,
for a step of p/q whose parts are exact doubles. All engines do these IEEE operations alike, so they agree row by
row, and sums of integers do not depend on the order of rows. Values that are clipped do not reach the division.
|steps| ≤ 2⁵⁰, so rounding cannot push a row beyond its clip.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sordino.engines import Snapshot, double_literal
from sordino.sql.groups import table_node
from sordino.sql.question import GroupKey, JoinQuestion, Measure, Occurrence, Statement, equals, literal
from sordino.sql.value import bracketed, case

# Sums of larger contributions could leave 64 bits with a number of rows that exists.
_SMALL_REACH = 2**20
_LARGEST = 2**63 - 1


def steps(measure: Measure) -> exp.Expr:
    """What one joined row adds, in whole steps (BIGINT); NULL where the value is NULL. 1 for COUNT(*)."""
    if measure.kind == "count":
        return exp.Literal.number(1)
    if measure.value is None:
        raise ValueError("a sum needs a value")
    low, high, step = measure.low, measure.high, measure.step
    value = measure.value
    whole = measure.whole
    bottom, top = int(low / step), int(high / step)
    if whole and step == 1:
        number: exp.Expr = exp.cast(value.copy(), exp.DataType.Type.BIGINT)
    else:
        double = exp.cast(value.copy(), exp.DataType.Type.DOUBLE) if whole else bracketed(value)
        number = _rounded(double, step)
    return case(
        (exp.LT(this=bracketed(value), expression=_limit(low, whole)), _integer(bottom)),
        (exp.GT(this=bracketed(value), expression=_limit(high, whole)), _integer(top)),
        default=number,
    )


def answer_query(question: JoinQuestion) -> exp.Select:
    """SELECT of the exact answer in steps, as one integer named ``answer``."""
    total = _total(question.measure)
    return _joined([exp.alias_(total, "answer", quoted=True)], question.occurrences, question.conditions)


def exact_answer(snapshot: Snapshot, question: JoinQuestion) -> int:
    """The exact answer, a whole number of the measure's steps. It is private: wrap what is kept of it in a Secret."""
    return int(snapshot.aggregate(answer_query(question)).column(0)[0].as_py())


def grouped_query(statement: Statement) -> exp.Select:
    """SELECT of all measures of all groups at once.

    Columns ``key_0``, … are places among the key's public values, so not even public values of rows come back; rows
    outside every group are left out. Columns ``measure_0``, … are whole numbers of steps.
    """
    statement.groups()
    places = [
        case(*[(equals(key.column, value), _integer(i)) for i, value in enumerate(key.values)])
        for key in statement.keys
    ]
    columns = [exp.alias_(place, f"key_{i}", quoted=True) for i, place in enumerate(places)]
    columns += [
        exp.alias_(_total(measure), f"measure_{i}", quoted=True)
        for i, measure in enumerate(statement.measures)
    ]
    known = [_among(key) for key in statement.keys]
    query = _joined(columns, statement.join.occurrences, (*statement.join.conditions, *known))
    return query.group_by(*(place.copy() for place in places), copy=False) if places else query


def exact_answers(snapshot: Snapshot, statement: Statement) -> dict[tuple[Any, ...], tuple[int, ...]]:
    """Every group, empty ones too, with the exact number of steps of every measure. Private, like `exact_answer`."""
    answers = {group: (0,) * len(statement.measures) for group in statement.groups()}
    table = snapshot.aggregate(grouped_query(statement))
    depth = len(statement.keys)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        group = tuple(key.values[place] for key, place in zip(statement.keys, row[:depth], strict=True))
        answers[group] = tuple(int(number) for number in row[depth:])
    return answers


def _total(measure: Measure) -> exp.Expr:
    if measure.kind == "count":
        return exp.Count(this=exp.Star() if measure.value is None else measure.value.copy(), big_int=True)
    contribution = steps(measure)
    zero = _integer(0)
    if measure.reach <= _SMALL_REACH:
        total: exp.Expr = exp.Coalesce(this=exp.Sum(this=contribution), expressions=[zero])
        return exp.cast(total, exp.DataType.Type.BIGINT)
    # Engines whose sums of integers have 64 bits would raise; decimals hold 38 digits. Cutting the total at 64 bits
    # moves no two answers further apart, so the sensitivity stays.
    exact = exp.DataType.build("DECIMAL(38, 0)")
    total = exp.Coalesce(
        this=exp.Sum(this=exp.cast(contribution, exact)), expressions=[exp.cast(zero, exact)]
    )
    cut = case(
        (exp.GT(this=total.copy(), expression=_integer(_LARGEST)), _integer(_LARGEST)),
        (exp.LT(this=total.copy(), expression=_integer(-_LARGEST)), _integer(-_LARGEST)),
        default=exp.cast(total, exp.DataType.Type.BIGINT),
    )
    return cut


def _among(key: GroupKey) -> exp.Expr:
    values = [literal(value) for value in key.values if value is not None]
    listed = exp.In(this=key.column.copy(), expressions=values)
    return exp.or_(listed, equals(key.column, None)) if None in key.values else listed


def _joined(
    columns: Sequence[exp.Expr], occurrences: Sequence[Occurrence], conditions: Sequence[exp.Expr]
) -> exp.Select:
    first, *others = (table_node(occurrence.table, occurrence.alias) for occurrence in occurrences)
    query = exp.select(*columns, copy=False).from_(first, copy=False)
    for other in others:
        query.join(other, join_type="cross", copy=False)
    return query.where(*map(exp.paren, conditions), copy=False) if conditions else query


def _rounded(double: exp.Expr, step: Fraction) -> exp.Expr:
    scaled = double
    if step.denominator != 1:
        scaled = exp.Mul(this=scaled, expression=double_literal(float(step.denominator)))
    if step.numerator != 1:
        scaled = exp.Div(this=bracketed(scaled), expression=double_literal(float(step.numerator)), typed=True)
    shifted = exp.Add(this=bracketed(scaled), expression=double_literal(0.5))
    return exp.cast(exp.Floor(this=shifted), exp.DataType.Type.BIGINT)


def _limit(bound: Fraction, whole: bool) -> exp.Expr:
    if whole and bound.denominator == 1:
        return bracketed(_integer(int(bound)))
    return double_literal(float(bound))


def _integer(value: int) -> exp.Expr:
    return exp.Literal.number(value)
