"""The rows of one private table that a workload is asked about: all, or those for which a condition holds."""

from __future__ import annotations

from sqlglot import exp

from sordino.core import ParameterError, UnsupportedError
from sordino.curator.dataset import DataSet
from sordino.sql.policy import TablePolicy
from sordino.sql.question import Statement
from sordino.sql.reading.read import read_statement


def read_rows(
    data: DataSet, table: TablePolicy, name: str, where: str | None, aggregate: exp.Expr, what: str
) -> Statement:
    """``SELECT aggregate FROM name WHERE where``, read by the rules of every question in SQL, or refused.

    ``name``: the table as the catalogue writes it. ``what``: for the refusal of anything but one private table.
    """
    dialect = data.engine.dialect
    asked = exp.select(aggregate).from_(exp.to_table(name))
    for part in asked.find_all(exp.Identifier):
        part.set("quoted", True)
    text = asked.sql(dialect=dialect)
    if where is not None:
        if not isinstance(where, str):
            raise ParameterError(f"where must be a condition in SQL, got {type(where).__name__}")
        text = f"{text} WHERE {where}"
    statement = read_statement(text, policy=data.policy, catalogue=data.catalogue, dialect=dialect)
    if not table.private or not statement.join.is_one_table or statement.keys:
        raise UnsupportedError(f"{what} is asked of one private table")
    return statement
