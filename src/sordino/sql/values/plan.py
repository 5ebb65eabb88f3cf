"""ValuePlan: what an answer about values costs and which noise it gets, from public parameters alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sordino.core import Distance, Guarantee, Loss, ParameterError, UnsupportedError
from sordino.core.loss import round_as_written, round_down
from sordino.engines import Snapshot
from sordino.mechanisms.noise.beta_grid import BetaGrid, best_grid_noise
from sordino.sensitivity import SmoothBound
from sordino.sql.answering.cell_noise import DrawnSteps, GridNoise
from sordino.sql.answering.exact import compute_answers
from sordino.sql.answering.plan import AnswerOptions, Group
from sordino.sql.policy import Policy
from sordino.sql.question import Statement
from sordino.sql.values.bounds import MeasuredTable, compute_bounds, find_measured_tables
from sordino.sql.values.measure import ValueMeasure
from sordino.sql.values.reading import ValueQuestion

# Sums of up to 2²⁷ doubles are off by a relative 2⁻²⁶; a bound may be off by 2⁻⁴⁰ per change, and so much more is paid.
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
    up, so m groups moved by d₁, …, d_m cost Σ ε·d_i; otherwise they share it evenly.
    **Requires**: cells on their lattices; rows, public columns and keys are the same in all databases compared.
    **Source**: NAPLES report, §3.3.8, Thm 3.62 and 3.73, with the corrections of `docs/errata.md`.
    """

    question: ValueQuestion
    options: AnswerOptions
    noises: tuple[GridNoise, ...]
    tables: tuple[MeasuredTable, ...]
    guarantee: Guarantee

    @property
    def statement(self) -> Statement:
        """What is asked."""
        return self.question.statement

    @property
    def mechanism(self) -> str:
        """The noise."""
        return self.noises[0].name

    def measure(self, snapshot: Snapshot, further: tuple[float, ...] = ()) -> list[ValueCell]:
        """Exact numbers and bounds of all cells, from one snapshot; at further β if asked. Confidential."""
        exact = compute_answers(snapshot, self.statement)
        cells = []
        for place, measure in enumerate(self.statement.measures):
            if not isinstance(measure, ValueMeasure):
                raise TypeError("a question about values has measures of values")
            betas = tuple(sorted({*self.noises[place].betas, *further}))
            found = {
                table.name: compute_bounds(
                    snapshot, self.statement, measure, table, betas, self.question.copies
                )
                for table in self.tables
            }
            step = float(measure.step)
            for group in self.statement.groups():
                bounds = {name: tuple(c / step for c in groups[group]) for name, groups in found.items()}
                cells.append(
                    ValueCell(group, place, exact[group][place], bounds, betas, self.guarantee.distance)
                )
        return cells

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
        return tuple(notes)


def make_value_plan(
    question: ValueQuestion, options: AnswerOptions, distance: Distance, policy: Policy
) -> ValuePlan:
    """The plan; errors here depend on the question and the policy alone."""
    if options.delta or options.error_share or options.analyses:
        name = "delta" if options.delta else "error_share" if options.error_share else "analyses"
        raise UnsupportedError(f"{name} is not for questions about values: leave it out")
    statement = question.statement
    groups = len(statement.groups())
    if not groups:
        raise ParameterError("GROUP BY has no groups: the domain of its key is empty")
    tables = tuple(find_measured_tables(statement, policy))
    share = Fraction(1, len(statement.measures))
    largest = max((table.exponent for table in tables), default=Fraction(1))
    power = 1.0 if not statement.partitions else 1 - 1 / float(largest)
    epsilon = round_down(options.pure * share) / groups**power * (1 - 2.0**-50)
    lightest = min([1.0, *(table.least_move for table in tables)])
    grid = make_value_grid(options.noise, epsilon, lightest)
    noises = tuple(GridNoise(grid, None) for _ in statement.measures)
    theorem = f"{noises[0].theorem} on derivatives"
    if len(statement.measures) > 1:
        theorem += f"; {len(statement.measures)} aggregates share the budget evenly"
    if groups > 1:
        how = (
            "each take all of it"
            if power == 0
            else "share it"
            if power == 1
            else f"take a {groups**power:.4g}th each"
        )
        theorem += f"; {groups} groups {how}"
    guarantee = Guarantee(Loss(epsilon=round_as_written(options.pure)), distance, theorem)
    return ValuePlan(question, options, noises, tables, guarantee)


def make_value_grid(noise: str | None, epsilon: float, lightest: float) -> BetaGrid:
    """The grid of β of a noise that is calibrated along a path; rounding of bounds is paid per least move."""
    name = noise or best_grid_noise(epsilon)
    grid = BetaGrid.of(name, epsilon=epsilon, slopes=True)
    return BetaGrid.at(
        grid.noise,
        [point.beta for point in grid.points if _is_payable(grid, point.beta, lightest)],
        epsilon=epsilon,
        lightest=Fraction(lightest * _ROUNDING),
    )


def _is_payable(grid: BetaGrid, beta: float, lightest: float) -> bool:
    """Whether β leaves room for what rounding costs: all but the largest do."""
    spare = 2.0**-38 / (lightest * _ROUNDING)
    return beta + spare < 0.99 * grid.noise.largest_beta(grid.epsilon, 0.0)
