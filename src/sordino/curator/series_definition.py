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
from sordino.curator.dataset import DataSet
from sordino.curator.questions.sql import read_sql
from sordino.series import BlockTree
from sordino.series.block_noise import Budget
from sordino.series.tree_shape import Base, check_horizon
from sordino.sql.policy import TablePolicy
from sordino.sql.question import JoinQuestion, Statement
from sordino.sql.reading.syntax import parse_statement
from sordino.sql.released import Aggregated

_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_EVERY = re.compile(r"\s*([0-9]{1,12})\s+([A-Za-z]+)\s*")
_LONGEST = 9999 * 366 * 86400  # seconds: what fits between two moments
_PLACE = re.compile(r"line \d+, column \d+: ")
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
    epsilon: Fraction | None
    base: int
    rho: Fraction | None = None

    @classmethod
    def checked(
        cls,
        sql: Any,
        *,
        time: Any,
        every: Any,
        start: Any,
        horizon: Any,
        epsilon: Any = None,
        rho: Any = None,
        base: Base = "auto",
    ) -> SeriesDefinition:
        """From the arguments of `Session.series`."""
        if not isinstance(sql, str):
            raise ParameterError(f"sql must be a text, got {type(sql).__name__}")
        if not isinstance(time, str) or not _NAME.fullmatch(time):
            raise ParameterError(f"time must name a column, such as 'ts' or 'orders.ts', got {time!r}")
        read_every(every)
        budget = Budget.checked(epsilon, rho)
        tree = BlockTree(check_horizon(horizon), budget.epsilon, rho=budget.rho, base=base)
        begin = read_moment("start", start)
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
            budget.epsilon,
            tree.base,
            budget.rho,
        )

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> SeriesDefinition:
        """What `to_dict` wrote."""
        amounts = {name: Fraction(content[name]) for name in ("epsilon", "rho") if name in content}
        return cls(**({"epsilon": None} | dict(content) | amounts))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for the ledger."""
        named = {name: getattr(self, name) for name in self.__slots__ if name not in ("epsilon", "rho")}
        name, amount = ("epsilon", self.epsilon) if self.rho is None else ("rho", self.rho)
        return named | {name: str(amount)}

    @property
    def loss(self) -> Loss:
        """Of the whole series."""
        return Budget(self.epsilon, self.rho).loss

    def begin_of(self, interval: int) -> datetime:
        """When an interval begins."""
        return read_moment("start", self.start) + (interval - 1) * read_every(self.every)

    def end_of(self, interval: int) -> datetime:
        """When an interval ends: it is closed from then on."""
        return self.begin_of(interval + 1)


@dataclass(frozen=True, slots=True)
class SeriesPlan:
    """How the intervals of a series are measured and what noise they get.

    **Guarantee**: ε (or ρ) per unit of the data set's Distance, for all intervals together: a row has one time, so it
    is in at most ``tree.levels`` released blocks, and moves each by at most the measure's reach. A row of weight G
    costs G·ε, or G²·ρ. This holds for rows that come late, go, or change in other columns between two releases, too:
    every block is read once, when it is released, and a row is in those of its time or not in them.
    **Requires**: that the time of a row does not change, or it would be in the blocks of several times. Only the owner
    knows, so all columns that it is computed of must be ``fixed`` in the policy, and the row's own: a public table in
    which it were looked up may change at any time.
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
        begin, end = self.definition.begin_of(first), self.definition.end_of(last)
        return _restrict(data, self.definition, begin, end).question((), 0)


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
    if definition.rho is not None:
        data.check_rho(definition.rho)
    elif definition.epsilon is not None:
        data.check_epsilon(definition.epsilon)
    read_sql(data, definition.sql)  # what is wrong with it is said in its own words and places
    try:
        statement = _restrict(data, definition, datetime(2000, 1, 1), datetime(2000, 1, 2))
    except (ParameterError, UnsupportedError) as error:
        raise ParameterError(
            f"time {definition.time!r} must be a column of dates or timestamps of this question: "
            f"{_PLACE.sub('', str(error))}; nothing was spent"
        ) from None
    _check_times(data, definition)
    plain = len(statement.measures) == len(statement.outputs) == 1 and statement.measures[0].additive
    plain = plain and isinstance(statement.outputs[0].expression, Aggregated)
    if (
        statement.keys
        or not statement.join.is_one_table  # a LEFT JOIN gives a row as many partners as there are
        or not plain
        or statement.having is not None
        or statement.limit is not None
    ):
        raise UnsupportedError(
            "a series is asked with one COUNT or SUM over one private table (public tables may be looked up by their "
            "keys), without GROUP BY, HAVING or LIMIT: open a series per group, or join by session.query"
        )
    rows = statement.join.occurrences[0]
    table = data.policy.table_named(rows.table)
    if table is None or not table.private:
        raise UnsupportedError("a series is asked of a private table: what is public needs no budget")
    _check_fixed(definition, statement, table)
    measure = statement.measures[0]
    weight = Fraction(table.weight)
    tree = BlockTree(
        definition.horizon,
        None if definition.epsilon is None else definition.epsilon * weight,
        max(measure.reach, 1) * measure.step,
        rho=None if definition.rho is None else definition.rho * weight**2,
        base=definition.base,
        step=measure.step,
    )
    return SeriesPlan(
        definition, statement, tree, Guarantee(definition.loss, data.distance, tree.guarantee.theorem)
    )


def _check_fixed(definition: SeriesDefinition, statement: Statement, table: TablePolicy) -> None:
    """A row stays in one interval: its time is made of columns that the owner has declared to stay as they are.

    Who asks chooses the column. By one that moves, such as the last login, a row would be in every block.
    """
    looked_up = {name for lookup in statement.join.occurrences[0].lookups for name, _ in lookup.columns}
    times = statement.join.conditions[-2:]  # what `_restrict` added: from when on, and before when
    made_of = {column.name for condition in times for column in condition.find_all(exp.Column)}
    if made_of & looked_up:
        raise UnsupportedError(
            f"the time {definition.time!r} is looked up in a public table, which may change between two intervals, and "
            f"a row must stay in its own: give a column of {table.name!r}"
        )
    fixed = {name.casefold() for name, column in table.columns.items() if column.fixed}
    for name in sorted(made_of):
        if name.casefold() not in fixed:
            raise UnsupportedError(
                f"the time {definition.time!r} may change: a row that moves from one interval to another would be paid "
                f"for in both. If no row ever gets another {name!r}, the owner says so in the policy: "
                f"tables.{table.name}.columns.{name}.fixed: true; nothing was spent"
            )


def _check_times(data: DataSet, definition: SeriesDefinition) -> None:
    """A column of days has no hours to tell intervals apart: known before anything is paid."""
    if all(_is_midnight(moment) for moment in (definition.begin_of(1), definition.end_of(1))):
        return
    try:
        _restrict(data, definition, definition.begin_of(1), definition.end_of(1))
    except (ParameterError, UnsupportedError):
        raise ParameterError(
            f"column {definition.time!r} holds days, and intervals of {definition.every!r} from {definition.start!r} "
            "begin within days: give whole days that start at midnight, or a column of timestamps; nothing was spent"
        ) from None


def _restrict(data: DataSet, definition: SeriesDefinition, begin: datetime, end: datetime) -> Statement:
    """The question with the times from begin to before end in its WHERE, read by the rules of every question."""
    tree = parse_statement(definition.sql, data.engine.dialect)
    if not isinstance(tree, exp.Select):
        raise UnsupportedError("a series is asked with one SELECT")
    column = parse_one(definition.time, into=exp.Column, dialect=data.engine.dialect)
    if not isinstance(column, exp.Column):  # such as NULL, which is no row's time
        raise ParameterError(f"time must name a column, such as 'ts' or 'orders.ts', got {definition.time!r}")
    condition = exp.and_(
        exp.GTE(this=column.copy(), expression=exp.Literal.string(_literal(begin))),
        exp.LT(this=column.copy(), expression=exp.Literal.string(_literal(end))),
    )
    return read_sql(data, tree.where(condition, copy=True).sql(dialect=data.engine.dialect))


def _literal(moment: datetime) -> str:
    """A day where it is midnight, which reads as a date and as a timestamp."""
    return moment.date().isoformat() if _is_midnight(moment) else moment.isoformat(sep=" ")


def _is_midnight(moment: datetime) -> bool:
    return (moment.hour, moment.minute, moment.second) == (0, 0, 0)


def read_every(text: Any) -> timedelta:
    """``"1 day"``, ``"6 hours"``, ``"15 minutes"``: lengths that are the same at every time."""
    found = _EVERY.fullmatch(text) if isinstance(text, str) else None
    if found is not None and int(found[1]) > 0:
        seconds = _UNITS.get(found[2].lower().removesuffix("s"))
        if seconds is not None and seconds * int(found[1]) <= _LONGEST:
            return timedelta(seconds=seconds * int(found[1]))
    raise ParameterError(
        "every must be a number of seconds, minutes, hours, days or weeks, such as '1 day' (months differ), and at "
        f"most 9999 years, got {text!r}"
    )


def read_moment(name: str, value: Any) -> datetime:
    """A day or a moment without a time zone."""
    try:
        if isinstance(value, datetime):
            moment = value
        elif isinstance(value, date):
            moment = datetime(value.year, value.month, value.day)
        else:
            if value[10:11] not in ("", " ", "T"):  # or the zone of a day, +02:00, were read as two hours
                raise ValueError
            moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{name} must be a day or a moment such as '2024-01-31', got {value!r}"
        ) from None
    if moment.tzinfo is not None or moment.microsecond:
        raise ParameterError(
            f"{name} must be in UTC, without a time zone, and in whole seconds, got {value!r}: columns with time zones "
            "are compared as UTC"
        )
    return moment
