"""What the rows say about a plan: exact numbers and their smooth bounds, all from one snapshot. Confidential."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from sqlglot import exp

from sordino.engines import Engine, KeepingSnapshot, Snapshot
from sordino.sql.analysis import Analysis, Reader
from sordino.sql.answering.cell_noise import Follows
from sordino.sql.answering.plan import AnswerPlan, Group
from sordino.sql.answering.rank_counts import RankCounts, compute_cells
from sordino.sql.reading.lookups import check_lookups


@dataclass(frozen=True, slots=True)
class Measured:
    """One cell: its exact number of steps, and the analysis or the counts if the noise follows them."""

    group: Group
    measure: int
    exact: int
    analysis: Analysis | None
    counts: RankCounts | None = None

    @property
    def follows(self) -> Follows:
        """What the noise consumes."""
        return self.counts if self.analysis is None else self.analysis.smooth_bound()


@dataclass(slots=True)
class Recorder:
    """A snapshot that keeps the text of every statement, for the owner."""

    inner: Snapshot
    dialect: str
    statements: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def kept(self, tables: Iterable[str]) -> dict[Hashable, int] | None:
        """That of the snapshot."""
        return self.inner.kept(tables) if isinstance(self.inner, KeepingSnapshot) else None

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
    check_lookups(plan.statement, snapshot)
    exact = compute_cells(snapshot, plan.statement)
    measured: list[Measured] = []
    reader = Reader(snapshot, None)
    known: dict[Any, Analysis] = {}
    for (group, measure), reading in zip(plan.cells(), plan.readings, strict=True):
        cell = exact[group, measure]
        needed = () if cell.counts is not None else (*plan.noises[measure].betas, *betas)
        if reading.numbers is not reader.numbers:
            reader = Reader(snapshot, reading.numbers)
        analysis = None
        if needed:
            # Groups of one plan with the same numbers have the same bounds.
            same = id(reading.prepared), reader.of(reading.group).told()
            if same not in known:
                known[same] = reading.bound(reader, beta=min(needed))
            analysis = known[same]
        measured.append(Measured(group, measure, cell.steps, analysis, cell.counts))
    return measured
