"""Release: what may be published."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sordino.core.guarantee import NOT_PRIVATE, Guarantee
from sordino.core.secret import Secret


@dataclass(frozen=True, slots=True)
class Release:
    """One private answer.

    ``value``, ``guarantee``, ``mechanism`` and ``error`` (an error bar, if one was paid for) may be published.
    ``details`` is the owner's: what depends on the data and was not paid for. ``private`` is False only for
    values drawn inside ``sordino.testing.seeded``.
    """

    value: Any
    guarantee: Guarantee
    mechanism: str
    error: float | None = None
    private: bool = True
    details: Secret[dict[str, Any]] = field(default_factory=lambda: Secret({}), compare=False, repr=False)

    def __repr__(self) -> str:
        mark = "" if self.private else f", {NOT_PRIVATE}"
        return f"Release({self.value!r}, {self.guarantee.loss}, {self.mechanism}{mark})"

    def __str__(self) -> str:
        lines = [f"{self.value}   ({self.mechanism}; {self.guarantee})"]
        if self.error is not None:
            lines.append(f"error at 95 %: {self.error:g}")
        if not self.private:
            lines.append(NOT_PRIVATE)
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: the publishable part only."""
        value = self.value.tolist() if hasattr(self.value, "tolist") else self.value
        content: dict[str, Any] = {
            "value": value,
            "mechanism": self.mechanism,
            "guarantee": self.guarantee.to_dict(),
            "private": self.private,
        }
        return content if self.error is None else content | {"error": self.error}
