"""Exclusion: joined rows are left out where one of their rows has been used as often as it may."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sordino.core import Distance, Guarantee, Loss, ParameterError, UnsupportedError
from sordino.core.parameters import as_written, positive, whole

CHANGES_PER_USE = 2


@dataclass(frozen=True, slots=True)
class ChainRow:
    """A row of a chain of tables: its table, its name, its parent's name (None in the first table), and its uses.

    ``time``: when it arrived, by a public clock; needed where allowances are given per epoch.
    """

    table: str
    name: Hashable
    parent: Hashable | None
    uses: int
    time: int | None = None


@dataclass(frozen=True, slots=True)
class MoreUses:
    """A row gets further uses from here on; accepted in experiments alone, and never with three tables."""

    table: str
    name: Hashable
    uses: int


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Which joined rows of a chain of 1:n joins are included, so that no row is used more often than it may be.

    ``tables``: the chain from parents to children. Rows are given in the order in which they arrived. Joined rows are
    taken in the order of their timestamps: arrival numbers of their rows, the latest first, compared in turn. One is
    included if each of its rows has a use left, and then takes one of each.
    **Guarantee**: removing a row that is used u times changes the included set by at most 2u joined rows: each use that
    goes lets at most one other in. So a COUNT has sensitivity 2·M per row and level, and a SUM the scale of
    `CombinedNoise.scale` with ``excluding``.
    **Requires**: constant allowances, or ``epoch_of`` (from the time of a row to a public epoch): separate allowances
    for each epoch without carry-over, where each is an instance of its own; a joined row draws on the epoch of its
    latest row. Epochs are by time and not by the number of rows so far, which one row more or less shifts for all rows
    after it. Allowances that grow break it from three tables on: the factor T + 1 that is printed is false.
    **Source**: NAPLES report, Section 3.3.12.7.

    >>> import sordino as sd
    >>> Row = sd.series.ChainRow
    >>> rows = [Row("parent", "A", None, 1), Row("parent", "B", None, 2)]
    >>> rows += [Row("child", n, parent, 1) for n, parent in [(3, "A"), (4, "B"), (5, "A"), (6, "B"), (7, "B")]]
    >>> [joined[-1] for joined in sd.series.Exclusion(("parent", "child")).include(rows)]
    [3, 4, 6]
    """

    tables: tuple[str, ...]
    epoch_of: Callable[[int], Hashable] | None = None
    experimental: bool = False

    def __post_init__(self) -> None:
        if len(self.tables) < 1 or len(set(self.tables)) != len(self.tables):
            raise ParameterError(f"tables must be a chain of different tables, got {self.tables!r}")

    @classmethod
    def of_schema(cls, schema: Mapping[str, Mapping[str, Any]], **options: Any) -> Exclusion:
        """The chain of a schema: ``{table: {"key": column, "foreign_keys": {column: "table.column"}}}``.

        Refused unless every table but one names exactly one parent, by a foreign key to the parent's declared key,
        and no two tables name the same one: stars, m:n and OR joins let one use change any number of others.
        """
        parents: dict[str, str] = {}
        for table, said in schema.items():
            links = dict(said.get("foreign_keys", {}))
            if len(links) > 1:
                raise UnsupportedError(
                    f"table {table!r} has {len(links)} parents, a star: only chains of 1:n joins are limited"
                )
            for target in links.values():
                parent, _, column = str(target).rpartition(".")
                if parent not in schema or schema[parent].get("key") != column:
                    raise UnsupportedError(
                        f"{table!r} refers to {target!r}, which is no declared key: the join may be m:n"
                    )
                if parent == table or parent in parents.values():
                    raise UnsupportedError(
                        f"table {parent!r} has two children, or itself: only chains are limited"
                    )
                parents[table] = parent
        roots = [table for table in schema if table not in parents]
        if len(roots) != 1:
            raise UnsupportedError(f"a chain has one table without a parent, this schema has {len(roots)}")
        chain = [roots[0]]
        children = {parent: child for child, parent in parents.items()}
        while chain[-1] in children:
            chain.append(children[chain[-1]])
        if len(chain) != len(schema):
            raise UnsupportedError("the tables refer to one another in a circle")
        return cls(tuple(chain), **options)

    @property
    def distance(self) -> Distance:
        """A row with its limited uses: losses per it are not losses per row of the data set."""
        among = f"chains {' - '.join(self.tables)} in which rows are used as often as they may be"
        return Distance("row of a chain", "add_remove", among=among)

    def guarantee(self, epsilon: Any, *, uses: int) -> Guarantee:
        """Of releases that spend ``epsilon`` in all on a row with so many uses, in the Distance of this limit."""
        positive("epsilon", epsilon), whole("uses", uses, least=1)
        theorem = f"exclusion: {CHANGES_PER_USE} joined rows change per use, {uses} uses"
        return Guarantee(Loss(epsilon=float(as_written("epsilon", epsilon))), self.distance, theorem)

    def count_sensitivity(self, uses: int) -> int:
        """How far the number of included rows moves when a row with so many uses comes or goes."""
        return CHANGES_PER_USE * whole("uses", uses, least=1)

    def include(self, arrivals: Sequence[ChainRow | MoreUses]) -> list[tuple[Hashable, ...]]:
        """The joined rows that are included, by their timestamps: names from the first table to the last."""
        rows, arrived = self._check(arrivals)
        joined = sorted(
            (sorted((arrived[key] for key in chain), reverse=True), chain) for chain in self._chains(rows)
        )
        left: dict[Any, int] = {}
        growing = [
            (place, more) for place, more in enumerate(arrivals, start=1) if isinstance(more, MoreUses)
        ]
        included = []
        for stamp, chain in joined:
            while growing and growing[0][0] <= stamp[0]:
                more = growing.pop(0)[1]
                spot = (more.table, more.name)
                left[spot] = left.get(spot, rows[spot].uses) + more.uses
            epoch = () if self.epoch_of is None else (self.epoch_of(_time_of(arrivals[stamp[0] - 1])),)
            places = [(*key, *epoch) for key in chain]
            if all(left.get(place, rows[key].uses) > 0 for place, key in zip(places, chain, strict=True)):
                for place, key in zip(places, chain, strict=True):
                    left[place] = left.get(place, rows[key].uses) - 1
                included.append(tuple(name for _, name in chain))
        return included

    def _check(
        self, arrivals: Sequence[ChainRow | MoreUses]
    ) -> tuple[dict[tuple[str, Hashable], ChainRow], dict[tuple[str, Hashable], int]]:
        rows: dict[tuple[str, Hashable], ChainRow] = {}
        arrived: dict[tuple[str, Hashable], int] = {}
        if self.epoch_of is not None:
            _check_order([_time_of(row) for row in arrivals])
        for place, row in enumerate(arrivals, start=1):
            if row.table not in self.tables:
                raise ParameterError(f"table {row.table!r} is not in the chain {' - '.join(self.tables)}")
            whole("uses", row.uses, least=0)
            if isinstance(row, MoreUses):
                self._check_growth(row, rows)
                continue
            if (row.parent is None) != (row.table == self.tables[0]):
                raise ParameterError("every row but those of the first table names one parent")
            if (row.table, row.name) in rows:
                raise ParameterError(f"two rows of table {row.table!r} have one name")
            rows[row.table, row.name], arrived[row.table, row.name] = row, place
        return rows, arrived

    def _check_growth(self, more: MoreUses, rows: Mapping[tuple[str, Hashable], ChainRow]) -> None:
        if len(self.tables) > 2:
            raise UnsupportedError(
                "allowances that grow are refused with three tables or more: one use that goes can change any number "
                "of others; give separate allowances for public epochs (epoch_of)"
            )
        if not self.experimental:
            raise UnsupportedError(
                "allowances that grow have no proof: give separate allowances for public epochs (epoch_of), or "
                "experimental=True"
            )
        if (more.table, more.name) not in rows:
            raise ParameterError("only a row that has arrived gets further uses")

    def _chains(
        self, rows: Mapping[tuple[str, Hashable], ChainRow]
    ) -> list[tuple[tuple[str, Hashable], ...]]:
        """From each row of the last table up to the first, where all parents are there."""
        found = []
        for key, row in rows.items():
            if row.table != self.tables[-1]:
                continue
            chain, at = [key], row
            for table in reversed(self.tables[:-1]):
                above = (table, at.parent)
                if above not in rows:
                    break
                chain.append(above)
                at = rows[above]
            else:
                found.append(tuple(reversed(chain)))
        return found


def _time_of(row: ChainRow | MoreUses) -> int:
    if isinstance(row, MoreUses):
        raise UnsupportedError(
            "allowances per epoch do not grow: what is left of one epoch is not carried over"
        )
    if row.time is None:
        raise ParameterError("allowances per epoch need the time of every row: ChainRow(…, time=…)")
    return whole("time", row.time, least=0)


def _check_order(times: Sequence[int]) -> None:
    if any(later < earlier for earlier, later in pairwise(times)):
        raise ParameterError("times are out of order: rows are given in the order in which they arrived")


def count_uses(budget: Any, share: Any) -> int:
    """How often a row with a budget may be used at ``share`` each: ⌊budget/share⌋, of the decimals as they are written.

    >>> import sordino as sd
    >>> sd.series.count_uses(0.3, 0.1)
    3
    """
    positive("budget", budget), positive("share", share)
    return math.floor(Fraction(as_written("budget", budget)) / as_written("share", share))
