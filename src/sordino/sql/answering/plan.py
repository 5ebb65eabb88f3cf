"""What an answer will cost and which noise it gets: settled from public parameters, before any row is read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sordino.core import Distance, Guarantee, Loss, ParameterError, UnsupportedError
from sordino.core.loss import round_as_written
from sordino.core.parameters import as_written, choice, flag, number, positive, probability
from sordino.mechanisms.noise.beta_grid import best_grid_noise, grid_noises
from sordino.mechanisms.noise.registry import NOISES, check_serves
from sordino.sql.analysis import AnalysisPlan, choose_analyses, is_confined, plan_analyses
from sordino.sql.analysis.steps import find_steps
from sordino.sql.answering.cell_noise import (
    CONFIDENCE,
    CellNoise,
    GridNoise,
    choose_constant_noise,
    choose_smooth_noise,
)
from sordino.sql.question import JoinQuestion, Statement

Group = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """How an analyst wants a question answered; all of it public."""

    epsilon: Fraction
    delta: Fraction
    noise: str | None = None
    error_share: Fraction = Fraction(0)
    non_negative: bool = False
    analyses: tuple[str, ...] | None = None

    @classmethod
    def checked(
        cls,
        epsilon: Any,
        delta: Any,
        *,
        noise: Any = None,
        error_share: Any = 0.0,
        non_negative: Any = False,
        analyses: Any = None,
    ) -> AnswerOptions:
        """From what a caller gave, or an error that says what is accepted."""
        positive("epsilon", epsilon), probability("delta", delta, zero=True)
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
            as_written("epsilon", epsilon),
            as_written("delta", delta),
            noise,
            as_written("error_share", error_share),
            flag("non_negative", non_negative),
            None if analyses is None else tuple(sorted(set(analyses))),
        )

    def parameters(self) -> dict[str, Any]:
        """Plain data for the ledger: what makes a question the same question, beside its text."""
        return {
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "noise": self.noise,
            "error_share": float(self.error_share),
            "non_negative": self.non_negative,
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
        return self.noises[0].name

    def cells(self) -> list[tuple[Group, int]]:
        """Every group with every measure, in the order in which they are answered."""
        return list_cells(self.statement)

    def composition(self) -> str:
        """How the budget is divided, in words."""
        return describe_composition(self.statement)

    def at_epsilon(self, epsilon: Fraction) -> AnswerPlan:
        """The same question for another ε."""
        options = replace(self.options, epsilon=epsilon)
        return plan_with(self.statement, options, self.guarantee.distance, self.readings)


def list_cells(statement: Statement) -> list[tuple[Group, int]]:
    """Every group with every measure."""
    return [(group, measure) for group in statement.groups() for measure in range(len(statement.measures))]


def make_plan(statement: Statement, options: AnswerOptions, distance: Distance) -> AnswerPlan:
    """The plan of a statement; errors here depend on the question and the policy alone."""
    names = options.analyses or choose_analyses(statement.join)
    questions = [statement.question(group, measure) for group, measure in list_cells(statement)]
    readings = plan_analyses(questions, analyses=names)
    if statement.partitions:
        cells = zip(list_cells(statement), readings, strict=True)
        confined = all(is_confined(reading, statement.keys, group) for (group, _), reading in cells)
        statement = replace(statement, partitions=confined)
    return plan_with(statement, options, distance, readings)


def plan_with(
    statement: Statement, options: AnswerOptions, distance: Distance, readings: tuple[AnalysisPlan, ...]
) -> AnswerPlan:
    """The same where the statements of the analyses are known already: they do not depend on ε and δ."""
    names = options.analyses or choose_analyses(statement.join)
    private = [occurrence for occurrence in statement.join.occurrences if occurrence.private]
    if not private:
        raise UnsupportedError(
            "the question reads public tables only: nothing in it is protected, ask the database itself"
        )
    groups = statement.groups()
    if not groups:
        raise ParameterError("GROUP BY has no groups: the domain of its key is empty")
    if options.error_share:
        _refuse_without_radius(statement)
    weights = {occurrence.table: Fraction(occurrence.weight or 1) for occurrence in private}
    constant = len(statement.join.occurrences) == 1
    shares = len(statement.measures) * (1 if statement.partitions else len(groups))
    epsilon, delta = options.epsilon / shares, options.delta / shares
    noises: tuple[CellNoise, ...]
    if constant:
        noises = tuple(
            choose_constant_noise(measure.reach, epsilon, weights, confidence)
            for measure, confidence in zip(statement.measures, _confidences(statement), strict=True)
        )
    else:
        made = {
            held: _smooth(options, epsilon, delta, weights, held) for held in set(_confidences(statement))
        }
        least = _least_beta(statement.join, next(iter(made.values())).betas)
        noises = tuple(made[held].from_beta(least) for held in _confidences(statement))
    spent = options.delta if any(noise.uses_delta for noise in noises) else Fraction(0)
    theorem = noises[0].theorem if constant else f"{noises[0].theorem}; bound by {', '.join(names)}"
    if shares > 1 or len(groups) > 1:
        theorem = f"{theorem}; {describe_composition(statement)}"
    guarantee = Guarantee(
        Loss(epsilon=round_as_written(options.epsilon), delta=round_as_written(spent)), distance, theorem
    )
    return AnswerPlan(statement, options, noises, readings, shares, guarantee)


def _confidences(statement: Statement) -> list[float]:
    """How sure the radius of each measure is: where an aggregate is made of several, all must hold at once."""
    parts = [
        max((len(output.measures) for output in statement.outputs if index in output.measures), default=1)
        for index in range(len(statement.measures))
    ]
    return [CONFIDENCE if number == 1 else 1 - (1 - CONFIDENCE) / number for number in parts]


def _refuse_without_radius(statement: Statement) -> None:
    for output in statement.outputs:
        if output.aggregate is not None and output.aggregate.radius is None:
            raise UnsupportedError(
                f"error_share with {output.aggregate.name.upper()} is not supported: what is calculated from several "
                "noisy numbers has no such radius; ask for SUM and COUNT with error_share"
            )


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
