"""Which group has the largest aggregate? A selection among public groups, as a question to a data set."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import Release, UnsupportedError, add_remove_row
from sordino.curator.dataset import DataSet
from sordino.curator.questions.sql import read_sql
from sordino.curator.questions.workload import WorkloadQuote, find_table, quote_workload
from sordino.engines import Snapshot
from sordino.mechanisms.selection import select
from sordino.sql.aggregates import RankedValue
from sordino.sql.answering.answer_table import make_plain
from sordino.sql.answering.exact import compute_answers
from sordino.sql.question import Statement
from sordino.sql.released import Aggregated

Scores = NDArray[np.float64]
# A grid of scores holds 2^60 of its steps, and no fewer than 2^30 of them are the bound unless a step is given.
_MOST_SCORE = 1 << 52
_SMALL_REACH = 1 << 31


@dataclass(frozen=True, slots=True)
class LargestGroupQuestion:
    """The group with the largest number in the answer of a SELECT with GROUP BY and one COUNT or SUM."""

    sql: str
    epsilon: Any

    def quote(self, data: DataSet) -> WorkloadQuote[Scores]:
        """One table: a row moves every score by at most its reach, and a count only upwards when it is added."""
        statement = read_sql(data, self.sql)
        shown = [output.expression for output in statement.outputs if output.measures]
        cut = statement.having is not None or statement.limit is not None or statement.offset
        if (
            not statement.keys
            or len(statement.measures) != 1
            or not all(isinstance(expression, Aggregated) for expression in shown)
            or cut
        ):
            raise UnsupportedError(
                "a group is chosen by one COUNT or SUM: SELECT key, COUNT(*) FROM t GROUP BY key"
            )
        if not statement.join.is_one_table or not statement.join.occurrences[0].private:
            raise UnsupportedError("a group is chosen among the rows of one private table, without joins")
        (measure,) = statement.measures
        if isinstance(measure, RankedValue):
            raise UnsupportedError(f"a group is chosen by one COUNT or SUM, not by {measure.text}")
        groups = statement.groups()

        def ask(scores: Scores, epsilon: Fraction) -> Release:
            release = select(
                scores,
                profile=float(measure.reach),
                epsilon=epsilon,
                monotone=measure.low >= 0,
                step=_step(measure.reach),
                distance=add_remove_row(),
            )
            return Release(
                _shown(statement, groups[release.value]),
                release.guarantee,
                release.mechanism,
                private=release.private,
            )

        table, _ = find_table(data, statement.join.occurrences[0].table)
        return quote_workload(
            data,
            table,
            text=f"LARGEST OF {statement.canonical}",
            parameters={},
            epsilon=self.epsilon,
            nothing=np.zeros(len(groups)),
            read=lambda snapshot: _score(snapshot, statement),
            ask=ask,
        )


def _score(snapshot: Snapshot, statement: Statement) -> Scores:
    """Whole steps of every group; sums beyond 2^52 of them are cut there, which keeps differences."""
    answers = compute_answers(snapshot, statement)
    return np.array(
        [float(max(-_MOST_SCORE, min(_MOST_SCORE, answers[group][0]))) for group in statement.groups()],
        dtype=np.float64,
    )


def _step(reach: int) -> float | None:
    """The grid of the scores, which are whole numbers: fine enough to be exact, and too coarse for any to leave it."""
    return 1.0 if reach <= _SMALL_REACH else None


def _shown(statement: Statement, group: tuple[Any, ...]) -> Any:
    """The value of the key, or a dict of several."""
    values = [make_plain(value) for value in group]
    return (
        values[0]
        if len(values) == 1
        else {key.name: value for key, value in zip(statement.keys, values, strict=True)}
    )
