"""Limit: how much an account may spend, and in which measure it is counted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sordino.core import Loss, ParameterError
from sordino.core.parameters import as_written, positive, probability
from sordino.ledger.amount_text import write_rounded_down, write_rounded_up
from sordino.ledger.composition import COST, Amount, round_budget_down


@dataclass(frozen=True, slots=True)
class Limit:
    """A budget: (ε, δ), or zCDP ρ (and δ for what is only approximately zCDP) stated at a public δ.

    >>> from sordino.ledger import Limit
    >>> print(Limit.of(epsilon=1, delta=1e-6))
    epsilon 1, delta 0.000001
    """

    measure: str
    amount: Amount
    at_delta: Fraction | None = None

    @classmethod
    def of(cls, *, epsilon: Any = None, delta: Any = 0, rho: Any = None, at_delta: Any = None) -> Limit:
        """From numbers as a person wrote them: 0.1 is a tenth.

        ``epsilon`` with ``delta``, or ``rho`` with ``at_delta``. Beside ``rho``, ``delta`` (0 unless given) is what
        questions with a δ of their own may use up.
        """
        if (epsilon is None) == (rho is None):
            raise ParameterError("a budget is either epsilon (with delta) or rho (with at_delta)")
        probability("delta", delta, zero=True)
        name, loss = ("epsilon", epsilon) if rho is None else ("rho", rho)
        positive(name, loss)
        amount = round_budget_down(Amount(as_written(name, loss), as_written("delta", delta)))
        if not amount.loss:
            raise ParameterError(f"{name} of a budget must be at least 1e-100, got {loss!r}")
        if rho is None:
            if at_delta is not None:
                raise ParameterError("at_delta belongs to rho: a budget in epsilon has delta")
            return cls(name, amount)
        if at_delta is None:
            raise ParameterError(
                "rho needs at_delta, the public delta at which it is stated as (epsilon, delta)"
            )
        probability("at_delta", at_delta)
        stated = as_written("at_delta", at_delta)
        if stated + amount.delta >= 1:
            raise ParameterError("delta + at_delta must be below 1")
        return cls(name, amount, stated)

    def nothing(self) -> Limit:
        """The limit of this measure that allows nothing: what is left of a budget that was taken back."""
        return Limit(self.measure, Amount(), self.at_delta)

    def cost(self, loss: Loss) -> Amount:
        """What a release with this loss takes from the budget."""
        return COST[self.measure](loss)

    def shown(self, amount: Amount, *, left: bool = False) -> str:
        """An amount of this measure as text: what is left rounds down, a loss up."""
        text = write_rounded_down if left else write_rounded_up
        shown = f"{self.measure} {text(amount.loss)}"
        return f"{shown}, delta {text(amount.delta)}" if amount.delta or self.amount.delta else shown

    def __str__(self) -> str:
        text = self.shown(self.amount, left=True)
        return (
            text if self.at_delta is None else f"{text} (stated at delta {write_rounded_up(self.at_delta)})"
        )

    def statement(self, amount: Amount) -> tuple[float, float]:
        """(ε, δ) that a spent amount implies: for ρ by Bun and Steinke 2016, Prop. 1.3 and Lemma 8.8, rounded up."""
        if self.at_delta is None:
            return _up(amount.loss), _up(amount.delta)
        if amount.loss == 0:
            return 0.0, _up(amount.delta)
        rho = _up(amount.loss)
        # ln(1/δ) = −ln δ of the double below δ; three further roundings are covered by 2⁻⁴⁵. No double is below 2⁻¹⁰⁷⁴.
        below = math.nextafter(float(self.at_delta), 0.0)
        logarithm = -math.log(below) if below else 1075 * math.log(2)
        epsilon = (rho + 2 * math.sqrt(rho * logarithm)) * (1 + 2.0**-45)
        return math.nextafter(epsilon, math.inf), _up(amount.delta + self.at_delta)

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        content = describe_amount(self, self.amount, left=True)
        return (
            content
            if self.at_delta is None
            else content | {"at_delta": float(write_rounded_up(self.at_delta))}
        )


def describe_amount(limit: Limit, amount: Amount, *, left: bool = False) -> dict[str, object]:
    """Plain data for JSON: the numbers that `Limit.shown` writes."""
    text = write_rounded_down if left else write_rounded_up
    return {limit.measure: float(text(amount.loss)), "delta": float(text(amount.delta))}


def _up(number: Fraction) -> float:
    try:
        rounded = float(number)
    except OverflowError:
        return math.inf
    return rounded if Fraction(rounded) >= number else math.nextafter(rounded, math.inf)
