"""ValuePlan: what an answer about values costs and which noise it gets, from public parameters alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sordino.core import CalibrationError, Distance, Guarantee, Loss, ParameterError, UnsupportedError
from sordino.core.loss import round_as_written, round_down
from sordino.engines import Snapshot
from sordino.mechanisms.noise.beta_grid import BetaGrid, best_grid_noise
from sordino.sensitivity import SmoothBound
from sordino.sql.answering.cell_noise import DrawnSteps, GridNoise
from sordino.sql.answering.plan import AnswerOptions, Group
from sordino.sql.policy import Policy
from sordino.sql.question import Statement
from sordino.sql.values.answers import compute_value_answers, list_measures
from sordino.sql.values.bounds import MOST_TERMS, MeasuredTable, compute_bounds, find_measured_tables
from sordino.sql.values.measure import ValueMeasure
from sordino.sql.values.public_number import PublicNumber
from sordino.sql.values.reading import ValueQuestion
from sordino.sql.values.row_changes import RowChanges, add_row_changes, plan_row_changes

# Sums of up to `MOST_TERMS` doubles are off by a relative 2⁻²⁶; a bound may be off by 2⁻⁴⁰ per change, and so much more
# is paid.
_ROUNDING = 2.0**-14


@dataclass(frozen=True, slots=True)
class ValueCell:
    """One number: its exact number of steps in the continuous version, and c_β of each table, in steps."""

    group: Group
    measure: int
    exact: int
    bounds: Mapping[str, tuple[float, ...]]
    betas: tuple[float, ...]
    distance: Distance

    @property
    def bound(self) -> SmoothBound:
        """The largest over the tables."""
        largest = {
            beta: max(per_table[i] for per_table in self.bounds.values()) for i, beta in enumerate(self.betas)
        }
        return SmoothBound(lambda beta: largest[beta], self.distance, kind="derivative")


@dataclass(frozen=True, slots=True)
class ValuePlan:
    """**Guarantee**: ε per unit of the norms. Every number is released with noise that follows a β-smooth bound on its
    derivative, the best β of a public grid (`BetaGrid`, calibrated along a path). Aggregates share ε evenly. Groups by
    public keys that no row meets twice take ε/m^(1 − 1/p) each where rows are put together by ℓ_p: ℓ₁ moves of rows add
    up, so m groups moved by d₁, …, d_m cost Σ ε·d_i; otherwise they share it evenly. Groups by a category share it
    evenly too: where a row's category changes, the numbers of two groups do, and the noise of all follows every row.
    ``rows``: where rows come and go too, how many others they meet (`row_changes.py`).
    **Requires**: cells on their lattices; rows, public columns and keys are the same in all databases compared, unless
    rows come and go.
    **Source**: NAPLES report, §3.3.8, Thm 3.62 and 3.73, with the corrections of `docs/errata.md`.
    """

    question: ValueQuestion
    options: AnswerOptions
    noises: tuple[GridNoise | PublicNumber, ...]
    tables: tuple[MeasuredTable, ...]
    guarantee: Guarantee
    rows: RowChanges | None = None

    @property
    def statement(self) -> Statement:
        """What is asked."""
        return self.question.statement

    @property
    def sharing(self) -> dict[str, float]:
        """What the rates of every occurrence of a protected table are divided by."""
        return {alias: table.sharing for table in self.tables for alias in table.aliases}

    @property
    def mechanism(self) -> str:
        """The noise."""
        return next(noise.name for noise in self.noises if noise.betas)

    @property
    def betas(self) -> tuple[float, ...]:
        """The grid, which all numbers share."""
        return next(noise.betas for noise in self.noises if noise.betas)

    def measure(self, snapshot: Snapshot, further: tuple[float, ...] = ()) -> list[ValueCell]:
        """Exact numbers and bounds of all cells, from one snapshot; at further β if asked. Confidential."""
        exact = compute_value_answers(snapshot, self.statement)
        smallest = min({*self.betas, *further})
        counted = {} if self.rows is None else self.rows.read(snapshot, smallest)
        cells = []
        for place, measure in enumerate(list_measures(self.statement)):
            betas = () if measure.public else tuple(sorted({*self.betas, *further}))
            found = {
                table.name: dict.fromkeys(self.statement.groups(), ())
                if measure.public
                else compute_bounds(
                    snapshot,
                    self.statement,
                    measure,
                    table,
                    betas,
                    self.sharing,
                    public_rows=self.rows is None,
                )
                for table in self.tables
            }
            self._check_terms(found)
            step = float(measure.step)
            for group in self.statement.groups():
                per_table = {name: groups[group] for name, groups in found.items()}
                if self.rows is not None:
                    per_table = add_row_changes(
                        per_table, counted[group], measure, self.tables, betas, self.rows.weights
                    )
                bounds = {name: tuple(c / step for c in found_here) for name, found_here in per_table.items()}
                cells.append(
                    ValueCell(group, place, exact[group][place], bounds, betas, self.guarantee.distance)
                )
        return cells

    def _check_terms(self, found: Mapping[str, Mapping[Group, tuple[float, ...]]]) -> None:
        """Raise where too many terms are added up: the number of rows is public here, or another bound is taken."""
        bounds = [bound for groups in found.values() for group in groups.values() for bound in group]
        if self.rows is None and math.inf in bounds:
            raise UnsupportedError(
                f"more than {MOST_TERMS} joined rows are added up, a public number, and their rounding is not paid "
                "for: ask for fewer, by conditions on public columns"
            )

    def draw(self, cells: list[ValueCell]) -> dict[tuple[Group, int], DrawnSteps]:
        """One draw for every cell."""
        return {
            (cell.group, cell.measure): self.noises[cell.measure].draw(cell.exact, cell.bound)
            for cell in cells
        }

    def list_notes(self) -> tuple[str, ...]:
        """What the answer is an answer to."""
        notes = []
        if self.question.smoothed:
            notes.append(
                f"the answer is that of the continuous version of the question, with filters {self.question.filters}"
            )
        kinds = {measure.kind for measure in self.statement.measures if isinstance(measure, ValueMeasure)}
        if kinds & {"min", "max"}:
            notes.append("where no row passes the filters, a minimum is above and a maximum below all values")
        names = [key.name for key in self.statement.keys if key.spread]
        if names:
            notes.append(
                f"{' and '.join(names)} may have changed for any row: its groups share epsilon, and cells with a value "
                "outside of the domain are in the last of them"
            )
        return tuple(notes)


def make_value_plan(
    question: ValueQuestion, options: AnswerOptions, distance: Distance, policy: Policy
) -> ValuePlan:
    """The plan; errors here depend on the question and the policy alone."""
    if options.delta or options.error_share or options.analyses:
        name = "delta" if options.delta else "error_share" if options.error_share else "analyses"
        raise UnsupportedError(f"{name} is not for questions about values: leave it out")
    statement = question.statement
    # rows move between the groups of a category
    spread = math.prod(len(key.values) for key in statement.keys if key.spread)
    groups = len(statement.groups()) // spread
    if not groups:
        raise ParameterError("GROUP BY has no groups: the domain of its key is empty")
    tables = tuple(find_measured_tables(statement, policy))
    measures = list_measures(statement)
    if all(measure.public for measure in measures):
        raise ParameterError(
            "the question asks for the number of rows alone, which is public: ask the database"
        )
    share = Fraction(1, sum(not measure.public for measure in measures))
    each = share / share_categories(spread)
    largest = max((table.exponent for table in tables), default=Fraction(1))
    rows = plan_row_changes(statement) if policy.counts_rows else None
    apart = statement.partitions and (rows is None or rows.confined)
    power = 1 - 1 / float(largest) if apart else 1.0
    epsilon = round_down(options.pure * each) / groups**power * (1 - 2.0**-50)
    lightest = min([1.0, *(table.least_move for table in tables)])
    if rows is not None:
        lightest = min([lightest, *(float(weight) for weight in rows.weights.values())])
    grid = make_value_grid(options.noise, epsilon, lightest)
    noises = tuple(PublicNumber() if measure.public else GridNoise(grid, None) for measure in measures)
    theorem = f"{GridNoise(grid, None).theorem} on derivatives"
    if share < 1:
        theorem += f"; {1 / share} aggregates share the budget evenly"
    if any(measure.public for measure in measures):
        theorem += "; the number of rows is public"
    if groups > 1:
        how = (
            "each take all of it"
            if power == 0
            else "share it"
            if power == 1
            else f"take a {groups**power:.4g}th each"
        )
        theorem += f"; {groups} groups {how}"
    if spread > 1:
        theorem += f"; {spread} categories that rows may move between share it evenly"
    guarantee = Guarantee(Loss(epsilon=round_as_written(options.pure)), distance, theorem)
    return ValuePlan(question, options, noises, tables, guarantee, rows)


def share_categories(count: int) -> int:
    """Among how many parts ε is split where a row may move between so many groups: each group is a question of its
    own, with a filter on the category."""
    return count


def make_value_grid(noise: str | None, epsilon: float, lightest: float) -> BetaGrid:
    """The grid of β of a noise that is calibrated along a path; rounding of bounds is paid per least move."""
    name = noise or best_grid_noise(epsilon)
    grid = BetaGrid.of(name, epsilon=epsilon, slopes=True)
    if not any(_is_payable(grid, point.beta, lightest) for point in grid.points):
        raise CalibrationError(
            f"epsilon {epsilon:g} is too small for this norm: its least move is {lightest:.3g} units, and "
            f"rounding per move needs an epsilon of about {_least_epsilon(name, lightest):.2g}; give columns larger "
            "factors in the norm, or a coarser granularity"
        )
    return BetaGrid.at(
        grid.noise,
        [point.beta for point in grid.points if _is_payable(grid, point.beta, lightest)],
        epsilon=epsilon,
        lightest=Fraction(lightest * _ROUNDING),
    )


def _least_epsilon(noise: str, lightest: float) -> float:
    """By doubling: some β of the grid leaves room."""
    epsilon = 1e-6
    for _ in range(100):
        grid = BetaGrid.of(noise, epsilon=epsilon, slopes=True)
        if any(_is_payable(grid, point.beta, lightest) for point in grid.points):
            break
        epsilon *= 2
    return epsilon


def _is_payable(grid: BetaGrid, beta: float, lightest: float) -> bool:
    """Whether β leaves room for what rounding costs: all but the largest do."""
    spare = 2.0**-38 / (lightest * _ROUNDING)
    return beta + spare < 0.99 * grid.noise.largest_beta(grid.epsilon, 0.0)
