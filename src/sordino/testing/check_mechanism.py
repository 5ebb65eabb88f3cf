"""The suite that every selection mechanism passes: a proof, and a mutant that the proof refuses."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from numpy.typing import ArrayLike

from sordino.audit import LogLaw, Proof, prove
from sordino.core import ProofError
from sordino.mechanisms.names import MechanismName
from sordino.mechanisms.selection import stated_law

Database = Any
Input = Callable[[Database], tuple[ArrayLike, Any]]


def check_mechanism(
    mechanism: MechanismName,
    universe: Iterable[Hashable],
    neighbours: Callable[[Database], Iterable[Hashable]],
    question_of: Input,
    *,
    epsilon: float,
    delta: float = 0.0,
    **options: Any,
) -> Proof:
    """Prove a mechanism over a whole universe; raise `ProofError` with the worst pair if it does not hold.

    ``question_of(x)`` gives the scores and the profile (or global sensitivity) of a database.

    >>> from sordino.testing import check_mechanism
    >>> universe = [(a, b) for a in range(3) for b in range(3)]
    >>> near = lambda x: [y for y in universe if abs(x[0] - y[0]) + abs(x[1] - y[1]) == 1]
    >>> check_mechanism("permute_and_flip", universe, near, lambda x: (x, 1), epsilon=0.5).holds
    True
    """
    proof = prove_mechanism(
        mechanism, universe, neighbours, question_of, epsilon=epsilon, delta=delta, spent=epsilon, **options
    )
    if not proof.holds:
        raise ProofError(f"{mechanism} is not private: {proof}")
    return proof


def prove_mechanism(
    mechanism: MechanismName,
    universe: Iterable[Hashable],
    neighbours: Callable[[Database], Iterable[Hashable]],
    question_of: Input,
    *,
    epsilon: float,
    spent: float,
    delta: float = 0.0,
    **options: Any,
) -> Proof:
    """The proof, or refutation, of a mechanism that claims ``epsilon`` and spends ``spent``: a mutant if more.

    >>> from sordino.testing import prove_mechanism
    >>> universe = [(a, b) for a in range(3) for b in range(3)]
    >>> near = lambda x: [y for y in universe if abs(x[0] - y[0]) + abs(x[1] - y[1]) == 1]
    >>> prove_mechanism("exponential", universe, near, lambda x: (x, 1), epsilon=0.5, spent=2.0).holds
    False
    """

    def law(database: Database) -> LogLaw:
        scores, profile = question_of(database)
        given = options | {"profile": profile, "epsilon": spent, "delta": delta}
        stated = stated_law(scores, mechanism=mechanism, **given)
        return LogLaw(stated.log_probabilities, error=stated.error)

    return prove(law, universe, neighbours, epsilon, delta)
