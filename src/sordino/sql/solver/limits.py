"""Limits: how many joined or counted rows one row of each private table can change, for questions that are answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from threading import Lock
from types import MappingProxyType

from sordino.sql.question import CountedRows, JoinQuestion
from sordino.sql.solver.found import Sensitivity
from sordino.sql.solver.query import Shapes, SolverQuery, keep_used
from sordino.sql.solver.search import search_sensitivity
from sordino.sql.solver.translation import translate_counted, translate_join
from sordino.sql.solver.z3_solver import has_solver

# Public, for each table: units of z3's work (some millions make a second), terms of all formulas together, numbers from
# which on they are not told apart. What a question gets follows from these alone, however busy the machine is.
JOIN_UNITS = 10_000_000
NAMED_UNITS = 50_000_000
COUNT_UNITS = 50_000_000
MOST_TERMS = 400_000
MOST_CHANGED = 64
# Far away: who comes here is refused, and gets no other analysis in its place.
LATEST_SECONDS = 300.0
_MOST_REMEMBERED = 512
_remembered: dict[object, Sensitivity] = {}
_lock = Lock()


def find_join_limits(question: JoinQuestion, *, named: bool = False) -> Mapping[str, int]:
    """Joined rows that one row of a private table changes at most; tables of which none is known are left out.

    ``named``: somebody asked for the solver, and waits longer.

    **Guarantee**: for every two databases that obey keys and checks and differ in one row of the table. The numbers
    depend on the question and the policy alone; after `LATEST_SECONDS` there are none, and the question is refused.
    """
    query, shapes = translate_join(question)
    units = NAMED_UNITS if named else JOIN_UNITS
    found = {
        occurrence.table: _find(query, shapes, occurrence.table, units)
        for occurrence in question.occurrences
        if occurrence.private
    }
    return MappingProxyType({table: one.at_most for table, one in found.items() if one.at_most is not None})


def find_count_limits(rows: CountedRows) -> Mapping[str, Sensitivity]:
    """What one row of each private table changes in the number of rows without repeats; the same guarantee."""
    query, shapes = translate_counted(rows)
    tables = dict.fromkeys(o.table for select in rows.selects() for o in select.occurrences if o.private)
    return MappingProxyType({table: _find(query, shapes, table, COUNT_UNITS) for table in tables})


def is_available() -> bool:
    """Whether the solver is installed."""
    return has_solver()


def _find(query: SolverQuery, shapes: Shapes, table: str, units: int) -> Sensitivity:
    shapes = keep_used(query, shapes)
    known = (query, tuple(shapes.items()), table, units)
    found = _remembered.get(known)
    if found is None:
        found = search_sensitivity(
            query, shapes, table, cap=MOST_CHANGED, seconds=LATEST_SECONDS, units=units, terms=MOST_TERMS
        )
        found = replace(found, formula="", witness=None)
        with _lock:
            while len(_remembered) >= _MOST_REMEMBERED:
                _remembered.pop(next(iter(_remembered)))
            _remembered[known] = found
    return found
