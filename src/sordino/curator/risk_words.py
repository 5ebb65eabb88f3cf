"""What a loss means, in a sentence that needs no ε."""

from __future__ import annotations

from fractions import Fraction

from sordino.core import Guarantee
from sordino.core.distance import WITH_ALL_ROWS
from sordino.risk import TradeOff
from sordino.sql.policy import DeclaredBudget


def say_risk(guarantee: Guarantee) -> str | None:
    """How often whoever sees one answer can tell whether a unit is in the data; None where that cannot be said.

    It is what (ε, δ) alone implies, for the worst of all releases that have it.
    """
    advantage = find_membership_advantage(guarantee)
    if advantage is None:
        return None
    unit = guarantee.distance.unit.removesuffix(WITH_ALL_ROWS)
    return (
        f"who guesses from this answer whether one {unit} is in the data is right at most "
        f"{50 * (1 + advantage):.1f} % of the time, 50 % without it"
    )


def find_membership_advantage(guarantee: Guarantee) -> float | None:
    """Right alarms minus false alarms at best; None where a unit is not there or not there for the whole loss."""
    distance = guarantee.distance
    if guarantee.epsilon is None or distance.change != "add_remove" or distance.weights:
        return None
    return TradeOff.of_loss(guarantee.loss).advantage


def say_budget(budget: DeclaredBudget, epsilon: Fraction) -> str:
    """Why a budget that was given as a risk is this ε."""
    before = "whatever it was" if budget.prior is None else f"from {float(budget.prior):g}"
    return (
        f"epsilon {float(epsilon):g}: no belief about one unit, its presence or its contents, rises by more than "
        f"{float(budget.advantage or 0):g}, {before}, by all answers together"
    )
