"""A count of some of its groups: by the last bits of a key, by stretches of its values, or of one group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from sqlglot import exp

from sordino.sql.analysis.closure import is_column_equality
from sordino.sql.analysis.counting import ROWS, Counted, CountedRows, Flat
from sordino.sql.analysis.formula import Atom, Cell, atom, write_cell

# A condition on the value of a cell.
Some = Callable[[Cell], Atom]


def have_last_bits(parts: int, part: int) -> Some:
    """One of so many parts, by the last bits of the value; ``parts``: a power of two."""

    def some(cell: Cell) -> Atom:
        last = exp.BitwiseAnd(this=write_cell(cell), expression=_write(parts - 1))
        return atom(exp.EQ(this=exp.Paren(this=last), expression=_write(part)))

    return some


def lie_in(stretches: Sequence[tuple[int, int]]) -> Some:
    """Values in any of some stretches, ends included: an engine skips what it stores of others."""

    def some(cell: Cell) -> Atom:
        inside = [
            exp.Between(this=write_cell(cell), low=_write(low), high=_write(high)) for low, high in stretches
        ]
        return atom(exp.Paren(this=exp.or_(*inside, copy=False)))

    return some


def are_value(value: int) -> Some:
    """One value."""
    return lambda cell: atom(exp.EQ(this=write_cell(cell), expression=_write(value)))


def spread_stretches(least: int, greatest: int, stretches: int, parts: int) -> list[tuple[int, int]]:
    """Stretches in the middles of equal pieces of an interval that are one of ``parts`` of it together, or more."""
    width = greatest - least + 1
    size = -(-width // (stretches * parts))
    starts = (least + (2 * place + 1) * width // (2 * stretches) - size // 2 for place in range(stretches))
    return [(start, start + size - 1) for start in starts]


def cut_evenly(least: int, greatest: int, parts: int) -> list[tuple[int, int]]:
    """So many stretches, of which each value lies in one."""
    starts = [least + part * (greatest - least + 1) // parts for part in range(parts + 1)]
    return [(start, end - 1) for start, end in pairwise(starts)]


def keep_groups(counted: Counted, key: int, some: Some) -> Counted:
    """The same of the groups whose key, by its place, meets a condition.

    Also asked of what equals the key in other tables, so that fewer of their rows are joined.
    """
    named = counted.keys[key]
    if isinstance(counted, CountedRows):
        return _keep_rows(counted, str(named), some)
    cells = [Cell(ROWS, named) if isinstance(named, str) else named]
    tied = [part.places for part in list_equalities(counted) if cells[0] in part.places]
    cells = list(dict.fromkeys([cells[0], *(cell for places in tied for cell in places)]))
    return replace(counted, conditions=(*counted.conditions, *map(some, cells)))


def _keep_rows(counted: CountedRows, column: str, some: Some) -> CountedRows:
    """Of the rows, and of those that they meet by this column, what meets a condition."""
    links = []
    for link in counted.links:
        met = link.counted
        if column in link.columns:
            met = _keep_rows(met, met.keys[link.columns.index(column)], some)
        links.append(replace(link, counted=met))
    conditions = (*counted.conditions, some(Cell(ROWS, column)))
    return replace(counted, conditions=conditions, links=tuple(links))


def list_equalities(flat: Flat) -> list[Atom]:
    """Those that tie rows of different tables."""
    return [
        part
        for part in flat.conditions
        if isinstance(part, Atom)
        and is_column_equality(part)
        and len({cell.alias for cell in part.places}) == 2
    ]


def _write(number: int) -> exp.Expr:
    return exp.Literal.number(number)
