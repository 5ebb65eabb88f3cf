"""Rows that come and go beside cells that move: one bound for both.

Distance: the cheapest way from one database to another by moves of cells, at their norm, and by rows of t that come or
go, at weight G_t each; a row whose public columns change goes and comes back. Let A_t(k) be the most joined rows that
one row of t, there or not, meets after changes of rows of weight k (the analysis of COUNT over the same join), L the
largest magnitude of a term, K_t the largest slope of a term in the cells of t, and G the least of the weights. Then

    SUM, COUNT:  c_t = max{ (L/G_t)·max_{k≥0} e^(−βk)A_t(k),  min(v_t, K_t·A_t(0)),  K_t·max_{k≥G} e^(−βk)A_t(k) }
    MIN, MAX:    c_t = max{ (hi − lo)/G_t,                    min(v_t, K_t),         K_t·e^(−βG) }

with v_t the bound for cells that move (`bounds.py`), and c = max c_t.

**Guarantee**: c is β-smooth, bounds the derivative, and a row more or less changes the answer by at most G_t times the
*smaller* of the two c, which the calibration along a path needs. Cells move neither A nor the first and the last term,
and v_t is β-smooth; a change of weight G_j gives A^(D')(k) ≤ A^D(k + G_j), so that min(v_t, K_t·A_t(0)) of the one is
at most K_t·A_t(G_j) of the other, which its last term has. The discount e^(−βG)·K·A(0) with today's count is not enough
(zoo).
**Requires**: moves of rows added up (rows: 1), β > 0; conditions of the join on public columns only.
**Source**: NAPLES report, §3.3.9, whose proof is lost; re-proved and enumerated in `tests/exact/sql/values`.
**Numerics**: K_t includes what rounding of a term adds, and the analysis rounds up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sordino.engines import Snapshot
from sordino.sql.aggregates import RowCount
from sordino.sql.analysis import Analysis, AnalysisPlan, Reader, choose_analyses, plan_groups
from sordino.sql.question import Statement
from sordino.sql.values.bounds import MeasuredTable, find_rounding
from sordino.sql.values.measure import ValueMeasure

Group = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class RowChanges:
    """What is asked about joined rows of every group, and the weight of a row of each table.

    ``confined``: whether the numbers of a group are of its own rows alone.
    """

    readings: Mapping[Group, AnalysisPlan]
    weights: Mapping[str, Fraction]
    confined: bool

    def read(self, snapshot: Snapshot, beta: float) -> dict[Group, Analysis]:
        """How many joined rows a row meets, in every group; for β from ``beta`` on. Confidential."""
        found, reader = {}, Reader(snapshot, None)
        for group, reading in self.readings.items():
            if reading.numbers is not reader.numbers:
                reader = Reader(snapshot, reading.numbers)
            found[group] = reading.bound(reader, beta=beta)
        return found


def plan_row_changes(statement: Statement) -> RowChanges:
    """The analysis of COUNT over the join of a question; reads nothing."""
    # a row of any category counts in all groups that it may move between
    fixed = [place for place, key in enumerate(statement.keys) if not key.spread]
    counted = replace(statement, measures=(RowCount(),), keys=tuple(statement.keys[place] for place in fixed))
    found, confined = plan_groups(counted, analyses=choose_analyses(counted.join))
    by_group = dict(zip(counted.groups(), found, strict=True))
    readings = {group: by_group[tuple(group[place] for place in fixed)] for group in statement.groups()}
    weights = {o.table: o.weight for o in statement.join.occurrences if o.weight is not None}
    return RowChanges(readings, weights, confined)


def add_row_changes(
    moves: Mapping[str, tuple[float, ...]],
    analysis: Analysis,
    measure: ValueMeasure,
    tables: Sequence[MeasuredTable],
    betas: Sequence[float],
    weights: Mapping[str, Fraction],
) -> dict[str, tuple[float, ...]]:
    """c_t of every table at every β, from the bounds for cells that move; in units of the measure."""
    least = min(weights.values())
    return {
        table.name: tuple(
            max(_terms(found, analysis, measure, table, beta, weights[table.name], least))
            for beta, found in zip(betas, moves[table.name], strict=True)
        )
        for table in tables
    }


def _terms(
    moved: float,
    analysis: Analysis,
    measure: ValueMeasure,
    table: MeasuredTable,
    beta: float,
    weight: Fraction,
    least: Fraction,
) -> tuple[float, float, float]:
    """What a row more or less does, what cells do now, and what they do after rows have changed."""
    steepest = find_steepest(measure, table)
    if measure.kind != "sum":
        reach = float((measure.high - measure.low) / weight)
        return reach, min(moved, steepest), steepest * math.exp(-beta * float(least))
    largest = float(measure.reach * measure.step)
    # the analysis tells joined rows per unit of weight
    met = float(weight)
    return (
        largest * analysis.at(beta, table=table.name),
        min(moved, steepest * met * analysis.at_once(table.name)),
        steepest * met * analysis.from_distance(beta, table.name, least),
    )


def find_steepest(measure: ValueMeasure, table: MeasuredTable) -> float:
    """K_t: the largest slope of a term in the cells of one row, which may play all parts, and its rounding."""
    steepest = measure.function.steepest()
    parts = [
        float(norm.dual({name: slope for name, slope in steepest.items() if name in norm.columns}))
        for norm in (measure.function.norms[alias] for alias in table.aliases)
    ]
    return sum(parts) + find_rounding(measure, table)
