"""Residual sensitivity: the largest joins of the tables that remain, for every set of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sordino.sql.analysis.closure import NormalForm, find_equality_neighbours
from sordino.sql.analysis.components import drop_long_cycles, find_components
from sordino.sql.analysis.counting import describe_count
from sordino.sql.analysis.keys import drop_found_by_key, is_impossible
from sordino.sql.analysis.patterns import list_subsets
from sordino.sql.analysis.reader import Asking, Reader
from sordino.sql.analysis.spending import find_largest_values
from sordino.sql.analysis.steps import Steps

# The aliases of a question, and some of its positions.
Positions = tuple[tuple[str, ...], tuple[int, ...]]
# New rows of each private table (by its number) to the power given → the joins of the positions that are left.
Monomial = tuple[tuple[int, ...], Positions]


@dataclass(frozen=True, slots=True)
class Residual:
    """Bounds from T_E, the largest number of results of joining the positions E for one value of their boundary.

    With κ_t new rows in table t a row at the positions X meets at most Σ over E' of T_{rest∖E'}·Π_{j∈E'} κ_t(j); B_k is
    the largest sum of that over the sets X of copies of the table, over all ways to spend k.

    **Guarantee**: as `Patterns`. Copies of a table share its κ and all X count (one row may serve several copies).
    **Source**: Dong & Yi 2021; conditions that are only partly decided by E are weakened to what E decides.
    A row meets no fewer combinations when a condition is dropped, so an equality that closes a long cycle may be
    dropped from the whole question. (Dropping it for some E alone would break B_{k+G}(x) ≥ B_k(y): a new row in E
    leaves E∖j, whose T must be of the same question.)
    Beyond the distance at which there are too many ways to spend (`find_largest_values`; the shape of the question
    decides) every term is spent for by itself: larger, and admissible too. A term of a neighbour's sum is at most the
    same term and those with one new row more, and their own maxima at k + G are no smaller than its at k. Across the
    seam the exact value at k is at most that at k + G, and this at most the larger one.
    **Numerics**: exact whole numbers below 2^58, else floating point rounded up by a relative 2⁻⁴⁴.
    """

    tables: tuple[str, ...]
    joins: dict[Positions, tuple[int, ...]]
    monomials: dict[str, tuple[Monomial, ...]]
    reach: int

    def bounds(self, reader: Reader, steps: Steps) -> dict[str, list[int]]:
        """B_0, B_1, … per private table."""
        sizes = {E: math.prod(map(reader.largest, pieces)) for E, pieces in self.joins.items()}
        result = {}
        for table, monomials in self.monomials.items():
            terms = [(powers, sizes[E] * self.reach) for powers, E in monomials]
            result[table] = find_largest_values(terms, [steps.cost(t) for t in self.tables], steps.last)
        return result


def prepare_residual(form: NormalForm, asking: Asking, *, keyed: bool = False) -> Residual:
    """What to ask; long cycles are opened first, in the same place for every E.

    ``keyed``: without the positions that a key finds (`drop_found_by_key`), for each X the same ones for every E.
    """
    form = drop_long_cycles(form, asking.most_joined + 1)
    everything = range(len(form.occurrences))
    tables = tuple(dict.fromkeys(o.table for o in form.occurrences if o.private))
    joins: dict[Positions, tuple[int, ...]] = {}
    monomials: dict[str, tuple[Monomial, ...]] = {}
    for table in tables:
        mine: list[Monomial] = []
        for at in list_subsets([j for j in everything if form.occurrences[j].table == table]):
            if is_impossible(form.with_row_at(at)):
                continue
            asked, here = drop_found_by_key(form, at) if keyed else (form, at)
            neighbours = find_equality_neighbours(asked)
            rest = [j for j in range(len(asked.occurrences)) if j not in here]
            for new in [(), *list_subsets([j for j in rest if asked.occurrences[j].private])]:
                left = tuple(j for j in rest if j not in new)
                names = tuple(asked.occurrences[j].alias for j in range(len(asked.occurrences))), left
                grown = [asked.occurrences[j].table for j in new]
                mine.append((tuple(grown.count(t) for t in tables), names))
                if names not in joins:
                    pieces = find_components(asked, left, neighbours)
                    joins[names] = tuple(_place(asked, piece, asking) for piece in pieces)
        monomials[table] = tuple(mine)
    return Residual(tables, joins, monomials, form.measure.reach)


def _place(form: NormalForm, piece: tuple[int, ...], asking: Asking) -> int:
    """Where T_E of a piece is found."""
    return asking.largest(describe_count(form, piece, form.boundary(piece))[0])
