"""Terms: values of a joined row, written for a solver, computed from rows, or followed along a line.

Numbers are mathematical: integers have no largest one and reals are not rounded. Texts are integers too, each literal
its own, since they are only compared for equality; dates are their ordinals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, Literal, Protocol

SolverKind = Literal["integer", "real", "text", "boolean", "date"]
Plain = int | Fraction | str | bool | date
# How a solver calls the values of a kind.
SORTS: dict[SolverKind, str] = {
    "integer": "Int",
    "real": "Real",
    "text": "Int",
    "boolean": "Bool",
    "date": "Int",
}


class Writer(Protocol):
    """Where a term is written: the solver's names of fields, literals and functions."""

    def field(self, field: RowField) -> str:
        """The value of a column."""

    def literal(self, value: Plain, kind: SolverKind) -> str:
        """A constant."""

    def hidden(self, hidden: Hidden) -> str:
        """A function of which nothing is known."""


class Term(Protocol):
    """A value that a joined row has."""

    @property
    def kind(self) -> SolverKind:
        """Its type."""

    def write(self, writer: Writer) -> str:
        """For the solver."""

    def compute(self, row: Callable[[RowField], Plain]) -> Any:
        """From values."""

    def slope(self, step: Writer) -> str:
        """How fast it grows along a line whose direction ``step`` writes, provided that `bends` stand still."""

    def bends(self) -> Iterator[RowField]:
        """The fields in which it is not linear."""

    def fields(self) -> Iterator[RowField]:
        """All columns in it."""

    def moved(self, places: Callable[[RowField], RowField]) -> Term:
        """The same of other positions."""


@dataclass(frozen=True, slots=True)
class RowField:
    """A column of the row at a position of FROM."""

    position: int
    column: str
    kind: SolverKind

    def write(self, writer: Writer) -> str:
        """Its name."""
        return writer.field(self)

    def compute(self, row: Callable[[RowField], Plain]) -> Any:
        """Its value."""
        return row(self)

    def slope(self, step: Writer) -> str:
        """The direction itself."""
        return step.field(self)

    def bends(self) -> Iterator[RowField]:
        """None."""
        return iter(())

    def fields(self) -> Iterator[RowField]:
        """Itself."""
        yield self

    def moved(self, places: Callable[[RowField], RowField]) -> Term:
        """Elsewhere."""
        return places(self)


@dataclass(frozen=True, slots=True)
class Given:
    """A literal."""

    value: Plain
    kind: SolverKind

    def write(self, writer: Writer) -> str:
        """The literal."""
        return writer.literal(self.value, self.kind)

    def compute(self, row: Callable[[RowField], Plain]) -> Any:
        """The literal."""
        return self.value

    def slope(self, step: Writer) -> str:
        """None."""
        return step.literal(0, "real" if self.kind == "real" else "integer")

    def bends(self) -> Iterator[RowField]:
        """None."""
        return iter(())

    def fields(self) -> Iterator[RowField]:
        """None."""
        return iter(())

    def moved(self, places: Callable[[RowField], RowField]) -> Term:
        """The same."""
        return self


@dataclass(frozen=True, slots=True)
class Total:
    """A sum of numbers."""

    left: Term
    right: Term

    @property
    def kind(self) -> SolverKind:
        """Real if one is."""
        return join_kinds(self.left, self.right)

    def write(self, writer: Writer) -> str:
        """(+ …)"""
        return f"(+ {write_as(self.left, self.kind, writer)} {write_as(self.right, self.kind, writer)})"

    def compute(self, row: Callable[[RowField], Plain]) -> Any:
        """The sum."""
        return self.left.compute(row) + self.right.compute(row)

    def slope(self, step: Writer) -> str:
        """Slopes add."""
        real = self.kind
        return f"(+ {slope_as(self.left, real, step)} {slope_as(self.right, real, step)})"

    def bends(self) -> Iterator[RowField]:
        """Of both."""
        yield from self.left.bends()
        yield from self.right.bends()

    def fields(self) -> Iterator[RowField]:
        """Of both."""
        yield from self.left.fields()
        yield from self.right.fields()

    def moved(self, places: Callable[[RowField], RowField]) -> Term:
        """Both elsewhere."""
        return Total(self.left.moved(places), self.right.moved(places))


@dataclass(frozen=True, slots=True)
class Multiple:
    """A product of numbers; linear where one of them is a literal."""

    left: Term
    right: Term

    @property
    def kind(self) -> SolverKind:
        """Real if one is."""
        return join_kinds(self.left, self.right)

    def write(self, writer: Writer) -> str:
        """(* …)"""
        return f"(* {write_as(self.left, self.kind, writer)} {write_as(self.right, self.kind, writer)})"

    def compute(self, row: Callable[[RowField], Plain]) -> Any:
        """The product."""
        return self.left.compute(row) * self.right.compute(row)

    def slope(self, step: Writer) -> str:
        """Slopes are multiplied by the literal; without one nothing may move."""
        for factor, other in ((self.left, self.right), (self.right, self.left)):
            if not any(True for _ in factor.fields()):
                return f"(* {write_as(factor, self.kind, step)} {slope_as(other, self.kind, step)})"
        return step.literal(0, self.kind)

    def bends(self) -> Iterator[RowField]:
        """All fields, unless one factor has none."""
        if any(True for _ in self.left.fields()) and any(True for _ in self.right.fields()):
            yield from self.fields()
        yield from self.left.bends()
        yield from self.right.bends()

    def fields(self) -> Iterator[RowField]:
        """Of both."""
        yield from self.left.fields()
        yield from self.right.fields()

    def moved(self, places: Callable[[RowField], RowField]) -> Term:
        """Both elsewhere."""
        return Multiple(self.left.moved(places), self.right.moved(places))


@dataclass(frozen=True, slots=True)
class Hidden:
    """A value of which only this is known: equal parts make it equal.

    What the solver finds for every such function holds for the one that is meant.
    """

    name: str
    parts: tuple[RowField, ...]
    kind: SolverKind

    def write(self, writer: Writer) -> str:
        """An uninterpreted function."""
        return writer.hidden(self)

    def compute(self, row: Callable[[RowField], Plain]) -> Any:
        """Nobody knows."""
        raise NotImplementedError("a hidden function has no values")

    def slope(self, step: Writer) -> str:
        """It stands still, as its parts have to."""
        return step.literal(0, "real" if self.kind == "real" else "integer")

    def bends(self) -> Iterator[RowField]:
        """All parts."""
        return iter(self.parts)

    def fields(self) -> Iterator[RowField]:
        """All parts."""
        return iter(self.parts)

    def moved(self, places: Callable[[RowField], RowField]) -> Term:
        """Of other parts."""
        return Hidden(self.name, tuple(places(part) for part in self.parts), self.kind)


def join_kinds(left: Term, right: Term) -> SolverKind:
    """What both can be written as."""
    return "real" if "real" in (left.kind, right.kind) else left.kind


def write_as(term: Term, kind: SolverKind, writer: Writer) -> str:
    """An integer among reals is converted."""
    return _as_real(term, kind, term.write(writer))


def slope_as(term: Term, kind: SolverKind, step: Writer) -> str:
    """The same of slopes."""
    return _as_real(term, kind, term.slope(step))


def _as_real(term: Term, kind: SolverKind, written: str) -> str:
    return f"(to_real {written})" if kind == "real" and term.kind != "real" else written
