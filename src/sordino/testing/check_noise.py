"""The suite that every noise passes: a proof of its exact law, on the lattice, over a whole universe."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from sordino.audit import Proof, prove
from sordino.core import ProofError
from sordino.mechanisms.noise import Noise, noise_law

Database = Any
Number = Callable[[Database], tuple[Any, Any]]


def check_noise(
    noise: str | Noise,
    universe: Iterable[Hashable],
    neighbours: Callable[[Database], Iterable[Hashable]],
    number_of: Number,
    *,
    epsilon: float,
    delta: float = 0.0,
    step: Any = 1,
    **options: Any,
) -> Proof:
    """Prove a noise over a whole universe; raise `ProofError` with the worst pair if it does not hold.

    ``number_of(x)`` gives the value of a database and its bound: a global sensitivity, a smooth bound or a profile.

    >>> from sordino.testing import check_noise
    >>> def neighbours(x):
    ...     return [y for y in (x - 1, x + 1) if 0 <= y <= 3]
    >>> check_noise("laplace", range(4), neighbours, lambda x: (x, 1), epsilon=0.5).holds
    True
    """
    proof = prove_noise(
        noise,
        universe,
        neighbours,
        number_of,
        epsilon=epsilon,
        spent=epsilon,
        delta=delta,
        step=step,
        **options,
    )
    if not proof.holds:
        name = noise if isinstance(noise, str) else noise.traits.name
        raise ProofError(f"{name} noise is not private: {proof}")
    return proof


def prove_noise(
    noise: str | Noise,
    universe: Iterable[Hashable],
    neighbours: Callable[[Database], Iterable[Hashable]],
    number_of: Number,
    *,
    epsilon: float,
    spent: float,
    delta: float = 0.0,
    step: Any = 1,
    **options: Any,
) -> Proof:
    """The proof, or refutation, of a noise that claims ``epsilon`` and spends ``spent``: a mutant if more.

    >>> from sordino.testing import prove_noise
    >>> def neighbours(x):
    ...     return [y for y in (x - 1, x + 1) if 0 <= y <= 3]
    >>> prove_noise("laplace", range(4), neighbours, lambda x: (x, 1), epsilon=0.5, spent=0.6).holds
    False
    """
    asked: dict[str, Any] = {"epsilon": spent, "delta": delta, "noise": noise, "step": step, **options}

    def law(database: Database) -> Any:
        value, bound = number_of(database)
        return noise_law(value, bound, **asked)

    return prove(law, universe, neighbours, epsilon, delta)
