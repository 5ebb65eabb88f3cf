"""What a loss means, in a sentence that needs no ε."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from sordino.core import Guarantee
from sordino.core.distance import WITH_ALL_ROWS
from sordino.risk import StepNoise, TradeOff
from sordino.sql.answering.cell_noise import ConcentratedNoise, ConstantNoise
from sordino.sql.policy import DeclaredBudget

PublicNoise = ConstantNoise | ConcentratedNoise

_DOWN = 1 - 1e-12


_SIDES = {
    "add_remove": "whether one {unit} is in the data",
    "flip": "whether one {unit} is there",
    "replace": "which of two one {unit} is",
    "move": "which of two databases it is of, one unit of {unit} apart,",
}


def say_risk(guarantee: Guarantee, noises: Sequence[PublicNoise] = ()) -> str | None:
    """How often whoever sees one answer can tell two neighbours apart; None where that cannot be said."""
    curve = find_trade_off(guarantee, noises)
    if curve is None:
        return None
    distance = guarantee.distance
    asked = _SIDES[distance.change].format(unit=distance.unit.removesuffix(WITH_ALL_ROWS))
    return (
        f"who guesses from this answer {asked} is right at most "
        f"{_round_up(50 * (1 + curve.advantage))} % of the time, 50 % without it"
    )


def find_membership_advantage(guarantee: Guarantee, noises: Sequence[PublicNoise] = ()) -> float | None:
    """Right alarms minus false alarms at best; None where no unit is there or not there for the whole loss."""
    curve = find_trade_off(guarantee, noises)
    is_there = guarantee.distance.change in ("add_remove", "flip")
    return min(1.0, curve.advantage / _DOWN) if curve is not None and is_there else None


def find_trade_off(guarantee: Guarantee, noises: Sequence[PublicNoise] = ()) -> TradeOff | None:
    """How well two neighbours can be told apart by an answer; None where changes cost different losses.

    **Guarantee**: an upper bound over all neighbours, in what is told. ``noises``: of all numbers that one change
    moves, where their laws are public; the law of all of them together is then reckoned with. Else it is what the loss
    alone implies, for the worst of all releases that have it: noise that follows the rows has a law that is not
    public, and what two neighbours with different scales tell is covered by their loss.
    """
    if guarantee.distance.weights:
        return None
    allowed = TradeOff.of_loss(guarantee.loss)
    if not noises:
        return allowed
    drawn = TradeOff.of_steps([_read(noise) for noise in noises])
    return min((drawn, allowed), key=lambda curve: curve.advantage)


def _read(noise: PublicNoise) -> StepNoise:
    steps = int(noise.sensitivity)
    if isinstance(noise, ConcentratedNoise):
        return StepNoise(steps, rho=float(noise.rho))
    return StepNoise(steps, epsilon=float(noise.epsilon))


def _round_up(percent: float) -> str:
    return f"{min(100.0, math.ceil(10 * percent - 1e-9) / 10):.1f}"


def say_budget(budget: DeclaredBudget, epsilon: Fraction) -> str:
    """Why a budget that was given as a risk is this ε."""
    before = "whatever it was" if budget.prior is None else f"from {float(budget.prior):g}"
    return (
        f"epsilon {float(epsilon):g}: no belief about one unit, its presence or its contents, rises by more than "
        f"{float(budget.advantage or 0):g}, {before}, by all answers together"
    )
