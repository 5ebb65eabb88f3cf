"""Elastic sensitivity: the largest frequencies of the join columns, joined from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sordino.sql.analysis.closure import NormalForm, find_connected
from sordino.sql.analysis.counting import describe_rows
from sordino.sql.analysis.growth import Numbers
from sordino.sql.analysis.keys import is_found_by_classes, is_impossible
from sordino.sql.analysis.reader import Asking, Reader
from sordino.sql.analysis.steps import Steps

# How often one value of a class of equal cells occurs, at every distance. None stands for any value: all rows.
Frequencies = dict[int | None, Numbers]


@dataclass(frozen=True, slots=True)
class Elastic:
    """Bounds from how often one value occurs in each join column, for all k on the lattice.

    After changes worth k a value occurs at most mf + ⌊k/G⌋ times, and a value of an enforced key at most once. Joining
    A with B over a = b, with L and R the smallest mf of the columns available on either side, changes of one row spread
    as s = L·s_B + R·s_A + s_A·s_B, and frequencies as mf·R on the left, mf·L on the right.

    **Guarantee**: as `Patterns`; coarser, from one grouped count per join column.
    **Source**: Johnson, Near, Song 2018 (FLEX), per changed table; a column is unique only by an enforced key.
    Several left-deep orders are followed and the smallest bound is taken at each k.
    **Numerics**: exact whole numbers.
    """

    form: NormalForm
    places: tuple[dict[int | None, int], ...]

    def bounds(self, reader: Reader, steps: Steps) -> dict[str, list[int]]:
        """B_0, B_1, … per private table."""
        if is_impossible(self.form):
            return {table: [0] * (steps.last + 1) for table in steps.tables}
        found = [
            _grown({number: reader.largest(place) for number, place in here.items()}, self.form, j, steps)
            for j, here in enumerate(self.places)
        ]
        result = {}
        for table in steps.tables:
            spread = [_spread(self.form, found, order, table) for order in _orders(self.form)]
            least = np.minimum.reduce(spread) * self.form.measure.reach
            result[table] = [int(value) for value in least]
        return result


def prepare_elastic(form: NormalForm, asking: Asking) -> Elastic:
    """What to ask."""
    places = []
    apart = len(_tied(form)) > 1
    for j in range(len(form.occurrences)):
        here: dict[int | None, int] = {
            number: asking.largest(describe_rows(form, j, (number,)))
            for number in sorted(form.classes_at(j))
            if len({cell.alias for cell in form.classes[number].cells}) > 1
        }
        if apart:
            here[None] = asking.largest(describe_rows(form, j, ()))
        places.append(here)
    return Elastic(form, tuple(places))


def _tied(form: NormalForm) -> list[frozenset[int]]:
    """The sets of positions that classes hold together."""
    everything = range(len(form.occurrences))
    links = [
        {j for j in everything if number in form.classes_at(j)}
        for number, equals in enumerate(form.classes)
        if not equals.constants
    ]
    return find_connected(everything, links)


def _grown(frequencies: dict[int | None, int], form: NormalForm, position: int, steps: Steps) -> Frequencies:
    weight = form.occurrences[position].weight
    rows = np.zeros(steps.last + 1, dtype=np.int64)
    if weight is not None:
        rows = np.arange(steps.last + 1) // steps.cost(form.occurrences[position].table)
    grown = {number: value + rows.astype(object) for number, value in frequencies.items()}
    return {
        number: np.minimum(value, 1) if is_found_by_classes(form, position, (number,)) else value
        for number, value in grown.items()
    }


def _orders(form: NormalForm) -> list[tuple[int, ...]]:
    """From every position on, to those that are tied to one before."""
    everything = range(len(form.occurrences))
    orders = []
    for start in everything:
        order = [start]
        while len(order) < len(everything):
            rest = [j for j in everything if j not in order]
            known = frozenset().union(*(form.classes_at(j) for j in order))
            near = [j for j in rest if form.classes_at(j) & known]
            order.append((near or rest)[0])
        orders.append(tuple(order))
    return list(dict.fromkeys(orders))


def _spread(form: NormalForm, found: list[Frequencies], order: Sequence[int], table: str) -> Numbers:
    """What one row of the table can change, joined in this order."""
    total: Frequencies = {}
    stability: Numbers | int = 0
    for j in order:
        occurrence = form.occurrences[j]
        own = int(occurrence.table == table and occurrence.private)
        if not total:
            total, stability = dict(found[j]), own + 0 * next(iter(found[j].values()))
            continue
        shared = [number for number in total if number in found[j]]
        left = np.minimum.reduce([total[number] for number in shared])
        right = np.minimum.reduce([found[j][number] for number in shared])
        if is_found_by_classes(form, j, shared):
            right = np.minimum(right, 1)
        stability = left * own + right * stability + stability * own
        joined: Frequencies = {number: value * right for number, value in total.items()}
        for number, value in found[j].items():
            mine = value * left
            joined[number] = np.minimum(joined[number], mine) if number in joined else mine
        total = joined
    return np.asarray(stability)
