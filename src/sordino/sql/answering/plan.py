"""What an answer will cost and which noise it gets: settled from public parameters, before any row is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NoReturn, get_args

from sordino.core import Distance, Guarantee, Loss, ParameterError, UnsupportedError
from sordino.core.loss import round_as_written
from sordino.core.parameters import as_written, choice, flag, number, positive, probability
from sordino.mechanisms.names import SqlMechanismName
from sordino.mechanisms.noise.beta_grid import best_grid_noise, grid_noises
from sordino.mechanisms.noise.registry import NOISES, check_serves
from sordino.mechanisms.noise.traits import NOT_SPENT
from sordino.sql.aggregates import Measure, RankedValue
from sordino.sql.analysis import SOLVER, AnalysisPlan, add_limits, choose_analyses, limit_rows, plan_groups
from sordino.sql.analysis.steps import find_steps
from sordino.sql.answering.cell_noise import (
    CONFIDENCE,
    CellNoise,
    GridNoise,
    choose_constant_noise,
    choose_smooth_noise,
)
from sordino.sql.answering.left_joins import bound_by_inner_join, find_least_changes
from sordino.sql.answering.rank_noise import choose_rank_noise
from sordino.sql.answering.solver_noise import (
    choose_limited_noise,
    is_never_larger,
    is_only_solver,
    limit_counted,
    plan_without_rows,
)
from sordino.sql.question import JoinQuestion, Statement

# Of all groups together, for values that are chosen by their rank.
MOST_POINTS = 10_000_000
Group = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """How an analyst wants a question answered; all of it public. Either ``epsilon`` or ``rho`` is given."""

    epsilon: Fraction | None
    delta: Fraction
    noise: str | None = None
    error_share: Fraction = Fraction(0)
    non_negative: bool = False
    analyses: tuple[str, ...] | None = None
    mechanism: str | None = None
    rho: Fraction | None = None

    @classmethod
    def checked(
        cls,
        epsilon: Any = None,
        delta: Any = 0,
        *,
        rho: Any = None,
        mechanism: Any = None,
        noise: Any = None,
        error_share: Any = 0.0,
        non_negative: Any = False,
        analyses: Any = None,
    ) -> AnswerOptions:
        """From what a caller gave, or an error that says what is accepted."""
        if (epsilon is None) == (rho is None):
            raise ParameterError("give either epsilon, or rho (zCDP), exactly one of them")
        name, given = ("rho", rho) if epsilon is None else ("epsilon", epsilon)
        positive(name, given), probability("delta", delta, zero=True)
        if rho is not None and delta:
            raise ParameterError("rho goes without a delta: the account states it at a delta of its own")
        if mechanism is not None:
            choice("mechanism", mechanism, get_args(SqlMechanismName))
        if noise is not None:
            choice("noise", noise, grid_noises())
        share = number("error_share", error_share)
        if not 0 <= share < 1:
            raise ParameterError(f"error_share must be in [0, 1), got {error_share!r}")
        if isinstance(analyses, str):
            analyses = (analyses,)
        if analyses is not None and not all(isinstance(name, str) for name in analyses):
            raise ParameterError(f"analyses must be names of analyses, got {analyses!r}")
        return cls(
            None if epsilon is None else as_written("epsilon", epsilon),
            as_written("delta", delta),
            noise,
            as_written("error_share", error_share),
            flag("non_negative", non_negative),
            None if analyses is None else tuple(sorted(set(analyses))),
            mechanism,
            None if rho is None else as_written("rho", rho),
        )

    @property
    def budget(self) -> tuple[Fraction, bool]:
        """What is given, and whether it is a rho."""
        if self.rho is not None:
            return self.rho, True
        if self.epsilon is None:
            raise TypeError("options hold epsilon or rho")
        return self.epsilon, False

    @property
    def pure(self) -> Fraction:
        """ε, where nothing else will do."""
        if self.epsilon is None:
            raise UnsupportedError("this is answered for an epsilon: ask with epsilon in place of rho")
        return self.epsilon

    def times(self, factor: Fraction) -> AnswerOptions:
        """The same at another budget."""
        amount, concentrated = self.budget
        if concentrated:
            return replace(self, rho=amount * factor)
        return replace(self, epsilon=amount * factor)

    def told_budget(self) -> dict[str, float]:
        """What is given, by its name."""
        amount, concentrated = self.budget
        return {"rho" if concentrated else "epsilon": float(amount)}

    def parameters(self) -> dict[str, Any]:
        """Plain data for the ledger: what makes a question the same question, beside its text."""
        told = {} if self.mechanism is None else {"mechanism": self.mechanism}
        return {
            **self.told_budget(),
            **told,
            "delta": float(self.delta),
            "noise": self.noise,
            "error_share": float(self.error_share),
            "analyses": None if self.analyses is None else list(self.analyses),
        }


@dataclass(frozen=True, slots=True)
class AnswerPlan:
    """One noise per measure, one analysis per number, and the guarantee of all cells together.

    **Guarantee**: every measure of every group is a release of its own with ``noises[measure]``, which costs
    a share of (ε, δ). Measures share the budget evenly (sequential composition). Groups take all of it each
    where the statement partitions the rows of every private table *and* each group's bound is computed from
    that group's rows alone (parallel composition: one row changes one group's law); otherwise groups share it
    evenly too.
    """

    statement: Statement
    options: AnswerOptions
    noises: tuple[CellNoise, ...]
    readings: tuple[AnalysisPlan, ...]
    shares: int
    guarantee: Guarantee

    @property
    def mechanism(self) -> str:
        """What was drawn."""
        return " and ".join(dict.fromkeys(noise.name for noise in self.noises))

    def list_notes(self) -> tuple[str, ...]:
        """What else is public about how near the numbers are, measure by measure; and that a δ was not needed."""
        unspent = self.options.delta > 0 and self.guarantee.loss.delta == 0
        notes = tuple(note for noise in self.noises if (note := noise.note()) is not None)
        return (*notes, NOT_SPENT) if unspent else notes

    def cells(self) -> list[tuple[Group, int]]:
        """Every group with every measure, in the order in which they are answered."""
        return list_cells(self.statement)

    def composition(self) -> str:
        """How the budget is divided, in words."""
        return describe_composition(self.statement)

    def at_budget(self, options: AnswerOptions) -> AnswerPlan:
        """The same question for another ε or ρ."""
        return plan_with(self.statement, options, self.guarantee.distance, self.readings)


def list_cells(statement: Statement) -> list[tuple[Group, int]]:
    """Every group with every measure."""
    return [(group, measure) for group in statement.groups() for measure in range(len(statement.measures))]


def make_plan(statement: Statement, options: AnswerOptions, distance: Distance) -> AnswerPlan:
    """The plan of a statement; errors here depend on the question and the policy alone."""
    if statement.counted is not None:
        if options.analyses not in (None, (SOLVER,)):
            raise UnsupportedError(
                f"rows without repeats are bounded by the solver and by nothing else: leave analyses out, or name "
                f"{SOLVER!r}"
            )
        limits: Mapping[str, int] = limit_counted(statement)
        return plan_with(statement, options, distance, plan_without_rows(statement, limits))
    bounding = bound_by_inner_join(statement)
    _refuse_values_of_joins(statement)
    check_points(statement.measures, len(statement.groups()))
    limits = limit_rows(statement.join, options.analyses)
    names = [name for name in options.analyses or choose_analyses(bounding.join) if name != SOLVER]
    if names or len(bounding.join.occurrences) == 1:
        readings, confined = plan_groups(bounding, analyses=names or choose_analyses(bounding.join))
        readings = add_limits(readings, limits)
    else:
        readings, confined = plan_without_rows(statement, limits), True
    readings = tuple(
        replace(reading, least=find_least_changes(statement, measure))
        for (_, measure), reading in zip(list_cells(statement), readings, strict=True)
    )
    statement = replace(statement, partitions=bounding.partitions and confined)
    return plan_with(statement, options, distance, readings)


def plan_with(
    statement: Statement, options: AnswerOptions, distance: Distance, readings: tuple[AnalysisPlan, ...]
) -> AnswerPlan:
    """The same where the statements of the analyses are known already: they do not depend on ε and δ."""
    join = bound_by_inner_join(statement).join
    private = [occurrence for occurrence in join.occurrences if occurrence.private]
    if not private:
        raise UnsupportedError(
            "the question reads public tables only: nothing in it is protected, ask the database itself"
        )
    groups = statement.groups()
    if not groups:
        raise ParameterError("GROUP BY has no groups: the domain of its key is empty")
    weights = {occurrence.table: Fraction(occurrence.weight or 1) for occurrence in private}
    constant = statement.counted is None and len(join.occurrences) == 1
    shares = len(statement.measures) * (1 if statement.partitions else len(groups))
    amount, concentrated = options.budget
    share, delta = amount / shares, options.delta / shares
    noises: tuple[CellNoise, ...]
    limited = (
        ()
        if concentrated
        else choose_limited_noise(statement, readings, share, weights, list_confidences(statement))
    )
    if limited and is_only_solver(readings):
        noises, constant = limited, True
    elif constant:
        noises = tuple(
            _constant(measure, share, weights, confidence, concentrated=concentrated)
            for measure, confidence in zip(statement.measures, list_confidences(statement), strict=True)
        )
    elif concentrated:
        raise UnsupportedError(
            "rho is for questions about one table, or with mechanism='truncation': smooth bounds of joins are answered "
            "for an epsilon"
        )
    else:
        made = {
            held: _smooth(options, share, delta, weights, held) for held in set(list_confidences(statement))
        }
        least = _least_beta(join, next(iter(made.values())).betas)
        noises = tuple(made[held].from_beta(least) for held in list_confidences(statement))
        if limited and options.noise is None and is_never_larger(limited, noises, statement, weights):
            noises, constant = limited, True
    spent = options.delta if any(noise.uses_delta for noise in noises) else Fraction(0)
    theorem = "; ".join(dict.fromkeys(noise.theorem for noise in noises))
    if not constant:
        theorem += f"; bound by {', '.join(_list_analyses(readings))}"
    if shares > 1 or len(groups) > 1:
        theorem = f"{theorem}; {describe_composition(statement)}"
    stated = round_as_written(amount)
    loss = Loss(rho=stated) if concentrated else Loss(epsilon=stated, delta=round_as_written(spent))
    guarantee = Guarantee(loss, distance, theorem)
    return AnswerPlan(statement, options, noises, readings, shares, guarantee)


def _refuse_values_of_joins(statement: Statement) -> None:
    for measure in statement.measures:
        if not measure.additive and not statement.join.is_one_table:
            raise UnsupportedError(
                f"{measure.text} over a join is refused: one row may bring in as many values as it meets rows. Ask "
                "about one private table (public ones may be joined by a key of theirs), or protect users with all "
                "their rows"
            )


def check_points(measures: Sequence[Measure], groups: int) -> None:
    """Refuse to choose among more points, in all groups together, than fit into memory."""
    for measure in measures:
        if isinstance(measure, RankedValue) and measure.lattice.points * groups > MOST_POINTS:
            raise UnsupportedError(
                f"{measure.text} is chosen among {measure.lattice.points} points in each of {groups} groups, and at "
                f"most {MOST_POINTS} are looked at: group by fewer values, or ask about fewer points, such as those of "
                "FLOOR(x / 100) * 100"
            )


def _list_analyses(readings: tuple[AnalysisPlan, ...]) -> list[str]:
    """As they are named: by keys or not is the same analysis."""
    return list(dict.fromkeys(name.removesuffix(" by keys") for plan in readings for name in plan.prepared))


def list_confidences(statement: Statement) -> list[float]:
    """How sure the radius of each measure is: where a column is made of several, all must hold at once."""
    parts = [
        max((len(output.measures) for output in statement.outputs if index in output.measures), default=1)
        for index in range(len(statement.measures))
    ]
    return [CONFIDENCE if number == 1 else 1 - (1 - CONFIDENCE) / number for number in parts]


def describe_composition(statement: Statement) -> str:
    """How the budget is divided, in words."""
    groups, measures = len(statement.groups()), len(statement.measures)
    words = []
    if measures > 1:
        words.append(f"{measures} aggregates share the budget evenly")
    if groups > 1 and statement.partitions:
        words.append(f"{groups} groups each take all of it (they partition the rows)")
    elif groups > 1:
        words.append(f"{groups} groups share the budget evenly (a row may be in several)")
    return "; ".join(words) or "one number takes the whole budget"


def _constant(
    measure: Measure,
    budget: Fraction,
    weights: dict[str, Fraction],
    confidence: float,
    *,
    concentrated: bool,
) -> CellNoise:
    if not isinstance(measure, RankedValue):
        return choose_constant_noise(measure.reach, budget, weights, confidence, concentrated=concentrated)
    if concentrated:
        refuse_rho(measure)
    return choose_rank_noise(measure, budget, weights)


def refuse_rho(measure: Measure) -> NoReturn:
    """What is chosen by rank has no Gaussian noise."""
    raise UnsupportedError(f"{measure.text} is chosen for an epsilon: ask with epsilon in place of rho")


def _least_beta(join: JoinQuestion, betas: tuple[float, ...]) -> float:
    """The smallest β of a grid at which the join can be analysed; the others do without the smaller ones.

    A small β has to follow more distances than may be followed, which the tables and their weights decide.
    """
    for beta in betas[:-1]:
        with suppress(UnsupportedError):
            find_steps(join, beta)
            return beta
    find_steps(join, betas[-1])
    return betas[-1]


def _smooth(
    options: AnswerOptions,
    epsilon: Fraction,
    delta: Fraction,
    weights: dict[str, Fraction],
    confidence: float,
) -> GridNoise:
    """The best pure noise unless one is named: a δ is spent only by who names a noise that needs it.

    What δ buys, at most a tenth of the error where bounds hardly grow, it loses many times over where they do, and
    which of the two it is depends on the rows.
    """
    name = options.noise or best_grid_noise(float(epsilon))
    check_serves(NOISES[name].traits, constant=False, delta=float(delta))
    return choose_smooth_noise(name, epsilon, delta, options.error_share, weights, confidence)
