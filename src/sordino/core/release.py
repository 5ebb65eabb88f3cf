"""Release: what may be published."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sordino.core.guarantee import Guarantee
from sordino.core.secret import Secret


@dataclass(frozen=True, slots=True)
class Release:
    """One private answer.

    ``value``, ``guarantee``, ``mechanism`` and ``error`` (an error bar, if one was paid for) may be published.
    ``details`` is the owner's: what depends on the data and was not paid for. ``private`` is False only for
    values drawn inside ``sordino.testing.seeded``, and then the guarantee says so too.
    """

    value: Any
    guarantee: Guarantee
    mechanism: str
    error: float | None = None
    private: bool = True
    details: Secret[dict[str, Any]] = field(default_factory=lambda: Secret({}), compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.private and self.guarantee.private:
            seeded = replace(self.guarantee.loss, private=False)
            object.__setattr__(self, "guarantee", replace(self.guarantee, loss=seeded))

    def __repr__(self) -> str:
        return f"Release({self.value!r}, {self.guarantee.loss}, {self.mechanism})"

    def __str__(self) -> str:
        lines = [f"{self.value}   ({self.mechanism}; {self.guarantee})"]
        if self.error is not None:
            lines.append(f"error at 95 %: {self.error:g}")
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
