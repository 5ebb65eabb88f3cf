"""Exhaustive privacy proofs: every neighbouring pair of a small universe, exact output laws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.audit.comparison import LawComparison, compare_laws
from sordino.audit.universe import Neighbours, Progress, pair_neighbours
from sordino.core import parameters
from sordino.display.progress import show_progress


@dataclass(frozen=True, slots=True)
class Witness:
    """The ordered pair of databases with the largest loss, and where it occurs.

    ``outcome`` is one outcome for a pure claim and the set of outcomes that decides for an approximate one (on a
    lattice: intervals of values); ``left_probability`` and ``right_probability`` are its masses.

    >>> import sordino as sd
    >>> keep = {0: {0: 0.75, 1: 0.25}, 1: {0: 0.25, 1: 0.75}}
    >>> proof = sd.audit.prove(keep.get, [0, 1], lambda bit: [1 - bit], epsilon=1.5)
    >>> proof.witness.left_probability, proof.witness.right_probability
    (0.75, 0.25)
    """

    left: Any
    right: Any
    outcome: Any
    left_probability: float
    right_probability: float

    def __str__(self) -> str:
        return (
            f"{self.left!r} against {self.right!r}, outcome {_shown(self.outcome)}: "
            f"{self.left_probability:.6g} against {self.right_probability:.6g}"
        )


def _shown(outcome: Any) -> str:
    if isinstance(outcome, Fraction):
        return f"{float(outcome):.9g}"
    if isinstance(outcome, tuple) and len(outcome) > 6:
        return f"one of {len(outcome)}, such as " + ", ".join(map(_shown, outcome[:3]))
    if isinstance(outcome, tuple):
        return f"({', '.join(map(_shown, outcome))})"
    return outcome if isinstance(outcome, str) else repr(outcome)


@dataclass(frozen=True, slots=True)
class Proof:
    """What an enumeration of all neighbouring pairs found.

    ``worst_epsilon`` is the least ε for which every pair meets ``delta``; ``worst_delta`` the largest δ(ε) at the
    claimed ``epsilon``. ``slack`` is claimed minus worst ε. ``holds`` allows ``tolerance`` in ε, and a relative
    ``tolerance`` in δ, for rounding that the laws do not state. ``outcomes`` says what the proof tells apart, and
    ``unseen`` how much mass a law has, at most, outside all that was looked at (lattice laws only): there the proof
    rests on the bounds that the laws state of their own tails.

    >>> import sordino as sd
    >>> keep = {0: {0: 0.75, 1: 0.25}, 1: {0: 0.25, 1: 0.75}}
    >>> proof = sd.audit.prove(keep.get, [0, 1], lambda bit: [1 - bit], epsilon=1.5)
    >>> proof.holds, proof.pairs, round(proof.slack, 4)
    (True, 2, 0.4014)
    """

    holds: bool
    epsilon: float
    delta: float
    worst_epsilon: float
    worst_delta: float
    witness: Witness
    pairs: int
    databases: int
    tolerance: float
    outcomes: str
    unseen: float
    _comparison: LawComparison = field(repr=False, compare=False)

    @property
    def slack(self) -> float:
        """Claimed minus worst ε: how much smaller the noise could be on this universe."""
        return self.epsilon - self.worst_epsilon

    def curve(self, epsilons: ArrayLike) -> NDArray[np.float64]:
        """δ(ε): the largest hockey-stick divergence over all pairs, for each given ε."""
        given = np.asarray(epsilons, dtype=np.float64)
        flat = [
            self._comparison.worst_delta(parameters.non_negative("epsilon", float(e)))[0]
            for e in given.ravel()
        ]
        return np.array(flat).reshape(given.shape)

    def __bool__(self) -> bool:
        return self.holds

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from sordino.audit.proof_view import render_proof

        return render_proof(self)

    def __str__(self) -> str:
        claim = f"ε = {self.epsilon:.6g}" + (f", δ = {self.delta:.3g}" if self.delta else "")
        found = f"worst ε = {self.worst_epsilon:.9g}" + (
            f" at that δ, worst δ = {self.worst_delta:.3g} at that ε" if self.delta else ""
        )
        unseen = (
            f"; up to {self.unseen:.2g} of the mass lies where the laws' own tail bounds were only spot-checked"
            if self.unseen
            else ""
        )
        return (
            f"{'holds' if self.holds else 'REFUTED'}: {claim} claimed, {found} "
            f"(slack {self.slack:.3g}, tolerance {self.tolerance:g}; "
            f"{self.pairs:,} ordered pairs of {self.databases:,} databases)\n"
            f"outcomes: {self.outcomes}{unseen}\n"
            f"worst pair: {self.witness}"
        )


def prove(
    law: Callable[[Any], Any],
    universe: Iterable[Any],
    neighbours: Neighbours,
    epsilon: float,
    delta: float = 0.0,
    *,
    tolerance: float = 1e-9,
    outcomes: Sequence[Any] | None = None,
    partial: bool = False,
    progress: Progress | None = None,
) -> Proof:
    """Compare the exact output laws of all neighbouring databases of a universe.

    ``law(x)`` gives a law with named outcomes (a mapping outcome -> probability, absent = 0; a pair (outcomes,
    probabilities); a `LogLaw` with outcomes; a pandas Series), a law without names (an array of probabilities, a
    `LogLaw`) or a `LatticeLaw`; it is called once per database. ``neighbours(x)`` lists databases of the universe;
    others are an error, or left out if ``partial``. ``progress(done, total)`` is called as the work goes on; without it
    long work shows a bar on terminals and in notebooks.

    Named outcomes are compared by name, type and bits (`sordino.audit.outcome`). Without names, **position i is the
    outcome i**: what is released is the number i, or what a public list, the same for every database, has at place i.
    A law that sorts its outcomes, or has other candidates for another database, must name them; arrays of different
    lengths are refused. ``outcomes`` is that public list: the proof then speaks of its entries, and refuses laws of
    another length or with a name that is not in it.

    Guarantee: a Proof that holds certifies (ε, δ)-differential privacy of the law on this universe, up to the
    stated tolerance. Only for laws that state an error of their own, and for lattice laws, may ``worst_epsilon`` be
    an upper bound in place of the exact value: probabilities are taken at the worse end of their error, and outside
    its window a lattice law's own bounds decide, as far as looking there does not contradict them.
    Numerics: ratios are taken in log space and δ is summed without cancellation; a law may miss mass 1 by
    ``tolerance``, so a claim whose δ is below that needs a smaller tolerance to be proved in full.
    Requires: a symmetric relation with at least one pair, laws of one kind with mass 1; otherwise `ProofError`.
    Source: Dwork, McSherry, Nissim, Smith 2006 (pure); the hockey-stick form of (ε, δ) as in Barthe and Olmedo 2013.

    >>> import sordino as sd
    >>> keep = {0: {0: 0.75, 1: 0.25}, 1: {0: 0.25, 1: 0.75}}  # randomised response with odds of 3 to 1
    >>> proof = sd.audit.prove(keep.get, [0, 1], lambda bit: [1 - bit], epsilon=1.0)
    >>> proof.holds, round(proof.worst_epsilon, 4)
    (False, 1.0986)
    """
    epsilon = parameters.non_negative("epsilon", epsilon)
    delta = parameters.probability("delta", delta, zero=True)
    tolerance = parameters.non_negative("tolerance", tolerance)
    pairs = pair_neighbours(universe, neighbours, partial=partial)
    count, total = len(pairs.databases), len(pairs.databases) + len(pairs)
    laws = []
    with nullcontext(progress) if progress is not None else show_progress("proof") as step:
        for done, database in enumerate(pairs.databases, start=1):
            laws.append(law(database))
            step(done, total)

        def report(done: int, _: int) -> None:
            step(count + done, total)

        comparison = compare_laws(pairs, laws, tolerance, None if outcomes is None else list(outcomes))
        allowed = delta * (1 + tolerance)
        worst_epsilon, at = comparison.worst_epsilon(allowed, report)
    worst_delta, _ = comparison.worst_delta(epsilon)
    event = comparison.event(at, allowed)
    witness = Witness(
        pairs.databases[pairs.left[at]],
        pairs.databases[pairs.right[at]],
        event.outcome,
        event.left,
        event.right,
    )
    return Proof(
        holds=worst_epsilon <= epsilon + tolerance,
        epsilon=epsilon,
        delta=delta,
        worst_epsilon=worst_epsilon,
        worst_delta=worst_delta,
        witness=witness,
        pairs=len(pairs),
        databases=count,
        tolerance=tolerance,
        outcomes=comparison.scope,
        unseen=comparison.unseen,
        _comparison=comparison,
    )
