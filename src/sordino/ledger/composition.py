"""How losses add up when every question may depend on all answers before it.

Two measures, one function each from a guarantee to what it costs. In both, costs of questions whose budgets are
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

from sordino.core import Guarantee, UnsupportedError
from sordino.core.parameters import as_written

_PURE = Fraction(1, 2)
_BOUNDED_RANGE = Fraction(1, 8)
_EXPONENTIAL = "exponential mechanism"
_GRID = 10**100  # finer than any decimal that is written; keeps sums of odd fractions short


@dataclass(frozen=True, slots=True)
class Amount:
    """Loss in a measure (ε or ρ) and the δ beside it, both exact."""

    loss: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.loss + other.loss, self.delta + other.delta)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.loss - other.loss, self.delta - other.delta)

    def within(self, limit: Amount) -> bool:
        """Whether neither part exceeds the limit's."""
        return self.loss <= limit.loss and self.delta <= limit.delta


def loss_on_grid(amount: Amount) -> Amount:
    """Rounded up to the grid: exact for every decimal that a double prints as, and for its square."""
    return Amount(*(Fraction(math.ceil(part * _GRID), _GRID) for part in (amount.loss, amount.delta)))


def budget_on_grid(amount: Amount) -> Amount:
    """Rounded down to the grid."""
    return Amount(*(Fraction(math.floor(part * _GRID), _GRID) for part in (amount.loss, amount.delta)))


def epsilon_cost(guarantee: Guarantee) -> Amount:
    """(ε, δ) as printed: each number at the decimal that its shortest text shows."""
    if guarantee.epsilon is None:
        raise UnsupportedError(
            f"{printed(guarantee).loss} cannot be counted in an account of (epsilon, delta): state it at a public "
            "delta with as_approximate(delta), or have the budget granted as rho"
        )
    return loss_on_grid(
        Amount(as_written("epsilon", guarantee.epsilon), as_written("delta", guarantee.delta))
    )


def rho_cost(guarantee: Guarantee) -> Amount:
    """The δ-approximate ρ-zCDP that a guarantee implies.

    **Guarantee**: ρ as stated; ε-DP costs ε²/2, or ε²/8 for one draw of the exponential mechanism, whose loss is of
    bounded range; (ε, δ)-DP is δ-approximate ε²/2-zCDP.
    **Requires**: that the theorem of the guarantee is the one that was used. Bounded range is granted to the theorem
    of the exponential law alone: permute-and-flip does not have it.
    **Source**: Bun and Steinke 2016, Prop. 1.4 and section 8; Cesar and Rogers 2021, Lemma 3.4.
    **Numerics**: exact on a grid of 10⁻¹⁰⁰, upwards.
    """
    if guarantee.rho is not None:
        return loss_on_grid(Amount(as_written("rho", guarantee.rho)))
    paid = epsilon_cost(guarantee)
    factor = _BOUNDED_RANGE if _has_bounded_range(guarantee) else _PURE
    return loss_on_grid(Amount(factor * paid.loss**2, paid.delta))


def printed(guarantee: Guarantee) -> Guarantee:
    """The same with plain floats, which is what can be printed; an exact fraction may have been given."""
    epsilon, rho = (None if loss is None else float(loss) for loss in (guarantee.epsilon, guarantee.rho))
    return replace(guarantee, epsilon=epsilon, delta=float(guarantee.delta), rho=rho)


def _has_bounded_range(guarantee: Guarantee) -> bool:
    theorem = guarantee.theorem
    drawn = theorem == _EXPONENTIAL or theorem.endswith(f", drawn by {_EXPONENTIAL}")
    return drawn and guarantee.delta == 0


COST: dict[str, Callable[[Guarantee], Amount]] = {"epsilon": epsilon_cost, "rho": rho_cost}
