"""Trees over released numbers: what a column of an answer, HAVING and ORDER BY are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sordino.sql.aggregates import Aggregate, Part
from sordino.sql.known import Known, Scalar

ReleasedKind = Literal["number", "text", "boolean", "date", "timestamp", "list", "null"]


@dataclass(frozen=True, slots=True)
class ReleasedRow:
    """One group of an answer: its public keys, and one released part per measure."""

    group: tuple[Any, ...]
    parts: Sequence[Part]


class Released(Protocol):
    """An expression over public keys, literals and released numbers; it has a value for every release."""

    @property
    def kind(self) -> ReleasedKind:
        """Its type."""

    def evaluate(self, row: ReleasedRow) -> Known:
        """The value in one group."""

    def walk(self) -> Iterator[Released]:
        """Itself and everything below."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal."""

    value: Scalar
    kind: ReleasedKind

    def evaluate(self, row: ReleasedRow) -> Known:
        """The same everywhere."""
        return Known.exact(self.value)

    def walk(self) -> Iterator[Released]:
        """A leaf."""
        yield self


@dataclass(frozen=True, slots=True)
class KeyValue:
    """The value of a group's key: ``place`` in GROUP BY."""

    place: int
    kind: ReleasedKind

    def evaluate(self, row: ReleasedRow) -> Known:
        """Public."""
        return Known.exact(row.group[self.place])

    def walk(self) -> Iterator[Released]:
        """A leaf."""
        yield self


@dataclass(frozen=True, slots=True)
class Aggregated:
    """An aggregate, made of the released parts at these places among the measures."""

    aggregate: Aggregate
    measures: tuple[int, ...]
    kind: ReleasedKind = "number"

    def evaluate(self, row: ReleasedRow) -> Known:
        """What the aggregate makes of its parts."""
        return self.aggregate.combine([row.parts[place] for place in self.measures])

    def walk(self) -> Iterator[Released]:
        """A leaf."""
        yield self


@dataclass(frozen=True, slots=True)
class Applied:
    """A total function of other expressions."""

    function: Callable[[Sequence[Known]], Known] = field(compare=False)
    operands: tuple[Released, ...]
    kind: ReleasedKind

    def evaluate(self, row: ReleasedRow) -> Known:
        """Of their values."""
        return self.function([operand.evaluate(row) for operand in self.operands])

    def walk(self) -> Iterator[Released]:
        """The operands too."""
        yield self
        for operand in self.operands:
            yield from operand.walk()


def find_measures(expression: Released) -> tuple[int, ...]:
    """The places of all measures that a value is made of; none where it is public."""
    found = [place for node in expression.walk() if isinstance(node, Aggregated) for place in node.measures]
    return tuple(dict.fromkeys(found))
