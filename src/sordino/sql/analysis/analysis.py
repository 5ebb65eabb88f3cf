"""Analysis: bounds on what one row can change in the answer to a join question, k changes away."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from sordino.core import Distance, ParameterError, UnsupportedError
from sordino.core.parameters import positive
from sordino.engines import Snapshot
from sordino.sensitivity import SmoothBound
from sordino.sql.analysis.elastic import elastic_bounds
from sordino.sql.analysis.patterns import pattern_bounds
from sordino.sql.analysis.reader import Reader
from sordino.sql.analysis.steps import Steps, steps_to_follow
from sordino.sql.question import JoinQuestion

Bounds = dict[str, Sequence[int | Fraction]]

MOST_OCCURRENCES = 8
MOST_COPIES = 4
# Relative rounding of exp and of one product, generously; `SmoothBound` says how it is paid for.
_ROUND_UP = 1 + 2.0**-44


def _patterns(question: JoinQuestion, reader: Reader, steps: Steps) -> Bounds:
    return {t: [int(b) for b in s] for t, s in pattern_bounds(question, reader, steps).items()}


def _corner(question: JoinQuestion, reader: Reader, steps: Steps) -> Bounds:
    return {t: [int(b) for b in s] for t, s in pattern_bounds(question, reader, steps, corner=True).items()}


def _elastic(question: JoinQuestion, reader: Reader, steps: Steps) -> Bounds:
    return {**elastic_bounds(question, reader, steps)}


ANALYSES: dict[str, Callable[[JoinQuestion, Reader, Steps], Bounds]] = {
    "patterns": _patterns,
    "corner": _corner,
    "elastic": _elastic,
}
DEFAULT = ("patterns",)


@dataclass(frozen=True, slots=True, repr=False)
class Analysis:
    """Bounds B_0, B_1, … per private table and per analysis, at the distances 0, unit, 2·unit, …

    ``per_table[table][name]``: what one row of the table can change, in steps of the measure and per unit of distance
    (divided by the table's weight). Confidential, as is ``at``; the shape, ``beta``, ``unit`` and ``distance`` are
    public.
    """

    per_table: dict[str, dict[str, tuple[Fraction, ...]]]
    beta: float
    unit: Fraction
    window: int
    distance: Distance
    constant: bool
    statements: tuple[str, ...]
    seconds: float

    @property
    def bounds(self) -> tuple[Fraction, ...]:
        """B_k: per table the smallest of the analyses, of these the largest."""
        tables = [_smallest(by_name) for by_name in self.per_table.values()]
        return tuple(max(values) for values in zip(*tables, strict=True)) or (Fraction(0),)

    def at(self, beta: float, *, analysis: str | None = None, table: str | None = None) -> float:
        """S_β = sup over k of e^(−βk)B_k, rounded up; of one analysis or one table if asked.

        **Guarantee**: β-smooth for every β ≥ ``self.beta``. The supremum is attained up to the last distance K that was
        followed, or what lies beyond is at most the largest value on the last ``window`` distances of every analysis
        (`horizon`); the smallest of these over the analyses stands for all k > K. Both the values up to K and that
        number grow by at most e^(βG) per row, hence so does their maximum.
        **Numerics**: relative error below 2⁻⁴⁰, upwards.
        """
        beta = positive("beta", beta)
        if beta < self.beta and not self.constant:
            raise ParameterError(f"the analysis was made for beta >= {self.beta:g}, got {beta:g}")
        best = 0.0
        for name, by_name in self.per_table.items():
            if table is not None and name != table:
                continue
            chosen = by_name if analysis is None else {analysis: by_name[analysis]}
            best = max(best, self._smoothed(list(chosen.values()), beta))
        return float(best * _ROUND_UP)

    def _smoothed(self, sequences: list[tuple[Fraction, ...]], beta: float) -> float:
        step = beta * float(self.unit)
        decayed: list[list[float]] = [
            [math.exp(-step * k) * float(b) for k, b in enumerate(s)] for s in sequences
        ]
        beyond = min(max(values[-self.window :]) for values in decayed)
        smallest: list[float] = [min(values) for values in zip(*decayed, strict=True)]
        return max(beyond, max(smallest))

    def smooth_bound(self) -> SmoothBound:
        """What additive noise consumes; in steps of the measure."""
        if self.constant:
            return SmoothBound.of_constant(float(max(self.bounds)), distance=self.distance)
        return SmoothBound(self.at, self.distance, beta_min=self.beta)

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(name for by in self.per_table.values() for name in by))
        return f"Analysis(tables={', '.join(self.per_table)}; analyses={names}; beta={self.beta:g})"


def analyse(
    question: JoinQuestion,
    snapshot: Snapshot,
    *,
    beta: float,
    analyses: Sequence[str] = DEFAULT,
    dialect: str = "duckdb",
) -> Analysis:
    """Bound what one row of a private table can change in the answer, near this database.

    ``beta``: the smallest β that the smooth bound will be asked at; public, like ``analyses``, the names of those that
    run (`ANALYSES`). ``dialect``: of the texts in ``statements``; what runs is the snapshot's own affair.

    **Guarantee**: for each table T and analysis B_k ≥ |q(y) − q(z)|/G_T for all y within k of this database and z one
    row of T from y; B_{k+G}(x) ≥ B_k(y) for x, y one row of weight G apart. Distance: weighted number of rows added
    to or removed from private tables; public tables never change.
    **Requires**: conditions that are deterministic and cannot raise; one state of the data behind ``snapshot``.
    **Numerics**: whole numbers throughout; a join of the tables left over may count up to 10^38.
    """
    beta = positive("beta", beta)
    names = _checked(question, analyses)
    weights = {o.table: o.weight for o in question.occurrences if o.weight is not None}
    distance = Distance(
        "row", "add_remove", tuple((table, float(w)) for table, w in weights.items() if w != 1)
    )
    started = time.perf_counter()
    reader = Reader(snapshot)
    if len(question.occurrences) == 1 or not weights:
        reach = Fraction(question.measure.reach)
        return Analysis(
            {table: {"constant": (reach / weight,)} for table, weight in weights.items()},
            beta, Fraction(1), 1, distance, True, (), time.perf_counter() - started,
        )  # fmt: skip
    steps = steps_to_follow(question, beta)
    found = {name: ANALYSES[name](question, reader, steps) for name in names}
    per_table = {
        table: {name: tuple(Fraction(b) / weight for b in found[name][table]) for name in names}
        for table, weight in steps.tables.items()
    }
    texts = tuple(_text(tree, dialect) for tree in reader.asked)
    return Analysis(
        per_table, beta, steps.unit, steps.widest, distance, False, texts, time.perf_counter() - started
    )


def _checked(question: JoinQuestion, analyses: Sequence[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(analyses))
    unknown = [name for name in names if name not in ANALYSES]
    if unknown or not names or isinstance(analyses, str):
        raise ParameterError(f"analyses must be some of {', '.join(ANALYSES)}, got {analyses!r}")
    if len(question.occurrences) > MOST_OCCURRENCES:
        raise UnsupportedError(
            f"a join of {len(question.occurrences)} tables is not analysed: ask about at most {MOST_OCCURRENCES}"
        )
    tables = [occurrence.table for occurrence in question.occurrences if occurrence.private]
    for table in dict.fromkeys(tables):
        if tables.count(table) > MOST_COPIES:
            raise UnsupportedError(
                f"{table} is joined with itself {tables.count(table)} times: ask with at most {MOST_COPIES} copies"
            )
    return names


def _smallest(by_name: dict[str, tuple[Fraction, ...]]) -> tuple[Fraction, ...]:
    return tuple(min(values) for values in zip(*by_name.values(), strict=True))


def _text(tree: exp.Expr, dialect: str) -> str:
    return tree.sql(dialect=dialect, pretty=True)
