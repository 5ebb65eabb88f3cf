"""One plan for all groups of a GROUP BY: the question of any group, and a grouped statement for its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from sqlglot import exp

from sordino.sql.analysis.analysis import AnalysisPlan, plan_analyses
from sordino.sql.analysis.closure import make_normal_form
from sordino.sql.analysis.confinement import is_confined
from sordino.sql.question import Statement, find_group, name_group


def plan_groups(statement: Statement, *, analyses: Sequence[str]) -> tuple[tuple[AnalysisPlan, ...], bool]:
    """A plan for every measure of every group, group by group; and whether each group's bounds are of its rows alone.

    **Guarantee**: the numbers of a group are those that the question of this group would read, with one exception
    (`NormalForm.weakened`): a condition on what the group's value decides is asked only of tables that hold the value.
    That is a weaker condition in the same places for all databases, and weaker conditions are implied by stronger ones
    as the analyses need it. Where a key must also equal a constant or another key, every group is planned by itself.
    """
    patterns = list(product(*({value is None for value in key.values} for key in statement.keys)))
    symbols = [
        tuple(None if absent else name_group(place) for place, absent in enumerate(pattern))
        for pattern in patterns
    ]
    measures = range(len(statement.measures))
    questions = [statement.question(symbol, measure) for symbol in symbols for measure in measures]
    if not statement.keys or not all(_is_any_group(statement, symbol) for symbol in symbols):
        return _plan_each(statement, analyses)
    values = [key.values for key in statement.keys]
    planned = plan_analyses(questions, analyses=analyses, values=values)
    confined = all(
        is_confined(plan, statement.keys, symbol)
        for plan, symbol in zip(planned, (s for s in symbols for _ in measures), strict=True)
    )
    by_pattern = {
        (pattern, measure): planned[i * len(measures) + measure]
        for i, pattern in enumerate(patterns)
        for measure in measures
    }
    places = product(*(range(len(some)) for some in values))
    readings = []
    for group, at in zip(statement.groups(), places, strict=True):
        pattern = tuple(value is None for value in group)
        told = tuple(None if absent else place for absent, place in zip(pattern, at, strict=True))
        readings += [replace(by_pattern[pattern, measure], group=told) for measure in measures]
    return tuple(readings), confined


def _plan_each(statement: Statement, analyses: Sequence[str]) -> tuple[tuple[AnalysisPlan, ...], bool]:
    cells = [(group, measure) for group in statement.groups() for measure in range(len(statement.measures))]
    readings = plan_analyses([statement.question(*cell) for cell in cells], analyses=analyses)
    confined = all(
        is_confined(plan, statement.keys, group) for (group, _), plan in zip(cells, readings, strict=True)
    )
    return readings, confined


def _is_any_group(statement: Statement, symbol: tuple[Any, ...]) -> bool:
    """Whether all that the conditions say of the keys' values is which columns have them."""
    form = make_normal_form(statement.question(symbol, 0))
    closed = [equals for equals in form.classes if any(find_group(c) is not None for c in equals.constants)]
    return all(len(equals.constants) == 1 for equals in closed) and not any(
        getattr(part, "expression", exp.null()).find(exp.Placeholder) for part in form.parts
    )
