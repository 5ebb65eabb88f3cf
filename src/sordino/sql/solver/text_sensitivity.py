"""sensitivity: what one row can change in a query's result, from the query and the schema alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sordino.core import ParameterError, UnsupportedError
from sordino.core.parameters import choice, positive, whole
from sordino.display.progress import show_progress
from sordino.sql.policy import Policy, match_name, suggest_name
from sordino.sql.solver.enumeration import enumerate_databases
from sordino.sql.solver.found import Counted, Sensitivity
from sordino.sql.solver.parsing import read_query
from sordino.sql.solver.query import GroupedLeaf, Shapes, SolverQuery, list_assumed, list_tables
from sordino.sql.solver.schema import read_schema
from sordino.sql.solver.search import Copies, search_sensitivity
from sordino.sql.solver.z3_solver import has_solver

CAP = 64
SECONDS = 10.0


def sensitivity(
    sql: str,
    schema: str | Path | Policy | Mapping[str, Any],
    *,
    table: str | None = None,
    copies: Copies = "exact",
    cap: int = CAP,
    timeout: float = SECONDS,
    values: Sequence[int] | None = None,
) -> dict[str, Sensitivity]:
    """How many result rows one row of a table can change, in any database that obeys the declared keys and checks.

    ``schema``: CREATE TABLE statements, or a policy, whose keys count where they are enforced. ``table``: only this
    one; None: all tables of the query. ``copies``: "sum" adds up the occurrences of a table, which is faster and an
    upper bound. ``cap``: numbers from here on are not told apart. ``timeout``: seconds for each table; late, the
    answer is unknown, with what is known. ``values``: if given, columns hold only these numbers.

    Tables without a key are multisets. NULLs are not modelled: the numbers hold between databases without NULL in the
    columns of `Sensitivity.assumed`, which are those that the schema lets be NULL. Integers have no largest one, reals
    are not rounded, and days go on for ever.
    """
    shapes = read_schema(schema)
    query = read_query(sql, shapes)
    cap, timeout = whole("cap", cap, least=1), positive("timeout", timeout)
    choice("copies", copies, ("exact", "sum"))
    domain = None if values is None else _domain(values, query, shapes)
    found: dict[str, Sensitivity] = {}
    names = _choose_tables(query, shapes, table)
    assumed = list_assumed(query, shapes)
    with show_progress("sensitivity") as step:
        for done, name in enumerate(names):
            step(done, len(names), name)
            one = _find(query, shapes, name, cap=cap, seconds=timeout, copies=copies, values=domain)
            found[name] = replace(one, assumed=assumed)
    return found


def _find(
    query: SolverQuery,
    shapes: Shapes,
    table: str,
    *,
    cap: int,
    seconds: float,
    copies: Copies,
    values: tuple[int, ...] | None,
) -> Sensitivity:
    keyed = all(shapes[name].keys for name in list_tables(query))
    if values is None or has_solver() or copies == "sum" or not keyed:
        return search_sensitivity(
            query, shapes, table, cap=cap, seconds=seconds, copies=copies, values=values
        )
    witness = enumerate_databases(query, shapes, table, values)
    counted: Counted = "groups" if isinstance(query, GroupedLeaf) else "rows"
    return Sensitivity(table, witness.number, witness.number, counted=counted, witness=witness)


def _choose_tables(query: SolverQuery, shapes: Shapes, table: str | None) -> tuple[str, ...]:
    if table is None:
        return list_tables(query)
    found = match_name(table, shapes)
    if found is None:
        raise ParameterError(
            f"there is no table {table!r} in the schema: {suggest_name(table, shapes, 'the tables')}"
        )
    return (found,)


def _domain(values: Sequence[int], query: SolverQuery, shapes: Shapes) -> tuple[int, ...]:
    found = tuple(dict.fromkeys(whole("values", value, least=-(10**9)) for value in values))
    if not found:
        raise ParameterError("values must hold a number, got none")
    for name in list_tables(query):
        for column in shapes[name].columns:
            if column.kind in ("text", "date"):
                raise UnsupportedError(
                    f"values are numbers, and {name}.{column.name} is of type {column.kind}"
                )
    return found
