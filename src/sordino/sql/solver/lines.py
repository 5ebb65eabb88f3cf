"""Lines: a proof that there is no largest number, as a joined row that can be moved on and on in one direction."""

from __future__ import annotations

from dataclasses import dataclass

from sordino.sql.solver.conditions import write_and, write_or
from sordino.sql.solver.encoded import Encoded
from sordino.sql.solver.query import place_at
from sordino.sql.solver.script import JoinWriter, RowNames, Script, spell_name
from sordino.sql.solver.tuples import TuplesThroughRow


@dataclass(frozen=True, slots=True)
class EndlessLine:
    """The formula, and the names of start and direction at every position that does not hold y."""

    encoded: Encoded
    start: tuple[RowNames, ...]
    step: tuple[RowNames, ...]


def encode_line(tuples: TuplesThroughRow, place: int, terms: int | None = None) -> EndlessLine:
    """That joined rows x, x + d, x + 2d, … satisfy the condition, have one y at ``place`` and obey keys and checks.

    **Guarantee**: a model proves that the number of joined rows through y, or of their outputs, has no bound: take the
    first N of them. No model proves nothing. Rows of one table at two positions, or at one position and two places
    of the line, either never agree in a key (one coordinate keeps them apart) or are the same row.
    """
    leaf = tuples.leaf
    script = Script(tuples.shapes, most_terms=terms)
    row = script.row("y", tuples.table)
    script.obey_keys(row)
    start = tuples.join(script, row, "start", place=place)
    # Directions are rows of no table: free of checks and domains, and a truth value has none.
    step = tuple(
        _direction(script, f"step.{spell_name(alias)}", table)
        for table, alias in zip(leaf.tables, leaf.aliases, strict=True)
    )
    moving = [j for j in range(len(step)) if j != place]
    for field, name in _listed(script, step[place]):
        script.require(f"(= {name} {_zero(field)})")
    at, along = JoinWriter(script, start), JoinWriter(script, step, still=True)
    script.require(leaf.condition.stays(at, along))
    for j in moving:
        shape = tuples.shapes[leaf.tables[j]]
        for check in shape.checks:
            script.require(check.moved(lambda field, j=j: place_at(j, field)).stays(at, along))  # type: ignore[misc]
    for j in range(len(leaf.tables)):
        for i in range(j + 1):
            if leaf.tables[i] == leaf.tables[j]:
                script.require(_obeys(script, i, j, start, step))
    if tuples.by_output:
        slopes = [
            f"(not (= {term.slope(along)} {'0.0' if term.kind == 'real' else '0'}))"
            for term in leaf.outputs
            if term.kind != "boolean"
        ]
        still = [
            f"(= {along.field(f)} {_zero('Real' if f.kind == 'real' else 'Int')})"
            for t in leaf.outputs
            for f in t.bends()
        ]
        script.require(write_and([write_or(slopes), *still]))
    else:
        moved = [f"(not (= {name} {_zero(sort)}))" for j in moving for sort, name in _listed(script, step[j])]
        script.require(write_or(moved))
    return EndlessLine(Encoded(script, row, ()), start, step)


def _direction(script: Script, label: str, table: str) -> RowNames:
    shape = script.shapes[table]
    names: dict[str, str] = {}
    for column in shape.columns:
        sort = script.sort_of(shape, column.name)
        if sort != "Bool":
            names[column.name] = script.declare(f"|{label}.{len(names)}|", (), sort)
    return RowNames(table, names)


def _listed(script: Script, step: RowNames) -> list[tuple[str, str]]:
    shape = script.shapes[step.table]
    return [(script.sort_of(shape, column), name) for column, name in step.names.items()]


def _zero(sort: str) -> str:
    return "0.0" if sort == "Real" else "0"


def _obeys(script: Script, i: int, j: int, start: tuple[RowNames, ...], step: tuple[RowNames, ...]) -> str:
    """No two different rows, of all that the line has at these positions, agree in a key."""
    shape = script.shapes[start[i].table]
    found = []
    for key in shape.smallest_keys():
        moving = [column for column in key if column in step[i].names]
        # A row at one place of the line is another row at the next unless the key moves too.
        alone = write_or(
            [
                write_and([f"(= {name} {_zero(sort)})" for sort, name in _listed(script, step[i])]),
                *(f"(not (= {step[i].names[c]} {_zero(script.sort_of(shape, c))}))" for c in moving),
            ]
        )
        if i == j:
            found.append(alone)
            continue
        together = write_and([script.same(start[i], start[j]), script.same(step[i], step[j]), alone])
        apart = []
        for column in key:
            x, y = start[i].names[column], start[j].names[column]
            if column not in step[i].names:
                apart.append(f"(not (= {x} {y}))")
                continue
            a, b, zero = step[i].names[column], step[j].names[column], _zero(script.sort_of(shape, column))
            apart.append(f"(and (< {x} {y}) (<= {a} {zero}) (>= {b} {zero}))")
            apart.append(f"(and (< {y} {x}) (<= {b} {zero}) (>= {a} {zero}))")
        found.append(write_or([together, *apart]))
    return write_and(found)
