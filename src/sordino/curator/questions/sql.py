"""A SELECT over private tables, as a question to a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sordino.core import EngineError, Guarantee, ParameterError, Release, UnsupportedError
from sordino.curator.answer import words_of
from sordino.curator.dataset import DataSet
from sordino.curator.questions.unit_sql import UnitQuote
from sordino.curator.questions.value_sql import ValueQuote
from sordino.engines import Snapshot
from sordino.sampling.source import is_private
from sordino.sql.answering.answer_table import make_answer, restore_cells, store_cells
from sordino.sql.answering.forecast import Forecast, forecast_plan
from sordino.sql.answering.measured import Measured, measure_all
from sordino.sql.answering.plan import AnswerOptions, AnswerPlan, make_plan
from sordino.sql.identity import identify_numbers
from sordino.sql.question import Statement
from sordino.sql.reading.lookups import has_candidates, read_lookups
from sordino.sql.reading.ordering import list_notes
from sordino.sql.reading.read import read_public_keys, read_statement
from sordino.sql.units.plan import UnitPlan, make_row_plan, make_unit_plan
from sordino.sql.values.filters import Filters
from sordino.sql.values.pairs import check_pairs, find_parts
from sordino.sql.values.plan import ValuePlan, make_value_plan
from sordino.sql.values.reading import read_value_question

Found = TypeVar("Found")
_NO_KEYS = (
    "a public table could not be read; nothing was spent. The owner finds the engine's own words in .details"
)


@dataclass(frozen=True, slots=True)
class SqlQuestion:
    """One SELECT, and how it shall be answered: ``options`` are the arguments of `AnswerOptions.checked`."""

    sql: str
    options: Mapping[str, Any]

    def quote(self, data: DataSet) -> SqlQuote | UnitQuote | ValueQuote:
        """Check what was given, then plan."""
        options = {name: given for name, given in self.options.items() if name != "filters"}
        plan = plan_sql(data, self.sql, AnswerOptions.checked(**options), self.options.get("filters"))
        if isinstance(plan, ValuePlan):
            return ValueQuote(plan)
        return UnitQuote(plan) if isinstance(plan, UnitPlan) else SqlQuote(plan)


def plan_sql(
    data: DataSet, sql: str, options: AnswerOptions, filters: str | None = None
) -> AnswerPlan | UnitPlan | ValuePlan:
    """Read, check and plan a SELECT: which unit is protected decides how."""
    amount, concentrated = options.budget
    (data.check_rho if concentrated else data.check_epsilon)(amount)
    if data.policy.measured:
        return plan_values(data, sql, options, filters)
    if filters is not None:
        raise ParameterError(
            "filters are for data sets where what cells contain is protected: leave them out"
        )
    statement = read_sql(data, sql)
    if not data.policy.users:
        return (make_row_plan if options.mechanism == "truncation" else make_plan)(
            statement, options, data.distance
        )
    if statement.counted is not None:
        raise UnsupportedError(
            "rows without repeats are counted where rows are protected, and here users are: ask COUNT(DISTINCT x)"
        )
    return make_unit_plan(statement, options, data.distance, data.policy, data.catalogue)


def plan_values(data: DataSet, sql: str, options: AnswerOptions, filters: str | None) -> ValuePlan:
    """The same where what cells contain is protected."""
    if not isinstance(sql, str):
        raise ParameterError(f"sql must be a text, got {type(sql).__name__}")
    if options.mechanism is not None:
        raise UnsupportedError("mechanism is for data sets that protect rows; leave it out here")
    question = read_value_question(
        sql,
        policy=data.policy,
        catalogue=data.catalogue,
        dialect=data.engine.dialect,
        filters=Filters.parse(filters),
    )
    if any(key.source is not None for key in question.statement.keys):
        statement = read_public(data, lambda snapshot: read_public_keys(question.statement, snapshot))
        question = replace(question, statement=statement)
    plan = make_value_plan(question, options, data.distance, data.policy)
    join = question.statement.join
    # where rows come and go, how many there are is no reason to refuse
    if not data.policy.counts_rows and len(find_parts(join)) > 1:
        most, dialect = data.policy.most_pairs, data.engine.dialect
        read_public(data, lambda snapshot: check_pairs(snapshot, question.statement, most, dialect=dialect))
    return plan


def read_sql(data: DataSet, sql: str) -> Statement:
    """A SELECT that was understood. What public tables say of groups and keys is read now: it is no secret."""
    if not isinstance(sql, str):
        raise ParameterError(f"sql must be a text, got {type(sql).__name__}")
    statement = read_statement(sql, policy=data.policy, catalogue=data.catalogue, dialect=data.engine.dialect)
    # Where users are protected, public tables change nothing about who owns a row.
    by_rows = not data.policy.users
    if all(key.source is None for key in statement.keys) and not (by_rows and has_candidates(statement)):
        return statement

    def read(snapshot: Snapshot) -> Statement:
        with_keys = read_public_keys(statement, snapshot)
        return read_lookups(with_keys, snapshot) if by_rows else with_keys

    return read_public(data, read)


def read_public(data: DataSet, read: Callable[[Snapshot], Found]) -> Found:
    """What a public table says, before anything is paid for; a failure has one text and costs nothing."""
    data.check_reachable()
    try:
        with data.engine.snapshot() as snapshot:
            return read(snapshot)
    except UnsupportedError:  # more groups or joined rows than are looked at: what is public decides
        raise
    except Exception as error:
        failure = words_of(error)
    raise EngineError(_NO_KEYS, failure)


@dataclass(frozen=True, slots=True)
class SqlQuote:
    """An `AnswerPlan`, which says how each number of the answer is measured and drawn."""

    plan: AnswerPlan

    @property
    def text(self) -> str:
        """The SELECT."""
        return self.plan.statement.text

    @property
    def identity(self) -> str:
        """What is measured, whatever is shown of it."""
        return identify_numbers(self.plan.statement)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The options."""
        return self.plan.options.parameters()

    @property
    def guarantee(self) -> Guarantee:
        """Of all cells together."""
        return self.plan.guarantee

    @property
    def mechanism(self) -> str:
        """The noise."""
        return self.plan.mechanism

    def forecast(self) -> Forecast:
        """What the plan tells."""
        return forecast_plan(self.plan)

    def measure(self, snapshot: Snapshot) -> list[Measured]:
        """The exact number of every cell and what its noise follows."""
        return measure_all(snapshot, self.plan)

    def draw(self, measured: list[Measured]) -> dict[str, Any]:
        """Every cell by itself, and the table that is made of them."""
        noises = self.plan.noises
        cells = {
            (cell.group, cell.measure): noises[cell.measure].draw(cell.exact, cell.follows)
            for cell in measured
        }
        content = {"private": is_private(), "cells": store_cells(self.plan, cells)}
        return self.present(content).to_dict() | content

    def present(self, stored: Mapping[str, Any]) -> Release:
        """What was asked to be seen of the stored cells."""
        answer = make_answer(self.plan, restore_cells(self.plan, stored["cells"]))
        return Release(
            answer.value,
            self.guarantee,
            self.mechanism,
            error=answer.error,
            errors=answer.errors,
            notes=(*list_notes(self.plan.statement), *self.plan.list_notes()),
            private=stored["private"],
        )
