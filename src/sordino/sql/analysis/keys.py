"""What enforced keys and checks say of a join: rows of which there is at most one, and rows that cannot be.

Neighbours are databases that obey the declared keys. Every database between two of them can be passed through (rows are
taken away first and added afterwards), so distances and group privacy are as before, and whatever holds in all
databases that obey the keys holds at every distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sordino.sql.analysis.closure import REWRITTEN, NormalForm
from sordino.sql.analysis.formula import (
    FALSE,
    ROW,
    And,
    Atom,
    Cell,
    Formula,
    Or,
    all_of,
    read_formula,
    write_cell,
)

_NEVER_OF_EQUALS = (exp.NEQ, exp.LT, exp.GT)


def is_impossible(form: NormalForm) -> bool:
    """Whether no rows of a database that obeys keys and checks can satisfy the conditions.

    With a row at some positions: also where another position of its table would have to hold a row of the same key.
    That could only be the row itself, and what it does at both positions is counted with both.
    """
    return form.impossible or _meets_itself(form) or any(_refutes(form, c) for c in _list_checks(form))


def has_keys(form: NormalForm) -> bool:
    """Whether some table's key is enforced."""
    return any(occurrence.key for occurrence in form.occurrences)


def is_found_by_key(form: NormalForm, position: int, given: Sequence[int]) -> bool:
    """Whether the row that is studied, rows at the positions ``given`` and constants fix the whole key of a position.

    **Guarantee**: if so, at most one row goes with them there, in every database that obeys the keys.
    """
    occurrence = form.occurrences[position]
    known = form.aliases(given) | {ROW}
    return bool(occurrence.key) and all(
        any(
            Cell(occurrence.alias, column) in equals.cells
            and (equals.constants or any(cell.alias in known for cell in equals.cells))
            for equals in form.classes
        )
        for column in occurrence.key
    )


def is_found_by_classes(form: NormalForm, position: int, numbers: Sequence[int | None]) -> bool:
    """Whether values of some classes of equal cells, and constants, fix the whole key of a position."""
    occurrence = form.occurrences[position]
    return bool(occurrence.key) and all(
        any(
            Cell(occurrence.alias, column) in equals.cells and (equals.constants or number in numbers)
            for number, equals in enumerate(form.classes)
        )
        for column in occurrence.key
    )


def drop_found_by_key(form: NormalForm, at: tuple[int, ...]) -> tuple[NormalForm, tuple[int, ...]]:
    """The question without positions that hold at most one row given the others and a row at ``at``; ``at`` in it.

    **Guarantee**: in every database that obeys the keys a row at ``at`` meets no more combinations than it meets rows
    in the smaller question: a combination there is one here in at most one way. So an admissible bound for the smaller
    question is one for this, whatever the smaller question's tables are.
    Positions without which others would no longer be tied to the row stay: all rows of these would count.
    """
    row = form.with_row_at(at)
    rest = list(row.others)
    while True:
        found = next(
            (
                j
                for j in rest
                if is_found_by_key(row, j, others := [i for i in rest if i != j])
                and _tied_to_row(row, rest) - {j} <= _tied_to_row(row, others)
            ),
            None,
        )
        if found is None:
            break
        rest.remove(found)
    kept = sorted((*rest, *at))
    return _only(form, kept), tuple(kept.index(j) for j in at)


def _tied_to_row(form: NormalForm, positions: Sequence[int]) -> set[int]:
    """The positions that a chain of equalities ties to the row."""
    reached, aliases = set[int](), {ROW}
    while True:
        near = {
            j
            for j in positions
            if j not in reached
            and any(
                not equals.constants
                and equals.inside(form.aliases((j,)))
                and any(cell.alias in aliases for cell in equals.cells)
                for equals in form.classes
            )
        }
        if not near:
            return reached
        reached |= near
        aliases |= form.aliases(sorted(near))


def _only(form: NormalForm, kept: Sequence[int]) -> NormalForm:
    """What the conditions say of some positions, as a question of these alone: a weaker one."""
    if len(kept) == len(form.occurrences):
        return form
    names = form.aliases(kept)
    classes = [replace(equals, cells=equals.inside(names)) for equals in form.classes]
    known = frozenset(
        Cell(form.occurrences[j].alias, name) for j in kept for name in form.occurrences[j].columns
    )
    return replace(
        form,
        occurrences=tuple(form.occurrences[j] for j in kept),
        classes=tuple(equals for equals in classes if equals.cells),
        parts=all_of(part.seen(known, {}) for part in form.parts).conjuncts(),
    )


def _meets_itself(form: NormalForm) -> bool:
    if not form.at:
        return False
    mine = form.occurrences[form.at[0]]
    return bool(mine.key) and any(
        all(
            any(
                {Cell(ROW, column), Cell(other.alias, column)} <= set(equals.cells) for equals in form.classes
            )
            for column in mine.key
        )
        for other in (form.occurrences[j] for j in form.others)
        if other.table == mine.table
    )


def _list_checks(form: NormalForm) -> list[Formula]:
    """What every row is promised to satisfy unless it is unknown, for the rows at all positions."""
    found = []
    for j, occurrence in enumerate(form.occurrences):
        names = {Cell(occurrence.alias, name): Cell(ROW, name) for name in occurrence.columns}
        for check in occurrence.checks:
            formula = read_formula(check)
            found.append(formula.renamed(names) if j in form.at else formula)
    return found


def _refutes(form: NormalForm, check: Formula) -> bool:
    """Whether the equalities make a check FALSE: not unknown, since cells that equal something are not NULL."""
    match check:
        case And():
            return any(_refutes(form, part) for part in check.parts)
        case Or():
            return all(_refutes(form, part) for part in check.parts)
    stand_ins = {
        cell: equals.constants[0] if equals.constants else write_cell(equals.cells[0])
        for equals in form.classes
        if equals.kind in REWRITTEN
        for cell in equals.cells
    }
    seen = check.seen(frozenset(), stand_ins)
    return seen == FALSE or (isinstance(seen, Atom) and _is_never_true(seen.expression))


def _is_never_true(tree: exp.Expr) -> bool:
    """Whether it compares a cell with itself in a way that equals do not satisfy."""
    negated = False
    while isinstance(tree, exp.Paren | exp.Not):
        negated ^= isinstance(tree, exp.Not)
        tree = tree.this
    same = isinstance(tree, exp.Binary) and isinstance(tree.this, exp.Column) and tree.this == tree.expression
    return same and isinstance(tree, exp.EQ if negated else _NEVER_OF_EQUALS)
