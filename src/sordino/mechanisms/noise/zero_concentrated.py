"""From ρ-zCDP to (ε, δ): the largest ρ that a budget pays for."""

from __future__ import annotations

import math
from functools import lru_cache

from flint import arb

from sordino.mechanisms.noise.rounding import certainly_at_most, lower_until


@lru_cache(maxsize=1024)
def largest_rho(epsilon: float, delta: float) -> float:
    """The largest ρ, rounded down, such that ρ-zCDP implies (ε, δ)-DP by a Rényi divergence of one order.

    Order a > 1 of the Rényi divergence is at most aρ, and implies (ε, δ) with δ = e^{(a-1)(aρ-ε)}·(1 -
    1/a)^a/(a-1) (Canonne, Kamath and Steinke 2020, Prop. 12). Solved for ρ at each a; the best a is searched
    in floating point, and whatever a comes out, the inequality at that a is the proof.
    """

    def rho(order: float) -> float:
        room = math.log(delta) + math.log(order - 1) - order * math.log1p(-1 / order)
        return (epsilon + room / (order - 1)) / order

    # the best order is near sqrt(ln(1/δ)/ρ); search ln(a - 1)
    low, high = -12.0, 25.0
    golden = (math.sqrt(5) - 1) / 2
    grid = [low + (high - low) * i / 400 for i in range(401)]
    best = max(grid, key=lambda t: rho(1 + math.exp(t)))
    low, high = best - 0.1, best + 0.1
    for _ in range(80):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if rho(1 + math.exp(left)) > rho(1 + math.exp(right)):
            high = right
        else:
            low = left
    order = 1 + math.exp(0.5 * (low + high))

    def spent(candidate: float) -> arb:
        a = arb(order)
        exponent = (a - 1) * (a * candidate - epsilon)
        return exponent.exp() * (1 - 1 / a) ** a / (a - 1)

    return lower_until(rho(order), lambda r: certainly_at_most(lambda: spent(r), delta), "a zCDP conversion")
