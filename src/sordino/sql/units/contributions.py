"""What every owner adds to the numbers of a question, clipped and summed inside the engine.

One owner per joined row. Numbers are whole steps of a measure. An owner's *size* is the sum of the absolute values of
what it adds to the groups (ℓ₁, for an ε), or the root of the sum of their squares (ℓ₂, for a ρ); with one group, the
absolute value of its total. What leaves the engine is how many owners have a size above each public limit, and sums of
clipped numbers over all owners: never a number of one owner.

**Sensitivity.** Every owner belongs to its own rows alone. One owner more raises each number of owners above a limit
by at most one, and moves the clipped sums of all groups together by at most the limit: scaled numbers are rounded
towards zero, in doubles that are made smaller than their error before, so that their size is no more than the limit.
Squares and their sums are compared as decimals, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlglot import exp

from sordino.engines import Snapshot, write_double
from sordino.sql.aggregates.measure import LARGEST_ANSWER, whole_number
from sordino.sql.answering.exact import write_among, write_join, write_place_of, write_places
from sordino.sql.expressions.value import bracket, case
from sordino.sql.question import GroupKey, Statement
from sordino.sql.units.owners import Owners

# Sizes stay below this, so that they and their sums over groups are exact in 64 bits.
LARGEST_SIZE = 2**40
# Scaled numbers are counted in so many parts of a step: rounding towards zero then costs next to nothing.
PARTS = 2**10
_BELOW_ONE = 1 - 2.0**-48
_BIGINT = exp.DataType.Type.BIGINT
Group = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of one measure: how many owners are above each limit, and, with one group, the clipped total at each. Private."""

    above: tuple[int, ...]
    totals: tuple[int, ...]


def count_sizes(
    snapshot: Snapshot,
    statement: Statement,
    owners: Owners,
    grids: Sequence[Sequence[int]],
    *,
    euclidean: bool = False,
) -> list[Sizes]:
    """The sizes of every measure against its grid of limits, by one statement; ``euclidean``: those of ℓ₂."""
    found = snapshot.aggregate(write_sizes_query(statement, owners, grids, euclidean=euclidean))
    rows = [tuple(row) for row in zip(*(column.to_pylist() for column in found.columns), strict=True)]
    return [
        _sizes(grid, [row[1:] for row in rows if row[0] == measure]) for measure, grid in enumerate(grids)
    ]


def write_sizes_query(
    statement: Statement, owners: Owners, grids: Sequence[Sequence[int]], *, euclidean: bool = False
) -> exp.Query:
    """SELECT of measure, bucket, number of owners, of those with a positive total, and the sum of their totals.

    Bucket i holds the owners whose size is at most limit i and above limit i - 1; the last those above all limits.
    With groups the totals are those of the sizes, and nobody asks for them.
    """
    totals = [f"c{i}" for i in range(len(grids))]
    squared = euclidean and bool(statement.keys)
    if statement.keys:
        added = [
            _named(_sum_squares(_name(total)) if squared else exp.Sum(this=exp.Abs(this=_name(total))), total)
            for total in totals
        ]  # at most LARGEST_SIZE + 1 per group
        per_owner = exp.select(*added).from_("added").group_by(_name("owner"))
    else:
        per_owner = exp.select(*(_name(total) for total in totals)).from_("added")
    parts = []
    for place, (total, grid) in enumerate(zip(totals, grids, strict=True)):
        bucket = _find_bucket(exp.Abs(this=_name(total)), grid, 0, len(grid), squared=squared)
        positive = case((exp.GT(this=_name(total), expression=whole_number(0)), whole_number(1)))
        columns = [
            _named(whole_number(place), "measure"),
            _name("bucket"),
            _named(exp.Count(this=exp.Star(), big_int=True), "owners"),
            _named(exp.Count(this=positive, big_int=True), "positive"),
            _named(exp.cast(whole_number(0), _BIGINT) if squared else _sum(_name(total)), "total"),
        ]
        # The bucket is written once, in a sub-select: with all its limits it is most of the statement.
        placed = exp.select(_name(total), exp.alias_(bucket, "bucket", quoted=True, copy=False)).from_(
            "sizes"
        )
        part = exp.select(*columns).from_(placed.subquery("placed", copy=False), copy=False)
        parts.append(part.group_by(_name("bucket"), copy=False))
    query: exp.Query = parts[0]
    for part in parts[1:]:
        query = exp.union(query, part, distinct=False, copy=False)
    query.with_("added", write_added(statement, owners), copy=False)
    return query.with_("sizes", per_owner, copy=False)


def _find_bucket(size: exp.Expr, grid: Sequence[int], first: int, last: int, *, squared: bool) -> exp.Expr:
    """The place of the least limit that a size is within, from ``first`` to ``last``: halved again and again.

    An engine compares every owner with seven limits so, and not with all of a hundred one after the other.
    """
    if first == last:
        return whole_number(first)
    half = (first + last) // 2
    within = _is_within(size, grid[half], squared=squared)
    lower = _find_bucket(size, grid, first, half, squared=squared)
    upper = _find_bucket(size, grid, half + 1, last, squared=squared)
    return exp.Case(ifs=[exp.If(this=within, true=lower)], default=upper)


def write_added(statement: Statement, owners: Owners) -> exp.Select:
    """SELECT of every owner and group with the steps that it adds to each measure, cut to ±(LARGEST_SIZE + 1)."""
    (owner,) = owners.owners
    places = write_groups(statement.keys)
    columns = [_named(owner.key, "owner")]
    columns += [_named(place, f"key_{i}") for i, place in enumerate(places)]
    columns += [_named(measure.total(), f"c{i}") for i, measure in enumerate(statement.measures)]
    query = write_owned_join(columns, statement, owners)
    query.group_by(owner.key.copy(), *(place.copy() for place in places), copy=False)
    kept = [_name("owner"), *(_name(f"key_{i}") for i in range(len(places)))]
    cut = [_named(_cut(_name(f"c{i}")), f"c{i}") for i in range(len(statement.measures))]
    return exp.select(*kept, *cut).from_(query.subquery("summed"))


def write_owned_join(columns: Sequence[exp.Expr], statement: Statement, owners: Owners) -> exp.Select:
    """SELECT of some columns over the joined rows that belong to a public group and have owners."""
    join = statement.join
    known = [key for key in statement.keys if key.values or not key.unknown]
    conditions = (*join.conditions, *write_among(known), *owners.conditions)
    return write_join(
        columns, join.occurrences, conditions, owners.lookups, join.outer, dict(owners.numbered)
    )


def write_groups(keys: Sequence[GroupKey]) -> list[exp.Expr]:
    """What rows are grouped by; `place_keys` makes places of it.

    A column is grouped by as it is: of its kinds two values are equal if and only if they are grouped together, and
    its place among many public values is looked for once per group, not once per row. What is computed has its place
    already here, since engines may group two zeros apart.
    """
    return [
        key.column if isinstance(key.column, exp.Column) else place
        for key, place in zip(keys, write_places(keys), strict=True)
    ]


def place_keys(query: exp.Select, keys: Sequence[GroupKey], others: Sequence[str]) -> exp.Select:
    """SELECT of the places of ``key_0``, … in place of what was grouped by, and of the other columns of a query."""
    columns = [_name(f"key_{i}") for i in range(len(keys))]
    placed = [
        _named(write_place_of(key, column) if isinstance(key.column, exp.Column) else column, column.name)
        for key, column in zip(keys, columns, strict=True)
    ]
    return exp.select(*placed, *map(_name, others)).from_(query.subquery("found", copy=False))


def sum_clipped(
    snapshot: Snapshot,
    statement: Statement,
    owners: Owners,
    limits: Sequence[int],
    *,
    euclidean: bool = False,
) -> dict[Group, tuple[int, ...]]:
    """Every group, empty ones too, with the sum of what owners add after clipping to the limits, in parts of a step."""
    depth, sums = len(statement.keys), {group: (0,) * len(limits) for group in statement.groups()}
    found = snapshot.aggregate(write_clipped_query(statement, owners, limits, euclidean=euclidean))
    for row in zip(*(column.to_pylist() for column in found.columns), strict=True):
        group = tuple(key.values[place] for key, place in zip(statement.keys, row[:depth], strict=True))
        sums[group] = tuple(int(number) for number in row[depth:])
    return sums


def write_clipped_query(
    statement: Statement, owners: Owners, limits: Sequence[int], *, euclidean: bool = False
) -> exp.Select:
    """SELECT of every group with the clipped sum of each measure, in `PARTS` of a step."""
    keys = [_name(f"key_{i}") for i in range(len(statement.keys))]
    totals = [_name(f"c{i}") for i in range(len(limits))]
    sizes = [
        _named(
            exp.Window(
                this=_sum_squares(total) if euclidean else exp.Sum(this=exp.Abs(this=total.copy())),
                partition_by=[_name("owner")],
            ),
            f"n{i}",
        )
        for i, total in enumerate(totals)
    ]
    sized = exp.select(*keys, *totals, *sizes).from_("added")
    clipped = [
        _named(_sum(_clip(total, _name(f"n{i}"), limit, squared=euclidean)), f"measure_{i}")
        for i, (total, limit) in enumerate(zip(totals, limits, strict=True))
    ]
    query = exp.select(*(key.copy() for key in keys), *clipped).from_("sized")
    if keys:
        query = query.group_by(*(key.copy() for key in keys))
        query = place_keys(query, statement.keys, [f"measure_{i}" for i in range(len(limits))])
    return query.with_("added", write_added(statement, owners)).with_("sized", sized)


def _clip(total: exp.Expr, size: exp.Expr, limit: int, *, squared: bool) -> exp.Expr:
    """The owner's number in parts of a step, scaled down where its size is above the limit.

    A square becomes a double and its root another: two roundings more, for which the margin has room.
    """
    whole = exp.Mul(this=total.copy(), expression=whole_number(PARTS))
    length: exp.Expr = exp.cast(size.copy(), exp.DataType.Type.DOUBLE)
    scale = exp.Div(
        this=write_double(limit * PARTS * _BELOW_ONE),
        expression=exp.Sqrt(this=length) if squared else length,
        typed=True,
    )
    scaled = exp.Mul(
        this=exp.cast(exp.Abs(this=total.copy()), exp.DataType.Type.DOUBLE), expression=bracket(scale)
    )
    rounded = exp.cast(exp.Floor(this=scaled), _BIGINT)
    negative = exp.LT(this=total.copy(), expression=whole_number(0))
    return case(
        (_is_within(size, limit, squared=squared), whole),
        (negative, exp.Neg(this=rounded)),
        default=rounded,
    )


def _sum_squares(total: exp.Expr) -> exp.Expr:
    """Below 10^26 each: a number within ±(LARGEST_SIZE + 1) has 13 digits."""
    number = exp.cast(total.copy(), exp.DataType.build("DECIMAL(13, 0)"))
    return exp.Sum(this=exp.Mul(this=number, expression=number.copy()))


def _is_within(size: exp.Expr, limit: int, *, squared: bool) -> exp.Expr:
    if not squared:
        return exp.LTE(this=size.copy(), expression=whole_number(limit))
    most = exp.cast(exp.Literal.string(str(limit**2)), exp.DataType.build("DECIMAL(38, 0)"))
    return exp.LTE(this=size.copy(), expression=most)


def _sizes(grid: Sequence[int], rows: Sequence[Sequence[int]]) -> Sizes:
    """From buckets to numbers above, and clipped totals: below the limit as it is, above it the limit with its sign."""
    owners, positive, total = (np.zeros(len(grid) + 1, dtype=object) for _ in range(3))
    for bucket, number, above_zero, steps in rows:
        owners[bucket], positive[bucket], total[bucket] = number, above_zero, steps
    above = [int(sum(owners[i + 1 :])) for i in range(len(grid))]
    clipped = [
        int(sum(total[: i + 1]) + limit * (2 * sum(positive[i + 1 :]) - above[i]))
        for i, limit in enumerate(grid)
    ]
    return Sizes(tuple(above), tuple(clipped))


def _cut(total: exp.Expr) -> exp.Expr:
    most = LARGEST_SIZE + 1
    return case(
        (exp.GT(this=total.copy(), expression=whole_number(most)), whole_number(most)),
        (exp.LT(this=total.copy(), expression=whole_number(-most)), whole_number(-most)),
        default=total,
    )


def _sum(number: exp.Expr) -> exp.Expr:
    """A sum of integers, of however many owners, as a BIGINT: cut, which moves no two sums further apart."""
    kind = exp.DataType.build("DECIMAL(38, 0)")
    total = exp.Coalesce(
        this=exp.Sum(this=exp.cast(number.copy(), kind)), expressions=[exp.cast(whole_number(0), kind)]
    )
    most, least = whole_number(LARGEST_ANSWER), whole_number(-LARGEST_ANSWER)
    return case(
        (exp.GT(this=total.copy(), expression=most), most),
        (exp.LT(this=total.copy(), expression=least), least),
        default=exp.cast(total, _BIGINT),
    )


def _name(column: str) -> exp.Expr:
    return exp.column(column, quoted=True)


def _named(expression: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(expression.copy(), name, quoted=True)


__all__ = ["LARGEST_SIZE", "PARTS", "Sizes", "count_sizes", "sum_clipped", "write_owned_join"]
