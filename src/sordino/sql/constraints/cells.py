"""Known cells: what is known of each column of one joined row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sordino.sensitivity.interval import Interval
from sordino.sql.constraint_files.constraint import Item, Possible, ValueSet

# (alias, column)
CellName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class KnownCell:
    """An interval for numbers, a set for what is listed; both for listed numbers. ``values`` None: not listed."""

    interval: Interval | None
    values: frozenset[Item] | None = None

    @classmethod
    def of(cls, possible: Possible) -> KnownCell:
        """From what a constraint allows."""
        if isinstance(possible, Interval):
            return cls(possible)
        return cls(possible.hull(), possible.values)

    @classmethod
    def at(cls, value: Item) -> KnownCell:
        """A known value."""
        return cls(
            None if isinstance(value, str) else Interval(float(value), float(value)), frozenset((value,))
        )

    def within(self, interval: Interval) -> KnownCell | None:
        """Only numbers of an interval; None if there are none."""
        met = interval if self.interval is None else self.interval.meet(interval)
        if met is None or self.values is None:
            return None if met is None else KnownCell(met)
        kept = frozenset(
            value for value in self.values if not isinstance(value, str) and met.holds(float(value))
        )
        return KnownCell(ValueSet(kept).hull(), kept) if kept else None

    def among(self, values: frozenset[Item]) -> KnownCell | None:
        """Only some values; None if there are none."""
        if self.values is None:
            kept = frozenset(
                value
                for value in values
                if self.interval is None or (not isinstance(value, str) and self.interval.holds(float(value)))
            )
        else:
            kept = self.values & values
        return KnownCell(ValueSet(kept).hull(), kept) if kept else None

    def joined(self, other: KnownCell) -> KnownCell:
        """What either of two allows."""
        if self.values is not None and other.values is not None:
            values = self.values | other.values
            return KnownCell(ValueSet(values).hull(), values)
        if self.interval is None or other.interval is None:
            return KnownCell(None)
        return KnownCell(self.interval.hull(other.interval))

    @property
    def possible(self) -> Possible:
        """As a range or a set."""
        if self.values is not None:
            return ValueSet(self.values)
        return ValueSet(None) if self.interval is None else self.interval


KnownCells = Mapping[CellName, KnownCell]
