"""Counts of whole tables, kept while the data stays as it is, and what they say of counts under conditions."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from sqlglot import exp

from sordino.engines import Snapshot
from sordino.sql.analysis.closure import is_column_equality
from sordino.sql.analysis.counting import (
    ROWS,
    Counted,
    CountedRows,
    Flat,
    Link,
    collect_links,
    name_column,
    refer_to_column,
)
from sordino.sql.analysis.formula import Atom, Cell, Formula, is_present, write_cell
from sordino.sql.analysis.some_groups import (
    Some,
    cut_evenly,
    have_last_bits,
    keep_groups,
    lie_in,
    list_equalities,
    spread_stretches,
)
from sordino.sql.lookups import make_table

Columns = tuple[str, ...]
# A table and some of its columns: the most rows that share their values.
Whole = tuple[str, Columns]

# Tables with more rows are counted under the conditions of each question only.
_MOST_ROWS = 10**8
# From here on groups are made a part at a time, so that they fit into little memory.
_MANY_ROWS = 1 << 20
_PARTS = 8
_SAMPLE = 16
# How many stretches of values stand for all, and how many rows are looked at whole in any case.
_STRETCHES = 4
_FEW_ROWS = 1 << 20
_OF_VALUES = ("least", "greatest", "here")
_MOST_KEPT = 1 << 14


@dataclass(frozen=True, slots=True)
class Wholes:
    """The most rows of a table that share the values of some columns, none of them NULL, whatever else they hold.

    A whole number of a state of the data: kept by the engine (``kept``) until the data changes. With conditions there
    are no more rows, so every count of rows under conditions is at most that of the whole table (`bound`); and where no
    two rows of a table share a value, that value is a key of it now, enforced or not.

    **Guarantee**: numbers found with the help of these are those of grouping each count by itself: they are used where
    they decide a number, and for how a statement is written. Which statements run depends on them, hence on the data,
    like the time that any statement takes.
    """

    kept: dict[Hashable, int]
    integers: frozenset[tuple[str, str]]

    def most(self, table: str, columns: Iterable[str]) -> int | None:
        """The most rows that can share values of the columns, as far as is known: no more than of fewer columns."""
        names = tuple(sorted(set(columns)))
        known = [
            found
            for size in range(len(names) + 1)
            for some in combinations(names, size)
            if (found := self.kept.get((table, some))) is not None
        ]
        return min(known, default=None)

    def bound(self, counted: Counted) -> int | None:
        """A number that no group of a count exceeds; None: none is known."""
        if counted.measure is not None or not has_values(counted):
            return None
        if isinstance(counted, Flat):
            return self.kept.get(_drop_conditions(counted))
        factors = [None if counted.lookups else self.most(counted.table, counted.keys)]
        factors += [self.bound(link.counted) for link in counted.links]
        known = [factor for factor in factors if factor is not None]
        return math.prod(known) if len(known) == len(factors) else None

    def decide(self, counted: Counted) -> int | None:
        """The number of a count that asks for nothing but values, if it is known."""
        if isinstance(counted, Flat) or counted.links or counted.measure is not None or counted.lookups:
            return None
        present = [_present_column(part) for part in counted.conditions]
        if not set(counted.keys) <= set(present):
            return None
        for column in present:
            if column is None or (
                column not in counted.keys and self.kept.get((counted.table, column, "absent")) != 0
            ):
                return None
        return self.kept.get((counted.table, tuple(sorted(counted.keys))))

    def is_key(self, table: str, columns: Iterable[str]) -> bool:
        """Whether no two rows share values of the columns now."""
        most = self.most(table, columns)
        return most is not None and most <= 1

    def is_met_once(self, link: Link) -> bool:
        """Whether a row meets at most one row there, which counts as one."""
        rows = link.counted
        return (
            rows.measure is None
            and not rows.lookups
            and self.is_key(rows.table, rows.keys)
            and all(map(self.is_met_once, rows.links))
        )

    def may_stay_rows(self, parent: CountedRows, link: Link) -> bool:
        """Whether what a link counts may be joined row by row: the join then has no more rows than a table."""
        if self.is_met_once(link):
            return True
        others = [other for other in parent.links if other is not link]
        return (
            not parent.lookups
            and self.is_key(parent.table, link.columns)
            and all(map(self.is_met_once, others))
        )

    def find_integer_key(self, counted: Counted) -> int | None:
        """The place of the first key that is a column of whole numbers."""
        tables = dict(counted.tables)
        cells = [Cell(ROWS, key) if isinstance(key, str) else key for key in counted.keys]
        named = [(tables[cell.alias], cell.name) in self.integers for cell in cells]
        return named.index(True) if True in named else None

    def list_parts(self, counted: Counted, rows: int) -> list[Counted]:
        """Counts of some of the groups each, and of all together; none where tables have no more rows than these."""
        key = self.find_integer_key(counted)
        if key is None or max((self.most(table, ()) or 0) for _, table in counted.tables) <= rows:
            return []
        ends = self._find_even_ends(*self._find_column(counted, key))
        if ends is None:
            return [keep_groups(counted, key, have_last_bits(_PARTS, part)) for part in range(_PARTS)]
        return [keep_groups(counted, key, lie_in([stretch])) for stretch in cut_evenly(*ends, _PARTS)]

    def find_some(self, counted: Counted, key: int) -> Some:
        """About a sixteenth of the values of a key, which is a column of whole numbers.

        Stretches of values that lie together may be stored together, so that the rest is not even read. Where few rows
        have values there, as where one value is far from all others, the last bits of a value decide.
        """
        ends = self._find_even_ends(*self._find_column(counted, key))
        if ends is None:
            return have_last_bits(_SAMPLE, 0)
        return lie_in(spread_stretches(*ends, _STRETCHES, _SAMPLE))

    def _find_column(self, counted: Counted, key: int) -> Whole:
        named = counted.keys[key]
        cell = Cell(ROWS, named) if isinstance(named, str) else named
        return dict(counted.tables)[cell.alias], (cell.name,)

    def _find_even_ends(self, table: str, columns: Columns) -> tuple[int, int] | None:
        """The least and the greatest value of a column whose values are not far from even; None: not known to be."""
        least, greatest, here = (self.kept.get((table, columns, name)) for name in _OF_VALUES)
        if least is None or greatest is None or here is None:
            return None
        return (least, greatest) if here * _SAMPLE * 4 >= self.kept[table, ()] else None

    def fill(self, snapshot: Snapshot, counts: Iterable[Counted]) -> bool:
        """Count what is not kept yet of what the counts may need; False: some table is too large for that."""
        found = collect_links(counts)
        wanted = {whole for counted in found for whole in _list_wholes(counted)}
        for table, columns in sorted(wanted, key=lambda whole: (len(whole[1]), whole)):
            if not columns:
                self._keep(snapshot, (table, ()), [_select_rows(table)])
                if (self.most(table, ()) or 0) > _MOST_ROWS:
                    return False
                continue
            if len(columns) == 1 and (table, columns[0]) in self.integers:
                self._look_at_values(snapshot, table, columns)
            if not self.is_key(table, columns):
                present = tuple(is_present(Cell(ROWS, column)) for column in columns)
                groups = CountedRows(table, present, columns)
                self._keep(snapshot, (table, columns), self._select_parts(groups))
        for counted in found:
            for table, column in _list_absent(counted):
                absent = exp.Is(this=write_cell(Cell(ROWS, column)), expression=exp.null())
                self._keep(snapshot, (table, column, "absent"), [_select_rows(table).where(absent)])
            if isinstance(counted, Flat) and self._is_linear(counted):
                whole = _drop_conditions(counted)
                self._keep(snapshot, whole, self._select_parts(whole))
        return True

    def _look_at_values(self, snapshot: Snapshot, table: str, columns: Columns) -> None:
        """Between which values a column lies, and how many rows some stretches between have."""
        if self.kept.get((table, ()), 0) <= _FEW_ROWS:
            return
        least, greatest, here = ((table, columns, name) for name in _OF_VALUES)
        value = Cell(ROWS, columns[0])
        self._keep(snapshot, least, [_select(table, exp.Min(this=write_cell(value)))])
        self._keep(snapshot, greatest, [_select(table, exp.Max(this=write_cell(value)))])
        if least in self.kept and greatest in self.kept:
            some = spread_stretches(self.kept[least], self.kept[greatest], _STRETCHES, _SAMPLE)
            self._keep(snapshot, here, [_select_rows(table).where(lie_in(some)(value).tree())])

    def _keep(self, snapshot: Snapshot, key: Hashable, selects: Iterable[exp.Select]) -> None:
        """The largest number of some statements, one after another."""
        if key not in self.kept and len(self.kept) < _MOST_KEPT:
            numbers = [snapshot.aggregate(select).column(0)[0].as_py() for select in selects]
            self.kept[key] = max(map(int, numbers))

    def _select_parts(self, counted: Counted) -> Iterator[exp.Select]:
        """The most of a group; of large tables some groups at a time, since all together need much memory."""
        for part in self.list_parts(counted, _MANY_ROWS) or [counted]:
            yield _select_most(part.select(_no_links))

    def _is_linear(self, flat: Flat) -> bool:
        """Whether its rows, but for those of one table, are found by keys: no more combinations than rows of that."""
        if any(flat.lookups):
            return False
        tables = dict(flat.tables)
        equal = [(a, b) for part in list_equalities(flat) for a, b in (part.places, part.places[::-1])]
        for first in tables:
            reached = {first}
            while len(reached) < len(tables):
                near = next(
                    (
                        alias
                        for alias in tables.keys() - reached
                        if self.is_key(
                            tables[alias],
                            [a.name for a, b in equal if a.alias == alias and b.alias in reached],
                        )
                    ),
                    None,
                )
                if near is None:
                    break
                reached.add(near)
            if len(reached) == len(tables):
                return True
        return False


def _list_wholes(counted: Counted) -> Iterator[Whole]:
    """What is worth knowing of the tables of a count: the values that it groups and joins by."""
    if isinstance(counted, Flat):
        if any(counted.lookups):
            return
        for alias, table in counted.tables:
            cells = [cell for part in list_equalities(counted) for cell in part.places]
            names = sorted({cell.name for cell in cells if cell.alias == alias})
            yield table, ()
            yield from ((table, (name,)) for name in names)
            yield table, tuple(names)
    elif not counted.lookups:
        for columns in (counted.keys, *(link.columns for link in counted.links)):
            yield counted.table, ()
            yield from ((counted.table, (column,)) for column in columns)
            yield counted.table, tuple(sorted(set(columns)))


def _list_absent(counted: Counted) -> Iterator[tuple[str, str]]:
    """Columns of which a count of whole tables asks that they are not NULL, beside its keys."""
    if isinstance(counted, Flat) or counted.links or counted.measure is not None or counted.lookups:
        return
    present = [_present_column(part) for part in counted.conditions]
    if None not in present:
        yield from (
            (counted.table, name) for name in present if name is not None and name not in counted.keys
        )


def _drop_conditions(flat: Flat) -> Flat:
    """The combinations that equalities alone let through: no fewer."""
    present = [is_present(key) for key in flat.keys]
    return replace(flat, conditions=(*list_equalities(flat), *present))


def has_values(counted: Counted) -> bool:
    """Whether its conditions say that none of its keys is NULL."""
    keys = [Cell(ROWS, key) if isinstance(key, str) else key for key in counted.keys]
    return all(
        any(
            part == is_present(key) or (is_column_equality(part) and key in part.cells)
            for part in counted.conditions
        )
        for key in keys
    )


def _present_column(part: Formula) -> str | None:
    """The column of which a condition says that it is not NULL, if it says nothing else."""
    if isinstance(part, Atom) and len(part.places) == 1 and part == is_present(part.places[0]):
        return part.places[0].name
    return None


def _select_rows(table: str) -> exp.Select:
    return _select(table, exp.Count(this=exp.Star()))


def _select(table: str, number: exp.Expr) -> exp.Select:
    """A number of a whole table, 0 where there is none; as text, since 64 bits might not hold a value."""
    found = exp.Coalesce(this=number, expressions=[exp.Literal.number(0)])
    told = exp.cast(found, exp.DataType.Type.VARCHAR)
    return exp.select(name_column(told, "c")).from_(make_table(table, ROWS), copy=False)


def _select_most(groups: exp.Select) -> exp.Select:
    most = exp.Coalesce(this=exp.Max(this=refer_to_column("c")), expressions=[exp.Literal.number(0)])
    source = groups.subquery(exp.Identifier(this="s0", quoted=True), copy=False)
    return exp.select(name_column(most, "c")).from_(source, copy=False)


def _no_links(parent: CountedRows, link: Link, alias: str) -> tuple[exp.Expr, bool]:
    raise TypeError("a whole table meets no others")
