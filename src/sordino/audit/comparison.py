"""The output laws of a universe, held so that all neighbouring pairs can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sordino.audit.deciding_event import DecidingEvent
from sordino.audit.lattice_comparison import LatticeComparison
from sordino.audit.lattice_law import LatticeLaw
from sordino.audit.log_law import LogLaw
from sordino.audit.matrix_comparison import is_labelled_pair, is_series, tabulate
from sordino.audit.universe import NeighbouringPairs, Progress
from sordino.core.errors import ProofError

__all__ = ["LawComparison", "LogLaw", "compare_laws"]


class LawComparison(Protocol):
    """What a proof asks of the laws; answers are (value, index of the ordered pair)."""

    def worst_epsilon(self, delta: float, progress: Progress | None = None) -> tuple[float, int]:
        """The largest, over pairs, of the least ε that meets ``delta``."""

    def worst_delta(self, epsilon: float) -> tuple[float, int]:
        """The largest δ(ε) over pairs."""

    def event(self, pair: int, delta: float) -> DecidingEvent:
        """The outcomes that decide the least ε of one pair."""

    @property
    def scope(self) -> str:
        """What the outcomes are, in words: a proof is about these and no others."""

    @property
    def unseen(self) -> float:
        """The largest mass of one law that was not looked at outcome by outcome."""


def compare_laws(
    pairs: NeighbouringPairs, laws: Sequence[Any], tolerance: float, outcomes: Sequence[Any] | None = None
) -> LawComparison:
    """Bring the laws of all databases to one form, refusing laws that are none or not of one kind."""
    kinds = [_kind(law) for law in laws]
    if len(set(kinds)) > 1:
        at = next(i for i, kind in enumerate(kinds) if kind != kinds[0])
        raise ProofError(
            f"laws of different kinds: {kinds[0]} for {pairs.databases[0]!r}, {kinds[at]} for "
            f"{pairs.databases[at]!r}; one kind for all databases is accepted"
        )
    if kinds[0] != "lattice law":
        return tabulate(pairs, laws, tolerance, outcomes)
    if outcomes is not None:
        raise ProofError(
            "lattice laws state their outcomes by their step; give outcomes for finite laws only"
        )
    return LatticeComparison(pairs, tuple(laws), tolerance)


def _kind(law: Any) -> str:
    if isinstance(law, LogLaw):
        return "LogLaw" if law.outcomes is None else "LogLaw with outcomes"
    if isinstance(law, Mapping):
        return "mapping"
    if is_labelled_pair(law):
        return "pair (outcomes, probabilities)"
    if isinstance(law, LatticeLaw):
        return "lattice law"
    return "series" if is_series(law) else "array"
