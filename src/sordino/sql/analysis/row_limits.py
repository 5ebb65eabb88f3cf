"""Row limits: how many joined rows one row can change in any database that obeys the keys, found by a solver.

A number that holds everywhere is a bound at every distance, so it caps what the other analyses find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sordino.core import MissingExtraError, UnsupportedError
from sordino.sql.analysis.analysis import AnalysisPlan, Prepared
from sordino.sql.analysis.reader import Reader
from sordino.sql.analysis.steps import Steps
from sordino.sql.question import JoinQuestion
from sordino.sql.solver.limits import find_join_limits, is_available

SOLVER = "solver"
_NO_KEYS = (
    "the solver counts on keys that no database breaks, and no table of this question has one: declare "
    "key: {columns: [...], enforced: true} in the policy, or name other analyses"
)


@dataclass(frozen=True, slots=True)
class RowLimits:
    """``limits``: joined rows per private table of which a number is known; ``reach``: steps that each of them adds.

    **Guarantee**: as `Patterns`, with the same number at every distance, between databases that obey the declared keys.
    """

    limits: Mapping[str, int]
    reach: int

    def bounds(self, reader: Reader, steps: Steps) -> dict[str, list[int]]:
        """The same at every distance; tables without a number are left out."""
        return {table: [limit * self.reach] * (steps.last + 1) for table, limit in self.limits.items()}

    def constant(self, weights: Mapping[str, Fraction]) -> Fraction | None:
        """Steps per unit of distance that a row of any private table changes at most; None if one has no limit."""
        if any(table not in self.limits for table in weights):
            return None
        return max(Fraction(self.limits[table] * self.reach) / weight for table, weight in weights.items())


def limit_rows(join: JoinQuestion, named: Sequence[str] | None) -> Mapping[str, int]:
    """What the solver finds of a join: if it is named, or by default where a key is enforced and it is installed.

    Refuses where it is named and cannot be asked, or is named alone and a table has no number.
    """
    asked = named is not None and SOLVER in named
    if join.is_one_table or not (asked or named is None):
        return {}
    if join.outer or any(one.rows is not None or one.grouped is not None for one in join.everyone):
        if asked:
            raise UnsupportedError(
                "the solver reads inner joins of tables: write JOIN, or name other analyses"
            )
        return {}
    private = [occurrence for occurrence in join.occurrences if occurrence.private]
    if not any(occurrence.key for occurrence in join.occurrences):
        if asked:
            raise UnsupportedError(_NO_KEYS)
        return {}
    if not is_available():
        if asked:
            raise MissingExtraError(
                "the solver needs z3, which is not installed: pip install 'sordino[solver]'"
            )
        return {}
    limits = find_join_limits(join, named=asked)
    unknown = [occurrence.table for occurrence in private if occurrence.table not in limits]
    if unknown and named is not None and set(named) == {SOLVER}:
        raise UnsupportedError(
            f"one row of {unknown[0]} may change any number of joined rows as far as the solver finds with its work: "
            "name other analyses too, which look at the rows"
        )
    return limits


def add_limits(plans: Sequence[AnalysisPlan], limits: Mapping[str, int]) -> tuple[AnalysisPlan, ...]:
    """The plans with one more analysis; plans that shared theirs still do."""
    if not limits:
        return tuple(plans)
    made: dict[tuple[int, int], dict[str, Prepared]] = {}
    found = []
    for plan in plans:
        reach = plan.question.measure.reach
        prepared = made.setdefault(
            (id(plan.prepared), reach), plan.prepared | {SOLVER: RowLimits(limits, reach)}
        )
        found.append(replace(plan, prepared=prepared))
    return tuple(found)


def find_limits(plan: AnalysisPlan) -> RowLimits | None:
    """What the solver said, if it was asked."""
    found = plan.prepared.get(SOLVER)
    return found if isinstance(found, RowLimits) else None
