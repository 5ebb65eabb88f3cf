"""Pattern sensitivity: how many joined rows a row of a private table meets, by the values that tie it to the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sordino.sql.analysis.closure import NormalForm, find_equality_neighbours
from sordino.sql.analysis.components import Cluster, find_clusters, separate_clusters
from sordino.sql.analysis.counting import CountedRows, describe_count, describe_rows, holds_measure
from sordino.sql.analysis.growth import (
    Numbers,
    add_growths,
    grow_count,
    keep_undominated,
    make_whole_numbers,
    multiply_growths,
)
from sordino.sql.analysis.keys import drop_found_by_key, is_impossible
from sordino.sql.analysis.reader import Asking, Reader
from sordino.sql.analysis.steps import Steps


@dataclass(frozen=True, slots=True)
class Met:
    """A cluster: where its components' counts are found, and the size of each position.

    ``alone``: per position the component whose count is also its size, if it is alone there and counts rows.
    """

    counts: int
    components: int
    positions: tuple[int, ...]
    sizes: tuple[int, ...]
    alone: tuple[int | None, ...]

    def read(self, reader: Reader) -> Numbers:
        """Rows (count, n_1, …): what goes together at one value of the keys, and what no value may exceed."""
        highest = [reader.largest(place) for place in self.sizes]
        rows = []
        for found in reader.rows(self.counts):
            counts = found[: self.components]
            sizes = [
                size if component is None else counts[component]
                for size, component in zip(highest, self.alone, strict=True)
            ]
            rows.append([math.prod(counts), *sizes])
        # Values of the keys that not all components have: nothing is met, whatever the sizes are.
        return make_whole_numbers([*rows, [0, *highest]], 1 + len(self.positions))


@dataclass(frozen=True, slots=True)
class Group:
    """Clusters that share private tables: the first by its vectors, the others by the largest of each number.

    ``factor``: the most that one combination adds to the counts.
    """

    form: NormalForm
    clusters: tuple[Met, ...]
    factor: int

    def bounds(self, reader: Reader, steps: Steps) -> Numbers:
        """The most that a row meets here, for all k."""
        first, *others = self.clusters
        vectors = keep_undominated(first.read(reader))
        for cluster in others:
            # The largest of each number in one row: a product of frontiers could be any size.
            vectors = _combined(vectors, cluster.read(reader).max(axis=0, keepdims=True))
        tables, costs = steps.budgets(self.form, [j for c in self.clusters for j in c.positions])
        return grow_count(vectors[:, 0], vectors[:, 1:], tables, costs, factor=self.factor, steps=steps.last)


@dataclass(frozen=True, slots=True)
class Exposure:
    """A row that sits exactly at some positions: groups that grow apart, and what each combination adds at most."""

    groups: tuple[Group, ...]
    factor: int

    def bounds(self, reader: Reader, steps: Steps) -> Numbers:
        """The most that the row changes, for all k."""
        total: Numbers = np.full(steps.last + 1, self.factor, dtype=np.int64)
        for group in self.groups:
            total = multiply_growths(total, group.bounds(reader, steps))
        return total


@dataclass(frozen=True, slots=True)
class Patterns:
    """Bounds on what one row of each private table can change, k changes away, for all k on the lattice.

    A row that is added changes the answer by the sum, over the non-empty sets X of positions of its table, of the
    combinations in which it sits exactly at X. For one X let cnt be the combinations of rows elsewhere that meet it and
    n_j, in a fixed order of the positions, the most rows of table j that can go with the row at X and given rows at the
    positions before j. After further changes worth k the row meets at most
    **cnt + max {Π(n_j + κ_t(j)) : ΣG_tκ_t ≤ k} − Πn_j**, with one κ per table, whose copies all get the new row.
    Maximised over the values that tie the row to the rest, those that nothing meets included (cnt = 0).

    **Guarantee**: B_k ≥ the change by one row of the table in every database within k, and B_{k+G}(x) ≥ B_k(y) for x, y
    one row of weight G apart. *Proof*: at most Π_{j∈E}κ_t(j) · Π_{j∉E}n_j combinations have their new rows exactly at
    E, since a position outside E is reached with the rows before it given; so one row more of t adds to cnt at most
    what it adds to Πn_j, and the bound increases in cnt and in every n_j.
    **Requires**: nothing of the data; keys are trusted only where they are enforced, for every neighbour.
    **Source**: NAPLES report §3.3.7.3 with its two repairs (unobtained patterns, one budget per table), the jump of a
    row in place of the slope, and sizes given what was reached before (there: all rows that the row's own values let
    in). Components that share no private table grow apart and are multiplied.
    **Numerics**: exact whole numbers.
    """

    exposures: dict[str, tuple[Exposure, ...]]

    def bounds(self, reader: Reader, steps: Steps) -> dict[str, list[int]]:
        """B_0, B_1, … per private table."""
        return {
            table: add_growths([e.bounds(reader, steps) for e in exposures], steps.last).tolist()
            for table, exposures in self.exposures.items()
        }


def prepare_patterns(form: NormalForm, asking: Asking, *, keyed: bool = False) -> Patterns:
    """What to ask; ``keyed``: without the positions that a key finds (`drop_found_by_key`)."""
    copies: dict[str, list[int]] = {}
    for j, occurrence in enumerate(form.occurrences):
        if occurrence.private:
            copies.setdefault(occurrence.table, []).append(j)
    exposures = {
        table: tuple(
            exposure
            for at in list_subsets(positions)
            if (exposure := _exposure(form, at, asking, keyed=keyed)) is not None
        )
        for table, positions in copies.items()
    }
    return Patterns(exposures)


def list_subsets(items: Sequence[int]) -> list[tuple[int, ...]]:
    """Small ones first."""
    return [chosen for size in range(1, len(items) + 1) for chosen in combinations(items, size)]


def _exposure(whole: NormalForm, at: tuple[int, ...], asking: Asking, *, keyed: bool) -> Exposure | None:
    """None if the conditions let no row sit at these positions."""
    if is_impossible(whole.with_row_at(at)):
        return None
    if keyed:
        whole, at = drop_found_by_key(whole, at)
    form, neighbours = whole.with_row_at(at), find_equality_neighbours(whole)
    groups, factor = [], form.measure.reach
    for group in separate_clusters(form, find_clusters(form, neighbours, most_joined=asking.most_joined)):
        mine = 1
        if any(holds_measure(form, component) for cluster in group for component in cluster.components):
            mine, factor = factor, 1
        met = tuple(_met(form, cluster, asking, only=len(group) == 1) for cluster in group)
        groups.append(Group(form, met, mine))
    return Exposure(tuple(groups), factor)


def _met(form: NormalForm, cluster: Cluster, asking: Asking, *, only: bool) -> Met:
    """``only``: it is the only one of its group. Then the size of a single position does not matter: n + κ − n."""
    counts, classes = [], []
    sizes: list[CountedRows] = []
    positions: list[int] = []
    alone: list[int | None] = []
    for number, component in enumerate(cluster.components):
        measure = form.measure if holds_measure(form, component) else None
        count, keys = describe_count(form, component, form.keys(component), measure)
        counts.append(count)
        classes.append(keys)
        for position, known in order_positions(form, component):
            positions.append(position)
            sizes.append(describe_rows(form, position, known))
            alone.append(number if len(component) == 1 and measure is None else None)
    place = asking.largest(counts[0]) if len(counts) == 1 else asking.together(counts, classes)
    if only and len(positions) == 1:
        return Met(place, 1, tuple(positions), (place,), (0,))
    return Met(
        place, len(counts), tuple(positions), tuple(asking.largest(size) for size in sizes), tuple(alone)
    )


def order_positions(form: NormalForm, component: Sequence[int]) -> list[tuple[int, list[int]]]:
    """An order of the positions, and the classes that tie each to the row or to a position before it.

    Next comes the position of which most is known.
    """
    known = frozenset(form.keys(component))
    order: list[tuple[int, list[int]]] = []
    rest = list(component)
    while rest:
        position = max(rest, key=lambda j: (len(form.classes_at(j) & known), -j))
        order.append((position, sorted(form.classes_at(position) & known)))
        known |= form.classes_at(position)
        rest.remove(position)
    return order


def _combined(one: Numbers, two: Numbers) -> Numbers:
    """All pairs: counts multiplied, sizes side by side."""
    rows = [[a[0] * b[0], *a[1:], *b[1:]] for a in one.tolist() for b in two.tolist()]
    return make_whole_numbers(rows, one.shape[1] + two.shape[1] - 1)
