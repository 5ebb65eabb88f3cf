"""Measured columns: where contents of cells are protected, every column is in the norm of its table or public."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.core import Distance, ParameterError
from sordino.engines import ColumnType, Table
from sordino.sensitivity import Norm
from sordino.sql.policy.fields import read_number
from sordino.sql.policy.places import field_error
from sordino.sql.policy.promises import describe_promises

if TYPE_CHECKING:
    from sordino.sql.policy.policy import ColumnPolicy, TablePolicy

RowExponent = Fraction | float
_NUMBERS = ("integer", "decimal", "float")
_CATEGORIES = ("text", "integer", "boolean")


def read_norm(path: str, value: Any) -> Norm | None:
    """The norm of the moves of a row's cells."""
    if value is None:
        return None
    try:
        return Norm.parse(value)
    except ParameterError as error:
        raise field_error(path, f": {error}") from None


def read_row_exponent(path: str, value: Any) -> RowExponent:
    """How the norms of rows are put together: p of an ℓ_p."""
    if value is None:
        return Fraction(1)
    if isinstance(value, str) and value.strip() in ("inf", ".inf"):
        return math.inf
    exponent: RowExponent = read_number(path, value)
    if exponent < 1:
        raise field_error(path, f" must be a number >= 1, or inf, got {value!r}")
    return exponent


def check_measured(tables: Mapping[str, TablePolicy], protects: str) -> None:
    """Raise unless the norms fit what is protected, and the columns in them have what a norm needs."""
    for name, table in tables.items():
        path = f"tables.{name}"
        if protects not in ("values", "row+values"):
            if table.norm is not None or table.rows != 1:
                field = "norm" if table.norm is not None else "rows"
                raise field_error(
                    f"{path}.{field}",
                    " is for 'protects: values' and 'row+values', which protect what cells contain",
                )
            for column in table.columns.values():
                if column.public:
                    raise field_error(f"{path}.columns.{column.name}.public", " is for 'protects: values'")
            continue
        if not table.private:
            if table.norm is not None:
                raise field_error(f"{path}.norm", ": a public table has none")
            continue
        if table.norm is None:
            raise field_error(
                path,
                " needs a norm such as 'l2(x, y)', which says how far cells may have moved, or private: false",
            )
        if protects == "row+values":
            _check_coming_and_going(path, table)
        elif table.weight != 1:
            raise field_error(
                f"{path}.weight",
                " is of rows that come and go ('protects: row+values'); put factors into the norm",
            )
        _check_columns(path, table)


def _check_coming_and_going(path: str, table: TablePolicy) -> None:
    if table.rows != 1:
        raise field_error(
            f"{path}.rows", ": where rows come and go, moves of rows are added up: leave it out, or write 1"
        )
    if table.checks:
        raise field_error(f"{path}.check", " is for 'protects: row': leave it out where cells may move")


def _check_columns(path: str, table: TablePolicy) -> None:
    norm = table.norm
    if norm is None:
        return
    for column, kind in norm.kinds.items():
        where = f"{path}.columns.{column}"
        known = table.columns.get(column)
        if known is None:
            raise field_error(f"{path}.norm", f": column {column!r} is not declared under {path}.columns")
        if known.public or known.hidden:
            raise field_error(where, " is in the norm, so it is neither public nor hidden")
        if kind == "is":
            if not known.domain or None in known.domain or known.kind not in (None, *_CATEGORIES):
                raise field_error(where, ": is(…) needs a domain of texts, integers or booleans without NULL")
            if table.rows != 1:
                raise field_error(f"{path}.rows", ": rows with an is(…) column are added up, rows: 1")
            continue
        if known.bounds is None:
            raise field_error(where, " is in the norm and needs bounds")
        if find_granule(known, known.kind) is None:
            integer = " or, of whole numbers, 'type: integer'" if known.kind is None else ""
            raise field_error(where, f" is in the norm and needs a granularity{integer}")
        if kind == "log" and known.bounds[0] <= 0:
            raise field_error(f"{where}.bounds", ": log(…) needs bounds above 0")
    for name, other in table.columns.items():
        if name not in norm.columns and not other.public and not other.hidden:
            raise field_error(
                f"{path}.columns.{name}", " is neither in the norm nor public: put it into the norm, or "
                "write 'public: true', or 'hidden: true' to keep it from questions",
            )  # fmt: skip


def check_all_measured(table: TablePolicy, catalogued: Table) -> None:
    """Raise if the database has a column of which the policy says nothing: it would be public by being forgotten."""
    if table.norm is None:
        return
    kinds = {column.name: column.type for column in catalogued.columns}
    declared = {name.casefold() for name in table.columns}
    for name in kinds:
        if name.casefold() not in declared:
            raise field_error(
                f"tables.{table.name}", f": column {name!r} is neither in the norm nor public: put it into the norm, "
                f"or write {name}: {{public: true}}, or {name}: {{hidden: true}} to keep it from questions",
            )  # fmt: skip
    for name, kind in table.norm.kinds.items():
        wanted = _CATEGORIES if kind == "is" else _NUMBERS
        if kinds.get(name) is not None and kinds[name] not in wanted:
            raise field_error(
                f"tables.{table.name}.norm", f": column {name!r} is of type {kinds[name]}; {', '.join(wanted)} can be "
                "measured so",
            )  # fmt: skip


def find_granule(column: ColumnPolicy, kind: ColumnType | None) -> Fraction | None:
    """The step that all values of a column are multiples of: declared, or of whole numbers 1."""
    if column.granularity is not None:
        return column.granularity
    if column.type is not None and "," in column.type:
        return Fraction(1, 10 ** int(column.type.rstrip(") ").partition(",")[2]))
    return Fraction(1) if kind == "integer" else None


def find_least_move(table: TablePolicy) -> float:
    """The least length of a move that there is: one granule of the cheapest column."""
    moves = []
    for column, kind in (table.norm.kinds if table.norm is not None else {}).items():
        weight = float(table.norm.weights[column]) if table.norm is not None else 1.0
        known = table.columns[column]
        granule = find_granule(known, known.kind)
        if kind == "is" or granule is None or known.bounds is None:
            moves.append(weight)
        elif kind == "log":
            # ln(x + g) − ln(x) > g/(x + g) for x below the upper bound, which decimals may have off their lattice
            moves.append(weight * float(granule / (known.bounds[1] + granule)))
        else:
            moves.append(weight * float(granule))
    return min(moves) * (1 - 2.0**-40)


def describe_moves(tables: Mapping[str, TablePolicy], *, counts_rows: bool = False) -> Distance:
    """What one unit of distance is where contents of cells are protected."""
    told, public = [], []
    for table in tables.values():
        if table.norm is None:
            continue
        p = "inf" if table.rows == math.inf else f"{float(table.rows):g}"
        how = "rows added up" if table.rows == 1 else f"rows by l{p}"
        told.append(f"{table.norm} of {table.name} ({how})")
        public += [f"{table.name}.{name}" for name, column in table.columns.items() if column.public]
    if counts_rows:
        weights = [(table.name, float(table.weight)) for table in tables.values() if table.norm is not None]
        told += [f"{weight:g} for a row more or less of {name}" for name, weight in weights]
        promised = describe_promises(tables)
        among = "databases with cells on their lattices" + (f", {promised}" if promised else "")
        return Distance(" + ".join(told), "move", among=among)
    same = ", ".join(["rows", *public])
    return Distance(
        " + ".join(told), "move", among=f"databases with the same {same} and with cells on their lattices"
    )
