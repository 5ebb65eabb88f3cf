"""Bounds on derivatives inside the engine: one statement per measure and table, all β of the grid, no row leaves.

For a joined row u and a row r of table t in it let h be the bounds on the slopes of u's term in the cells of r, with
rates β times the unit rates of the row norms, divided by m^(1/q) where u has m rows of t that a condition tells apart,
and by m where one row may play all parts.

    SUM, COUNT:  c_t = ‖(N*(Σ_{u∋r} h_{u,r}) + rounding·(number of u))_r‖_q
    MIN, MAX:    c_t = max_u ‖(N*(h_{u,r}))_r‖_q + rounding (added up where one row may play all parts)

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
from itertools import combinations
from typing import Any

from sqlglot import exp

from sordino.core import ParameterError
from sordino.engines import Snapshot, write_double
from sordino.sensitivity.derivatives.dual_terms import dual_of_terms
from sordino.sensitivity.derivatives.lengths import length_of
from sordino.sensitivity.norms import Norm
from sordino.sensitivity.norms.combination import computable_dual
from sordino.sql.expressions.value import case
from sordino.sql.policy import Policy, find_least_move, match_name
from sordino.sql.question import Occurrence, Statement
from sordino.sql.values.joined import name_cells, name_identity, named, subquery_of, write_joined
from sordino.sql.values.largest import Extremes
from sordino.sql.values.measure import ValueMeasure
from sordino.sql.values.meetings import meets_once
from sordino.sql.values.stages import write_stages
from sordino.sql.values.terms import SqlAlgebra, SqlTerm

_ALGEBRA = SqlAlgebra()
# So many doubles are added up at most: what their rounding moves a bound by is paid for.
MOST_TERMS = 2**27
Group = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """A protected table of a question: its occurrences, how its rows are put together, and its least move.

    ``distinct``: whether conditions on public columns make sure that no row plays two parts in a joined row.
    ``told_apart``: whether no two rows share their identity, as the owner promises of an enforced key.
    """

    name: str
    aliases: tuple[str, ...]
    identity: tuple[str, ...]
    exponent: Fraction | float
    least_move: float
    distinct: bool = False
    told_apart: bool = False

    @property
    def keeps_columns(self) -> bool:
        """Whether slopes are added up column by column before their dual is taken, which is the smaller bound.

        Of rows that share an identity that is N* of the sum of their slopes, at least that of each, but not what they
        have together where rows are put together by ℓ_p with p > 1; the sum of their duals is.
        """
        return len(self.aliases) == 1 and (self.exponent == 1 or self.told_apart)

    @property
    def sharing(self) -> float:
        """What rates of each occurrence are divided by: rows that differ move by ℓ_p, one row in all parts alike."""
        copies = float(len(self.aliases))
        if copies == 1 or not self.distinct:
            return copies
        return float(copies ** (1 - 1 / float(self.exponent))) * (1 + 2.0**-48)

    @property
    def dual(self) -> float:
        """q, at most 8 if it is finite."""
        return float(computable_dual(self.exponent))


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
                name,
                tuple(o.alias for o in occurrences),
                identity,
                declared.rows,
                find_least_move(declared),
                _are_distinct([o.alias for o in occurrences], statement.join.conditions),
                declared.key_enforced,
            )
        )
    return tables


def _are_distinct(aliases: list[str], conditions: Sequence[exp.Expr]) -> bool:
    """Whether every two occurrences differ in a public column: then they are two rows."""
    apart = set()
    for condition in conditions:
        if isinstance(condition, exp.LT | exp.GT | exp.NEQ):
            left, right = condition.this.unnest(), condition.expression.unnest()
            if isinstance(left, exp.Column) and isinstance(right, exp.Column) and left.name == right.name:
                apart.add(frozenset((left.table, right.table)))
    return all(frozenset(pair) in apart for pair in combinations(aliases, 2))


def write_bounds(
    statement: Statement,
    measure: ValueMeasure,
    table: MeasuredTable,
    betas: Sequence[float],
    sharing: Mapping[str, float],
    *,
    met_once: bool = False,
) -> exp.Select:
    """SELECT of the places of the keys, of c_t at every β, in units of the measure, and of how many terms were added
    up for one number at most; one row per group.

    ``met_once``: each row of the table is in one joined row at most, so nothing is added up by row.
    """
    keys = [f"key_{i}" for i in range(len(statement.keys))]
    rates = _rates(measure, beta_list=betas, sharing=sharing)
    if measure.kind != "sum":
        rows = write_joined(statement, measure.cells, {})
        return _write_largest(rows, [_slope_of_row(measure, table, allowed) for allowed in rates], keys)
    if met_once:
        rows = write_joined(statement, measure.cells, {})
        bounds = [_slope_of_row(measure, table, allowed) for allowed in rates]
        if math.isinf(table.dual):
            return _write_largest(rows, bounds, keys)
        return _write_powers(rows, bounds, table.dual, keys)
    rows = write_joined(statement, measure.cells, dict.fromkeys(table.aliases, table.identity))
    parts = [_write_terms(rows.copy(), measure, alias, rates, keys, table) for alias in table.aliases]
    summed, bounds = _sum_terms(parts, measure, table, len(betas), keys)
    if math.isinf(table.dual):
        return _write_largest(summed, bounds, keys, terms=exp.Max(this=named("terms")))
    return _write_powers(summed, bounds, table.dual, keys, terms=exp.Sum(this=named("terms")))


# --- rates and rounding


def _rates(
    measure: ValueMeasure, *, beta_list: Sequence[float], sharing: Mapping[str, float]
) -> list[dict[str, float]]:
    """For every β: its part of the unit rates of each row's norm."""
    found = []
    for beta in beta_list:
        rates: dict[str, float] = {}
        for alias, norm in measure.function.norms.items():
            share = beta * (1 - 2.0**-48) / sharing[alias]
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

    One number per column of the norm, or the dual of them, since N* of a sum is at most the sum.
    """
    norm = measure.function.norms[alias]
    columns: list[exp.Expr] = [named(key) for key in keys]
    columns += [
        exp.alias_(named(name_identity(alias, i)), f"row_{i}", quoted=True)
        for i in range(len(table.identity))
    ]
    names, terms = [], []
    for place, allowed in enumerate(rates):
        slopes = measure.function.slopes(_ALGEBRA, name_cells(measure.cells), allowed)
        own = {name: slope for name, slope in slopes.items() if name in norm.columns}
        for number, term in enumerate(_entries(norm, _moving(measure, norm), own, table)):
            names.append(f"slope_{place}_{number}")
            terms.append(term)
    staged, written = write_stages(
        rows, terms, [*keys, *(name_identity(alias, i) for i in range(len(table.identity)))]
    )
    columns += [exp.alias_(term, name, quoted=True) for name, term in zip(names, written, strict=True)]
    if not columns:
        columns = [exp.alias_(exp.Literal.number(1), "one", quoted=True)]
    return exp.select(*columns, copy=False).from_(subquery_of(staged, "joined"), copy=False)


def _moving(measure: ValueMeasure, norm: Norm) -> tuple[str, ...]:
    """The columns of a norm that the term depends on."""
    return tuple(column for column in norm.columns if measure.function.steepest().get(column, 0.0) > 0)


def _entries(
    norm: Norm, columns: Sequence[str], slopes: Mapping[str, Any], table: MeasuredTable
) -> list[Any]:
    if table.keeps_columns:
        return [slopes.get(column, 0.0) for column in columns]
    found = dual_of_terms(norm.root, _ALGEBRA, slopes)
    return [0.0 if found is None else found]


def _sum_terms(
    parts: list[exp.Select], measure: ValueMeasure, table: MeasuredTable, betas: int, keys: list[str]
) -> tuple[exp.Select, list[Any]]:
    """The summed slopes of every row; and at every β the dual of them with what rounding adds."""
    norm = measure.function.norms[table.aliases[0]]
    moving = _moving(measure, norm)
    entries = len(moving) if table.keeps_columns else 1
    together: Any = parts[0]
    for part in parts[1:]:
        together = exp.union(together, part, distinct=False, copy=False)
    names = [f"slope_{place}_{number}" for place in range(betas) for number in range(entries)]
    summed = exp.select(
        *(named(key) for key in keys),
        *(exp.alias_(exp.Sum(this=named(name)), name, quoted=True) for name in names),
        exp.alias_(exp.cast(exp.Count(this=exp.Star()), exp.DataType.Type.DOUBLE), "terms", quoted=True),
        copy=False,
    )
    summed.from_(subquery_of(together, "terms"), copy=False)
    group = [*keys, *(f"row_{i}" for i in range(len(table.identity)))]
    summed = summed.group_by(*(named(name) for name in group), copy=False)
    lost = SqlTerm(named("terms"), low=1.0) * find_rounding(measure, table)
    bounds = []
    for place in range(betas):
        sums = [SqlTerm(named(f"slope_{place}_{number}"), low=0.0) for number in range(entries)]
        bound: Any = sums[0] if sums else 0.0
        if table.keeps_columns and sums:
            bound = dual_of_terms(norm.root, _ALGEBRA, dict(zip(moving, sums, strict=True)))
        bounds.append(bound + lost)
    return summed, bounds


# --- one row at a time


def _slope_of_row(measure: ValueMeasure, table: MeasuredTable, rates: Mapping[str, float]) -> Any:
    """The bound of one joined row; where one row may play all parts, the parts add up."""
    slopes = measure.function.slopes(_ALGEBRA, name_cells(measure.cells), rates)
    parts = []
    for alias in table.aliases:
        norm = measure.function.norms[alias]
        own = {column: slope for column, slope in slopes.items() if column in norm.columns}
        found = dual_of_terms(norm.root, _ALGEBRA, own)
        parts += [] if found is None else [found]
    total = length_of(_ALGEBRA, parts, table.dual if table.distinct else 1.0) if parts else 0.0
    return total + find_rounding(measure, table)


# --- all rows together


def _write_largest(
    rows: exp.Select, bounds: Sequence[Any], keys: list[str], *, terms: exp.Expr | None = None
) -> exp.Select:
    """The largest of every bound, one row per group; 0 over no rows."""
    extremes = Extremes()
    found = [extremes.of(bound) for bound in bounds]
    staged, written = write_stages(rows, extremes.terms, [*keys, *([] if terms is None else ["terms"])])
    added = _or_zero(terms) if terms is not None else write_double(1.0)
    inner = exp.select(*(named(key) for key in keys), *extremes.columns(written), copy=False)
    inner.select(
        exp.alias_(exp.Count(this=exp.Star()), "rows", quoted=True),
        exp.alias_(added, "terms", quoted=True),
        copy=False,
    )
    inner.from_(subquery_of(staged, "joined"), copy=False)
    if keys:
        inner = inner.group_by(*(named(key) for key in keys), copy=False)
    outer, columns = write_stages(inner, found, [*keys, "rows", "terms"])
    some = exp.GT(this=named("rows"), expression=exp.Literal.number(0))
    query = exp.select(
        *(named(key) for key in keys),
        *(
            exp.alias_(case((some.copy(), tree), default=write_double(0.0)), f"bound_{i}", quoted=True)
            for i, tree in enumerate(columns)
        ),
        named("terms"),
        copy=False,
    )
    return query.from_(subquery_of(outer, "rows_of_table"), copy=False)


def _write_powers(
    rows: exp.Select, bounds: Sequence[Any], q: float, keys: list[str], *, terms: exp.Expr | None = None
) -> exp.Select:
    """The sum of q-th powers of every bound, one row per group; 0 over no rows."""
    kept = [*keys, *([] if terms is None else ["terms"])]
    staged, written = write_stages(rows, [_ALGEBRA.power(bound, q) for bound in bounds], kept)
    totals = [_or_zero(exp.Sum(this=tree)) for tree in written]
    added = exp.Count(this=exp.Star()) if terms is None else terms
    query = exp.select(
        *(named(key) for key in keys),
        *(exp.alias_(total, f"bound_{i}", quoted=True) for i, total in enumerate(totals)),
        exp.alias_(_or_zero(exp.cast(added, exp.DataType.Type.DOUBLE)), "terms", quoted=True),
        copy=False,
    ).from_(subquery_of(staged, "rows_of_table"), copy=False)
    return query.group_by(*(named(key) for key in keys), copy=False) if keys else query


def _or_zero(total: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=total, expressions=[write_double(0.0)])


def compute_bounds(
    snapshot: Snapshot,
    statement: Statement,
    measure: ValueMeasure,
    table: MeasuredTable,
    betas: Sequence[float],
    sharing: Mapping[str, float],
    *,
    public_rows: bool = True,
) -> dict[Group, tuple[float, ...]]:
    """c_t of every group at every β; groups without joined rows have 0. Confidential.

    ``public_rows``: which rows there are is no secret. Only then may the statement follow from which of them meet: two
    neighbours would be bounded by two formulas otherwise.

    Infinite where more than `MOST_TERMS` are added up for one number. Where rows are public so is that; where they
    come and go, the bound of `row_changes.py` does without.
    """
    found: dict[Group, tuple[float, ...]] = {group: (0.0,) * len(betas) for group in statement.groups()}
    q = table.dual
    root = 1.0 if math.isinf(q) or measure.kind != "sum" else 1 / q
    met_once = (
        public_rows
        and measure.kind == "sum"
        and len(table.aliases) == 1
        and meets_once(snapshot, statement.join, table.aliases[0])
    )
    answer = snapshot.aggregate(write_bounds(statement, measure, table, betas, sharing, met_once=met_once))
    depth = len(statement.keys)
    for row in zip(*(column.to_pylist() for column in answer.columns), strict=True):
        group = tuple(key.values[int(place)] for key, place in zip(statement.keys, row[:depth], strict=True))
        *numbers, terms = row[depth:]
        beyond = terms > MOST_TERMS
        found[group] = tuple(math.inf if beyond else float(number) ** root for number in numbers)
    return found
