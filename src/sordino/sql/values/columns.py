"""Columns of a question about values: what each is in the calculus, and how its cell is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sordino.engines import ColumnType, write_double
from sordino.sensitivity.derivatives.column import LogPower, PlainColumn
from sordino.sensitivity.derivatives.constant import PublicColumn
from sordino.sensitivity.derivatives.indicator import Category
from sordino.sensitivity.derivatives.node import CellFunction
from sordino.sensitivity.interval import Interval
from sordino.sensitivity.norms import Norm
from sordino.sql.expressions.value import Value, as_double, bracket, case
from sordino.sql.policy import Policy, TablePolicy, find_granule, match_name
from sordino.sql.question import Occurrence
from sordino.sql.values.terms import SqlCategory, SqlTerm

CellPlace = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """``kind``: of its leaf in the norm, or public. ``lattice``: the type has no finer values than the granule."""

    place: CellPlace
    kind: str
    bounds: tuple[Fraction, Fraction] | None
    granule: Fraction | None
    domain: tuple[Category, ...]
    source: Value
    lattice: bool

    @property
    def name(self) -> str:
        """In the calculus."""
        return f"{self.place[0]}.{self.place[1]}"

    @property
    def private(self) -> bool:
        """Whether its contents are protected."""
        return self.kind != "public"

    @property
    def inside(self) -> Interval | None:
        """The bounds as doubles, as cells are clipped."""
        return None if self.bounds is None else Interval(float(self.bounds[0]), float(self.bounds[1]))

    def function(self) -> CellFunction | None:
        """Its leaf; None for what is no number, or has no bounds."""
        inside = self.inside
        if inside is None or self.kind == "is":
            return None
        if self.kind == "public":
            return PublicColumn(self.name, inside)
        return LogPower(self.name, inside, 1.0) if self.kind == "log" else PlainColumn(self.name, inside)

    def cell(self) -> Any:
        """The cell: a double on its lattice within its bounds, NULL being the lower bound; or a category."""
        if self.bounds is None:
            return SqlCategory(_within(self.source.expression, self.domain))
        number = as_double(self.source).expression
        low, high = write_double(float(self.bounds[0])), write_double(float(self.bounds[1]))
        below = case((exp.LTE(this=bracket(number), expression=high.copy()), number), default=high)
        clipped: exp.Expr = case((exp.GTE(this=bracket(number), expression=low.copy()), below), default=low)
        if self.granule is not None and not self.lattice:
            if self.granule.numerator != 1:
                clipped = _without_dust(clipped)
            clipped = round_to_lattice(clipped, self.granule)
        # rounding to the lattice may leave the bounds by half a granule
        wide = 0.0 if self.granule is None or self.lattice else float(self.granule)
        return SqlTerm(clipped, low=float(self.bounds[0]) - wide, high=float(self.bounds[1]) + wide)


def _within(category: exp.Expr, domain: tuple[Category, ...]) -> exp.Expr:
    """The category, or the last of the domain where it is none of it: so each category jumps by itself."""
    known = exp.In(this=category.copy(), expressions=[exp.convert(value) for value in domain])
    return case((known, category), default=exp.convert(domain[-1]))


def _without_dust(number: exp.Expr) -> exp.Expr:
    """Zero in the place of what is so small that an engine raises where it is divided."""
    small = exp.LT(this=exp.Abs(this=number.copy()), expression=write_double(1e-200))
    return case((small, write_double(0.0)), default=number)


def round_to_lattice(number: exp.Expr, granule: Fraction) -> exp.Expr:
    """⌊x·q/p + ½⌋·p/q: the nearest multiple of p/q."""
    up, down = write_double(float(granule.denominator)), write_double(float(granule.numerator))
    scaled = exp.Div(
        this=exp.Paren(this=exp.Mul(this=bracket(number), expression=up)), expression=down, typed=True
    )
    whole = exp.Floor(this=exp.Add(this=exp.Paren(this=scaled), expression=write_double(0.5)))
    again = exp.Mul(this=exp.cast(whole, exp.DataType.Type.DOUBLE), expression=down.copy())
    return exp.Div(this=exp.Paren(this=again), expression=up.copy(), typed=True)


def find_value_column(
    value: Value, occurrences: Mapping[str, Occurrence], policy: Policy
) -> ValueColumn | None:
    """What is known of a column of a question; None if the expression is no plain column."""
    if value.column is None:
        return None
    alias, column = value.column
    table = policy.table_named(occurrences[alias].table)
    if table is None:
        return None
    declared = match_name(column, table.columns)
    known = None if declared is None else table.columns[declared]
    kind = _kind(table, declared)
    type_step = Fraction(1) if value.kind == "integer" else None
    if value.kind == "decimal" and value.scale is not None:
        type_step = Fraction(1, 10**value.scale)
    granule = type_step
    if known is not None:
        granule = find_granule(known, value.kind if value.kind != "null" else None) or type_step
    domain = (
        tuple(item for item in (known.domain or ()) if isinstance(item, str | int))
        if known is not None
        else ()
    )
    return ValueColumn(
        (alias, column),
        kind,
        known.ends if known is not None and kind != "is" and _is_number(value.kind) else None,
        granule,
        domain,
        value,
        lattice=granule is not None and type_step is not None and type_step % granule == 0,
    )


def _is_number(kind: str) -> bool:
    numbers: tuple[ColumnType, ...] = ("integer", "decimal", "float")
    return kind in numbers


def _kind(table: TablePolicy, column: str | None) -> str:
    norm: Norm | None = table.norm
    if norm is None or column is None or column not in norm.kinds:
        return "public"
    return norm.kinds[column]
