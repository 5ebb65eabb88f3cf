"""What all fits of one estimator cost together."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from sordino.core import Guarantee, Loss
from sordino.core.loss import rounded_up


def added_up(before: Guarantee | None, fit: Guarantee) -> Guarantee:
    """The guarantee of everything that was released before and of one more fit.

    **Guarantee**: sequential composition: losses for the same distance are added, rounded up. Fits for rows added or
    removed beside fits for rows replaced are added up for one row replaced, which is one removed and one added. Once
    one fit was drawn from a seed, no sum with it is private.
    **Requires**: pure losses, for one row added or removed or for one replaced.
    """
    if before is None:
        return fit
    if before.distance != fit.distance:
        before, fit = before.for_replacement(), fit.for_replacement()
    total = rounded_up(Fraction(before.epsilon or 0.0) + Fraction(fit.epsilon or 0.0))
    loss = Loss(epsilon=total, private=before.private and fit.private)
    return replace(fit, loss=loss, theorem=f"sequential composition of all fits; {fit.theorem}")
