"""UnitBudget: a share of ε or of ρ, and what it pays for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from sordino.core import Loss
from sordino.core.loss import round_as_written
from sordino.units import FlowTruncation, GaussianPerLimit, LaplacePerLimit, LimitNoise, Truncation


@dataclass(frozen=True, slots=True)
class UnitBudget:
    """So much of ε, or of ρ if it is ``concentrated``: Laplace noise and ℓ₁ norms, or Gaussian noise and ℓ₂ norms."""

    amount: Fraction
    concentrated: bool = False

    @property
    def loss(self) -> Loss:
        """What spending all of it costs."""
        spent = round_as_written(self.amount)
        return Loss(rho=spent) if self.concentrated else Loss(epsilon=spent)

    @property
    def noise_name(self) -> str:
        """As a Release names it."""
        return "discrete_gaussian noise" if self.concentrated else "discrete_laplace noise"

    def shared_by(self, parts: int) -> UnitBudget:
        """An even share."""
        return replace(self, amount=self.amount / parts)

    def per_weight(self, weight: Fraction) -> UnitBudget:
        """What a change that is worth ``weight`` units of distance may cost: so many ε, or its square of ρ."""
        return replace(self, amount=self.amount * (weight**2 if self.concentrated else weight))

    def make_noise(self) -> LimitNoise:
        """All of it for noise."""
        return GaussianPerLimit(self.amount) if self.concentrated else LaplacePerLimit(self.amount)

    def truncate(self, *, most: int, numbers: int, natural: int, nested: bool = False) -> Truncation:
        """For results with one owner.

        ``nested``: parts of an owner's vector may go by themselves, which turns what is clipped. Two vectors without
        negative numbers and of norm at most τ are at most 2τ apart in ℓ₁ and √2·τ in ℓ₂, so half of the budget of the
        noise is for τ. One number does not turn.
        """
        if self.concentrated:
            plan = Truncation.of_rho(rho=self.amount, most=most, numbers=numbers, natural=natural)
        else:
            plan = Truncation.of(epsilon=self.amount, most=most, numbers=numbers, natural=natural)
        return replace(plan, noise=_halve(plan.noise)) if nested and numbers > 1 else plan

    def share_out(
        self,
        *,
        most: int,
        owners: int,
        groups: int,
        distinct: bool = False,
        apart: bool = False,
        signed: bool = False,
    ) -> FlowTruncation:
        """For results with several."""
        if self.concentrated:
            return FlowTruncation.of_rho(
                rho=self.amount,
                most=most,
                owners=owners,
                distinct=distinct,
                groups=groups,
                apart=apart,
                signed=signed,
            )
        return FlowTruncation.of(
            epsilon=self.amount,
            most=most,
            owners=owners,
            distinct=distinct,
            groups=groups,
            apart=apart,
            signed=signed,
        )


def _halve(noise: LimitNoise) -> LimitNoise:
    if isinstance(noise, GaussianPerLimit):
        return GaussianPerLimit(noise.rho / 2)
    if isinstance(noise, LaplacePerLimit):
        return LaplacePerLimit(noise.epsilon / 2)
    raise TypeError(f"{type(noise).__name__} is no noise for clipped vectors")
