"""How losses add up when every question may depend on all answers before it.

Two measures, one function each from a `Loss` to what it costs. In both, costs of questions whose budgets are
chosen adaptively may simply be added until a limit that was fixed beforehand is reached (a *privacy filter*):

* ``epsilon``: Σεᵢ ≤ ε and Σδᵢ ≤ δ give (ε, δ) in all (Rogers, Roth, Ullman and Vadhan 2016, Thm 3.6).
* ``rho``: Σρᵢ ≤ ρ and Σδᵢ ≤ δ give δ-approximate ρ-zCDP in all (Feldman and Zrnic 2021 and Lécuyer 2021 for δ = 0;
  Whitehouse, Ramdas, Rogers and Wu 2023, Thm 1).

Tighter composition (PLD, advanced) needs budgets fixed beforehand and is in `sordino.ledger.batch` only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from sordino.core import Loss, UnsupportedError
from sordino.core.parameters import as_written

_GRID = 10**100  # finer than any decimal that is written; keeps sums of odd fractions short


@dataclass(frozen=True, slots=True)
class Amount:
    """Loss in a measure (ε or ρ) and the δ beside it, both exact.

    >>> from fractions import Fraction
    >>> from sordino.ledger import Amount
    >>> Amount(Fraction("0.1")) + Amount(Fraction("0.2")) == Amount(Fraction("0.3"))
    True
    """

    loss: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.loss + other.loss, self.delta + other.delta)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.loss - other.loss, self.delta - other.delta)

    def within(self, limit: Amount) -> bool:
        """Whether neither part exceeds the limit's."""
        return self.loss <= limit.loss and self.delta <= limit.delta


def round_loss_up(amount: Amount) -> Amount:
    """Rounded up to the grid: exact for every decimal that a double prints as, and for its square."""
    return Amount(*(Fraction(math.ceil(part * _GRID), _GRID) for part in (amount.loss, amount.delta)))


def round_budget_down(amount: Amount) -> Amount:
    """Rounded down to the grid."""
    return Amount(*(Fraction(math.floor(part * _GRID), _GRID) for part in (amount.loss, amount.delta)))


def count_epsilon(loss: Loss) -> Amount:
    """(ε, δ) as printed: each number at the decimal that its shortest text shows."""
    if loss.epsilon is None:
        raise UnsupportedError(
            f"{make_printable(loss)} cannot be counted in an account of (epsilon, delta): state it at a public "
            "delta with as_approximate(delta), or have the budget granted as rho"
        )
    return round_loss_up(Amount(as_written("epsilon", loss.epsilon), as_written("delta", loss.delta)))


def count_rho(loss: Loss) -> Amount:
    """The δ-approximate ρ-zCDP that a loss implies.

    **Guarantee**: ρ as stated; ε-DP costs ε²/2, or ε²/8 where the loss is of bounded range (`Loss.bounded_range`: one
    draw of the exponential mechanism); (ε, δ)-DP is δ-approximate ε²/2-zCDP.
    **Source**: Bun and Steinke 2016, Prop. 1.4 and section 8; Cesar and Rogers 2021, Lemma 3.4.
    **Numerics**: exact on a grid of 10⁻¹⁰⁰, upwards.
    """
    if loss.rho is not None:
        return round_loss_up(Amount(as_written("rho", loss.rho)))
    paid = count_epsilon(loss)
    return round_loss_up(Amount(loss.zcdp_factor * paid.loss**2, paid.delta))


def make_printable(loss: Loss) -> Loss:
    """The same with plain floats, which is what can be printed; an exact fraction may have been given."""
    epsilon, rho = (None if stated is None else float(stated) for stated in (loss.epsilon, loss.rho))
    return replace(loss, epsilon=epsilon, delta=float(loss.delta), rho=rho)


COST: dict[str, Callable[[Loss], Amount]] = {"epsilon": count_epsilon, "rho": count_rho}
