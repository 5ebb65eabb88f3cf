"""Concave search: how much is still to be gained above each limit, counted in full units.

The truncated total f is concave in the limit and one unit moves f(τ) within [0, τ]. How many units are above a limit
would tell where to stop, but where results are shared one unit lifts many others above it; the gain does not move so.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sordino.core.parameters import whole

# Gains are rounded down to multiples of 1/STEPS of a full unit: a public lattice.
STEPS = 64
_SPREAD = STEPS + STEPS // 2


def list_doubling_limits(most: int) -> tuple[int, ...]:
    """1, 2, 4, … up to and including ``most``: finer grids gain little and cost more flows."""
    most = whole("most", most, least=1)
    return tuple(sorted({most, *(1 << k for k in range(most.bit_length()))}))


def list_gains(limits: Sequence[int], totals: Sequence[Fraction]) -> list[int]:
    """For every limit τ the largest ⌊STEPS·(f(t) − f(τ))/max(t, 2τ)⌋ over the limits t > τ; 0 for the last.

    **Guarantee**: one unit more moves every gain by an integer within [−STEPS/2, STEPS], `gain_spread` apart. f(t)
    moves within [0, t] and f(τ) within [0, τ], so the quotient within [−τ/(2τ), t/t]; both ends are whole steps, which
    rounding down keeps, and the largest of several (and of 0) moves no further than each.
    **Requires**: totals of one database. If each lies up to a 1024th of its limit below f, see `gain_spread`.
    **Source**: the generalised exponential mechanism compares candidates by their differences in units of their
    sensitivities (Raskhodnikova and Smith 2016); concavity makes one side of it enough.
    """
    gains = []
    for place, (limit, total) in enumerate(zip(limits, totals, strict=True)):
        above = zip(limits[place + 1 :], totals[place + 1 :], strict=True)
        gains.append(max([0, *(_count_units(t, f - total, limit) for t, f in above)]))
    return gains


def gain_spread(*, exact: bool) -> int:
    """How far apart the moves of two gains can be, in steps.

    Totals up to δτ below f, δ = 1/1024, move their difference by δ(t + τ) ≤ (3/2)δ·max(t, 2τ) more to either side:
    less than one step, which rounding makes one.
    """
    return _SPREAD if exact else _SPREAD + 2


def _count_units(above: int, gain: Fraction, limit: int) -> int:
    return (STEPS * gain.numerator) // (gain.denominator * max(above, 2 * limit))
