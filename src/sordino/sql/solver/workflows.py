"""Workflows: tables that are computed from tables, and what a row of a base table changes in each of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sordino.core import ParameterError
from sordino.core.parameters import positive, whole
from sordino.sql.policy import Policy, match_name
from sordino.sql.solver.parsing import read_query
from sordino.sql.solver.query import ColumnShape, GroupedLeaf, Shapes, SolverQuery, TableShape, list_tables
from sordino.sql.solver.result_keys import find_result_keys
from sordino.sql.solver.schema import read_schema
from sordino.sql.solver.search import search_sensitivity
from sordino.sql.solver.text_sensitivity import CAP, SECONDS


def workflow_sensitivity(
    queries: Mapping[str, str],
    schema: str | Path | Policy | Mapping[str, Any],
    *,
    cap: int = CAP,
    timeout: float = SECONDS,
) -> dict[str, dict[str, int | None]]:
    """Of every table that is computed, how many of its rows one row of each base table can change at most.

    ``queries``: name → SELECT over base tables and tables computed before, in this order. None: no bound is known.
    ``timeout``: seconds for each query and each of its tables.

    **Guarantee**: upper bounds: a row of a base table changes at most s rows of an input, and each of these at most so
    many rows of the result. Keys of computed tables are inferred (`find_result_keys`), and one without is a
    multiset.

    >>> import sordino as sd
    >>> base = "CREATE TABLE c (id INT PRIMARY KEY, city INT); CREATE TABLE o (id INT PRIMARY KEY, c INT)"
    >>> steps = {
    ...     "placed": "SELECT o.id, city FROM o JOIN c ON o.c = c.id",
    ...     "cities": "SELECT DISTINCT city FROM placed",
    ... }
    >>> print(sd.sql.workflow_sensitivity(steps, base)["cities"])
    {'o': 1, 'c': None}
    """
    cap, timeout = whole("cap", cap, least=1), positive("timeout", timeout)
    shapes: dict[str, TableShape] = read_schema(schema)
    # What a row of a base table changes in each table that is known; in itself, one row.
    changed: dict[str, dict[str, int | None]] = {name: {name: 1} for name in shapes}
    found: dict[str, dict[str, int | None]] = {}
    for name, sql in queries.items():
        if match_name(name, shapes) is not None:
            raise ParameterError(f"there is a table {name!r} already: give the result another name")
        query = read_query(sql, shapes)
        total: dict[str, int | None] = {}
        for table in list_tables(query):
            own = search_sensitivity(query, shapes, table, cap=cap, seconds=timeout).rows
            for base, before in changed[table].items():
                total[base] = _add(total.get(base, 0), _multiply(own, before))
        shapes[name] = _shape_result(name, query, shapes, timeout)
        found[name] = changed[name] = total
    return found


def _shape_result(name: str, query: SolverQuery, shapes: Shapes, seconds: float) -> TableShape:
    leaf = query.leaf if isinstance(query, GroupedLeaf) else query.leaves()[0]
    if len({column.casefold() for column in leaf.names}) < len(leaf.names):
        raise ParameterError(f"two columns of {name!r} have one name: write expression AS name")
    columns = tuple(
        ColumnShape(column, term.kind) for column, term in zip(leaf.names, leaf.outputs, strict=True)
    )
    keys = find_result_keys(query, shapes, seconds=seconds)
    return TableShape(name, columns, tuple(tuple(leaf.names[place] for place in key) for key in keys))


def _multiply(one: int | None, other: int | None) -> int | None:
    """Nothing times whatever is nothing."""
    if one == 0 or other == 0:
        return 0
    return None if one is None or other is None else one * other


def _add(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
