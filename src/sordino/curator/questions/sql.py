"""A SELECT over private tables, as a question to a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from sordino.core import EngineError, Guarantee, ParameterError, Release, UnsupportedError
from sordino.curator.answer import words_of
from sordino.curator.dataset import DataSet
from sordino.engines import Snapshot
from sordino.sampling.source import is_private
from sordino.sql.answering.answer_table import bound_error, bound_errors, make_answer
from sordino.sql.answering.measured import Measured, measure_all
from sordino.sql.answering.plan import AnswerOptions, AnswerPlan, make_plan
from sordino.sql.question import Statement
from sordino.sql.reading.read import read_public_keys, read_statement

Found = TypeVar("Found")
_NO_KEYS = (
    "a public table could not be read; nothing was spent. The owner finds the engine's own words in .details"
)


@dataclass(frozen=True, slots=True)
class SqlQuestion:
    """One SELECT, and how it shall be answered: ``options`` are the arguments of `AnswerOptions.checked`."""

    sql: str
    options: Mapping[str, Any]

    def quote(self, data: DataSet) -> SqlQuote:
        """Check what was given, then plan."""
        return SqlQuote(plan_sql(data, self.sql, AnswerOptions.checked(**self.options)))


def plan_sql(data: DataSet, sql: str, options: AnswerOptions) -> AnswerPlan:
    """Read, check and plan a SELECT."""
    data.check_epsilon(options.epsilon)
    return make_plan(read_sql(data, sql), options, data.distance)


def read_sql(data: DataSet, sql: str) -> Statement:
    """A SELECT that was understood. Groups that a public table names are read now: they are no secret."""
    if not isinstance(sql, str):
        raise ParameterError(f"sql must be a text, got {type(sql).__name__}")
    statement = read_statement(sql, policy=data.policy, catalogue=data.catalogue, dialect=data.engine.dialect)
    if all(key.source is None for key in statement.keys):
        return statement
    return read_public(data, lambda snapshot: read_public_keys(statement, snapshot))


def read_public(data: DataSet, read: Callable[[Snapshot], Found]) -> Found:
    """What a public table says, before anything is paid for; a failure has one text and costs nothing."""
    data.check_reachable()
    try:
        with data.engine.snapshot() as snapshot:
            return read(snapshot)
    except UnsupportedError:  # more groups than are released: a public table decides
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
        """The parser's own text of the statement."""
        return self.plan.statement.canonical

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

    def measure(self, snapshot: Snapshot) -> list[Measured]:
        """The exact number of every cell and what its noise follows."""
        return measure_all(snapshot, self.plan)

    def draw(self, measured: list[Measured]) -> Release:
        """Every cell by itself, then the table that is made of them."""
        noises = self.plan.noises
        cells = {
            (cell.group, cell.measure): noises[cell.measure].draw(cell.exact, cell.bound) for cell in measured
        }
        return Release(
            make_answer(self.plan, cells),
            self.guarantee,
            self.mechanism,
            error=bound_error(self.plan, cells),
            errors=bound_errors(self.plan, cells),
            private=is_private(),
        )
