"""Everything that the analyses of one question ask, as one statement: each count once, only numbers come back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

import pyarrow as pa
from sqlglot import exp

from sordino.engines import Snapshot
from sordino.sql.analysis.counting import (
    Counted,
    CountTable,
    Flat,
    name_column,
    refer_to_column,
    refer_to_table,
)

Row = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """Numbers of some counts: of one its largest, of several those that go with the same values of the first's keys.

    ``classes``: per count the class of equal cells of each of its keys.
    """

    counts: tuple[Counted, ...]
    classes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """What a plan asks, each number once. ``most_joined``: see `find_components`.

    ``counts``: all that the question now being planned reads, whether or not another question read it before.
    """

    most_joined: int
    found: dict[Asked, int] = field(default_factory=dict)
    counts: set[Counted] = field(default_factory=set)

    def largest(self, counted: Counted) -> int:
        """The place of the largest number of a count, 0 where it has none."""
        return self._place(Asked((counted,), ((),)))

    def together(self, counts: Sequence[Counted], classes: Sequence[tuple[int, ...]]) -> int:
        """The place of the numbers of several counts that go together, each combination at least once."""
        return self._place(Asked(tuple(counts), tuple(classes)))

    def _place(self, asked: Asked) -> int:
        self.counts.update(asked.counts)
        return self.found.setdefault(asked, len(self.found))

    def statement(self) -> exp.Query | None:
        """One query with rows (place, v0, v1, …), numbers as text since 64 bits might not hold them; None: no need."""
        if not self.found:
            return None
        sources = _Sources(self.found)
        width = max(len(asked.counts) for asked in self.found)
        first, *others = [_rows(place, asked, width, sources) for asked, place in self.found.items()]
        query: exp.Query = exp.union(first, *others, distinct=False, copy=False) if others else first
        for name, body in sources.shared.items():
            alias = exp.TableAlias(this=exp.Identifier(this=name, quoted=True))
            query.with_(alias, as_=body, copy=False)
        return query


class _Sources:
    """Counts as items of FROM: those that are used once where they are used, the others in a WITH clause."""

    def __init__(self, found: Iterable[Asked]) -> None:
        self.shared: dict[str, exp.Select] = {}
        self._names: dict[Counted, str] = {}
        self._uses: Counter[Counted] = Counter()
        self._taken: set[str] = set()
        waiting = [counted for asked in found for counted in asked.counts]
        while waiting:
            counted = waiting.pop()
            tables = [table for _, table in counted.tables] if isinstance(counted, Flat) else [counted.table]
            self._taken |= {table.rpartition(".")[2].casefold() for table in tables}
            self._uses[counted] += 1
            if self._uses[counted] == 1 and not isinstance(counted, Flat):
                waiting += [link.counted for link in counted.links]

    def __call__(self, counted: Counted, alias: str) -> exp.Expr:
        """Something with the columns of a count, under an alias."""
        if self._uses[counted] == 1:
            return counted.select(self).subquery(exp.Identifier(this=alias, quoted=True), copy=False)
        if counted not in self._names:
            body = counted.select(self)  # first: it may put others into the clause
            name = next(n for i in count() if (n := f"sordino_{i}") not in self._taken)
            self._taken.add(name)
            self._names[counted], self.shared[name] = name, body
        return refer_to_table(self._names[counted], alias)


def _rows(place: int, asked: Asked, width: int, source: CountTable) -> exp.Select:
    sources = [source(counted, f"s{i}") for i, counted in enumerate(asked.counts)]
    numbers: list[exp.Expr]
    if len(sources) == 1:
        select = exp.select().from_(sources[0], copy=False)
        largest = exp.Max(this=refer_to_column("c"))
        numbers = [exp.Coalesce(this=largest, expressions=[exp.Literal.number(0)])]
    else:
        vectors = _vectors(sources, asked.classes).subquery("vectors", copy=False)
        *kept, last = (f"c{i}" for i in range(len(sources)))
        select = exp.select().from_(vectors, copy=False).group_by(*map(refer_to_column, kept), copy=False)
        numbers = [*map(refer_to_column, kept), exp.Max(this=refer_to_column(last))]
    numbers += [exp.Literal.number(0) for _ in range(width - len(numbers))]
    return select.select(
        name_column(exp.Literal.number(place), "place"),
        *(
            name_column(exp.cast(value, exp.DataType.Type.VARCHAR), f"v{i}")
            for i, value in enumerate(numbers)
        ),
        copy=False,
    )


def _vectors(sources: Sequence[exp.Expr], classes: Sequence[tuple[int, ...]]) -> exp.Select:
    """The counts for the same values of the first's keys; each of the others has some of them."""
    home = {key: f"k{place}" for place, key in enumerate(classes[0])}
    select = exp.select(
        *(name_column(refer_to_column("c", f"s{i}"), f"c{i}") for i in range(len(sources)))
    ).from_(sources[0], copy=False)
    for i, keys in enumerate(classes[1:], start=1):
        on = [
            exp.EQ(this=refer_to_column(f"k{place}", f"s{i}"), expression=refer_to_column(home[key], "s0"))
            for place, key in enumerate(keys)
        ]
        select.join(sources[i], on=exp.and_(*on, copy=False), copy=False)
    return select


class Reader:
    """The numbers that a plan asked, read from one snapshot."""

    def __init__(self, snapshot: Snapshot, statement: exp.Query | None) -> None:
        self.statement = statement
        self._rows: dict[int, list[Row]] = {}
        if statement is not None:
            for place, *numbers in _whole_numbers(snapshot.aggregate(statement)):
                self._rows.setdefault(place, []).append(tuple(numbers))

    def rows(self, place: int) -> list[Row]:
        """All that was found there."""
        return self._rows.get(place, [])

    def largest(self, place: int) -> int:
        """The largest number, 0 if there is none."""
        return max((row[0] for row in self.rows(place)), default=0)


def _whole_numbers(table: pa.Table) -> list[Row]:
    columns = [column.to_pylist() for column in table.columns]
    return [tuple(map(int, row)) for row in zip(*columns, strict=True)]
