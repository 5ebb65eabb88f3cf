"""Analysis: bounds on what one row can change in the answer to a join question, k changes away."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sordino.core import Distance, ParameterError, UnsupportedError
from sordino.core.parameters import positive, whole
from sordino.engines import Snapshot
from sordino.sensitivity import SmoothBound
from sordino.sql.aggregates import LARGEST_CHANGE
from sordino.sql.analysis.closure import NormalForm, make_normal_form
from sordino.sql.analysis.counting import Counted
from sordino.sql.analysis.elastic import prepare_elastic
from sordino.sql.analysis.keys import has_keys
from sordino.sql.analysis.patterns import prepare_patterns
from sordino.sql.analysis.reader import AskedNumbers, Asking, Reader
from sordino.sql.analysis.residual import prepare_residual
from sordino.sql.analysis.statement import Group
from sordino.sql.analysis.steps import Steps, find_steps
from sordino.sql.question import JoinQuestion

MOST_ANALYSED = 8
MOST_COPIES = 4
MOST_JOINED = 2
# A statement asks for no more numbers than this, so that planning it stays short; then the next begins.
_MOST_NUMBERS = 48
# Relative rounding of exp and of one product, generously; `SmoothBound` says how it is paid for.
_ROUND_UP = 1 + 2.0**-44


class Prepared(Protocol):
    """An analysis of one question that has said what it asks; it has seen no data."""

    def bounds(self, reader: Reader, steps: Steps) -> Mapping[str, Sequence[int | Fraction]]:
        """B_0, B_1, … per private table, in steps of the measure; not yet divided by the table's weight.

        A table of which nothing is known is left out, if another analysis of the plan knows it.
        """
        ...


ANALYSES: dict[str, Callable[[NormalForm, Asking], Prepared]] = {
    "patterns": prepare_patterns,
    "residual": prepare_residual,
    "elastic": prepare_elastic,
}
# Those that are computed once more, without the tables whose rows an enforced key finds; elastic knows keys by itself.
_KEYED: dict[str, Callable[..., Prepared]] = {"patterns": prepare_patterns, "residual": prepare_residual}
# Fixed per shape of a question, never by what the data says. Of two different tables patterns know all there is.
_FOR_TWO = ("patterns",)
_FOR_MORE = ("patterns", "residual", "elastic")


@dataclass(frozen=True, slots=True, repr=False)
class Analysis:
    """Bounds B_0, B_1, … per private table and per analysis, at the distances 0, unit, 2·unit, …

    ``per_table[table][name]``: what one row of the table can change, in steps of the measure and per unit of distance
    (divided by the table's weight). Confidential, as is ``at``; the shape, ``beta``, ``unit`` and ``distance`` are
    public.
    """

    per_table: dict[str, dict[str, tuple[int | Fraction, ...]]]
    beta: float
    unit: Fraction
    window: int
    distance: Distance
    constant: bool
    seconds: float
    # Per table one row per analysis; and what was smoothed before, since several cells may share an analysis.
    _floats: dict[str, NDArray[np.float64]] = field(init=False, compare=False)
    _found: dict[tuple[float, str | None, str | None], float] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        floats = {
            table: np.array([np.array(s, dtype=np.float64) for s in by_name.values()])
            for table, by_name in self.per_table.items()
        }
        object.__setattr__(self, "_floats", floats)
        object.__setattr__(self, "_found", {})

    @property
    def bounds(self) -> tuple[int | Fraction, ...]:
        """B_k: per table the smallest of the analyses, of these the largest."""
        tables = [_smallest(by_name) for by_name in self.per_table.values()]
        return tuple(max(values) for values in zip(*tables, strict=True)) or (0,)

    def at(self, beta: float, *, analysis: str | None = None, table: str | None = None) -> float:
        """S_β = sup over k of e^(−βk)B_k, rounded up; of one analysis or one table if asked.

        **Guarantee**: β-smooth for every β ≥ ``self.beta``. The supremum is attained up to the last distance K that was
        followed, or what lies beyond is at most the largest value on the last ``window`` distances of every analysis
        (`find_horizon`); the smallest of these over the analyses stands for all k > K. Both the values up to K and that
        number grow by at most e^(βG) per row, hence so does their maximum.
        **Numerics**: relative error below 2⁻⁴⁰, upwards.
        """
        beta = positive("beta", beta)
        if beta < self.beta and not self.constant:
            raise ParameterError(f"the analysis was made for beta >= {self.beta:g}, got {beta:g}")
        known = (beta, analysis, table)
        if known not in self._found:
            best = 0.0
            for name, sequences in self._floats.items():
                if table is not None and name != table:
                    continue
                place = slice(None) if analysis is None else [*self.per_table[name]].index(analysis)
                best = max(best, self._smoothed(np.atleast_2d(sequences[place]), beta))
            self._found[known] = float(best * _ROUND_UP)
        return self._found[known]

    def from_distance(self, beta: float, table: str, least: Fraction) -> float:
        """sup over k ≥ least of e^(−βk)B_k of one table, rounded up: what it may be after changes of that weight.

        **Guarantee**: of x and y one row of weight G apart the values differ at most by the factor e^(βG), as in `at`.
        """
        sequences = self._floats[table]
        if self.constant:
            return float(sequences.min() * np.exp(-beta * float(least)) * _ROUND_UP)
        first = int(least // self.unit)
        decayed = sequences * np.exp(-beta * float(self.unit) * np.arange(sequences.shape[1]))
        beyond = float(decayed[:, -self.window :].max(axis=1).min())
        followed = decayed[:, first:].min(axis=0)
        return float(max([beyond, *followed])) * _ROUND_UP

    def at_once(self, table: str) -> float:
        """B_0 of one table, rounded up."""
        return float(self._floats[table][:, 0].min()) * _ROUND_UP

    def _smoothed(self, sequences: NDArray[np.float64], beta: float) -> float:
        decayed = sequences * np.exp(-beta * float(self.unit) * np.arange(sequences.shape[1]))
        beyond = decayed[:, -self.window :].max(axis=1).min()
        return float(max(beyond, decayed.min(axis=0).max()))

    def smooth_bound(self) -> SmoothBound:
        """What additive noise consumes; in steps of the measure."""
        if self.constant:
            return SmoothBound.of_constant(float(max(self.bounds)), distance=self.distance)
        return SmoothBound(self.at, self.distance, beta_min=self.beta)

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(name for by in self.per_table.values() for name in by))
        return f"Analysis(tables={', '.join(self.per_table)}; analyses={names}; beta={self.beta:g})"


@dataclass(frozen=True, slots=True, repr=False)
class AnalysisPlan:
    """What will be asked about a question; depends on nothing private, and may be read on many snapshots.

    ``numbers``: of several questions, perhaps. ``counts``: what of them this question reads. If they tell group keys
    apart, the question is about any group, and ``group`` says which one is read. ``least``: steps that a row of a table
    may change whatever the question says, and bounds do not fall below.
    """

    question: JoinQuestion
    prepared: dict[str, Prepared]
    numbers: AskedNumbers
    counts: frozenset[Counted] = frozenset()
    group: Group = ()
    least: Mapping[str, int] = field(default_factory=dict)

    @property
    def statement(self) -> exp.Query | None:
        """What is run where nothing is known before; None: nothing."""
        return self.numbers.statement

    def read(self, snapshot: Snapshot, *, beta: float) -> Analysis:
        """Read the numbers and bound; see `analyse`."""
        beta = positive("beta", beta)
        return self.bound(Reader(snapshot, self.numbers), beta=beta)

    def bound(self, reader: Reader, *, beta: float) -> Analysis:
        """From the numbers."""
        beta = positive("beta", beta)
        started = time.perf_counter()
        weights = {o.table: o.weight for o in self.question.occurrences if o.weight is not None}
        distance = Distance(
            "row", "add_remove", tuple((table, float(w)) for table, w in weights.items() if w != 1)
        )
        if not self.prepared:
            reach = Fraction(self.question.measure.reach)
            constant: dict[str, dict[str, tuple[int | Fraction, ...]]] = {
                table: {"constant": (reach / weight,)} for table, weight in weights.items()
            }
            return Analysis(constant, beta, Fraction(1), 1, distance, True, 0.0)
        steps = find_steps(self.question, beta)
        reader = reader.of(self.group)
        found = {name: analysis.bounds(reader, steps) for name, analysis in self.prepared.items()}
        per_table = {
            table: {
                name: _per_unit([max(bound, self.least.get(table, 0)) for bound in bounds[table]], weight)
                for name, bounds in found.items()
                if table in bounds
            }
            for table, weight in steps.tables.items()
        }
        seconds = time.perf_counter() - started
        return Analysis(per_table, beta, steps.unit, steps.widest, distance, False, seconds)

    def __repr__(self) -> str:
        return f"AnalysisPlan(analyses={', '.join(self.prepared) or 'constant'})"


def choose_analyses(question: JoinQuestion) -> tuple[str, ...]:
    """The analyses that run unless others are named: by the tables in FROM alone.

    Chains and cycles of three or more are where residual sensitivity is much smaller: patterns let a new row of one
    table meet all rows of the next. Elastic sensitivity is cheap, and the smallest on some long cycles.
    """
    tables = [occurrence.table for occurrence in question.occurrences]
    return _FOR_TWO if len(tables) == 2 and tables[0] != tables[1] else _FOR_MORE


def plan_analysis(
    question: JoinQuestion, *, analyses: Sequence[str] | None = None, most_joined: int = MOST_JOINED
) -> AnalysisPlan:
    """What some analyses ask, as one statement; reads nothing."""
    return plan_analyses([question], analyses=analyses, most_joined=most_joined)[0]


def plan_analyses(
    questions: Sequence[JoinQuestion],
    *,
    analyses: Sequence[str] | None = None,
    most_joined: int = MOST_JOINED,
    values: Sequence[Sequence[Any]] = (),
) -> tuple[AnalysisPlan, ...]:
    """The same for several questions: those in a row share a statement, and counts that are equal.

    ``values``: the public values of each group key, where the questions are about any group (`name_group`).
    """
    whole("most_joined", most_joined, least=1)
    batches: list[tuple[Asking, list[tuple[JoinQuestion, dict[str, Prepared], frozenset[Counted]]]]] = []
    for question in questions:
        names = _checked(question, choose_analyses(question) if analyses is None else analyses)
        if not batches or len(batches[-1][0].found) >= _MOST_NUMBERS:
            batches.append((Asking(most_joined), []))
        asking, batch = batches[-1]
        prepared: dict[str, Prepared] = {}
        asking.counts.clear()
        if len(question.occurrences) > 1 and any(o.private for o in question.occurrences):
            form = make_normal_form(question)
            prepared = {name: ANALYSES[name](form, asking) for name in names}
            if has_keys(form):
                keyed = [name for name in names if name in _KEYED]
                prepared |= {f"{name} by keys": _KEYED[name](form, asking, keyed=True) for name in keyed}
        batch.append((question, prepared, frozenset(asking.counts)))
    found: list[AnalysisPlan] = []
    for asking, batch in batches:
        numbers = asking.numbers(values, _list_integers(question for question, *_ in batch))
        found += [AnalysisPlan(question, prepared, numbers, counts) for question, prepared, counts in batch]
    return tuple(found)


def analyse(
    question: JoinQuestion,
    snapshot: Snapshot,
    *,
    beta: float,
    analyses: Sequence[str] | None = None,
    most_joined: int = MOST_JOINED,
) -> Analysis:
    """Bound what one row of a private table can change in the answer, near this database.

    ``beta``: the smallest β that the smooth bound will be asked at; public, like ``analyses``, the names of those that
    run (`ANALYSES`), and ``most_joined``: in cyclic questions, how many tables at most are joined without the one that
    closes the cycle (more: tighter bounds, and joins that may be far larger than the question's own).

    **Guarantee**: for each table T and analysis B_k ≥ |q(y) − q(z)|/G_T for all y within k of this database and z one
    row of T from y; B_{k+G}(x) ≥ B_k(y) for x, y one row of weight G apart. Distance: weighted number of rows added
    to or removed from private tables; public tables never change.
    **Requires**: conditions that are deterministic and cannot raise; one state of the data behind ``snapshot``.
    **Numerics**: whole numbers throughout. Answers are cut at `LARGEST_ANSWER`, so that no row changes one by more than
    `LARGEST_CHANGE`: bounds, and the counts that they are made of, end there.
    """
    return plan_analysis(question, analyses=analyses, most_joined=most_joined).read(snapshot, beta=beta)


def _checked(question: JoinQuestion, analyses: Sequence[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(analyses))
    unknown = [name for name in names if name not in ANALYSES]
    if unknown or not names or isinstance(analyses, str):
        raise ParameterError(f"analyses must be some of {', '.join(ANALYSES)} and solver, got {analyses!r}")
    if len(question.occurrences) > MOST_ANALYSED:
        raise UnsupportedError(
            f"a join of {len(question.occurrences)} tables is not analysed: ask about at most {MOST_ANALYSED}"
        )
    tables = [occurrence.table for occurrence in question.occurrences if occurrence.private]
    for table in dict.fromkeys(tables):
        if tables.count(table) > MOST_COPIES:
            raise UnsupportedError(
                f"{table} is joined with itself {tables.count(table)} times: ask with at most {MOST_COPIES} copies"
            )
    return names


def _list_integers(questions: Iterable[JoinQuestion]) -> frozenset[tuple[str, str]]:
    """The columns that are whole numbers, with their tables."""
    return frozenset(
        (occurrence.table, name)
        for question in questions
        for occurrence in question.occurrences
        for name, kind in occurrence.columns.items()
        if kind == "integer"
    )


def _per_unit(bounds: Sequence[int | Fraction], weight: Fraction) -> tuple[int | Fraction, ...]:
    cut = tuple(bounds)
    if max(cut) > LARGEST_CHANGE:
        cut = tuple(min(bound, LARGEST_CHANGE) for bound in cut)
    return cut if weight == 1 else tuple(bound / weight for bound in cut)


def _smallest(by_name: dict[str, tuple[int | Fraction, ...]]) -> tuple[int | Fraction, ...]:
    return tuple(min(values) for values in zip(*by_name.values(), strict=True))
