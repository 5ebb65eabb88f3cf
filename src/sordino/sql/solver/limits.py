"""Limits: how many joined or counted rows one row of each private table can change, for questions that are answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from sordino.sql.question import CountedRows, JoinQuestion
from sordino.sql.solver.found import Sensitivity
from sordino.sql.solver.query import Shapes, SolverQuery, keep_used
from sordino.sql.solver.search import search_sensitivity
from sordino.sql.solver.translation import translate_counted, translate_join
from sordino.sql.solver.z3_solver import has_solver

# Public: seconds for each table, and numbers from which on they are not told apart.
JOIN_SECONDS = 2.0
NAMED_SECONDS = 10.0
COUNT_SECONDS = 10.0
MOST_CHANGED = 64
_MOST_REMEMBERED = 512
_remembered: dict[object, Sensitivity] = {}


def find_join_limits(question: JoinQuestion, *, named: bool = False) -> Mapping[str, int]:
    """Joined rows that one row of a private table changes at most; tables of which none is known are left out.

    ``named``: somebody asked for the solver, and waits longer.

    **Guarantee**: for every two databases that obey keys and checks and differ in one row of the table. It depends on
    the question and the policy alone, and, where the time is up, on how fast the machine is; never on rows.
    """
    query, shapes = translate_join(question)
    seconds = NAMED_SECONDS if named else JOIN_SECONDS
    found = {
        occurrence.table: _find(query, shapes, occurrence.table, seconds)
        for occurrence in question.occurrences
        if occurrence.private
    }
    return MappingProxyType({table: one.at_most for table, one in found.items() if one.at_most is not None})


def find_count_limits(rows: CountedRows) -> Mapping[str, Sensitivity]:
    """What one row of each private table changes in the number of rows without repeats; the same guarantee."""
    query, shapes = translate_counted(rows)
    tables = dict.fromkeys(o.table for select in rows.selects() for o in select.occurrences if o.private)
    return MappingProxyType({table: _find(query, shapes, table, COUNT_SECONDS) for table in tables})


def is_available() -> bool:
    """Whether the solver is installed."""
    return has_solver()


def _find(query: SolverQuery, shapes: Shapes, table: str, seconds: float) -> Sensitivity:
    shapes = keep_used(query, shapes)
    known = (query, tuple(shapes.items()), table, seconds)
    if known not in _remembered:
        found = search_sensitivity(query, shapes, table, cap=MOST_CHANGED, seconds=seconds)
        if found.reason and found.seconds >= seconds / 2:
            return found  # another time the machine may be faster
        while len(_remembered) >= _MOST_REMEMBERED:
            _remembered.pop(next(iter(_remembered)))
        _remembered[known] = replace(found, formula="", witness=None)
    return _remembered[known]
