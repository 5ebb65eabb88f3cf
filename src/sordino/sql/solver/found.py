"""Sensitivity: what is known of the number of result rows that one row of a table can change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sordino.sql.solver.witness import DatabaseWitness

Counted = Literal["rows", "groups"]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Between ``at_least`` and ``at_most``, in all databases that obey keys and checks; exact where both are equal.

    ``at_most`` is None where no bound is known; ``unbounded``: where it is proved that there is none. ``counted``:
    result rows, or groups of a GROUP BY; a changed group is an old row out and a new one in, hence `rows`.
    ``reason``: why it is not exact. ``size``: assertions of the largest formula; ``formula``: that of the largest
    number that was found possible. ``assumed``: columns that the schema lets be NULL; the number holds between
    databases in which they are not.

    >>> import sordino as sd
    >>> found = sd.sql.sensitivity(
    ...     "SELECT u.id FROM u, v WHERE u.id = v.id AND k BETWEEN 1 AND 5",
    ...     "CREATE TABLE u (id INT PRIMARY KEY); CREATE TABLE v (id INT, k INT, PRIMARY KEY (id, k))",
    ... )
    >>> print(found["u"], found["v"])
    5 1
    """

    table: str
    at_least: int
    at_most: int | None
    unbounded: bool = False
    counted: Counted = "rows"
    reason: str = ""
    seconds: float = 0.0
    size: int = 0
    witness: DatabaseWitness | None = None
    formula: str = ""
    assumed: tuple[str, ...] = ()

    @property
    def value(self) -> int | None:
        """The number, where it is known exactly."""
        return self.at_least if self.at_least == self.at_most and not self.unbounded else None

    @property
    def unknown(self) -> bool:
        """Neither a number nor proved to be without bound."""
        return self.value is None and not self.unbounded

    @property
    def rows(self) -> int | None:
        """Result rows that come or go at most: the bound, or twice as many as groups; None: no bound is known."""
        return None if self.at_most is None else self.at_most * (2 if self.counted == "groups" else 1)

    def __str__(self) -> str:
        if self.unbounded:
            return "unbounded"
        if self.value is not None:
            return str(self.value)
        known = [f"at least {self.at_least}"] if self.at_least else []
        known += [] if self.at_most is None else [f"at most {self.at_most}"]
        return f"{' and '.join(known) or 'unknown'} ({self.reason})"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        told = "unbounded" if self.unbounded else "unknown" if self.value is None else self.value
        return {
            "table": self.table,
            "sensitivity": told,
            "counted": self.counted,
            "at_least": self.at_least,
            "at_most": self.at_most,
            "rows": self.rows,
            "reason": self.reason,
            "without_null": list(self.assumed),
            "seconds": self.seconds,
            "formula_size": self.size,
        }
