"""Conditions on a joined row, without NOT: a negation is pushed to the comparisons when it is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from sordino.sql.solver.terms import Plain, RowField, Term, Writer, join_kinds, slope_as, write_as

Sign = Literal["=", "<>", "<", "<="]


class Condition(Protocol):
    """What a joined row satisfies or not; there are no NULLs."""

    def negated(self) -> Condition:
        """The opposite."""

    def write(self, writer: Writer) -> str:
        """For the solver."""

    def holds(self, row: Callable[[RowField], Plain]) -> bool:
        """For values."""

    def stays(self, start: Writer, step: Writer) -> str:
        """That it holds at start, start + step, start + 2·step, … for ever: sufficient, and without quantifiers."""

    def fields(self) -> Iterator[RowField]:
        """All columns in it."""

    def moved(self, places: Callable[[RowField], RowField]) -> Condition:
        """The same of other positions."""


@dataclass(frozen=True, slots=True)
class Compared:
    """``left sign right``."""

    sign: Sign
    left: Term
    right: Term

    def negated(self) -> Condition:
        """Of a total order."""
        if self.sign in ("=", "<>"):
            return Compared("<>" if self.sign == "=" else "=", self.left, self.right)
        return Compared("<=" if self.sign == "<" else "<", self.right, self.left)

    def write(self, writer: Writer) -> str:
        """The comparison."""
        kind = join_kinds(self.left, self.right)
        return _compare(self.sign, write_as(self.left, kind, writer), write_as(self.right, kind, writer))

    def holds(self, row: Callable[[RowField], Plain]) -> bool:
        """The comparison."""
        left, right = self.left.compute(row), self.right.compute(row)
        if self.sign in ("=", "<>"):
            return bool((left == right) == (self.sign == "="))
        return bool(left < right if self.sign == "<" else left <= right)

    def stays(self, start: Writer, step: Writer) -> str:
        """Linear sides keep an order that the slopes keep; two sides that differ drift apart or stay as they are."""
        still = [_stand_still(field, step) for side in (self.left, self.right) for field in side.bends()]
        if self.left.kind == "boolean":
            still += [_stand_still(field, step) for field in self.fields()]
            return write_and([self.write(start), *still])
        kind = join_kinds(self.left, self.right)
        a, b = slope_as(self.left, kind, step), slope_as(self.right, kind, step)
        if self.sign == "=":
            return write_and([self.write(start), f"(= {a} {b})", *still])
        if self.sign == "<>":
            x, y = write_as(self.left, kind, start), write_as(self.right, kind, start)
            apart = f"(or (and (< {x} {y}) (<= {a} {b})) (and (< {y} {x}) (<= {b} {a})))"
            return write_and([apart, *still])
        return write_and([self.write(start), f"(<= {a} {b})", *still])

    def fields(self) -> Iterator[RowField]:
        """Of both sides."""
        yield from self.left.fields()
        yield from self.right.fields()

    def moved(self, places: Callable[[RowField], RowField]) -> Condition:
        """Both elsewhere."""
        return Compared(self.sign, self.left.moved(places), self.right.moved(places))


@dataclass(frozen=True, slots=True)
class Asserted:
    """A truth value that is ``truth``."""

    term: Term
    truth: bool = True

    def negated(self) -> Condition:
        """The other truth."""
        return Asserted(self.term, not self.truth)

    def write(self, writer: Writer) -> str:
        """The value, or its opposite."""
        written = self.term.write(writer)
        return written if self.truth else f"(not {written})"

    def holds(self, row: Callable[[RowField], Plain]) -> bool:
        """The value."""
        return bool(self.term.compute(row)) == self.truth

    def stays(self, start: Writer, step: Writer) -> str:
        """Where nothing in it moves."""
        return write_and([self.write(start), *(_stand_still(field, step) for field in self.fields())])

    def fields(self) -> Iterator[RowField]:
        """Of the value."""
        return self.term.fields()

    def moved(self, places: Callable[[RowField], RowField]) -> Condition:
        """Elsewhere."""
        return Asserted(self.term.moved(places), self.truth)


@dataclass(frozen=True, slots=True)
class Every:
    """All of them hold; of none: always."""

    parts: tuple[Condition, ...] = ()

    def negated(self) -> Condition:
        """One does not hold."""
        return Some(tuple(part.negated() for part in self.parts))

    def write(self, writer: Writer) -> str:
        """(and …)"""
        return write_and([part.write(writer) for part in self.parts])

    def holds(self, row: Callable[[RowField], Plain]) -> bool:
        """All."""
        return all(part.holds(row) for part in self.parts)

    def stays(self, start: Writer, step: Writer) -> str:
        """All stay."""
        return write_and([part.stays(start, step) for part in self.parts])

    def fields(self) -> Iterator[RowField]:
        """Of all."""
        for part in self.parts:
            yield from part.fields()

    def moved(self, places: Callable[[RowField], RowField]) -> Condition:
        """All elsewhere."""
        return Every(tuple(part.moved(places) for part in self.parts))


@dataclass(frozen=True, slots=True)
class Some:
    """One of them holds; of none: never."""

    parts: tuple[Condition, ...]

    def negated(self) -> Condition:
        """None holds."""
        return Every(tuple(part.negated() for part in self.parts))

    def write(self, writer: Writer) -> str:
        """(or …)"""
        return write_or([part.write(writer) for part in self.parts])

    def holds(self, row: Callable[[RowField], Plain]) -> bool:
        """Any."""
        return any(part.holds(row) for part in self.parts)

    def stays(self, start: Writer, step: Writer) -> str:
        """One stays."""
        return write_or([part.stays(start, step) for part in self.parts])

    def fields(self) -> Iterator[RowField]:
        """Of all."""
        for part in self.parts:
            yield from part.fields()

    def moved(self, places: Callable[[RowField], RowField]) -> Condition:
        """All elsewhere."""
        return Some(tuple(part.moved(places) for part in self.parts))


def write_and(parts: list[str]) -> str:
    """All of some formulas."""
    return "true" if not parts else parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"


def write_or(parts: list[str]) -> str:
    """One of some formulas."""
    return "false" if not parts else parts[0] if len(parts) == 1 else f"(or {' '.join(parts)})"


def _compare(sign: Sign, left: str, right: str) -> str:
    return f"(not (= {left} {right}))" if sign == "<>" else f"({sign} {left} {right})"


def _stand_still(field: RowField, step: Writer) -> str:
    return f"(= {step.field(field)} {step.literal(0, 'real' if field.kind == 'real' else 'integer')})"
