"""Laws over finitely many outcomes, brought to one table: a row per database, a column per outcome."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.audit.deciding_event import DecidingEvent, find_worst_outcomes, mass
from sordino.audit.divergence import Floats, hockey_stick, smallest_epsilon
from sordino.audit.log_law import LogLaw
from sordino.audit.outcome import outcome_key
from sordino.audit.universe import NeighbouringPairs, Progress
from sordino.core.errors import ProofError

_CHUNK = 1 << 19  # outcomes of one vectorised comparison: fits the cache of a small machine
_ACCEPTED = (
    "an array of probabilities, a mapping outcome -> probability, a pair (outcomes, probabilities), a LogLaw or a "
    "LatticeLaw is accepted"
)


@dataclass(frozen=True, slots=True)
class MatrixComparison:
    """Laws over common outcomes: the least and the largest log-probability that each law's stated error allows.

    The two tables are one where no law states an error. A pair is compared at the worse ends: (P, Q) costs at most
    what the largest P against the least Q costs, outcome by outcome, for every loss that grows with P and falls with Q.
    """

    pairs: NeighbouringPairs
    least: Floats
    most: Floats
    outcomes: Sequence[Any]
    labelled: bool

    def _chunks(self) -> Iterator[tuple[int, Floats, Floats]]:
        size = max(1, _CHUNK // self.most.shape[1])
        for start in range(0, len(self.pairs), size):
            chosen = slice(start, start + size)
            yield start, self.most[self.pairs.left[chosen]], self.least[self.pairs.right[chosen]]

    def worst_epsilon(self, delta: float, progress: Progress | None = None) -> tuple[float, int]:
        """See `LawComparison`."""
        worst, at = -1.0, 0
        for start, left, right in self._chunks():
            needed, _ = smallest_epsilon(left, right, delta)
            best = int(needed.argmax())
            if needed[best] > worst:
                worst, at = float(needed[best]), start + best
            if progress is not None:
                progress(start + len(left), len(self.pairs))
        return worst, at

    def worst_delta(self, epsilon: float) -> tuple[float, int]:
        """See `LawComparison`."""
        worst, at = -1.0, 0
        for start, left, right in self._chunks():
            spent = hockey_stick(left, right, epsilon)
            best = int(spent.argmax())
            if spent[best] > worst:
                worst, at = float(spent[best]), start + best
        return min(worst, 1.0), at

    def event(self, pair: int, delta: float) -> DecidingEvent:
        """See `LawComparison`."""
        left = self.most[self.pairs.left[pair]]
        right = self.least[self.pairs.right[pair]]
        chosen = find_worst_outcomes(left, right, delta)
        named = tuple(self.outcomes[k] for k in chosen)
        return DecidingEvent(named if delta else named[0], mass(left[chosen]), mass(right[chosen]))

    @property
    def scope(self) -> str:
        """See `LawComparison`."""
        if self.labelled:
            return f"{len(self.outcomes):,} outcomes, told apart by type and bits"
        return f"positions 0 … {len(self.outcomes) - 1} of the laws' arrays: the position itself is what is released"

    @property
    def unseen(self) -> float:
        """See `LawComparison`: every outcome is looked at."""
        return 0.0


def tabulate(
    pairs: NeighbouringPairs, laws: Sequence[Any], tolerance: float, outcomes: Sequence[Any] | None
) -> MatrixComparison:
    """One table of all laws, refusing what is no law, has mass other than 1, or speaks of other outcomes."""
    read = [_read(law, pairs.databases[i]) for i, law in enumerate(laws)]
    for index, law in enumerate(read):
        _check_mass(law, pairs.databases[index], tolerance)
    if read[0].outcomes is None:
        size = len(read[0].law.log_probabilities)
        for index, law in enumerate(read):
            if len(law.law.log_probabilities) != size:
                raise ProofError(
                    f"the law of {pairs.databases[index]!r} has {len(law.law.log_probabilities)} outcomes, that of "
                    f"{pairs.databases[0]!r} {size}; arrays over the same outcomes are accepted, or laws that name "
                    "their outcomes"
                )
        if outcomes is not None and len(outcomes) != size:
            raise ProofError(
                f"{len(outcomes)} outcomes are stated, but the laws have {size}; one each is accepted"
            )
        _keys(outcomes or (), once=True)
        ends = [law.law.ends() for law in read]
        least = np.stack([low for low, _ in ends])
        same = all(low is high for low, high in ends)
        most = least if same else np.stack([high for _, high in ends])
        return MatrixComparison(pairs, least, most, outcomes or range(size), outcomes is not None)
    return _by_label(pairs, read, outcomes)


@dataclass(frozen=True, slots=True)
class _Read:
    """One law with the outcomes that it names, if any."""

    law: LogLaw
    outcomes: Sequence[Any] | None


def _by_label(
    pairs: NeighbouringPairs, read: Sequence[_Read], outcomes: Sequence[Any] | None
) -> MatrixComparison:
    names: list[Any] = []
    place: dict[Hashable, int] = {}
    if outcomes is not None:
        place = {key: index for index, key in enumerate(_keys(outcomes, once=True))}
        names = list(outcomes)
    columns = []
    for index, law in enumerate(read):
        own = []
        for outcome, key in zip(law.outcomes or (), _keys(law.outcomes or ()), strict=True):
            if key not in place:
                if outcomes is not None:
                    raise ProofError(
                        f"the law of {pairs.databases[index]!r} names the outcome {outcome!r} "
                        f"({type(outcome).__name__}), which is not among those stated"
                    )
                place[key] = len(names)
                names.append(outcome)
            own.append(place[key])
        columns.append(np.array(own, dtype=np.intp))
    ends = [law.law.ends() for law in read]
    least = np.full((len(read), len(names)), -np.inf)
    most = least if all(low is high for low, high in ends) else least.copy()
    for row, ((low, high), where) in enumerate(zip(ends, columns, strict=True)):
        _add(least[row], where, low)
        if most is not least:
            _add(most[row], where, high)
    return MatrixComparison(pairs, least, most, names, True)


def _add(row: Floats, where: NDArray[np.intp], logs: Floats) -> None:
    """Put a law into its row; an outcome that is named twice has both masses."""
    if len(np.unique(where)) == len(where):
        row[where] = logs
    else:
        np.logaddexp.at(row, where, logs)


def _keys(outcomes: Sequence[Any], *, once: bool = False) -> list[Hashable]:
    keys = [outcome_key(outcome) for outcome in outcomes]
    if once and len(set(keys)) < len(keys):
        twice = next(o for i, o in enumerate(outcomes) if keys.index(keys[i]) < i)
        raise ProofError(f"the outcome {twice!r} is stated twice; every outcome once is accepted")
    return keys


def is_labelled_pair(law: Any) -> bool:
    """Whether a law is a pair (outcomes, probabilities) and not an array of two probabilities."""
    return isinstance(law, tuple) and len(law) == 2 and all(hasattr(part, "__len__") for part in law)


def is_series(law: Any) -> bool:
    """Whether a law is an array with labels of its own, such as a pandas Series; its labels are its outcomes."""
    return hasattr(law, "index") and not callable(law.index) and hasattr(law, "to_numpy")


def _read(law: Any, database: Any) -> _Read:
    if isinstance(law, LogLaw):
        named = None if law.outcomes is None else list(law.outcomes)
        return _Read(_checked(law, database), named)
    if isinstance(law, Mapping):
        return _Read(_logarithms(list(law.values()), database), list(law))
    if is_series(law):
        return _Read(_logarithms(law.to_numpy(), database), list(law.index))
    if is_labelled_pair(law):
        outcomes, probabilities = law
        found = _logarithms(probabilities, database)
        if len(outcomes) != len(found.log_probabilities):
            raise ProofError(
                f"the law of {database!r} names {len(outcomes)} outcomes for {len(found.log_probabilities)} "
                "probabilities; one each is accepted"
            )
        return _Read(found, list(outcomes))
    return _Read(_logarithms(law, database), None)


def _logarithms(values: Any, database: Any) -> LogLaw:
    try:
        probabilities = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ProofError(
            f"the law of {database!r} is a {type(values).__name__} and no array of numbers; {_ACCEPTED}"
        ) from None
    if not (probabilities >= 0).all():
        raise ProofError(f"the law of {database!r} has a negative or NaN probability")
    with np.errstate(divide="ignore"):
        return _checked(LogLaw(np.log(probabilities)), database)


def _checked(law: LogLaw, database: Any) -> LogLaw:
    shape = law.log_probabilities.shape
    if len(shape) != 1 or shape == (0,):
        raise ProofError(
            f"the law of {database!r} has shape {shape}; 1-D arrays over the same outcomes are accepted"
        )
    if not (law.log_probabilities < np.inf).all():
        raise ProofError(f"the law of {database!r} has an infinite or NaN log-probability")
    return law


def _check_mass(read: _Read, database: Any, tolerance: float) -> None:
    low, high = read.law.ends()
    with np.errstate(over="ignore"):
        least, most = float(np.exp(low).sum()), float(np.exp(high).sum())
    if not (least <= 1 + tolerance and most >= 1 - tolerance):
        found = f"{least:.12g}" if low is high else f"between {least:.12g} and {most:.12g}"
        raise ProofError(f"the law of {database!r} has mass {found}; 1 is accepted (tolerance {tolerance:g})")
