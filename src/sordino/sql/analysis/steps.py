"""At which distances from the database an analysis bounds what a row can change: a public lattice of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from sordino.sql.analysis.closure import NormalForm
from sordino.sql.analysis.growth import find_horizon, find_unit
from sordino.sql.question import JoinQuestion


@dataclass(frozen=True, slots=True)
class Steps:
    """Distances 0, unit, 2·unit, …, last·unit; ``tables``: the private tables and their weights."""

    tables: dict[str, Fraction]
    unit: Fraction
    last: int

    def cost(self, table: str) -> int:
        """The weight of a row, in units."""
        return int(self.tables[table] / self.unit)

    @property
    def widest(self) -> int:
        """The largest cost."""
        return max((self.cost(table) for table in self.tables), default=1)

    def budgets(self, form: NormalForm, positions: Sequence[int]) -> tuple[list[int], list[int]]:
        """Of each position which table grows it (−1: none), and the cost of a row of each table."""
        names = list(self.tables)
        owner = [
            names.index(form.occurrences[j].table) if form.occurrences[j].private else -1 for j in positions
        ]
        return owner, [self.cost(name) for name in names]


def find_steps(question: JoinQuestion, beta: float) -> Steps:
    """As far as any analysis of the question needs at β ≥ ``beta``; depends on nothing private.

    Every analysis maximises polynomials with coefficients ≥ 0 in the rows that each table may get, of a degree at
    most the copies of the table that are left (see `find_horizon`). Elastic sensitivity lets all tables grow at once:
    one budget of degree occurrences − 1.
    """
    return _find_steps(tuple((o.table, o.weight) for o in question.occurrences), beta)


@lru_cache(maxsize=64)
def _find_steps(occurrences: tuple[tuple[str, Fraction | None], ...], beta: float) -> Steps:
    tables: dict[str, Fraction] = {}
    copies: dict[str, int] = {}
    for table, weight in occurrences:
        if weight is not None:
            tables[table] = weight
            copies[table] = copies.get(table, 0) + 1
    unit = find_unit(tables.values())
    last = 0
    for changed in tables:
        left = {name: count - (name == changed) for name, count in copies.items()}
        last = max(last, find_horizon([(tables[t], c) for t, c in left.items() if c], beta, unit))
    degree = len(occurrences) - 1
    if last and degree:
        last = max(last, find_horizon([(unit, degree)], beta, unit))
    return Steps(tables, unit, last)
