"""A quantile of a column of a private table, as a question to a data set."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from sordino.sql.aggregates import BoundedSum, Lattice
from sordino.sql.aggregates.quantile import MOST_POINTS
from sordino.sql.answering.rank_counts import count_places
from sordino.stats.quantile import quantile_of_counts

Counts = NDArray[np.int64]


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
        lattice = _coarsen(measure.lattice, self.step)

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
            nothing=np.zeros(lattice.points, dtype=np.int64),
            read=lambda snapshot: count_places(snapshot, statement, lattice)[()].spread(lattice.points),
            ask=ask,
        )


def _coarsen(lattice: Lattice, step: Any) -> Lattice:
    """The lattice that was asked for: every so many steps of the column's own."""
    if step is not None:
        positive("step", step)
        wanted = as_written("step", step)
        if wanted % lattice.step:
            raise ParameterError(
                f"step must be a whole multiple of the column's granularity {lattice.step}, got {step!r}"
            )
        low, high = (lattice.low // wanted) * wanted, -((-lattice.high) // wanted) * wanted
        lattice = replace(lattice, low=low, high=high, step=wanted)
    if lattice.points > MOST_POINTS:
        raise ParameterError(
            f"the bounds of the column hold {lattice.points} points of step {lattice.step}, at most {MOST_POINTS} are "
            f"answered: give a larger step, such as {(lattice.high - lattice.low) / 10_000}"
        )
    return lattice
