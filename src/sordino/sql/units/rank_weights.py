"""How much owners weigh at every point of a lattice, group by group, summed inside the engine.

Of a quantile, every row of an owner weighs the same, and all rows of one owner together, in all groups, at most a
limit. Of the least and of the greatest value, an owner has one value per group, its own least or greatest one, and all
of them together weigh at most the limit. What leaves the engine are sums of weights over all owners, never one's own.

**Sensitivity.** Every weight follows the rows of its own owner alone, so one owner more adds its own weights, at most
limit·`WEIGHT_STEPS` in all groups and at all points together, and changes no other.
**Numerics**: ⌊WEIGHT_STEPS·limit/rows⌋ in doubles, which is exact: WEIGHT_STEPS·limit is at most 2⁵², and a quotient
that is no whole number is further below the next one than rounding reaches.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from sordino.engines import Snapshot, write_double
from sordino.sql.aggregates import RankedValue
from sordino.sql.aggregates.measure import LARGEST_ANSWER, whole_number
from sordino.sql.answering.rank_counts import RankCounts, gather_counts
from sordino.sql.expressions.value import case
from sordino.sql.question import Statement
from sordino.sql.units.contributions import place_keys, write_groups, write_owned_join
from sordino.sql.units.owners import Owners
from sordino.units import WEIGHT_STEPS

# Limits beyond this would make weights that doubles do not hold.
LARGEST_LIMIT = 2**36
_BIGINT = exp.DataType.Type.BIGINT
Group = tuple[Any, ...]


def sum_weights(
    snapshot: Snapshot, statement: Statement, owners: Owners, measure: RankedValue, limit: int
) -> dict[Group, RankCounts]:
    """Every group, empty ones too, with the weights at every point, in `WEIGHT_STEPS` of a row or owner. Private."""
    query = write_weights_query(statement, owners, measure, limit)
    return gather_counts(snapshot.aggregate(query), statement, measure.lattice)


def write_weights_query(statement: Statement, owners: Owners, measure: RankedValue, limit: int) -> exp.Select:
    """SELECT of the places of the groups' keys, the number of steps, and the sum of the weights that lie there."""
    keys = [_name(f"key_{i}") for i in range(len(statement.keys))]
    total = exp.Window(this=exp.Sum(this=_name("held")), partition_by=[_name("owner")])
    shared = exp.select(*keys, _name("place"), _name("held"), _named(total, "whole")).from_("values_")
    size = exp.cast(_name("whole"), exp.DataType.Type.DOUBLE)
    share = exp.Div(this=write_double(float(limit * WEIGHT_STEPS)), expression=size, typed=True)
    weight = case(
        (exp.LTE(this=_name("whole"), expression=whole_number(limit)), whole_number(WEIGHT_STEPS)),
        default=exp.cast(exp.Floor(this=share), _BIGINT),
    )
    weighed = exp.Mul(this=_name("held"), expression=weight)
    query = exp.select(*(key.copy() for key in keys), _name("place"), _named(_sum(weighed), "weight"))
    query = query.from_("shared").group_by(*(key.copy() for key in keys), _name("place"))
    query = place_keys(query, statement.keys, ["place", "weight"])
    return query.with_("values_", _write_values(statement, owners, measure)).with_("shared", shared)


def _write_values(statement: Statement, owners: Owners, measure: RankedValue) -> exp.Select:
    """SELECT of every owner, group and point with the owner's rows there; of extremes, of one point per group alone."""
    (owner,) = owners.owners
    places, steps = write_groups(statement.keys), measure.lattice.steps()
    columns = [_named(owner.key, "owner")]
    columns += [_named(place, f"key_{i}") for i, place in enumerate(places)]
    grouped = [owner.key.copy(), *(place.copy() for place in places)]
    if measure.is_extreme:
        extreme = exp.Max(this=steps) if measure.q else exp.Min(this=steps)
        columns += [_named(extreme, "place"), _named(exp.cast(whole_number(1), _BIGINT), "held")]
    else:
        columns += [_named(steps, "place"), _named(exp.Count(this=exp.Star(), big_int=True), "held")]
        grouped.append(steps.copy())
    query = write_owned_join(columns, statement, owners)
    query.where(*map(exp.paren, measure.conditions()), copy=False)
    return query.group_by(*grouped, copy=False)


def _sum(number: exp.Expr) -> exp.Expr:
    """A sum of weights as a BIGINT: cut, which moves no two sums further apart."""
    kind = exp.DataType.build("DECIMAL(38, 0)")
    total = exp.Sum(this=exp.cast(number, kind))
    most = whole_number(LARGEST_ANSWER)
    return case(
        (exp.GT(this=total, expression=most), most.copy()),
        default=exp.cast(total.copy(), _BIGINT),
    )


def _name(column: str) -> exp.Expr:
    return exp.column(column, quoted=True)


def _named(expression: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(expression.copy(), name, quoted=True)
