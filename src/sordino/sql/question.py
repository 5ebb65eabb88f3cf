"""What an analyst asks, once it is understood: the seam between reading SQL, analysing it and answering it.

Reading (`reading/`) makes a `Statement` of a text and a policy. For every aggregate of the SELECT and every public
group it gives a `JoinQuestion`: one COUNT or bounded SUM over an inner join. Analyses (`analysis/`) bound the
sensitivity of a JoinQuestion, and `answering/` computes and releases it; both send sqlglot trees to an engine and get
back aggregates only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sordino.core import ParameterError
from sordino.engines import ColumnType
from sordino.sql.aggregates import Aggregate, Measure
from sordino.sql.expressions.decimals import Digits


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One table in FROM. A table that occurs twice (a self-join) has two occurrences with different aliases.

    ``weight``: how many units of distance one row of the table is worth (G_T); None for a public table, whose rows
    never change. ``digits``: of the decimal columns whose digits are known.
    """

    alias: str
    table: str
    weight: Fraction | None
    columns: Mapping[str, ColumnType]
    digits: Mapping[str, Digits] = field(default_factory=dict, compare=False)

    @property
    def private(self) -> bool:
        """Whether its rows are protected."""
        return self.weight is not None


@dataclass(frozen=True, slots=True)
class JoinQuestion:
    """``measure`` over all combinations of rows for which every condition is TRUE.

    Conditions are the conjuncts of WHERE and ON; their columns are qualified by the aliases of ``occurrences``,
    and every function in them is deterministic and cannot raise.
    """

    occurrences: tuple[Occurrence, ...]
    conditions: tuple[exp.Expr, ...]
    measure: Measure

    def restricted(self, *conditions: exp.Expr) -> JoinQuestion:
        """The same question with more conditions."""
        return replace(self, conditions=(*self.conditions, *conditions))


@dataclass(frozen=True, slots=True)
class GroupKey:
    """A column of GROUP BY with its public values (None among them where NULL is a group of its own).

    ``source``: (table, column) of a public table whose values are still to be read by
    `sordino.sql.reading.read.read_public_keys`; None once the values are there. ``equals``: further columns that the
    conditions force to equal the key; a group's question restricts them too, so that analyses see each
    occurrence's own restriction.
    """

    name: str
    column: exp.Expr
    values: tuple[Any, ...]
    source: tuple[str, str] | None = None
    equals: tuple[exp.Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the answer: a group key (``key`` its place), or an aggregate made of some measures."""

    name: str
    aggregate: Aggregate | None = None
    key: int | None = None
    measures: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """One item of ORDER BY: a group key or a column of the answer, whichever is not None."""

    key: int | None
    output: int | None
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """A whole SELECT: a join, measures over it, public groups, and how the answer's columns are made of them.

    ``questions`` are per group × per measure. ``partitions``: every row of every private table belongs to at most one
    group, *and* the conditions of a group let each group's bounds be computed from that group's rows alone; only then
    may all groups share one budget (parallel composition). ``order``: how the released rows are sorted, by public
    keys and by released numbers, so it is no part of the questions. ``canonical``: the text without the spaces,
    brackets and comments that do not matter; literals stay.
    """

    text: str
    join: JoinQuestion
    measures: tuple[Measure, ...]
    keys: tuple[GroupKey, ...]
    outputs: tuple[Output, ...]
    partitions: bool
    order: tuple[Order, ...] = ()
    canonical: str = ""

    def groups(self) -> list[tuple[Any, ...]]:
        """All combinations of the keys' public values; one empty combination without GROUP BY."""
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


def write_literal(value: Any) -> exp.Expr:
    """A public value of a key as reading writes such literals."""
    if isinstance(value, date):
        return exp.cast(exp.Literal.string(value.isoformat()), exp.DataType.Type.DATE)
    return exp.convert(value)
