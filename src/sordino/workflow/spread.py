"""Spread: how a change of the inputs spreads through steps, up to what is released with noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from sordino.core import Loss, ParameterError, UnsupportedError
from sordino.core.loss import round_as_written, round_up
from sordino.core.parameters import as_written

# How far something moves per unit of each input; None: no bound is known.
Distances = dict[str, Fraction | None]


@dataclass(frozen=True, slots=True)
class Spread:
    """What is known of one object: how far it moves, given what was released; and the releases that it used.

    ``public``: it is made of releases alone, and moves only with them.
    """

    distances: Distances
    releases: frozenset[str]

    @property
    def public(self) -> bool:
        """Whether it is made of releases and of nothing else."""
        return not any(value is None or value for value in self.distances.values())


def spread_input(name: str) -> Spread:
    """An input moves by itself."""
    return Spread({name: Fraction(1)}, frozenset())


def spread_step(parts: Mapping[str, Spread], factors: Mapping[str, Fraction | None]) -> Spread:
    """A step that moves by Σ factor × distance of what it reads; paths multiply, inputs add."""
    total: Distances = {}
    for name, part in parts.items():
        for source, moved in part.distances.items():
            total[source] = _add(total.get(source, Fraction(0)), _multiply(factors.get(name), moved))
    releases = frozenset[str]().union(*(part.releases for part in parts.values()))
    return Spread(total, releases)


def price(
    released: Iterable[Spread],
    mechanisms: Mapping[str, tuple[Loss, Distances]],
    changed: Iterable[str],
) -> Loss:
    """The loss of everything released together where one unit of each of these inputs changes.

    **Guarantee**: every noisy release that anything released uses is paid once, by adaptive composition: given equal
    releases before, its input moves by Σ of its distances, and its loss is that of so many units. What is released
    without noise and moves costs ε = ∞. **Numerics**: sums in fractions, rounded up.
    """
    inputs = tuple(changed)
    several = tuple(released)
    if any(moves(one.distances, inputs) for one in several):
        return Loss(epsilon=float("inf"))
    used = sorted(frozenset[str]().union(*(one.releases for one in several)))
    losses: list[Loss] = []
    pure = Fraction(0)
    for name in used:
        loss, distances = mechanisms[name]
        moved: Fraction | None = Fraction(0)
        for source in inputs:
            moved = _add(moved, distances.get(source, Fraction(0)))
        if moved is None:
            return Loss(epsilon=float("inf"))
        if loss.rho is None and not loss.delta:
            pure += as_written("epsilon", loss.epsilon) * moved
        elif moved:
            losses.append(_at_distance(name, loss, moved))
    private = all(mechanisms[name][0].private for name in used)
    return replace(_compose(pure, losses), private=private)


def moves(distances: Distances, inputs: Iterable[str]) -> bool:
    """Whether a change of these inputs moves it."""
    return any(distances.get(source, Fraction(0)) != 0 for source in inputs)


def _at_distance(name: str, loss: Loss, moved: Fraction) -> Loss:
    """Group privacy, for whole units: a part of one counts as one."""
    try:
        return loss.for_changes(-(-moved.numerator // moved.denominator))
    except ParameterError as error:
        raise ParameterError(f"step {name!r}: {error}") from None


def _compose(pure: Fraction, losses: list[Loss]) -> Loss:
    if any(loss.rho is not None for loss in losses):
        if any(loss.delta for loss in losses):
            raise UnsupportedError(
                "releases of ρ and releases with a δ do not add up: state one of them by the other, "
                "Loss.as_approximate(delta)"
            )
        rho = sum((Fraction(loss.rho or 0.0) for loss in losses), pure * pure / 2)
        return Loss(rho=round_up(rho))
    epsilon = sum((Fraction(loss.epsilon or 0.0) for loss in losses), pure)
    delta = sum((Fraction(loss.delta) for loss in losses), Fraction(0))
    if delta >= 1:
        raise ParameterError("the deltas of the releases add up to 1 or more: nothing is promised")
    return Loss(epsilon=round_as_written(epsilon), delta=round_up(delta))


def _multiply(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    """Nothing times whatever is nothing."""
    if one == 0 or other == 0:
        return Fraction(0)
    return None if one is None or other is None else one * other


def _add(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other
