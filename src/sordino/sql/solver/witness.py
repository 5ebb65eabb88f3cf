"""Witness: a database and one row of it that attain a number, as INSERT statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sordino.sql.solver.encoded import Encoded
from sordino.sql.solver.lines import EndlessLine
from sordino.sql.solver.query import ColumnShape, Shapes
from sordino.sql.solver.script import FIRST_DAY, RowNames, TextCodes
from sordino.sql.solver.terms import Plain

Values = tuple[Plain, ...]
Model = Mapping[str, int | Fraction | bool]


@dataclass(frozen=True, slots=True)
class DatabaseWitness:
    """``tables``: all rows of a database. Without ``row``, which is one of ``table``, ``number`` result rows change.

    Where the number is not exact, or there is none, at least so many: it is one of many databases.
    """

    table: str
    row: Values
    tables: Mapping[str, tuple[Values, ...]]
    columns: Mapping[str, tuple[str, ...]]
    number: int

    def statements(self) -> list[str]:
        """One INSERT per table that has rows; the row comes last, by itself."""
        found = []
        for table, rows in self.tables.items():
            kept = list(rows)
            if table == self.table:
                kept.remove(self.row)
            if kept:
                found.append(self._insert(table, kept))
        return [*found, self._insert(self.table, [self.row])]

    def _insert(self, table: str, rows: Sequence[Values]) -> str:
        names = ", ".join(exp.to_identifier(name, quoted=True).sql() for name in self.columns[table])
        listed = ", ".join(f"({', '.join(map(write_plain, row))})" for row in rows)
        return f"INSERT INTO {exp.to_identifier(table, quoted=True).sql()} ({names}) VALUES {listed};"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"table": self.table, "number": self.number, "statements": self.statements()}


class _CalendarError(Exception):
    """A day beyond the years 1 to 9999."""


def write_plain(value: Plain) -> str:
    """A value as SQL."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return exp.Literal.string(value).sql()
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    exact = Fraction(value)
    if exact.denominator == 1:
        return str(exact.numerator)
    places = next((p for p in range(1, 40) if (exact * 10**p).denominator == 1), None)
    if places is None:
        return f"{exact.numerator}.0 / {exact.denominator}"
    sign, digits = "-" if exact < 0 else "", str(abs(int(exact * 10**places))).zfill(places + 1)
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def read_witness(
    encoded: Encoded, model: Model, number: int, shapes: Shapes, *, copies: int = 1
) -> DatabaseWitness | None:
    """The database of a model; None if it has days beyond the years 1 to 9999.

    ``copies``: of the rows of tables without a key, where these are what has no bound.
    """
    codes = encoded.script.codes
    try:
        row = _values(encoded.row, model, shapes, codes)
        others = [
            (names.table, _values(names, model, shapes, codes))
            for flag, names in encoded.others
            if flag is None or bool(model.get(flag.strip("|"), False))
        ]
    except _CalendarError:
        return None
    return _collect(encoded.row.table, row, others, number, shapes, copies)


def follow_line(line: EndlessLine, model: Model, number: int, shapes: Shapes) -> DatabaseWitness | None:
    """The first so many joined rows of a line; None if it leaves the calendar before."""
    codes, encoded = line.encoded.script.codes, line.encoded
    try:
        row = _values(encoded.row, model, shapes, codes)
        others = _step_along(line, model, number, shapes)
    except _CalendarError:
        return None
    return _collect(encoded.row.table, row, others, number, shapes, 1)


def _step_along(line: EndlessLine, model: Model, number: int, shapes: Shapes) -> list[tuple[str, Values]]:
    codes, others = line.encoded.script.codes, []
    for start, step in zip(line.start, line.step, strict=True):
        if start is line.encoded.row:
            continue
        for place in range(number):
            at = {
                name.strip("|"): model.get(name.strip("|"), 0)
                + place * model.get(step.names.get(column, "").strip("|"), 0)
                if column in step.names
                else model.get(name.strip("|"), False)
                for column, name in start.names.items()
            }
            others.append((start.table, _values(start, at, shapes, codes)))
    return others


def _collect(
    table: str, row: Values, others: list[tuple[str, Values]], number: int, shapes: Shapes, copies: int
) -> DatabaseWitness:
    rows: dict[str, dict[Values, int]] = {table: {row: 1}}
    for name, values in others:
        rows.setdefault(name, {})[values] = 1
    if copies > 1:
        for name, found in rows.items():
            if not shapes[name].keys:
                rows[name] = dict.fromkeys(found, copies)
    listed = {
        name: tuple(values for values, times in found.items() for _ in range(times))
        for name, found in rows.items()
    }
    columns = {name: tuple(column.name for column in shapes[name].columns) for name in listed}
    return DatabaseWitness(table, row, listed, columns, number)


def _values(names: RowNames, model: Model, shapes: Shapes, codes: TextCodes) -> Values:
    shape = shapes[names.table]
    return tuple(
        _decode(column, model.get(names.names[column.name].strip("|"), 0), codes) for column in shape.columns
    )


def _decode(column: ColumnShape, value: int | Fraction | bool, codes: TextCodes) -> Plain:
    match column.kind:
        case "boolean":
            return bool(value)
        case "text":
            return codes.decode(int(value))
        case "date":
            number = int(value) + FIRST_DAY
            if not date.min.toordinal() <= number <= date.max.toordinal():
                raise _CalendarError("a model may have days that no date is written for")
            return date.fromordinal(number)
        case "real":
            return Fraction(value) / Fraction(10 ** (column.scale or 0))
        case _:
            return int(value)
