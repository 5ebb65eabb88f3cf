"""Script: a formula as SMT-LIB text, made of rows that obey the keys and checks of their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from itertools import pairwise

from sordino.core import SordinoError
from sordino.sql.solver.conditions import write_and, write_or
from sordino.sql.solver.query import ColumnShape, Shapes, TableShape, place_at
from sordino.sql.solver.terms import SORTS, Hidden, Plain, RowField, SolverKind, Term

# Dates are numbered from here, so that small numbers are dates that people know.
FIRST_DAY = date(1970, 1, 1).toordinal()


class LargeFormulaError(SordinoError):
    """A formula would have more terms than are allowed; caught where formulas are asked about."""


@dataclass(frozen=True, slots=True)
class RowNames:
    """A row of a table: the solver's constant for each column."""

    table: str
    names: Mapping[str, str]


@dataclass(slots=True)
class TextCodes:
    """Texts as whole numbers, each literal its own."""

    codes: dict[str, int] = field(default_factory=dict)

    def encode(self, text: str) -> int:
        """The number of a text."""
        return self.codes.setdefault(text, len(self.codes))

    def decode(self, code: int) -> str:
        """A text of this number: the literal, or one that is none."""
        for text, known in self.codes.items():
            if known == code:
                return text
        made = f"text {code}"
        while made in self.codes:
            made += "'"
        return made


@dataclass(slots=True)
class Script:
    """Declarations and assertions. ``values``: if given, all that a column may hold, for tiny domains.

    ``most_terms``: where to stop writing, with a `LargeFormulaError`. ``terms``: functions, names and numbers that were
    written so far.
    """

    shapes: Shapes
    codes: TextCodes = field(default_factory=TextCodes)
    values: tuple[int, ...] | None = None
    most_terms: int | None = None
    terms: int = 0
    _hidden: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)
    _declared: dict[str, str] = field(default_factory=dict)
    _asserted: list[str] = field(default_factory=list)

    def row(self, label: str, table: str, *, where: str | None = None) -> RowNames:
        """A new row of a table, within the domains of its columns, and its checks if ``where`` holds."""
        shape = self.shapes[table]
        names = {column.name: f"|{label}.{spell_name(column.name)}|" for column in shape.columns}
        row = RowNames(table, names)
        for column in shape.columns:
            self.declare(names[column.name], (), "Int" if column.scale is not None else SORTS[column.kind])
            self._restrict(column, names[column.name])
        for check in shape.checks:
            moved = check.moved(lambda field: place_at(0, field))
            written = moved.write(JoinWriter(self, (row,)))
            self.require(written if where is None else f"(=> {where} {written})")
        return row

    def declare(self, name: str, arguments: tuple[str, ...], sort: str) -> str:
        """A constant or an uninterpreted function."""
        self._declared.setdefault(name, f"(declare-fun {name} ({' '.join(arguments)}) {sort})")
        return name

    def name_hidden(self, name: str, sorts: tuple[str, ...]) -> str:
        """A short name of a hidden function, whose own may be as long as the question."""
        return self._hidden.setdefault((name, sorts), f"|hidden.{len(self._hidden)}|")

    def require(self, formula: str) -> None:
        """One more assertion."""
        if formula != "true":
            self.count_terms([formula])
            self._asserted.append(f"(assert {formula})")

    def count_terms(self, formulas: Sequence[str]) -> None:
        """So much was written, here or of a formula to come; a refusal of the formula if it is too much."""
        # Before each name, number or function but the first stands a space.
        self.terms += sum(formula.count(" ") + 1 for formula in formulas)
        if self.most_terms is not None and self.terms > self.most_terms:
            raise LargeFormulaError(f"a formula would have more than {self.most_terms} terms")

    def obey_keys(self, row: RowNames, *, where: str | None = None) -> None:
        """Rows of a table with equal keys are equal, if ``where`` holds for them: columns are functions of each key.

        The functions belong to the table, whichever position of FROM the row stands at.
        """
        shape = self.shapes[row.table]
        for key in shape.smallest_keys():
            given = " ".join(row.names[column] for column in key)
            sorts = tuple(self.sort_of(shape, column) for column in key)
            for column in shape.columns:
                if column.name in key:
                    continue
                name = (
                    f"|{spell_name(row.table)}({','.join(map(spell_name, key))}).{spell_name(column.name)}|"
                )
                self.declare(name, sorts, self.sort_of(shape, column.name))
                equal = f"(= {row.names[column.name]} ({name} {given}))"
                self.require(equal if where is None else f"(=> {where} {equal})")

    def order(self, tuples: Sequence[Sequence[tuple[str, str]]]) -> None:
        """Tuples of (sort, name) are pairwise different: in lexicographic order, each is less than the next.

        Any different tuples can be put in order, so nothing is lost; without the order a solver would try them all.
        """
        for before, after in pairwise(tuples):
            less = "false"
            for (sort, one), (_, other) in zip(reversed(before), reversed(after), strict=True):
                below = f"(and (not {one}) {other})" if sort == "Bool" else f"(< {one} {other})"
                less = below if less == "false" else f"(or {below} (and (= {one} {other}) {less}))"
            self.require(less)

    def fields_of(self, row: RowNames) -> list[tuple[str, str]]:
        """Sort and name of every column."""
        shape = self.shapes[row.table]
        return [(self.sort_of(shape, name), written) for name, written in row.names.items()]

    def sort_of(self, shape: TableShape, name: str) -> str:
        """Of a column."""
        column = shape.column(name)
        return "Int" if column.scale is not None else SORTS[column.kind]

    def same(self, one: RowNames, other: RowNames) -> str:
        """The formula that two rows are equal."""
        return write_and([f"(= {name} {other.names[column]})" for column, name in one.names.items()])

    def text(self, comment: str = "") -> str:
        """The whole script, which any solver of SMT-LIB reads."""
        head = [f"; {line}" for line in comment.splitlines()] + ["(set-logic ALL)"]
        return "\n".join([*head, *self._declared.values(), *self._asserted, "(check-sat)"]) + "\n"

    @property
    def size(self) -> int:
        """The number of assertions."""
        return len(self._asserted)

    def _restrict(self, column: ColumnShape, name: str) -> None:
        if self.values is not None and column.kind != "boolean":
            unit, real = 10 ** (column.scale or 0), column.kind == "real" and column.scale is None
            listed = [f"(= {name} {spell_number(value * unit, real=real)})" for value in self.values]
            self.require(write_or(listed))


@dataclass(frozen=True, slots=True)
class JoinWriter:
    """Writes terms of a joined row; ``still``: as a direction, in which truth values do not move."""

    script: Script
    rows: tuple[RowNames, ...]
    still: bool = False

    def field(self, field: RowField) -> str:
        """The column of the row at its position."""
        if self.still and field.kind == "boolean":
            return "0"
        row = self.rows[field.position]
        scale = self.script.shapes[row.table].column(field.column).scale
        name = row.names[field.column]
        return name if scale is None else f"(/ (to_real {name}) {10**scale}.0)"

    def literal(self, value: Plain, kind: SolverKind) -> str:
        """A number, a truth value, or the number of a text or date."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return str(self.script.codes.encode(value))
        if isinstance(value, date):
            return spell_number(value.toordinal() - FIRST_DAY, real=False)
        return spell_number(value, real=kind == "real")

    def hidden(self, hidden: Hidden) -> str:
        """A function of its parts; of parts of other sorts it is another function."""
        sorts = tuple("Real" if part.kind == "real" else SORTS[part.kind] for part in hidden.parts)
        name = self.script.name_hidden(hidden.name, sorts)
        self.script.declare(name, sorts, SORTS[hidden.kind])
        return f"({name} {' '.join(map(self.field, hidden.parts))})" if hidden.parts else name


def spell_number(value: int | Fraction, *, real: bool) -> str:
    """A number; negative ones are written as SMT-LIB does."""
    size = abs(Fraction(value))
    if real:
        text = (
            f"{size.numerator}.0" if size.denominator == 1 else f"(/ {size.numerator}.0 {size.denominator}.0)"
        )
    else:
        text = str(int(size))
    return f"(- {text})" if value < 0 else text


def sort_of_term(term: Term) -> str:
    """Of an output."""
    return SORTS[term.kind]


def spell_name(name: str) -> str:
    """A name inside a quoted symbol, without what we join names by.

    Different names stay different, and so do names that are joined: ``a.b`` of ``c`` is not ``b.c`` of ``a``.
    """
    return _escape(name, ".,()")


def _escape(name: str, beside: str = "") -> str:
    """Without what a quoted symbol cannot hold."""
    refused = "|\\~" + beside
    return "".join(
        c if c.isascii() and c.isprintable() and c not in refused else f"~{ord(c):x}~" for c in name
    )
