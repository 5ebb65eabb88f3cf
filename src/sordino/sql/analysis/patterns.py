"""Patterns: what the rows of a private table meet, by the values that tie them to the other tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sordino.sql.analysis.closure import NormalForm, equality_neighbours
from sordino.sql.analysis.components import Cluster, clusters, independent
from sordino.sql.analysis.counting import counting, holds_measure, keys_of, largest_size
from sordino.sql.analysis.growth import Numbers, added, grown, multiplied, pareto, whole_numbers
from sordino.sql.analysis.reader import Asking, Reader
from sordino.sql.analysis.steps import Steps


@dataclass(frozen=True, slots=True)
class Met:
    """A cluster: which statement counts it and where the numbers stand in its rows (seen, counts …, sizes …)."""

    statement: int
    counted: tuple[int, ...]
    alone: tuple[int, ...]
    positions: tuple[int, ...]

    def read(self, reader: Reader) -> tuple[Numbers, list[int]]:
        """(cnt, n_1, …) of every value of the key that is met, and the largest n_j."""
        rows = reader.rows(self.statement)
        if not self.counted and len(self.positions) == 1:
            size = reader.largest(self.statement)
            return whole_numbers([[size, size]], 2), [size]
        width = len(self.counted)
        unseen = next(list(row[1 + width :]) for row in rows if row[0] == 0)
        seen = [row[1:] for row in rows if row[0] == 1]
        table = whole_numbers(seen, width + len(self.positions))
        factors = [*range(width), *(width + place for place in self.alone)]
        counts = table[:, factors].astype(object).prod(axis=1, initial=1)
        sizes = table[:, width:].astype(object)
        return whole_numbers(np.column_stack([counts, sizes]).tolist(), 1 + len(self.positions)), unseen


@dataclass(frozen=True, slots=True)
class Group:
    """Clusters that share private tables: the first by its vectors, the others by their corners.

    ``factor``: the most that one combination adds to the counts.
    """

    form: NormalForm
    clusters: tuple[Met, ...]
    factor: int

    def bounds(self, reader: Reader, steps: Steps) -> Numbers:
        """The most that a row meets here, for all k."""
        vectors: Numbers = np.ones((1, 1), dtype=np.int64)
        highest: list[int] = []
        for cluster in self.clusters:
            seen, unseen = cluster.read(reader)
            highest += unseen
            vectors = _combined(vectors, seen)
        tables, costs = steps.budgets(self.form, [j for c in self.clusters for j in c.positions])
        default = whole_numbers([highest], len(highest))
        none = np.zeros(1, dtype=np.int64)
        best = grown(none, default, tables, costs, factor=self.factor, steps=steps.last)
        if len(vectors):
            kept = pareto(vectors)
            met = grown(kept[:, 0], kept[:, 1:], tables, costs, factor=self.factor, steps=steps.last)
            best = np.maximum(best, met)
        return best


@dataclass(frozen=True, slots=True)
class Exposure:
    """A row that sits exactly at some positions: groups that grow apart, and what each combination adds at most."""

    groups: tuple[Group, ...]
    factor: int

    def bounds(self, reader: Reader, steps: Steps) -> Numbers:
        """The most that the row changes, for all k."""
        total: Numbers = np.full(steps.last + 1, self.factor, dtype=np.int64)
        for group in self.groups:
            total = multiplied(total, group.bounds(reader, steps))
        return total


@dataclass(frozen=True, slots=True)
class Patterns:
    """Bounds on what one row of each private table can change, k changes away, for all k on the lattice.

    A row that is added changes the answer by the sum, over the non-empty sets X of positions of its table, of the
    combinations in which it sits exactly at X. For one X let n_j be the rows of table j that can meet it and cnt the
    combinations of them that do. After further changes worth k it is at most
    **cnt + max {Π(n_j + κ_t(j)) : ΣG_tκ_t ≤ k} − Πn_j**, with one κ per table, whose copies all get the new row.
    Maximised over the values of the key, and over one candidate for all values that nothing meets: cnt = 0 and every
    n_j at its largest over the keys of its own table.

    **Guarantee**: B_k ≥ the change by one row of the table in every database within k, and B_{k+G}(x) ≥ B_k(y) for x, y
    one row of weight G apart.
    **Requires**: nothing of the data; keys that are declared unique are not trusted, since a neighbour may break them.
    **Source**: NAPLES report §3.3.7.3 with its two repairs (unobtained patterns, one budget per table), and the jump
    of a row in place of the slope. Components that share no private table grow apart and are multiplied.
    **Numerics**: exact whole numbers.
    """

    exposures: dict[str, tuple[Exposure, ...]]

    def bounds(self, reader: Reader, steps: Steps) -> dict[str, list[int]]:
        """B_0, B_1, … per private table."""
        return {
            table: added([e.bounds(reader, steps) for e in exposures], steps.last).tolist()
            for table, exposures in self.exposures.items()
        }


def patterns(form: NormalForm, asking: Asking, *, corner: bool = False) -> Patterns:
    """What to ask; ``corner``: the largest cnt with the largest n_j, fewer joins and never a smaller bound."""
    neighbours = equality_neighbours(form)
    copies: dict[str, list[int]] = {}
    for j, occurrence in enumerate(form.occurrences):
        if occurrence.private:
            copies.setdefault(occurrence.table, []).append(j)
    exposures = {
        table: tuple(
            exposure
            for at in non_empty_subsets(positions)
            if (exposure := _exposure(form.with_row_at(at), neighbours, asking, corner=corner)) is not None
        )
        for table, positions in copies.items()
    }
    return Patterns(exposures)


def non_empty_subsets(items: Sequence[int]) -> list[tuple[int, ...]]:
    """Small ones first."""
    return [chosen for size in range(1, len(items) + 1) for chosen in combinations(items, size)]


def _exposure(
    form: NormalForm, neighbours: Sequence[frozenset[int]], asking: Asking, *, corner: bool
) -> Exposure | None:
    """None if the conditions let no row sit at these positions."""
    if form.impossible:
        return None
    groups, factor = [], form.measure.reach
    for group in independent(form, clusters(form, neighbours, most_joined=asking.most_joined)):
        mine = 1
        if any(holds_measure(form, component) for cluster in group for component in cluster.components):
            mine, factor = factor, 1
        met = tuple(_met(form, c, asking, corner=corner or number > 0) for number, c in enumerate(group))
        groups.append(Group(form, met, mine))
    return Exposure(tuple(groups), factor)


def _met(form: NormalForm, cluster: Cluster, asking: Asking, *, corner: bool) -> Met:
    positions = cluster.positions
    if len(positions) == 1 and not holds_measure(form, positions):
        # Its count is its size, and both are largest together.
        number = asking.number_of(largest_size(form, positions[0], keys_of(form, positions)))
        return Met(number, (), (0,), positions)
    asked = counting(form, cluster, corner=corner)
    alone = tuple(
        asked.positions.index(component[0])
        for number, component in enumerate(cluster.components)
        if number not in asked.counted
    )
    number = asking.number_of(asked.statement)
    # With a second component only the keys that both have are seen.
    if len(cluster.components) == 1:
        for column, joined in enumerate(asked.joins):
            asking.largest.setdefault(joined, (number, 1 + column))
    return Met(number, asked.counted, alone, asked.positions)


def _combined(one: Numbers, two: Numbers) -> Numbers:
    """All pairs: counts multiplied, sizes side by side."""
    rows = [[a[0] * b[0], *a[1:], *b[1:]] for a in one.tolist() for b in two.tolist()]
    return whole_numbers(rows, one.shape[1] + two.shape[1] - 1)
