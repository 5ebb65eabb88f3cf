"""One statement for all numbers that are asked: each count once, none that follows from others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import count
from typing import Any, TypeGuard

import pyarrow as pa
from sqlglot import exp

from sordino.sql.analysis.counting import (
    WIDE,
    Counted,
    CountedRows,
    Flat,
    Link,
    collect_links,
    multiply_counts,
    name_column,
    refer_to_column,
)
from sordino.sql.analysis.wholes import Wholes
from sordino.sql.lookups import make_table
from sordino.sql.question import is_place, write_place

Row = tuple[int, ...]
# Of each key the place of the group's value; None: it does not matter, or is NULL.
Group = tuple[int | None, ...]
_ONE = exp.Literal.number(1)


@dataclass(frozen=True, slots=True)
class Asked:
    """Numbers of some counts: of one its largest, of several those that go with the same values of the first's keys.

    ``classes``: per count the class of equal cells of each of its keys.
    """

    counts: tuple[Counted, ...]
    classes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Vectors:
    """Counts side by side: the first, and others whose keys are some of its keys (``places``)."""

    counts: tuple[Counted, ...]
    places: tuple[tuple[int, ...], ...]


def write_numbers(
    found: Mapping[Asked, int], values: Sequence[Sequence[Any]] = (), wholes: Wholes | None = None
) -> exp.Query:
    """One query with rows (place, v0, v1, …), numbers as text since 64 bits might not hold them.

    ``values``: the public values of each group key, where the counts ask for the value of a group. The rows are then
    (place, g0, …, v0, …) with the places of the group's values among these, NULL where it does not depend on the key.

    What need not be counted follows from what is:

    * the rows of a table per value of K, each as often as it meets rows by columns of K: the number of rows per value,
      times that of what they meet (`split_asked`);
    * the rows per value of K where no value of fewer columns has two rows: one (`_coarser`);
    * the same rows counted and summed: grouped once.

    ``wholes``: what is known of the whole tables. Then nothing is grouped by what is a key of the data as it is: not
    where the largest number can only be one, and not what a row meets where no more rows are joined than a table has.

    **Guarantee**: the numbers are those of grouping each count by itself.
    """
    width = max(len(asked.counts) for asked in found)
    writer = _Writer(found, wholes)
    first, *others = [writer.write(asked, place, width, values) for asked, place in found.items()]
    query: exp.Query = exp.union(first, *others, distinct=False, copy=False) if others else first
    if values:
        query = _select_places(query, values, width)
    for name, body in writer.shared.items():
        alias = exp.TableAlias(this=exp.Identifier(this=name, quoted=True))
        query.with_(alias, as_=body, copy=False)
    return query


def write_largest_group(counted: Counted, wholes: Wholes) -> exp.Query:
    """One query with the keys of a largest group of a count and its number, as text: one row, or none."""
    writer = _Writer([Asked((counted,), ((),))], wholes)
    names = [*(f"k{place}" for place in range(len(counted.keys))), "c"]
    told = [
        name_column(exp.cast(refer_to_column(name, "s0"), exp.DataType.Type.VARCHAR), f"v{place}")
        for place, name in enumerate(names)
    ]
    query = exp.select(*told).from_(_bracket(counted.select(writer), "s0"), copy=False)
    query.order_by(exp.Ordered(this=refer_to_column("c", "s0"), desc=True), copy=False).limit(1, copy=False)
    for name, body in writer.shared.items():
        query.with_(exp.TableAlias(this=exp.Identifier(this=name, quoted=True)), as_=body, copy=False)
    return query


def read_number_rows(table: pa.Table, keys: int) -> Iterator[tuple[int, Group, Row]]:
    """Place, group and numbers of each row of the answer to `write_numbers`."""
    columns = [column.to_pylist() for column in table.columns]
    for place, *rest in zip(*columns, strict=True):
        group = tuple(None if value is None else int(value) for value in rest[:keys])
        yield int(place), group, tuple(map(int, rest[keys:]))


class _Writer:
    """What is used once is written where it is used, the rest in a WITH clause."""

    def __init__(self, found: Iterable[Asked], wholes: Wholes | None) -> None:
        self._wholes = wholes
        self.shared: dict[str, exp.Query] = {}
        self._names: dict[object, str] = {}
        self._uses: Counter[object] = Counter()
        self._kinds: dict[Counted, list[Counted]] = {}
        asked = list(found)
        self._taken = {table.rpartition(".")[2].casefold() for table in _tables(asked)}
        pairs = [(one, self._split(one)) for one in asked]
        single = (one.counts[0] for one, vectors in pairs if vectors is None)
        self._alone = list(dict.fromkeys(counted for counted in single if not self._is_one(counted)))
        self._use(self._alone)
        for vectors in (vectors for _, vectors in pairs if vectors is not None):
            self._uses[vectors] += 1
            self._use(vectors.counts if self._uses[vectors] == 1 else ())
        # Without the shared ones: their groups are made in any case.
        self._guards = {
            counted: guards
            for counted in self._alone
            if not self._is_shared(counted) and (guards := _coarser(counted, self._alone))
        }
        self._uses.update(("largest", guard) for guards in self._guards.values() for guard in guards)

    def _use(self, counts: Iterable[Counted]) -> None:
        waiting = list(counts)
        while waiting:
            counted = waiting.pop()
            key = _without_measure(counted)
            kinds = self._kinds.setdefault(key, [])
            self._uses[key] += 1
            if not kinds:
                waiting += self._list_grouped(counted)
            if counted not in kinds:
                kinds.append(counted)

    def _list_grouped(self, counted: Counted) -> Iterator[CountedRows]:
        """What a count meets that is grouped before."""
        for link in counted.links:
            if self._may_stay_rows(counted, link):
                yield from self._list_grouped(link.counted)
            else:
                yield link.counted

    def _split(self, asked: Asked) -> Vectors | None:
        counted = asked.counts[0]
        if (
            len(asked.counts) == 1
            and counted.links
            and all(self._may_stay_rows(counted, link) for link in counted.links)
        ):
            return None
        return split_asked(asked)

    def _is_one(self, counted: Counted) -> TypeGuard[CountedRows]:
        """Whether the largest number is one, if there are any rows."""
        bound = None if self._wholes is None else self._wholes.bound(counted)
        return isinstance(counted, CountedRows) and bound is not None and bound <= 1

    def _may_stay_rows(self, counted: Counted, link: Link) -> bool:
        return (
            self._wholes is not None
            and isinstance(counted, CountedRows)
            and self._wholes.may_stay_rows(counted, link)
        )

    def write(self, asked: Asked, place: int, width: int, values: Sequence[Sequence[Any]]) -> exp.Select:
        """The numbers of one place."""
        vectors = self._split(asked)
        groups = _list_groups(asked.counts)
        numbers: list[exp.Expr]
        if vectors is None:
            select = exp.select().from_(self._largest(asked.counts[0]), copy=False)
            numbers = [refer_to_column("c")]
        elif len(asked.counts) > 1:
            select = exp.select().from_(self._side_by_side(vectors), copy=False)
            numbers = [refer_to_column(f"c{i}") for i in range(len(vectors.counts))]
        else:
            source = self._side_by_side(vectors) if self._uses[vectors] > 1 else self._joined(vectors)
            select = exp.select().from_(source, copy=False)
            product = multiply_counts([refer_to_column(f"c{i}") for i in range(len(vectors.counts))])
            numbers = [_or_zero(exp.Max(this=product))]
            if groups:
                select.group_by(*_refer_to_groups(groups), copy=False)
        numbers += [exp.Literal.number(0) for _ in range(width - len(numbers))]
        return select.select(
            name_column(exp.Literal.number(place), "place"),
            *(
                name_column(refer_to_column(f"g{i}") if i in groups else _no_value(some), f"g{i}")
                for i, some in enumerate(values)
            ),
            *(
                name_column(exp.cast(value, exp.DataType.Type.VARCHAR), f"v{i}")
                for i, value in enumerate(numbers)
            ),
            copy=False,
        )

    def __call__(self, counted: CountedRows, link: Link, alias: str) -> tuple[exp.Expr, bool]:
        """What a count meets, under an alias, and whether each row of it counts as one."""
        if not self._may_stay_rows(counted, link):
            return self._table(link.counted, alias), False
        rows = link.counted.select_rows(self)
        return _bracket(rows, alias), all(
            column.this == _ONE for column in rows.selects if column.alias == "c"
        )

    def _table(self, counted: Counted, alias: str) -> exp.Expr:
        """Something with the columns k0, k1, … and c of a count, under an alias."""
        key = _without_measure(counted)
        if not self._is_shared(counted):
            return _bracket(counted.select(self), alias)
        kinds = self._kinds[key]
        if len(kinds) == 1 or isinstance(counted, Flat):
            return self._share(counted, lambda: counted.select(self), alias)
        whole = self._share(key, lambda: counted.select(self, [kind.measure for kind in kinds]), "s")
        keys: list[exp.Expr] = [refer_to_column(f"k{i}") for i in range(len(counted.keys))]
        keys += _refer_to_groups(counted.groups)
        mine = name_column(refer_to_column(f"c{kinds.index(counted)}"), "c")
        return _bracket(exp.select(*keys, mine).from_(whole, copy=False), alias)

    def _largest(self, counted: Counted) -> exp.Expr:
        """Something with one row: the largest number of a count, c."""
        key = ("largest", counted)
        if self._uses[key]:
            return self._share(key, lambda: self._select_largest(counted), "s0")
        return _bracket(self._select_largest(counted), "s0")

    def _select_largest(self, counted: Counted) -> exp.Select:
        if self._is_one(counted):
            rows = exp.select(name_column(_ONE.copy(), "c"))
            rows.from_(_bracket(counted.select_rows(self), "s1"), copy=False).limit(1, copy=False)
            return _select_maximum(_bracket(rows, "s0"))
        if counted not in self._guards or isinstance(counted, Flat):
            return _select_maximum(self._table(counted, "s0"), counted.groups)
        single: list[exp.Expr] = []
        several: list[exp.Expr] = []
        for guard in self._guards[counted]:
            most = (
                exp.select(refer_to_column("c")).from_(self._largest(guard), copy=False).subquery(copy=False)
            )
            single.append(exp.LTE(this=most, expression=exp.Literal.number(1)))
            several.append(exp.GT(this=most.copy(), expression=exp.Literal.number(1)))
        rows = counted.select_rows(self).where(exp.or_(*single, copy=False), copy=False)
        groups = counted.select(self).where(*several, copy=False)
        both = [_select_maximum(_bracket(part, "s0"), wide=True) for part in (rows, groups)]
        return _select_maximum(_bracket(exp.union(*both, distinct=False, copy=False), "s0"))

    def _is_shared(self, counted: Counted) -> bool:
        return self._uses[_without_measure(counted)] > 1

    def _share(self, key: object, body: Callable[[], exp.Query], alias: str) -> exp.Table:
        if key not in self._names:
            made = body()  # first: it may put others into the clause
            name = next(n for i in count() if (n := f"sordino_{i}") not in self._taken)
            self._taken.add(name)
            self._names[key], self.shared[name] = name, made
        return make_table(self._names[key], alias)

    def _side_by_side(self, vectors: Vectors) -> exp.Expr:
        """Each combination of all numbers but the last, with the largest of the last."""
        if self._uses[vectors] > 1:
            return self._share(vectors, lambda: self._select_vectors(vectors), "v")
        return _bracket(self._select_vectors(vectors), "v")

    def _select_vectors(self, vectors: Vectors) -> exp.Select:
        *kept, last = (f"c{i}" for i in range(len(vectors.counts)))
        by = [*_refer_to_groups(_list_groups(vectors.counts)), *map(refer_to_column, kept)]
        columns = [*by, name_column(exp.Max(this=refer_to_column(last)), last)]
        select = exp.select(*columns).from_(self._joined(vectors), copy=False)
        return select.group_by(*(column.copy() for column in by), copy=False)

    def _joined(self, vectors: Vectors) -> exp.Subquery:
        sources = [self._table(counted, f"s{i}") for i, counted in enumerate(vectors.counts)]
        columns = [name_column(refer_to_column("c", f"s{i}"), f"c{i}") for i in range(len(sources))]
        home = {
            g: f"s{i}" for i, counted in reversed(list(enumerate(vectors.counts))) for g in counted.groups
        }
        columns += [name_column(refer_to_column(f"g{g}", home[g]), f"g{g}") for g in sorted(home)]
        select = exp.select(*columns).from_(sources[0], copy=False)
        for i, places in enumerate(vectors.places, start=1):
            on = [
                exp.EQ(
                    this=refer_to_column(f"k{mine}", f"s{i}"),
                    expression=refer_to_column(f"k{home_key}", "s0"),
                )
                for mine, home_key in enumerate(places)
            ]
            on += [
                exp.EQ(this=refer_to_column(f"g{g}", f"s{i}"), expression=refer_to_column(f"g{g}", home[g]))
                for g in vectors.counts[i].groups
                if home[g] != f"s{i}"
            ]
            select.join(sources[i], on=exp.and_(*on, copy=False), copy=False)
        return _bracket(select, "vectors")


def split_asked(asked: Asked) -> Vectors | None:
    """Several counts side by side, or the factors of one; None: it has none."""
    if len(asked.counts) > 1:
        home = {key: place for place, key in enumerate(asked.classes[0])}
        return Vectors(asked.counts, tuple(tuple(home[key] for key in keys) for keys in asked.classes[1:]))
    counted = asked.counts[0]
    factors = [link for link in counted.links if set(link.columns) <= set(counted.keys)]
    if isinstance(counted, Flat) or not factors:
        return None
    rest = tuple(link for link in counted.links if link not in factors)
    return Vectors(
        (replace(counted, links=rest), *(link.counted for link in factors)),
        tuple(tuple(counted.keys.index(column) for column in link.columns) for link in factors),
    )


def _coarser(counted: Counted, alone: Iterable[Counted]) -> list[Counted]:
    """Rows of the same table under the same conditions, per value of some of the keys: if these are single, all are.

    Not for rows that meet others: they would be joined twice, once for either case, which takes longer than grouping.
    """
    return [
        other
        for other in alone
        if isinstance(counted, CountedRows)
        and isinstance(other, CountedRows)
        and other != counted
        and not counted.groups
        and not counted.links
        and other.keys
        and (other.table, other.conditions, other.lookups)
        == (counted.table, counted.conditions, counted.lookups)
        and not other.links
        and other.measure is None
        and set(other.keys) <= set(counted.keys)
    ]


def _without_measure(counted: Counted) -> Counted:
    return replace(counted, measure=None) if isinstance(counted, CountedRows) else counted


def _tables(found: Iterable[Asked]) -> Iterator[str]:
    for counted in collect_links(counted for asked in found for counted in asked.counts):
        yield from (table for _, table in counted.tables)
        yield from (lookup.table for lookup in counted.all_lookups)


def _select_maximum(source: exp.Expr, groups: Sequence[int] = (), *, wide: bool = False) -> exp.Select:
    largest = _or_zero(exp.Max(this=refer_to_column("c")))
    column = name_column(exp.cast(largest, WIDE) if wide else largest, "c")
    select = exp.select(*_refer_to_groups(groups), column).from_(source, copy=False)
    return select.group_by(*_refer_to_groups(groups), copy=False) if groups else select


def _list_groups(counts: Iterable[Counted]) -> tuple[int, ...]:
    return tuple(sorted(frozenset[int]().union(*(counted.groups for counted in counts))))


def _refer_to_groups(groups: Iterable[int]) -> list[exp.Expr]:
    return [refer_to_column(f"g{group}") for group in groups]


def _no_value(values: Sequence[Any]) -> exp.Expr:
    """NULL of the type of a key's values."""
    kinds = {bool: "BOOLEAN", int: "BIGINT", date: "DATE", datetime: "TIMESTAMP"}
    known = [kinds.get(type(value), "VARCHAR") for value in values if value is not None]
    return exp.cast(exp.null(), known[0] if known else "VARCHAR")


def _select_places(numbers: exp.Query, values: Sequence[Sequence[Any]], width: int) -> exp.Select:
    """The numbers with the places of public values in place of values; those of no group are left out."""
    told = [refer_to_column("place"), *(refer_to_column(f"v{i}") for i in range(width))]
    places = exp.select(*told)
    chosen = exp.select(told[0].copy())
    for i, some in enumerate(values):
        column = refer_to_column(f"g{i}")
        absent = exp.cast(exp.null(), "INT")
        places.select(name_column(write_place(column, some, absent=absent), f"g{i}"), copy=False)
        chosen.select(column, copy=False)
        chosen.where(is_place(column, refer_to_column("v0")), copy=False)
    places.from_(_bracket(numbers, "numbers"), copy=False)
    chosen.select(*(column.copy() for column in told[1:]), copy=False)
    return chosen.from_(_bracket(places, "places"), copy=False)


def _or_zero(number: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=number, expressions=[exp.Literal.number(0)])


def _bracket(query: exp.Query, alias: str) -> exp.Subquery:
    return query.subquery(exp.Identifier(this=alias, quoted=True), copy=False)
