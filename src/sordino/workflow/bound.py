"""Bound: a sensitivity, rounded up, with the rule that gave it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Bound:
    """A number that a sensitivity is not above, and the name of its rule; ``others``: what other rules give."""

    value: float
    rule: str
    others: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.value:.6g} ({self.rule})"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"value": self.value, "rule": self.rule, "others": dict(self.others)}
