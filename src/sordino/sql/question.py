"""What an analyst asks, once it is understood: the seam between reading SQL, analysing it and answering it.

Reading (`reading/`) makes a `Statement` of a text and a policy. For every aggregate of the SELECT and every public
group it gives a `JoinQuestion`: one COUNT or bounded SUM over an inner join. Analyses (`analysis/`) bound the
sensitivity of a JoinQuestion, and `answering/` computes and releases it; both send sqlglot trees to an engine and get
back aggregates only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Literal

from sqlglot import exp

from sordino.core import ParameterError, Place
from sordino.engines import ColumnType
from sordino.sql.aggregates import Measure
from sordino.sql.expressions.absence import find_filled
from sordino.sql.expressions.decimals import Digits
from sordino.sql.expressions.value import Value
from sordino.sql.lookups import Lookup
from sordino.sql.released import Released, ReleasedKind, find_measures

Operator = Literal["union", "intersect", "except"]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One table in FROM. A table that occurs twice (a self-join) has two occurrences with different aliases.

    ``weight``: how many units of distance one row of the table is worth (G_T); None for a public table, whose rows
    never change. ``digits``: of the decimal columns whose digits are known. ``lookups``: public tables that give its
    rows further columns. ``key``: columns that no two rows agree in, unless one is NULL, in this database and in all
    its neighbours. ``checks``: conditions that no row of any of them makes FALSE. ``rows``: a SELECT that stands in
    place of the table. ``grouped``: its rows are those of a sub-select with GROUP BY, which ``rows`` is made of.
    ``required``: columns that are never NULL, as the catalogue says.
    """

    alias: str
    table: str
    weight: Fraction | None
    columns: Mapping[str, ColumnType]
    digits: Mapping[str, Digits] = field(default_factory=dict, compare=False)
    lookups: tuple[Lookup, ...] = ()
    key: tuple[str, ...] = ()
    checks: tuple[exp.Expr, ...] = ()
    rows: exp.Select | None = None
    grouped: GroupedRows | None = field(default=None, compare=False)
    required: frozenset[str] = frozenset()

    @property
    def private(self) -> bool:
        """Whether its rows are protected."""
        return self.weight is not None

    @property
    def filled(self) -> frozenset[str]:
        """Columns that are never NULL, by catalogue or promise."""
        return self.required | {name for check in self.checks if (name := find_filled(check)) is not None}


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """The rows of a sub-select with GROUP BY: one for each combination of keys that a join has.

    ``keys``: their names and what they are in the join. ``numbers``: the aggregates, each with its name. ``natural``:
    of some of them the size that they are expected to have. ``place``: where the sub-select stands in the text.
    """

    join: JoinQuestion
    keys: tuple[tuple[str, exp.Expr], ...]
    numbers: tuple[tuple[str, exp.Expr], ...]
    natural: Mapping[str, Fraction]
    place: Place


@dataclass(frozen=True, slots=True)
class OuterJoin:
    """A table behind LEFT JOIN: a row without a partner for which all of ``on`` is TRUE has NULL in its columns.

    ``on`` names columns of this occurrence and of those before it. ``place``: where it stands in the text.
    """

    occurrence: Occurrence
    on: tuple[exp.Expr, ...]
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True)
class JoinQuestion:
    """``measure`` over all combinations of rows for which every condition is TRUE.

    Conditions are the conjuncts of WHERE and ON; their columns are qualified by the aliases of ``occurrences``,
    and every function in them is deterministic and cannot raise. ``outer``: tables that are left joined, one after the
    other, to the combinations before conditions are asked.
    """

    occurrences: tuple[Occurrence, ...]
    conditions: tuple[exp.Expr, ...]
    measure: Measure
    outer: tuple[OuterJoin, ...] = ()

    @property
    def everyone(self) -> tuple[Occurrence, ...]:
        """All occurrences, those behind LEFT JOIN last."""
        return (*self.occurrences, *(join.occurrence for join in self.outer))

    @property
    def is_one_table(self) -> bool:
        """Whether it reads the rows of one table by themselves."""
        return len(self.everyone) == 1 and self.everyone[0].grouped is None

    def restricted(self, *conditions: exp.Expr) -> JoinQuestion:
        """The same question with more conditions."""
        return replace(self, conditions=(*self.conditions, *conditions))


@dataclass(frozen=True, slots=True)
class CountedSelect:
    """SELECT DISTINCT ``outputs`` over all combinations of rows for which every condition is TRUE."""

    occurrences: tuple[Occurrence, ...]
    conditions: tuple[exp.Expr, ...]
    outputs: tuple[Value, ...]

    def selects(self) -> Iterator[CountedSelect]:
        """Itself."""
        yield self


@dataclass(frozen=True, slots=True)
class CountedOperation:
    """A set operation, which drops repeats."""

    operator: Operator
    left: CountedRows
    right: CountedRows

    def selects(self) -> Iterator[CountedSelect]:
        """From left to right."""
        yield from self.left.selects()
        yield from self.right.selects()


CountedRows = CountedSelect | CountedOperation


@dataclass(frozen=True, slots=True)
class GroupKey:
    """A column of GROUP BY with its public values (None among them where NULL is a group of its own).

    ``source``: (table, column) of a public table whose values are still to be read by
    `sordino.sql.reading.read.read_public_keys`; None once the values are there. ``equals``: further columns that the
    conditions force to equal the key; a group's question restricts them too, so that analyses see each
    occurrence's own restriction. ``kind``: the type of the values. ``unknown``: the values are not public; a part of
    the budget shows some of them. ``absent``: NULL is a group too, whatever the table says. ``spread``: rows may move
    from one group to another, so every joined row meets all groups, in a table of this name that has their places, and
    what is measured tells whether it is there.
    """

    name: str
    column: exp.Expr
    values: tuple[Any, ...]
    source: tuple[str, str] | None = None
    equals: tuple[exp.Expr, ...] = ()
    kind: ReleasedKind = "text"
    unknown: bool = False
    absent: bool = False
    spread: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the answer: an expression over group keys and aggregates."""

    name: str
    expression: Released

    @property
    def measures(self) -> tuple[int, ...]:
        """The places of the measures that it is made of; none for what is public."""
        return find_measures(self.expression)


@dataclass(frozen=True, slots=True)
class Order:
    """One item of ORDER BY."""

    expression: Released
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """A whole SELECT: a join, measures over it, public groups, and how the answer is made of them.

    ``questions`` are per group × per measure. ``partitions``: every row of every private table belongs to at most one
    group, *and* the conditions of a group let each group's bounds be computed from that group's rows alone; only then
    may all groups share one budget (parallel composition). ``outputs``, ``having``, ``order``, ``limit`` and
    ``offset`` say what is shown of the released numbers, and are no part of the questions. ``canonical``: the text
    without the spaces, brackets and comments that do not matter; literals stay. ``listed``: the groups where they are
    not all combinations of the keys' values. ``counted``: rows without repeats, whose number is what is asked; the
    join then only tells which tables they are made of.
    """

    text: str
    join: JoinQuestion
    measures: tuple[Measure, ...]
    keys: tuple[GroupKey, ...]
    outputs: tuple[Output, ...]
    partitions: bool
    having: Released | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    canonical: str = ""
    listed: tuple[tuple[Any, ...], ...] | None = None
    counted: CountedRows | None = None

    def groups(self) -> list[tuple[Any, ...]]:
        """All combinations of the keys' public values; one empty combination without GROUP BY."""
        if self.listed is not None:
            return list(self.listed)
        combinations: list[tuple[Any, ...]] = [()]
        for key in self.keys:
            if key.source is not None:
                raise ParameterError(
                    f"the groups of {key.name!r} are in a table: call read_public_keys first"
                )
            combinations = [(*before, value) for before in combinations for value in key.values]
        return combinations

    def question(self, group: tuple[Any, ...], measure: int) -> JoinQuestion:
        """The question of one group and one measure."""
        conditions = [
            equate(column, value)
            for key, value in zip(self.keys, group, strict=True)
            for column in (key.column, *key.equals)
        ]
        return replace(self.join, measure=self.measures[measure]).restricted(*conditions)


def equate(column: exp.Expr, value: Any) -> exp.Expr:
    """The condition that a group's key has this public value."""
    if value is None:
        return exp.Is(this=column.copy(), expression=exp.null())
    return exp.EQ(this=column.copy(), expression=write_literal(value))


def name_group(place: int) -> exp.Placeholder:
    """A value of the key at this place, whichever it is: stands for all groups at once."""
    return exp.Placeholder(this=f"group_{place}")


def find_group(tree: exp.Expr) -> int | None:
    """The place of the key of which this is any value."""
    return int(tree.name.removeprefix("group_")) if isinstance(tree, exp.Placeholder) else None


def write_place(column: exp.Expr, values: Sequence[Any], *, absent: exp.Expr) -> exp.Expr:
    """The place of a column's value among public values, −1 if it is none of them; NULL: ``absent``."""
    ifs = [
        exp.If(this=write_literal(value), true=exp.Literal.number(place))
        for place, value in enumerate(values)
        if value is not None
    ]
    none = exp.Neg(this=exp.Literal.number(1))
    place: exp.Expr = exp.Case(this=column.copy(), ifs=ifs, default=none) if ifs else none
    is_absent = exp.Is(this=column.copy(), expression=exp.null())
    return exp.Case(ifs=[exp.If(this=is_absent, true=absent)], default=place)


def is_place(column: exp.Expr, number: exp.Expr) -> exp.Expr:
    """The condition that a place is one, or NULL. ``number``: a total of the group, never NULL.

    It stands in the condition so that no engine looks for the place of every row before it groups them.
    """
    absent = exp.Is(this=number.copy(), expression=exp.null())
    zero, one = exp.Literal.number(0), exp.Literal.number(1)
    least = exp.Case(ifs=[exp.If(this=absent, true=one)], default=zero)
    return exp.GTE(this=exp.Coalesce(this=column.copy(), expressions=[zero.copy()]), expression=least)


def write_literal(value: Any) -> exp.Expr:
    """A public value of a key as reading writes such literals."""
    if isinstance(value, exp.Placeholder):
        return value.copy()
    if isinstance(value, datetime):
        return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), exp.DataType.Type.TIMESTAMP)
    if isinstance(value, date):
        return exp.cast(exp.Literal.string(value.isoformat()), exp.DataType.Type.DATE)
    return exp.convert(value)
