"""What a loss means, in a sentence that needs no ε."""

from __future__ import annotations

import math
from fractions import Fraction

from sordino.core import Guarantee
from sordino.core.distance import WITH_ALL_ROWS
from sordino.risk.belief import bound_membership, bound_membership_by_steps
from sordino.sql.policy import DeclaredBudget


def say_risk(guarantee: Guarantee, *, steps: int | None = None) -> str | None:
    """How often whoever sees one answer can tell whether a unit is in the data; None where that cannot be said."""
    advantage = find_membership_advantage(guarantee, steps=steps)
    if advantage is None:
        return None
    unit = guarantee.distance.unit.removesuffix(WITH_ALL_ROWS)
    return (
        f"who guesses from this answer whether one {unit} is in the data is right at most "
        f"{_round_up(50 * (1 + advantage))} % of the time, 50 % without it"
    )


def find_membership_advantage(guarantee: Guarantee, *, steps: int | None = None) -> float | None:
    """Right alarms minus false alarms at best; None where a unit is not there or not there for the whole loss.

    ``steps``: how far a unit moves an answer that has discrete Laplace noise and nothing else; its own law is then
    reckoned with. Else it is what the loss alone implies, for the worst of all releases that have it: noise that
    follows the rows has a law that is not public.
    """
    distance = guarantee.distance
    if distance.change != "add_remove" or distance.weights:
        return None
    if steps and guarantee.epsilon is not None:
        return bound_membership_by_steps(guarantee.epsilon, steps)
    return bound_membership(guarantee.loss)


def _round_up(percent: float) -> str:
    return f"{min(100.0, math.ceil(10 * percent - 1e-9) / 10):.1f}"


def say_budget(budget: DeclaredBudget, epsilon: Fraction) -> str:
    """Why a budget that was given as a risk is this ε."""
    before = "whatever it was" if budget.prior is None else f"from {float(budget.prior):g}"
    return (
        f"epsilon {float(epsilon):g}: no belief about one unit, its presence or its contents, rises by more than "
        f"{float(budget.advantage or 0):g}, {before}, by all answers together"
    )
