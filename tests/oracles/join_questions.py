"""The oracle's queries as the questions that the product analyses."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp, parse_one

from sordino.sql.aggregates import BoundedSum, RowCount
from sordino.sql.question import JoinQuestion, Occurrence
from tests.oracles.joins import JoinQuery, Sum, conjuncts, predicate_sql


def question_of(query: JoinQuery) -> JoinQuestion:
    occurrences = tuple(
        Occurrence(
            alias,
            name,
            Fraction(query.table(name).weight) if query.table(name).private else None,
            dict.fromkeys(query.table(name).columns, "integer"),
        )
        for alias, name in query.occurrences
    )
    if isinstance(query.aggregate, Sum):
        a = query.aggregate
        text = " + ".join([*(f"({f}) * {c.alias}.{c.name}" for f, c in a.terms), f"({a.constant})"])
        measure = BoundedSum(parse_one(text), Fraction(a.low), Fraction(a.high))
        parts = conjuncts(query.where)
    else:
        measure = RowCount()
        parts = conjuncts(query.condition)
    conditions: tuple[exp.Expr, ...] = tuple(parse_one(predicate_sql(part)) for part in parts)
    return JoinQuestion(occurrences, conditions, measure)
