"""Keys of results: whether two result rows can agree in some columns; so that a result can be asked about in turn."""

from __future__ import annotations

from collections.abc import Sequence

from sordino.sql.solver.conditions import write_and
from sordino.sql.solver.query import GroupedLeaf, JoinLeaf, Shapes, SolverQuery
from sordino.sql.solver.script import JoinWriter, Script, spell_name
from sordino.sql.solver.z3_solver import solve


def is_result_key(
    query: SolverQuery, shapes: Shapes, columns: Sequence[int], *, seconds: float
) -> bool | None:
    """Whether the output columns at these places are a key of the result in every database; None: not found out.

    **Guarantee**: True only if two different result rows never agree in the columns. Of a join: two different
    combinations with equal columns have no model, and every table has a key (a repeated row would be a repeated
    result). Of a result without repeats, two combinations count as different where an output is.
    """
    if isinstance(query, GroupedLeaf):
        return set(columns) >= set(range(len(query.leaf.outputs)))
    if not isinstance(query, JoinLeaf):
        # A row of one side may agree with a row of the other; all columns together are what DISTINCT tells apart.
        return set(columns) >= set(range(len(query.leaves()[0].outputs)))
    if query.distinct and set(columns) >= set(range(len(query.outputs))):
        return True
    script = Script(shapes)
    pairs = []
    for name in ("first", "second"):
        rows = tuple(
            script.row(f"{name}.{spell_name(alias)}", table)
            for table, alias in zip(query.tables, query.aliases, strict=True)
        )
        for row in rows:
            script.obey_keys(row)
        script.require(query.condition.write(JoinWriter(script, rows)))
        pairs.append(rows)
    first, second = (JoinWriter(script, rows) for rows in pairs)
    for place in columns:
        term = query.outputs[place]
        script.require(f"(= {term.write(first)} {term.write(second)})")
    if query.distinct:
        same = write_and([f"(= {term.write(first)} {term.write(second)})" for term in query.outputs])
    else:
        same = write_and([script.same(one, other) for one, other in zip(*pairs, strict=True)])
    # A row that is there twice is two result rows.
    if query.distinct or all(shapes[table].keys for table in query.tables):
        script.require(f"(not {same})")
    verdict = solve(script.text(), seconds=seconds).verdict
    return None if verdict == "unknown" else verdict == "unsat"


def find_result_keys(query: SolverQuery, shapes: Shapes, *, seconds: float) -> tuple[tuple[int, ...], ...]:
    """The single columns that are keys, or all columns together if they are; what is not found out is none."""
    outputs = query.leaf.outputs if isinstance(query, GroupedLeaf) else query.leaves()[0].outputs
    width = len(outputs)
    single = [(k,) for k in range(width) if is_result_key(query, shapes, (k,), seconds=seconds / (width + 1))]
    if single:
        return tuple(single)
    everything = tuple(range(width))
    return (everything,) if is_result_key(query, shapes, everything, seconds=seconds / (width + 1)) else ()
