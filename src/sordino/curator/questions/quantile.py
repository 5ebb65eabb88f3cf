"""A quantile of a column of a private table, as a question to a data set."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sordino.core import ParameterError, Release, add_remove_row
from sordino.core.parameters import as_written, positive, probability
from sordino.curator.dataset import DataSet
from sordino.curator.questions.rows import read_rows
from sordino.curator.questions.workload import (
    WorkloadQuote,
    find_column,
    find_table,
    quote_workload,
    split_name,
)
from sordino.engines import Snapshot
from sordino.sql.aggregates import BoundedSum
from sordino.sql.answering.exact import write_join
from sordino.sql.question import Statement
from sordino.stats.quantile import quantile_of_counts

Counts = NDArray[np.int64]
_MOST_POINTS = 1_000_000


@dataclass(frozen=True, slots=True)
class QuantileQuestion:
    """The q-quantile of ``column`` (``table.column``) over the rows for which ``where``, a condition in SQL, holds."""

    column: str
    q: float
    epsilon: Any
    step: Any = None
    where: str | None = None

    def quote(self, data: DataSet) -> WorkloadQuote[Counts]:
        """Bounds and lattice are the policy's; the engine counts the rows at every point."""
        table, catalogued = find_table(data, split_name(self.column)[0])
        name = find_column(table, catalogued, split_name(self.column)[1])
        q = probability("q", self.q)
        # the question as a SUM over the column, which has the same bounds, lattice and rows
        total = exp.Sum(this=exp.column(name, quoted=True))
        statement = read_rows(data, table, catalogued.name, self.where, total, "a quantile")
        (measure,) = statement.measures
        if not isinstance(measure, BoundedSum):
            raise TypeError("a sum is measured as a sum")
        lattice = _lattice(measure, self.step)
        points = int((lattice.high - lattice.low) / lattice.step) + 1

        def ask(counts: Counts, epsilon: Fraction) -> Release:
            return quantile_of_counts(
                counts, q, low=lattice.low, step=lattice.step, epsilon=epsilon, distance=add_remove_row()
            )

        return quote_workload(
            data,
            table,
            text=f"QUANTILE {q} OF {statement.canonical}",
            parameters={"q": q, "step": str(lattice.step)},
            epsilon=self.epsilon,
            nothing=np.zeros(points, dtype=np.int64),
            read=lambda snapshot: _count(snapshot, statement, lattice, points),
            ask=ask,
        )


def _lattice(measure: BoundedSum, step: Any) -> BoundedSum:
    """The same column on the lattice that was asked for: every so many steps of its own."""
    own = measure.step
    if step is not None:
        positive("step", step)
        wanted = as_written("step", step)
        if wanted % own:
            raise ParameterError(
                f"step must be a whole multiple of the column's granularity {own}, got {step!r}"
            )
        low, high = (measure.low // wanted) * wanted, -((-measure.high) // wanted) * wanted
        measure = BoundedSum(measure.value, low, high, wanted, measure.whole, measure.text)
    points = (measure.high - measure.low) / measure.step + 1
    if points > _MOST_POINTS:
        raise ParameterError(
            f"the bounds of the column hold {points} points of step {measure.step}, at most {_MOST_POINTS} are "
            f"answered: give a larger step, such as {(measure.high - measure.low) / 10_000}"
        )
    return measure


def _count(snapshot: Snapshot, statement: Statement, lattice: BoundedSum, points: int) -> Counts:
    """How many rows lie at every point: one GROUP BY in the engine."""
    steps = lattice.steps()
    columns = [
        exp.alias_(steps, "place", quoted=True),
        exp.alias_(exp.Count(this=exp.Star()), "rows_", quoted=True),
    ]
    conditions = (*statement.join.conditions, *lattice.conditions())
    query = write_join(columns, statement.join.occurrences, conditions).group_by(steps.copy(), copy=False)
    found = snapshot.aggregate(query)
    counts = np.zeros(points, dtype=np.int64)
    places = found.column(0).to_numpy() - int(lattice.low / lattice.step)
    counts[places] = found.column(1).to_numpy()
    return counts
