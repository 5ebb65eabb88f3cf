"""Elastic sensitivity: the largest frequencies of the join columns, joined from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sordino.sql.analysis.closure import NormalForm, normal_form
from sordino.sql.analysis.counting import frequency
from sordino.sql.analysis.formula import Cell
from sordino.sql.analysis.reader import Reader
from sordino.sql.analysis.steps import Steps
from sordino.sql.question import JoinQuestion

# The column None stands for any value: its frequency is the number of rows.
Frequencies = dict[Cell | None, Fraction]


def elastic_bounds(question: JoinQuestion, reader: Reader, steps: Steps) -> dict[str, list[Fraction]]:
    """Bounds from how often one value occurs in each join column, for all k on the lattice.

    After changes worth k a value occurs at most mf + k/G times. Joining A with B over a = b, with L and R the smallest
    mf of the columns available on either side, changes of one row spread as s = L·s_B + R·s_A + s_A·s_B, and
    frequencies as mf·R on the left, mf·L on the right.

    **Guarantee**: as `pattern_bounds`; coarser, from one grouped count per join column.
    **Source**: Johnson, Near, Song 2018 (FLEX), per changed table; no column is trusted to be unique. Several left-deep
    orders are followed and the smallest bound is taken at each k.
    **Numerics**: exact fractions.
    """
    form = normal_form(question)
    if form.impossible:
        return {table: [Fraction(0)] * (steps.last + 1) for table in steps.tables}
    found = [_frequencies(form, j, reader) for j in range(len(form.occurrences))]
    orders = _orders(form)
    result = {}
    for table in steps.tables:
        values = []
        for step in range(steps.last + 1):
            grown = [_grown(f, form, j, step * steps.unit) for j, f in enumerate(found)]
            values.append(
                min(_spread(form, grown, order, table) for order in orders) * question.measure.reach
            )
        result[table] = values
    return result


def _frequencies(form: NormalForm, position: int, reader: Reader) -> Frequencies:
    alias = form.occurrences[position].alias
    result: Frequencies = {None: Fraction(reader.number(frequency(form, position, None)))}
    for equals in form.classes:
        joins = len({cell.alias for cell in equals.cells}) > 1 and not equals.constants
        for cell in equals.inside(frozenset({alias})) if joins else ():
            result[cell] = Fraction(reader.number(frequency(form, position, cell)))
    return result


def _grown(frequencies: Frequencies, form: NormalForm, position: int, distance: Fraction) -> Frequencies:
    weight = form.occurrences[position].weight
    if weight is None:
        return frequencies
    return {cell: value + distance / weight for cell, value in frequencies.items()}


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


def _spread(form: NormalForm, grown: list[Frequencies], order: Sequence[int], table: str) -> Fraction:
    """What one row of the table can change, joined in this order."""
    total: Frequencies = {}
    stability = Fraction(0)
    for j in order:
        occurrence = form.occurrences[j]
        own = Fraction(occurrence.table == table and occurrence.private)
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
