"""Search: the largest number for which a formula has a model, by doubling and then by halving."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, TypeVar

from sordino.sql.solver.effort import Effort
from sordino.sql.solver.encoded import Encoded, Encoding
from sordino.sql.solver.found import Sensitivity
from sordino.sql.solver.lines import EndlessLine, encode_line
from sordino.sql.solver.query import (
    GroupedLeaf,
    JoinLeaf,
    Shapes,
    SolverQuery,
    list_leaves,
    list_tables,
    split_copies,
)
from sordino.sql.solver.script import LargeFormulaError
from sordino.sql.solver.sets import ChangedMembers
from sordino.sql.solver.tuples import TuplesThroughRow
from sordino.sql.solver.witness import follow_line, read_witness
from sordino.sql.solver.z3_solver import Verdict, solve

Copies = Literal["exact", "sum"]
_Asked = TypeVar("_Asked", Encoded, EndlessLine)
_LATE = "the time was up"
_WORKED = "the solver does not decide it with the work that is allowed"
_CAPPED = "the cap was reached"
_LARGE = "the formula would be too large"
# So many joined rows does the witness of a number without bound have, and so many copies its rows without a key.
SHOWN = 8


def search_sensitivity(
    query: SolverQuery,
    shapes: Shapes,
    table: str,
    *,
    cap: int,
    seconds: float,
    units: int | None = None,
    terms: int | None = None,
    copies: Copies = "exact",
    values: tuple[int, ...] | None = None,
) -> Sensitivity:
    """What one row of a table can change in the result of a query, in any database that obeys keys and checks.

    **Guarantee**: `Sensitivity.at_least` is attained by a database, and `at_most` holds for all of them; see
    `TuplesThroughRow`, `ChangedMembers` and `encode_line`. A table without a key is a multiset.
    With ``units`` of the solver's work and ``terms`` of formulas as limits the answer is a function of the arguments,
    or a refusal where the seconds are up first.
    **Requires**: no NULL in columns of keys, conditions and outputs.
    """
    effort = Effort(seconds, units, terms)
    if copies == "sum" and sum(len(leaf.positions(table)) for leaf in list_leaves(query)) > 1:
        found = _add_copies(query, shapes, table, cap, effort, values)
    else:
        found = _find(query, shapes, table, cap, effort, values)
    return replace(found, table=table, seconds=effort.seconds_spent)


def _find(
    query: SolverQuery,
    shapes: Shapes,
    table: str,
    cap: int,
    effort: Effort,
    values: tuple[int, ...] | None,
) -> Sensitivity:
    if table not in list_tables(query):
        return Sensitivity(table, 0, 0)
    if isinstance(query, GroupedLeaf):
        found = _search_tuples(TuplesThroughRow(query.leaf, table, shapes, True, values), cap, effort)
        return replace(found, counted="groups")
    if isinstance(query, JoinLeaf) and not query.distinct:
        tuples = TuplesThroughRow(query, table, shapes, False, values)
        if _repeats_multiply(query, shapes, table):
            return _search_repeats(tuples, effort)
        return _search_tuples(tuples, cap, effort)
    if isinstance(query, JoinLeaf) and len(query.positions(table)) == 1:
        return _search_tuples(TuplesThroughRow(query, table, shapes, True, values), cap, effort)
    return _search_members(ChangedMembers(query, table, shapes, values), cap, effort)


def _repeats_multiply(leaf: JoinLeaf, shapes: Shapes, table: str) -> bool:
    """Whether a row that is there many times makes many joined rows with one row of the table."""
    without = {name for name in leaf.tables if not shapes[name].keys}
    return bool(without - {table}) or (table in without and len(leaf.positions(table)) > 1)


def _search_repeats(tuples: TuplesThroughRow, effort: Effort) -> Sensitivity:
    """Without keys: one joined row is as many as one likes."""
    encoded, answer, reason = _ask(lambda terms: tuples.encode(1, terms), effort)
    if encoded is None or answer.verdict == "unknown":
        return Sensitivity(tuples.table, 0, None, reason=reason)
    if answer.verdict == "unsat":
        return Sensitivity(tuples.table, 0, 0, size=encoded.script.size)
    witness = read_witness(encoded, answer.model, SHOWN, tuples.shapes, copies=SHOWN)
    return Sensitivity(tuples.table, SHOWN, None, True, size=encoded.script.size, witness=witness,
                       formula=encoded.script.text())  # fmt: skip


def _search_tuples(tuples: TuplesThroughRow, cap: int, effort: Effort) -> Sensitivity:
    found = _search(tuples, Sensitivity(tuples.table, 0, None), tuples.shapes, min(cap, 2), effort)
    if found.at_least < 2 or found.reason not in ("", _CAPPED):
        return found
    for place in tuples.leaf.positions(tuples.table) if tuples.values is None else ():
        line, answer, _ = _ask(lambda terms, place=place: encode_line(tuples, place, terms), effort)  # type: ignore[misc]
        if line is not None and answer.verdict == "sat":
            number = min(SHOWN, cap)
            witness = follow_line(line, answer.model, number, tuples.shapes)
            return replace(found, at_least=number, unbounded=True, reason="", witness=witness,
                           formula=line.encoded.script.text())  # fmt: skip
    return _search(tuples, found, tuples.shapes, cap, effort)


def _search_members(members: ChangedMembers, cap: int, effort: Effort) -> Sensitivity:
    """Between what is attained and what the leaves can change together."""
    most: int | None = 0
    for leaf in members.query.leaves():
        if not leaf.positions(members.table):
            continue
        tuples = TuplesThroughRow(leaf, members.table, members.shapes, True, members.values)
        # The rest is left for the formula itself.
        bound = _search_tuples(tuples, cap, effort.part(4)).at_most
        most = None if bound is None or most is None else most + bound
    return _search(members, Sensitivity(members.table, 0, most), members.shapes, cap, effort)


def _search(encoding: Encoding, known: Sensitivity, shapes: Shapes, cap: int, effort: Effort) -> Sensitivity:
    """From what is known to what is exact; or to the cap, the largest formula, or the end of the time."""
    ends = (cap, known.at_most, encoding.most)
    end = min(number for number in ends if number is not None)
    found = replace(known, reason="")
    high = end + 1
    while high - found.at_least > 1:
        low = found.at_least
        number = min(max(1, low * 2), end) if high > end else (low + high) // 2
        encoded, answer, reason = _ask(lambda terms, n=number: encoding.encode(n, terms), effort)  # type: ignore[misc]
        if encoded is None or answer.verdict == "unknown":
            most = [
                value for value in (known.at_most, high - 1 if high <= end else None) if value is not None
            ]
            return replace(found, at_most=min(most, default=None), reason=reason)
        found = replace(found, size=max(found.size, encoded.script.size))
        if answer.verdict == "sat":
            witness = read_witness(encoded, answer.model, number, shapes)
            found = replace(found, at_least=number, witness=witness, formula=encoded.script.text())
        else:
            high = number
    if found.at_least < end or found.at_least == known.at_most:
        return replace(found, at_most=found.at_least)
    return replace(found, reason=_CAPPED if end == cap else _LARGE)


def _add_copies(
    query: SolverQuery,
    shapes: Shapes,
    table: str,
    cap: int,
    effort: Effort,
    values: tuple[int, ...] | None,
) -> Sensitivity:
    """An upper bound: every occurrence by itself."""
    split, known = split_copies(query, table, shapes)
    names = [name for name in list_tables(split) if name not in shapes]
    parts = [
        _find(split, known, name, cap, effort.part(len(names) - i), values) for i, name in enumerate(names)
    ]
    bounds = [part.at_most for part in parts if part.at_most is not None]
    most = sum(bounds) if len(bounds) == len(parts) else None
    return Sensitivity(
        table, 0, most, counted=parts[0].counted, reason="" if most == 0 else "the copies were added up",
        size=max(part.size for part in parts),
    )  # fmt: skip


def _ask(encode: Callable[[int | None], _Asked], effort: Effort) -> tuple[_Asked | None, Verdict, str]:
    """The formula, whether it has a model, and why that is unknown; no formula if it would be too large."""
    try:
        asked = encode(effort.terms)
    except LargeFormulaError:
        effort.spend(0, effort.terms or 0)
        return None, Verdict("unknown", {}), _LARGE
    script = (asked.encoded if isinstance(asked, EndlessLine) else asked).script
    answer = solve(script.text(), seconds=effort.seconds_left, units=effort.units)
    effort.spend(answer.units, script.terms)
    if answer.stopped:
        effort.refuse_late()
    return asked, answer, _LATE if answer.stopped else _WORKED
