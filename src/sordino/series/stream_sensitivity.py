"""stream_sensitivity: how far two runs of a stream processor drift apart, from how far their inputs are apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from sordino.core import ParameterError
from sordino.core.parameters import flag, whole

Distances = tuple[float, ...]
Streams = frozenset[Distances]
# Of a deterministic processor: (distance of states, distance of inputs) to (distance of next states, of outputs).
Deterministic = Callable[[Any, float], tuple[Any, float]]
# Of a probabilistic one: a family of sets of such pairs. The family is what we may choose, a set what may happen then.
Probabilistic = Callable[[Any, float], Iterable[Iterable[tuple[Any, float]]]]

_WAYS = 4  # per set that is kept, so many are looked at


@dataclass(frozen=True, slots=True)
class StreamBound:
    """Sets of streams of output distances: for one set of our choice, every run stays below one of its streams.

    ``capped``: whether sets were left out because they were too many, which is sound and may cost accuracy.
    """

    families: tuple[Streams, ...]
    capped: bool = False

    def loss(self, epsilon: Callable[[float], float] = float) -> float:
        """The loss to who adds up Σ ε(y_t): the least over sets of the most over their streams."""
        return min(max(math.fsum(map(epsilon, stream)) for stream in family) for family in self.families)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        families = [sorted(map(list, family)) for family in self.families]
        return {"families": families, "capped": self.capped, "loss": self.loss()}


def stream_sensitivity(
    processor: Deterministic | Probabilistic | Mapping[str, Any],
    distances: Sequence[float],
    *,
    horizon: int,
    start: Hashable = 0,
    probabilistic: bool = False,
    cap: int = 100,
) -> StreamBound:
    """Bounds on the output distances of a processor (S, s₀, f) whose inputs at time t are ``distances[t]`` apart.

    A deterministic processor is given by c(w, v) = (w', y): from states w apart and inputs v apart to states w' and
    outputs y apart; the bound is one stream, c folded from w = 0. A probabilistic one (``probabilistic=True``)
    returns a family of sets of such pairs: each set is what a coupling of ours leaves to the world. A table does too:
    ``{"moves": [{"state": w, "input": v, "family": [[[w', y], …], …]}, …]}``. Within a set only maximal streams are
    kept, and of sets those that no other one beats; ``cap`` limits their number.
    **Guarantee**: for every set of the result there is a coupling of the two runs whose output distances lie below one
    of its streams, at every time. **Requires**: c bounds f. **Source**: NAPLES report, Section 3.3.6.7.

    >>> import sordino as sd
    >>> decay = sd.series.stream_sensitivity(lambda w, v: (w / 2 + v, w / 2 + v), [1, 0, 0, 0], horizon=4)
    >>> sorted(decay.families[0])
    [(1.0, 0.5, 0.25, 0.125)]
    >>> choose = lambda w, v: [[(w + v, (w + v) / 2)], [(0, w + v)]]
    >>> sd.series.stream_sensitivity(choose, [1, 0, 0], horizon=3, probabilistic=True).loss()
    1.0
    """
    length = whole("horizon", horizon, least=1)
    if len(distances) < length:
        raise ParameterError(f"there must be a distance for each of {length} times, got {len(distances)}")
    inputs = [_distance(value) for value in distances[:length]]
    whole("cap", cap, least=1)
    if isinstance(processor, Mapping):
        step, probabilistic = read_moves(processor), True
    else:
        step = processor  # type: ignore[assignment]
    if not flag("probabilistic", probabilistic):
        return StreamBound((frozenset([_fold(step, inputs, start)]),))
    tracker = _Tracker(step, inputs, cap)
    families = tracker.families(start, 0)
    return StreamBound(tuple(sorted(families, key=lambda family: sorted(family))), tracker.capped)


def read_moves(table: Mapping[str, Any]) -> Probabilistic:
    """The moves of a finite processor; what is not in the table is refused when it is met."""
    moves: dict[tuple[Any, float], list[list[tuple[Any, float]]]] = {}
    try:
        for move in table["moves"]:
            family = [[(after, float(out)) for after, out in choice] for choice in move["family"]]
            moves[move["state"], float(move["input"])] = family
    except (KeyError, TypeError, ValueError):
        raise ParameterError(
            'a table of moves is {"moves": [{"state": w, "input": v, "family": [[[w2, y], ...], ...]}, ...]}'
        ) from None

    def step(state: Any, apart: float) -> list[list[tuple[Any, float]]]:
        if (state, apart) not in moves:
            raise ParameterError(f"the table has no move for states {state!r} and inputs {apart!r} apart")
        return moves[state, apart]

    return step


def _fold(step: Any, inputs: Sequence[float], start: Any) -> Distances:
    state, outputs = start, []
    for apart in inputs:
        found = step(state, apart)
        if not isinstance(found, tuple) or len(found) != 2:
            raise ParameterError(
                "a deterministic processor returns (distance of states, distance of outputs)"
            )
        state, out = found
        outputs.append(_distance(out))
    return tuple(outputs)


class _Tracker:
    """Families by state and time, each computed once."""

    def __init__(self, step: Any, inputs: Sequence[float], cap: int) -> None:
        self._step, self._inputs, self._cap = step, inputs, cap
        self._known: dict[tuple[Any, int], list[Streams]] = {}
        self.capped = False

    def families(self, state: Any, time: int) -> list[Streams]:
        """What may be promised from this time on."""
        if time == len(self._inputs):
            return [frozenset([()])]
        if (state, time) not in self._known:
            self._known[state, time] = self._compute(state, time)
        return self._known[state, time]

    def _compute(self, state: Any, time: int) -> list[Streams]:
        found: list[Streams] = []
        choices = [list(choice) for choice in self._step(state, self._inputs[time])]
        if not choices or not all(choices):
            raise ParameterError("a probabilistic processor returns at least one set, and no empty one")
        for choice in choices:
            later = self._limit([self.families(after, time + 1) for after, _ in choice])
            for picked in product(*later):
                streams = {
                    (_distance(out), *stream)
                    for (_, out), family in zip(choice, picked, strict=True)
                    for stream in family
                }
                found.append(_keep_maximal(streams))
                if len(found) > 4 * self._cap:
                    found = self._prune(found)
        return self._prune(found)

    def _limit(self, later: list[list[Streams]]) -> list[list[Streams]]:
        """Of each member's sets the best ones, so that there are not too many ways to pick one of each."""
        most = _WAYS * self._cap
        if math.prod(map(len, later)) <= most:
            return later
        self.capped = True
        room = max(1, int(most ** (1 / len(later))))
        return [families[:room] for families in later]

    def _prune(self, families: list[Streams]) -> list[Streams]:
        """Without sets that another one beats; of too many the ones with the smallest sums."""
        kept: list[Streams] = []
        for family in sorted(set(families), key=_worst_sum):
            if not any(_is_below(other, family) for other in kept):
                kept = [other for other in kept if not _is_below(family, other)]
                kept.append(family)
        if len(kept) > self._cap:
            self.capped = True
            kept = kept[: self._cap]
        return kept


def _worst_sum(family: Streams) -> float:
    return max(map(math.fsum, family))


def _keep_maximal(streams: set[Distances]) -> Streams:
    return frozenset(
        stream
        for stream in streams
        if not any(other != stream and _dominates(other, stream) for other in streams)
    )


def _dominates(large: Distances, small: Distances) -> bool:
    return all(one >= other for one, other in zip(large, small, strict=True))


def _is_below(one: Streams, other: Streams) -> bool:
    """Whether every stream of one lies below a stream of the other: then the other promises no more."""
    return all(any(_dominates(large, small) for large in other) for small in one)


def _distance(value: Any) -> float:
    number = float(value)
    if not number >= 0:
        raise ParameterError(f"a distance must be >= 0, got {value!r}")
    return number
