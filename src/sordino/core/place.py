"""Place: where in a text something is wrong."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A line and a column of a query or a policy, both counted from one, and the path of a policy's field.

    >>> print(Place(1, 8))
    line 1, column 8
    """

    line: int | None = None
    column: int | None = None
    path: str | None = None

    def __str__(self) -> str:
        parts = (("line", self.line), ("column", self.column), ("field", self.path))
        return ", ".join(f"{name} {part}" for name, part in parts if part is not None)

    def to_dict(self) -> dict[str, int | str]:
        """Plain data for JSON: what is known of the place."""
        parts = (("line", self.line), ("column", self.column), ("path", self.path))
        return {name: part for name, part in parts if part is not None}
