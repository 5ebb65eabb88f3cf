"""SeriesDefinition: a SUM or COUNT that is asked for every interval of time, and what of it is public."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from sqlglot import exp, parse_one

from sordino.core import Guarantee, Loss, ParameterError, UnsupportedError
from sordino.core.loss import round_as_written
from sordino.core.parameters import as_written, positive
from sordino.curator.dataset import DataSet
from sordino.curator.questions.sql import read_sql
from sordino.series import BlockTree
from sordino.series.tree_shape import Base, check_horizon
from sordino.sql.question import JoinQuestion, Statement
from sordino.sql.reading.syntax import parse_statement
from sordino.sql.released import Aggregated

_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?")


@dataclass(frozen=True, slots=True)
class SeriesDefinition:
    """What a series asks, between which times, and for which budget: all public, and stored when it is opened.

    Interval i is from ``start`` + (i − 1)·``every`` until before ``start`` + i·``every``.
    """

    sql: str
    time: str
    every: str
    start: str
    horizon: int
    epsilon: Fraction
    base: int

    @classmethod
    def checked(
        cls, sql: Any, *, time: Any, every: Any, start: Any, horizon: Any, epsilon: Any, base: Base = "auto"
    ) -> SeriesDefinition:
        """From the arguments of `Session.series`."""
        if not isinstance(sql, str):
            raise ParameterError(f"sql must be a text, got {type(sql).__name__}")
        if not isinstance(time, str) or not _NAME.fullmatch(time):
            raise ParameterError(f"time must name a column, such as 'ts' or 'orders.ts', got {time!r}")
        read_every(every)
        positive("epsilon", epsilon)
        tree = BlockTree(check_horizon(horizon), as_written("epsilon", epsilon), base=base)
        begin = read_start(start)
        try:
            begin + tree.shape.horizon * read_every(every)
        except OverflowError:
            raise ParameterError(
                "the last interval ends after the year 9999: give a shorter horizon"
            ) from None
        return cls(
            sql,
            time,
            " ".join(str(every).split()),
            begin.isoformat(sep=" "),
            tree.shape.horizon,
            as_written("epsilon", epsilon),
            tree.base,
        )

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> SeriesDefinition:
        """What `to_dict` wrote."""
        return cls(**{**content, "epsilon": Fraction(content["epsilon"])})

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for the ledger."""
        named = {name: getattr(self, name) for name in self.__slots__}
        return named | {"epsilon": str(self.epsilon)}

    def begin_of(self, interval: int) -> datetime:
        """When an interval begins."""
        return read_start(self.start) + (interval - 1) * read_every(self.every)

    def end_of(self, interval: int) -> datetime:
        """When an interval ends: it is closed from then on."""
        return self.begin_of(interval + 1)


@dataclass(frozen=True, slots=True)
class SeriesPlan:
    """How the intervals of a series are measured and what noise they get.

    **Guarantee**: ε per unit of the data set's Distance, for all intervals together: a row has one time, so it is in at
    most ``tree.levels`` released blocks, and moves each by at most the measure's reach.
    **Requires**: that the time of a row does not change; each block is read once, when it is released, so a row that
    comes late counts in the blocks that are released after it came.
    """

    definition: SeriesDefinition
    statement: Statement
    tree: BlockTree
    guarantee: Guarantee

    @property
    def mechanism(self) -> str:
        """The tree."""
        return self.tree.mechanism

    def question(self, first: int, last: int, data: DataSet) -> JoinQuestion:
        """The sum over the rows of the intervals first … last."""
        return _restrict(data, self.definition, first, last).question((), 0)


def plan_series(data: DataSet, definition: SeriesDefinition) -> SeriesPlan:
    """Read, check and plan, or refuse; no private row is touched and nothing is spent."""
    if data.policy.users:
        raise UnsupportedError(
            f"a series counts per row, and data set {data.policy.dataset!r} protects a {data.distance.unit}: a user "
            "who is there at many times would pay at each of them; ask session.query, or have a policy of rows"
        )
    if data.policy.protects != "row":
        raise UnsupportedError(
            f"a series counts per row, and data set {data.policy.dataset!r} protects what cells contain: ask "
            "session.query"
        )
    data.check_epsilon(definition.epsilon)
    statement = _restrict(data, definition, 1, definition.horizon)
    private = statement.join.occurrences
    plain = len(statement.measures) == len(statement.outputs) == 1 and statement.measures[0].additive
    plain = plain and isinstance(statement.outputs[0].expression, Aggregated)
    if (
        statement.keys
        or len(private) != 1
        or not plain
        or statement.having is not None
        or statement.limit is not None
    ):
        raise UnsupportedError(
            "a series is asked with one COUNT or SUM over one private table (public tables may be looked up by their "
            "keys), without GROUP BY, HAVING or LIMIT: open a series per group, or join by session.query"
        )
    table = data.policy.table_named(private[0].table)
    if table is None or not table.private:
        raise UnsupportedError("a series is asked of a private table: what is public needs no budget")
    measure = statement.measures[0]
    tree = BlockTree(
        definition.horizon,
        definition.epsilon * table.weight,
        measure.reach * measure.step,
        base=definition.base,
        step=measure.step,
    )
    guarantee = Guarantee(
        Loss(epsilon=round_as_written(definition.epsilon)), data.distance, tree.guarantee.theorem
    )
    return SeriesPlan(definition, statement, tree, guarantee)


def _restrict(data: DataSet, definition: SeriesDefinition, first: int, last: int) -> Statement:
    """The question with the times of some intervals in its WHERE, read by the rules of every question."""
    tree = parse_statement(definition.sql, data.engine.dialect)
    if not isinstance(tree, exp.Select):
        raise UnsupportedError("a series is asked with one SELECT")
    column = parse_one(definition.time, into=exp.Column, dialect=data.engine.dialect)
    begin, end = definition.begin_of(first), definition.end_of(last)
    condition = exp.and_(
        exp.GTE(this=column.copy(), expression=exp.Literal.string(_literal(begin))),
        exp.LT(this=column.copy(), expression=exp.Literal.string(_literal(end))),
    )
    return read_sql(data, tree.where(condition, copy=True).sql(dialect=data.engine.dialect))


def _literal(moment: datetime) -> str:
    """A day where it is midnight, which reads as a date and as a timestamp."""
    midnight = moment.time().isoformat() == "00:00:00"
    return moment.date().isoformat() if midnight else moment.isoformat(sep=" ")


def read_every(text: Any) -> timedelta:
    """``"1 day"``, ``"6 hours"``, ``"15 minutes"``: lengths that are the same at every time."""
    parts = str(text).split()
    if isinstance(text, str) and len(parts) == 2 and parts[0].isdigit() and int(parts[0]) > 0:
        seconds = _UNITS.get(parts[1].lower().removesuffix("s"))
        if seconds is not None and int(parts[0]) < 10**9:
            return timedelta(seconds=seconds * int(parts[0]))
    raise ParameterError(
        f"every must be a number of {', '.join(_UNITS)}s such as '1 day' or '6 hours' (months differ), got {text!r}"
    )


def read_start(value: Any) -> datetime:
    """A day or a moment without a time zone."""
    try:
        if isinstance(value, datetime):
            moment = value
        elif isinstance(value, date):
            moment = datetime(value.year, value.month, value.day)
        else:
            moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ParameterError(f"start must be a day or a moment such as '2024-01-31', got {value!r}") from None
    if moment.tzinfo is not None or moment.microsecond:
        raise ParameterError(f"start must be without a time zone and in whole seconds, got {value!r}")
    return moment
