"""Elastic sensitivity: the largest frequencies of the join columns, joined from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sordino.sql.analysis.closure import NormalForm
from sordino.sql.analysis.counting import largest_size
from sordino.sql.analysis.formula import Cell
from sordino.sql.analysis.reader import Asking, Reader
from sordino.sql.analysis.steps import Steps

# The column None stands for any value: its frequency is the number of rows.
Frequencies = dict[Cell | None, int | Fraction]


@dataclass(frozen=True, slots=True)
class Elastic:
    """Bounds from how often one value occurs in each join column, for all k on the lattice.

    After changes worth k a value occurs at most mf + k/G times. Joining A with B over a = b, with L and R the smallest
    mf of the columns available on either side, changes of one row spread as s = L·s_B + R·s_A + s_A·s_B, and
    frequencies as mf·R on the left, mf·L on the right.

    **Guarantee**: as `Patterns`; coarser, from one grouped count per join column.
    **Source**: Johnson, Near, Song 2018 (FLEX), per changed table; no column is trusted to be unique. Several left-deep
    orders are followed and the smallest bound is taken at each k.
    **Numerics**: exact fractions.
    """

    form: NormalForm
    statements: tuple[dict[Cell | None, int], ...]

    def bounds(self, reader: Reader, steps: Steps) -> dict[str, list[int | Fraction]]:
        """B_0, B_1, … per private table."""
        if self.form.impossible:
            return {table: [0] * (steps.last + 1) for table in steps.tables}
        found: list[Frequencies] = [
            {cell: reader.largest(n) for cell, n in here.items()} for here in self.statements
        ]
        orders = _orders(self.form)
        result: dict[str, list[int | Fraction]] = {table: [] for table in steps.tables}
        for step in range(steps.last + 1):
            grown = [_grown(f, self.form, j, step * steps.unit) for j, f in enumerate(found)]
            for table, values in result.items():
                least = min(_spread(self.form, grown, order, table) for order in orders)
                values.append(least * self.form.measure.reach)
        return result


def elastic(form: NormalForm, asking: Asking) -> Elastic:
    """What to ask."""
    statements = []
    for j, occurrence in enumerate(form.occurrences):
        here: dict[Cell | None, int] = {None: asking.number_of(largest_size(form, j, ()))}
        for equals in form.classes:
            if len({cell.alias for cell in equals.cells}) > 1 and not equals.constants:
                for cell in equals.inside(frozenset({occurrence.alias})):
                    here[cell] = asking.number_of(largest_size(form, j, (cell,)))
        statements.append(here)
    return Elastic(form, tuple(statements))


def _grown(frequencies: Frequencies, form: NormalForm, position: int, distance: Fraction) -> Frequencies:
    weight = form.occurrences[position].weight
    if weight is None:
        return frequencies
    rows = distance / weight
    more = int(rows) if rows.denominator == 1 else rows
    return {cell: value + more for cell, value in frequencies.items()}


def _orders(form: NormalForm) -> list[tuple[int, ...]]:
    """As asked, and from every position on to neighbours first."""
    everything = range(len(form.occurrences))
    place = {occurrence.alias: j for j, occurrence in enumerate(form.occurrences)}
    links = [{place[cell.alias] for cell in equals.cells} for equals in form.classes if not equals.constants]
    orders = [tuple(everything)]
    for start in everything:
        order = [start]
        while len(order) < len(everything):
            rest = [j for j in everything if j not in order]
            near = [j for j in rest if any(j in link and link & set(order) for link in links)]
            order.append((near or rest)[0])
        orders.append(tuple(order))
    return list(dict.fromkeys(orders))


def _spread(form: NormalForm, grown: list[Frequencies], order: Sequence[int], table: str) -> int | Fraction:
    """What one row of the table can change, joined in this order."""
    total: Frequencies = {}
    stability: int | Fraction = 0
    for j in order:
        occurrence = form.occurrences[j]
        own = int(occurrence.table == table and occurrence.private)
        if not total:
            total, stability = dict(grown[j]), own
            continue
        pairs: list[tuple[Cell | None, Cell | None]] = [(None, None)]
        for equals in form.classes:
            pairs += [(a, b) for a in equals.cells for b in equals.cells if a in total and b in grown[j]]
        left = min(total[a] for a, _ in pairs)
        right = min(grown[j][b] for _, b in pairs)
        stability = left * own + right * stability + stability * own
        joined: Frequencies = {cell: value * right for cell, value in total.items()}
        joined |= {cell: value * left for cell, value in grown[j].items() if cell is not None}
        total = joined
    return stability
