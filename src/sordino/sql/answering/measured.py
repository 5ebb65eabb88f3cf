"""What the rows say about a plan: exact numbers and their smooth bounds, all from one snapshot. Confidential."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from sordino.engines import Engine, Snapshot
from sordino.sensitivity import SmoothBound
from sordino.sql.analysis import Analysis, Reader
from sordino.sql.answering.exact import compute_answers
from sordino.sql.answering.plan import AnswerPlan, Group


@dataclass(frozen=True, slots=True)
class Measured:
    """One cell: its exact number of steps, and the analysis if the noise follows one."""

    group: Group
    measure: int
    exact: int
    analysis: Analysis | None

    @property
    def bound(self) -> SmoothBound | None:
        """What the noise consumes."""
        return None if self.analysis is None else self.analysis.smooth_bound()


@dataclass(slots=True)
class Recorder:
    """A snapshot that keeps the text of every statement, for the owner."""

    inner: Snapshot
    dialect: str
    statements: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def aggregate(self, expression: exp.Expr) -> pa.Table:
        """Run one query, remember it and how long it took."""
        self.statements.append(expression.sql(dialect=self.dialect, pretty=True))
        began = time.perf_counter()
        try:
            return self.inner.aggregate(expression)
        finally:
            self.seconds.append(time.perf_counter() - began)


@contextmanager
def open_recorder(engine: Engine) -> Iterator[Recorder]:
    """One snapshot of the engine, with a record of what was run."""
    with engine.snapshot() as snapshot:
        yield Recorder(snapshot, engine.dialect)


def measure_all(snapshot: Snapshot, plan: AnswerPlan, *, betas: tuple[float, ...] = ()) -> list[Measured]:
    """Every cell of a plan inside one snapshot; each group is analysed with its own rows alone.

    ``betas``: further β at which the owner wants the bounds.
    """
    exact = compute_answers(snapshot, plan.statement)
    measured: list[Measured] = []
    reader = Reader(snapshot, None)
    for (group, measure), reading in zip(plan.cells(), plan.readings, strict=True):
        needed = (*plan.noises[measure].betas, *betas)
        if reading.statement is not reader.statement:
            reader = Reader(snapshot, reading.statement)
        analysis = reading.bound(reader, beta=min(needed)) if needed else None
        measured.append(Measured(group, measure, exact[group][measure], analysis))
    return measured
