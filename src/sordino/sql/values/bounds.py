"""Bounds on derivatives inside the engine: one statement per measure and table, all β of the grid, no row leaves.

For a joined row u and a row r of table t in it let h be the bounds on the slopes of u's term in the cells of r, with
rates β times the unit rates of the row norms (divided by m where u has m rows of t, since one row may play all parts).

    SUM, COUNT:  c_t = ‖(N*(Σ_{u∋r} h_{u,r}) + rounding·(number of u))_r‖_q
    MIN, MAX:    c_t = max_u N*(h_{u,r}) + rounding

with q dual to the p by which rows are put together, and c = max c_t. Sums and maxima of β-smooth functions are
β-smooth, and N* of a sum is the derivative of a sum.

**Rounding.** Terms are rounded to whole steps and computed in doubles, each off by at most e. A row that differs at all
has moved by at least d, one granule, so rounding acts like a further slope of at most 2e/d per term: a constant, which
keeps c smooth. **Numerics**: sums of doubles are off by a relative n·2⁻⁵³, which the plan pays for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sordino.core import ParameterError
from sordino.engines import Snapshot, write_double
from sordino.sensitivity.derivatives.dual_terms import dual_of_terms
from sordino.sensitivity.derivatives.lengths import length_of
from sordino.sensitivity.norms import Norm
from sordino.sensitivity.norms.combination import dual_exponent
from sordino.sql.answering.exact import write_among, write_join, write_places
from sordino.sql.policy import Policy, find_least_move, match_name
from sordino.sql.question import Occurrence, Statement
from sordino.sql.values.measure import ValueMeasure
from sordino.sql.values.terms import SqlAlgebra, SqlTerm, write_term

_ALGEBRA = SqlAlgebra()
Group = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """A protected table of a question: its occurrences, how its rows are put together, and its least move."""

    name: str
    aliases: tuple[str, ...]
    identity: tuple[str, ...]
    exponent: Fraction | float
    least_move: float

    @property
    def dual(self) -> float:
        """q."""
        return float(dual_exponent(self.exponent))


def find_measured_tables(statement: Statement, policy: Policy) -> list[MeasuredTable]:
    """The protected tables; where rows meet others, a key says which joined rows are of one row."""
    found: dict[str, list[Occurrence]] = {}
    for occurrence in statement.join.occurrences:
        if occurrence.private:
            found.setdefault(occurrence.table, []).append(occurrence)
    tables = []
    for name, occurrences in found.items():
        declared = policy.table_named(name)
        if declared is None:
            continue
        identity = tuple(match_name(column, occurrences[0].columns) or column for column in declared.key)
        if len(statement.join.occurrences) > 1 and not identity:
            raise ParameterError(
                f"a join needs to know which rows are the same: declare tables.{declared.name}.key, of public columns"
            )
        if declared.norm is not None and any(column in declared.norm.columns for column in identity):
            raise ParameterError(
                f"tables.{declared.name}.key is in the norm: a key is made of public columns"
            )
        tables.append(
            MeasuredTable(
                name, tuple(o.alias for o in occurrences), identity, declared.rows, find_least_move(declared)
            )
        )
    return tables


def write_bounds(
    statement: Statement,
    measure: ValueMeasure,
    table: MeasuredTable,
    betas: Sequence[float],
    copies: Mapping[str, int],
) -> exp.Select:
    """SELECT of the places of the keys and of c_t at every β, in units of the measure, one row per group."""
    rows = _write_joined(statement, measure, table)
    keys = [f"key_{i}" for i in range(len(statement.keys))]
    bounds = [f"bound_{i}" for i in range(len(betas))]
    alone = len(statement.join.occurrences) == 1
    if measure.kind != "sum":
        return _write_extreme(rows, measure, table, betas, copies, keys, bounds)
    parts = [
        _write_terms(rows, measure, alias, _rates(measure, beta_list=betas, copies=copies), keys, table)
        for alias in table.aliases
    ]
    per_row = _write_rows(parts, measure, table, len(betas), keys, alone=alone)
    return _combine_rows(per_row, table, keys, bounds)


# --- the join, with every cell as a double


def _write_joined(statement: Statement, measure: ValueMeasure, table: MeasuredTable) -> exp.Select:
    columns = [
        exp.alias_(place, f"key_{i}", quoted=True) for i, place in enumerate(write_places(statement.keys))
    ]
    for alias in table.aliases:
        columns += [
            exp.alias_(exp.column(column, table=alias, quoted=True), _identity(alias, i), quoted=True)
            for i, column in enumerate(table.identity)
        ]
    columns += [
        exp.alias_(cell.tree.copy(), f"cell_{i}", quoted=True)
        for i, cell in enumerate(measure.cells.values())
    ]
    conditions = [*statement.join.conditions, *write_among(statement.keys)]
    if not columns:
        columns = [exp.alias_(exp.Literal.number(1), "one", quoted=True)]
    return write_join(columns, statement.join.occurrences, conditions)


def _identity(alias: str, place: int) -> str:
    return f"row_{alias}_{place}"


def _named(name: str) -> exp.Column:
    return exp.column(name, quoted=True)


def _cells(measure: ValueMeasure) -> dict[str, Any]:
    return {
        name: type(cell)(_named(f"cell_{place}")) for place, (name, cell) in enumerate(measure.cells.items())
    }


def _rates(
    measure: ValueMeasure, *, beta_list: Sequence[float], copies: Mapping[str, int]
) -> list[dict[str, float]]:
    """For every β: its part of the unit rates of each row's norm."""
    found = []
    for beta in beta_list:
        rates: dict[str, float] = {}
        for alias, norm in measure.function.norms.items():
            share = beta * (1 - 2.0**-48) / copies[alias]
            rates |= {name: rate * share for name, rate in norm.unit_rates().items()}
        found.append(rates)
    return found


def find_rounding(measure: ValueMeasure, table: MeasuredTable) -> float:
    """The slope that rounding of one term adds: 2e over the least move."""
    return 2 * measure.error / table.least_move


# --- sums


def _write_terms(
    rows: exp.Select,
    measure: ValueMeasure,
    alias: str,
    rates: list[dict[str, float]],
    keys: list[str],
    table: MeasuredTable,
) -> exp.Select:
    """For every joined row: whose row it is as this occurrence, and its slopes at every β.

    A table that occurs once keeps one number per column of its norm; one that occurs several times the dual of them,
    since N* of a sum is at most the sum.
    """
    norm = measure.function.norms[alias]
    once = len(table.aliases) == 1
    columns: list[exp.Expr] = [_named(key) for key in keys]
    columns += [
        exp.alias_(_named(_identity(alias, i)), f"row_{i}", quoted=True) for i in range(len(table.identity))
    ]
    for place, allowed in enumerate(rates):
        slopes = measure.function.slopes(_ALGEBRA, _cells(measure), allowed)
        own = {name: slope for name, slope in slopes.items() if name in norm.columns}
        for number, term in enumerate(_entries(norm, own, once=once)):
            columns.append(exp.alias_(write_term(term), f"slope_{place}_{number}", quoted=True))
    return exp.select(*columns, copy=False).from_(rows.subquery(exp.to_identifier("joined", quoted=True)))


def _entries(norm: Norm, slopes: Mapping[str, Any], *, once: bool) -> list[Any]:
    if once:
        return [slopes.get(column, 0.0) for column in norm.columns]
    found = dual_of_terms(norm.root, _ALGEBRA, slopes)
    return [0.0 if found is None else found]


def _write_rows(
    parts: list[exp.Select],
    measure: ValueMeasure,
    table: MeasuredTable,
    betas: int,
    keys: list[str],
    *,
    alone: bool,
) -> exp.Select:
    """For every row: the dual of its summed slopes, and what rounding adds."""
    norm = measure.function.norms[table.aliases[0]]
    once = len(table.aliases) == 1
    entries = len(norm.columns) if once else 1
    together: Any = parts[0]
    for part in parts[1:]:
        together = exp.union(together, part, distinct=False, copy=False)
    names = [f"slope_{place}_{number}" for place in range(betas) for number in range(entries)]
    if not alone:
        group = [*keys, *(f"row_{i}" for i in range(len(table.identity)))]
        summed = exp.select(
            *(_named(key) for key in keys),
            *(exp.alias_(exp.Sum(this=_named(name)), name, quoted=True) for name in names),
            exp.alias_(exp.cast(exp.Count(this=exp.Star()), exp.DataType.Type.DOUBLE), "terms", quoted=True),
            copy=False,
        )
        summed.from_(together.subquery(exp.to_identifier("terms", quoted=True)), copy=False)
        together = summed.group_by(*(_named(name) for name in group), copy=False)
    rounding = find_rounding(measure, table)
    columns: list[exp.Expr] = [_named(key) for key in keys]
    for place in range(betas):
        sums = [SqlTerm(_named(f"slope_{place}_{number}")) for number in range(entries)]
        bound: Any = sums[0]
        if once:
            bound = dual_of_terms(norm.root, _ALGEBRA, dict(zip(norm.columns, sums, strict=True)))
        lost: Any = rounding if alone else SqlTerm(_named("terms")) * rounding
        columns.append(exp.alias_(write_term(bound + lost), f"bound_{place}", quoted=True))
    return exp.select(*columns, copy=False).from_(
        together.subquery(exp.to_identifier("summed", quoted=True)), copy=False
    )


def _combine_rows(
    per_row: exp.Select, table: MeasuredTable, keys: list[str], bounds: list[str]
) -> exp.Select:
    columns: list[exp.Expr] = [_named(key) for key in keys]
    q = table.dual
    for name in bounds:
        own = SqlTerm(_named(name))
        if math.isinf(q):
            total: exp.Expr = exp.Max(this=own.tree)
        elif q == 1:
            total = exp.Sum(this=own.tree)
        else:
            total = exp.Sum(this=write_term(_ALGEBRA.power(own, q)))
        columns.append(exp.alias_(_or_zero(total), name, quoted=True))
    query = exp.select(*columns, copy=False).from_(
        per_row.subquery(exp.to_identifier("rows_of_table", quoted=True)), copy=False
    )
    return query.group_by(*(_named(key) for key in keys), copy=False) if keys else query


# --- least and largest


def _write_extreme(
    rows: exp.Select,
    measure: ValueMeasure,
    table: MeasuredTable,
    betas: Sequence[float],
    copies: Mapping[str, int],
    keys: list[str],
    bounds: list[str],
) -> exp.Select:
    """The largest over joined rows; one row may play all parts, so the parts add up."""
    rounding = find_rounding(measure, table)
    columns: list[exp.Expr] = [_named(key) for key in keys]
    for name, allowed in zip(bounds, _rates(measure, beta_list=betas, copies=copies), strict=True):
        slopes = measure.function.slopes(_ALGEBRA, _cells(measure), allowed)
        parts = []
        for alias in table.aliases:
            norm = measure.function.norms[alias]
            own = {column: slope for column, slope in slopes.items() if column in norm.columns}
            found = dual_of_terms(norm.root, _ALGEBRA, own)
            parts += [] if found is None else [found]
        total = length_of(_ALGEBRA, parts, 1.0) if parts else 0.0
        columns.append(exp.alias_(_or_zero(exp.Max(this=write_term(total + rounding))), name, quoted=True))
    query = exp.select(*columns, copy=False).from_(rows.subquery(exp.to_identifier("joined", quoted=True)))
    return query.group_by(*(_named(key) for key in keys), copy=False) if keys else query


def _or_zero(total: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=total, expressions=[write_double(0.0)])


def compute_bounds(
    snapshot: Snapshot,
    statement: Statement,
    measure: ValueMeasure,
    table: MeasuredTable,
    betas: Sequence[float],
    copies: Mapping[str, int],
) -> dict[Group, tuple[float, ...]]:
    """c_t of every group at every β; groups without joined rows have 0. Confidential."""
    found: dict[Group, tuple[float, ...]] = {group: (0.0,) * len(betas) for group in statement.groups()}
    q = table.dual
    root = 1.0 if math.isinf(q) or measure.kind != "sum" else 1 / q
    answer = snapshot.aggregate(write_bounds(statement, measure, table, betas, copies))
    depth = len(statement.keys)
    for row in zip(*(column.to_pylist() for column in answer.columns), strict=True):
        group = tuple(key.values[int(place)] for key, place in zip(statement.keys, row[:depth], strict=True))
        found[group] = tuple(float(number) ** root for number in row[depth:])
    return found
