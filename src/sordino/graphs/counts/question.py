"""CountQuestion: the public parameters of a count, checked before the graph is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CountQuestion:
    """What was asked. All of it is public; ``nodes`` is the number of nodes."""

    nodes: int
    epsilon: float
    delta: float
    mechanism: str | None
    k: int
    step: int
    beta: float | None
    max_degree: int
    non_negative: bool
