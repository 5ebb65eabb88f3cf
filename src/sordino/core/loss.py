"""Loss: what a release costs, as data. Ledgers and compositions read this and never a sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from sordino.core.errors import ParameterError
from sordino.core.parameters import as_written, whole

NOT_PRIVATE = "NOT PRIVATE: drawn from a seeded source"

# More than the rounding errors of the few operations that it is multiplied with.
_UPWARDS = 1 + 2.0**-48


@dataclass(frozen=True, slots=True)
class Loss:
    """Either (ε, δ), with ``rho`` None, or ρ-zCDP, with ``epsilon`` None; and facts that make it compose better.

    ``bounded_range``: for any two neighbours the privacy losses of all outcomes lie within an interval of length ε, as
    they do for the exponential mechanism and not for permute-and-flip; composition by zCDP then costs ε²/8, not ε²/2.
    ``private`` is False where something was drawn inside ``sordino.testing.seeded``: the loss is then what the same
    draws would cost with fresh randomness, and everything that shows it says so.

    >>> from sordino import Loss
    >>> print(Loss(epsilon=0.5, delta=1e-6))
    ε = 0.5, δ = 1e-06
    """

    epsilon: float | None = None
    delta: float = 0.0
    rho: float | None = None
    bounded_range: bool = False
    private: bool = True

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise ParameterError("a loss states either epsilon or rho, exactly one of them")
        stated = self.epsilon if self.rho is None else self.rho
        if stated is None or not stated >= 0:
            raise ParameterError(f"the loss must be >= 0, got {stated!r}")
        if not 0 <= self.delta < 1:
            raise ParameterError(f"delta must be in [0, 1), got {self.delta!r}")
        if self.rho is not None and self.delta:
            raise ParameterError("zCDP has no delta: convert it with as_approximate(delta)")
        if self.bounded_range and (self.epsilon is None or self.delta):
            raise ParameterError("only a loss of epsilon alone can be of bounded range")

    @property
    def zcdp_factor(self) -> Fraction:
        """The c for which ε is cε²-zCDP (Bun and Steinke 2016, Prop. 1.4; Cesar and Rogers 2021, Lemma 3.4)."""
        return Fraction(1, 8) if self.bounded_range else Fraction(1, 2)

    def for_changes(self, count: int) -> Loss:
        """The loss for databases ``count`` units of distance apart (group privacy).

        (ε, δ) becomes (kε, δ(1 + e^ε + … + e^{(k−1)ε})), and ρ becomes k²ρ, rounded up; a range of ε becomes one of kε.
        Where that δ is 1 or more nothing is left, which is refused.
        """
        count = whole("count", count, least=1)
        if self.rho is not None:
            return replace(self, rho=_times(self.rho, count * count))
        epsilon = _times(self.epsilon or 0.0, count)
        delta = _group_delta(self.delta, self.epsilon or 0.0, epsilon, count)
        if delta >= 1:
            raise ParameterError(
                f"{self} says nothing about {count} changes at once: their delta would be 1 or more"
            )
        return replace(self, epsilon=epsilon, delta=delta)

    def as_approximate(self, delta: float) -> Loss:
        """The (ε, δ) that ρ-zCDP implies, ρ + 2√(ρ ln(1/δ)) rounded up (Bun and Steinke 2016, Prop. 1.3)."""
        if self.rho is None:
            return self
        if not 0 < delta < 1:
            raise ParameterError(f"delta must be in (0, 1), got {delta!r}")
        epsilon = (self.rho + 2 * math.sqrt(self.rho) * math.sqrt(-math.log(delta))) * _UPWARDS
        return replace(self, epsilon=epsilon, delta=delta, rho=None)

    def __str__(self) -> str:
        if self.rho is not None:
            text = f"ρ = {self.rho:.6g} (zCDP)"
        elif self.delta:
            text = f"ε = {self.epsilon:.6g}, δ = {self.delta:.3g}"
        else:
            text = f"ε = {self.epsilon:.6g}"
        return text if self.private else f"{NOT_PRIVATE} ({text} if it were not)"

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON; facts are there where they hold, and ``private`` where it is False."""
        stated: dict[str, object] = (
            {"rho": self.rho} if self.rho is not None else {"epsilon": self.epsilon, "delta": self.delta}
        )
        if self.bounded_range:
            stated["bounded_range"] = True
        return stated if self.private else stated | {"private": False}


def round_up(amount: Fraction) -> float:
    """The least float that is not below an exact loss."""
    try:
        nearest = float(amount)
    except OverflowError:
        raise ParameterError("a loss must be below 1.8e308, got a larger one") from None
    return nearest if Fraction(nearest) >= amount else math.nextafter(nearest, math.inf)


def round_as_written(amount: Fraction) -> float:
    """A float whose decimal, which is what a ledger reads, is not below an exact loss: 0.3 for three tenths."""
    try:
        nearest = float(amount)
    except OverflowError:
        raise ParameterError("a loss must be below 1.8e308, got a larger one") from None
    return nearest if as_written("a loss", nearest) >= amount else math.nextafter(nearest, math.inf)


def round_down(amount: Fraction) -> float:
    """The largest float that is not above an exact budget."""
    nearest = float(amount)
    return nearest if Fraction(nearest) <= amount else math.nextafter(nearest, -math.inf)


def _times(loss: float, factor: int) -> float:
    return loss if math.isinf(loss) else round_up(Fraction(loss) * factor)


def _group_delta(delta: float, epsilon: float, total: float, count: int) -> float:
    """δ(1 + e^ε + … + e^{(k−1)ε}) with kε = ``total``, rounded up, or 1 where it is more.

    The sum is e^{(k−1)ε}(1 − e^{−kε})/(1 − e^{−ε}). It is taken in logarithms, so that no ε is too large;
    their terms are off by less than 2^−50 of their sizes: at most |ln δ|, kε and, where 1 − e^{−ε} is tiny, 745.
    """
    if delta == 0 or count == 1:
        return delta
    if epsilon == 0:
        return min(round_up(Fraction(delta) * count), 1.0)
    growth = math.log(-math.expm1(-total)) - math.log(-math.expm1(-epsilon))
    exponent = math.log(delta) + (total - epsilon) + growth
    errors = (abs(math.log(delta)) + total + 4 * 745) * 2.0**-50
    return min(math.nextafter(math.exp(min(exponent + errors, 0.0)), math.inf), 1.0)
