"""The normal form of a join question: what must be equal, and everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from sordino.core import ParameterError
from sordino.engines import ColumnType
from sordino.sql.aggregates import Measure
from sordino.sql.analysis.formula import (
    FALSE,
    ROW,
    Cell,
    Formula,
    all_of,
    equal,
    equals_constant,
    is_present,
    read_cell,
    read_formula,
    read_number_literal,
    write_cell,
)
from sordino.sql.expressions.decimals import are_comparable, count_digits
from sordino.sql.question import JoinQuestion, Occurrence, find_group

# Equality of two columns of one of these kinds means the same value whatever their widths, so it is transitive. Floats
# (−0.0, NaN) and timestamps (time zones) are not here; their equalities stay ordinary conditions.
_CLOSED: frozenset[ColumnType] = frozenset({"integer", "decimal", "text", "boolean", "date"})
# A comparison with one column may be rewritten to another of the same kind. Not decimals: what they become beside a
# float depends on their scale.
REWRITTEN: frozenset[ColumnType] = frozenset({"integer", "text", "boolean", "date"})


@dataclass(frozen=True, slots=True)
class EqualCells:
    """Cells that are equal, and not NULL, wherever the conditions hold; and the constants that they are equal to."""

    cells: tuple[Cell, ...]
    constants: tuple[exp.Expr, ...]
    kind: ColumnType

    @property
    def contradictory(self) -> bool:
        """Two different values are asked of one cell: no row can have it.

        Not said of decimals, since engines read long ones as doubles: there the engine itself finds no rows.
        """
        values = {read_constant(constant, self.kind) for constant in self.constants}
        return self.kind != "decimal" and len(values) > 1

    def inside(self, aliases: frozenset[str]) -> tuple[Cell, ...]:
        """The cells of some occurrences."""
        return tuple(cell for cell in self.cells if cell.alias in aliases)


@dataclass(frozen=True, slots=True)
class NormalForm:
    """A question whose positions ``at`` hold one and the same row.

    ``classes``: the transitive closure of the equalities among the conjuncts; ``parts``: all other conjuncts.
    **Requires**: text columns that are compared have one deterministic collation.
    """

    occurrences: tuple[Occurrence, ...]
    at: tuple[int, ...]
    classes: tuple[EqualCells, ...]
    parts: tuple[Formula, ...]
    measure: Measure

    def with_row_at(self, at: tuple[int, ...]) -> NormalForm:
        """The same with one row at all positions in ``at``; its cells get the alias `ROW`."""
        names = {
            Cell(self.occurrences[i].alias, name): Cell(ROW, name)
            for i in at
            for name in self.occurrences[i].columns
        }
        classes = _closed(
            [replace(e, cells=tuple(names.get(cell, cell) for cell in e.cells)) for e in self.classes]
        )
        whole = all_of(part.renamed(names) for part in self.parts)
        return replace(self, at=at, classes=classes, parts=whole.conjuncts())

    @property
    def others(self) -> tuple[int, ...]:
        """The positions outside ``at``."""
        return tuple(j for j in range(len(self.occurrences)) if j not in self.at)

    @property
    def impossible(self) -> bool:
        """Whether the conditions alone say that no rows can satisfy them."""
        if FALSE in self.parts or any(equals.contradictory for equals in self.classes):
            return True
        return any(self.restricted(positions) == FALSE for positions in ((), *((j,) for j in self.others)))

    def aliases(self, positions: Sequence[int]) -> frozenset[str]:
        """The aliases at some positions."""
        return frozenset(self.occurrences[j].alias for j in positions)

    def keys(self, positions: Sequence[int]) -> tuple[int, ...]:
        """The classes by which the row is tied to these positions.

        A class with a constant ties nothing: its value is known.
        """
        names = self.aliases(positions)
        return tuple(
            number
            for number, equals in enumerate(self.classes)
            if self.ties_the_row(number) and equals.inside(names)
        )

    def boundary(self, positions: Sequence[int]) -> tuple[int, ...]:
        """The classes without constant that tie these positions to anything outside them."""
        names = self.aliases(positions)
        return tuple(
            number
            for number, equals in enumerate(self.classes)
            if not equals.constants and equals.inside(names) and len(equals.inside(names)) < len(equals.cells)
        )

    def classes_at(self, position: int) -> frozenset[int]:
        """The classes without constant that hold a cell of a position."""
        names = self.aliases((position,))
        return frozenset(
            number
            for number, equals in enumerate(self.classes)
            if not equals.constants and equals.inside(names)
        )

    def cell(self, number: int, position: int) -> Cell:
        """The first cell of a class at a position."""
        return self.classes[number].inside(self.aliases((position,)))[0]

    def ties_the_row(self, number: int) -> bool:
        """Whether a class without constant holds a cell of the row and a cell outside it."""
        equals = self.classes[number]
        aliases = {cell.alias for cell in equals.cells}
        return not equals.constants and ROW in aliases and len(aliases) > 1

    def restricted(self, positions: Sequence[int], names: Mapping[str, str] | None = None) -> Formula:
        """What the conditions demand of rows at ``positions``, whatever the rows elsewhere are.

        ``names``: other aliases to write the result with.

        **Guarantee**: TRUE wherever the whole condition is TRUE; implied by the same formula of more positions. Cells
        of the row that is studied are written through an equal cell at ``positions`` or an equal constant.
        **Source**: interval logic, naples-1.md §8; replacing an atom under a NOT is what `read_formula` avoids.
        """
        here = self.aliases(positions)
        written = _written(self.occurrences, positions, names or {})
        needed: list[Formula] = []
        for equals in self.classes:
            inside = sorted(written[cell] for cell in equals.inside(here))
            if equals.constants:
                # All of them: which of two constants is a group's own cannot be told here.
                needed += [
                    equals_constant(cell, constant) for cell in inside for constant in equals.constants
                ]
            elif inside:
                needed += [equal(inside[0], cell) for cell in inside[1:]]
                # Every class of two cells or more says that none of them is NULL.
                if len(inside) == 1:
                    needed.append(is_present(inside[0]))
        return all_of([self.weakened(positions).renamed(written), *needed])

    def weakened(self, positions: Sequence[int]) -> Formula:
        """The part of `restricted` that is not the equalities of the classes."""
        here = self.aliases(positions)
        known = frozenset(
            Cell(self.occurrences[j].alias, name) for j in positions for name in self.occurrences[j].columns
        )
        through: dict[Cell, exp.Expr] = {}
        for equals in self.classes:
            stand_ins: tuple[exp.Expr, ...] = tuple(write_cell(cell) for cell in equals.inside(here)[:1])
            # What the value of a group is depends on the group: it is written through a cell or not at all.
            if equals.constants and find_group(equals.constants[0]) is None:
                stand_ins = equals.constants
            if stand_ins and equals.kind in REWRITTEN:
                through |= dict.fromkeys(equals.inside(frozenset({ROW})), stand_ins[0])
        return all_of(part.seen(known, through) for part in self.parts)


def make_normal_form(question: JoinQuestion) -> NormalForm:
    """Close the equalities among the conjuncts and the conditions under which a joined row counts."""
    measure = question.measure
    conditions = (*question.conditions, *measure.conditions())
    kinds = {Cell(o.alias, name): kind for o in question.occurrences for name, kind in o.columns.items()}
    if measure.varies is not None:
        measure = measure.with_value(_named(measure.varies, kinds))
    whole = all_of(read_formula(_named(condition, kinds)) for condition in conditions)
    found = [(part, _closable(part, kinds)) for part in whole.conjuncts()]
    decimals = _decimals_fit(question.occurrences, [equals for _, equals in found if equals is not None])
    parts: list[Formula] = []
    equalities: list[EqualCells] = []
    for part, equals in found:
        if equals is None or (equals.kind == "decimal" and not decimals):
            parts.append(part)
        else:
            equalities.append(equals)
    return NormalForm(question.occurrences, (), _closed(equalities), tuple(parts), measure)


def _decimals_fit(occurrences: Sequence[Occurrence], equalities: Sequence[EqualCells]) -> bool:
    """Whether all decimals that are equal to something can be compared, each with each.

    A question compares some pairs of them; what is closed may be compared with any other, and an engine raises where a
    type that holds both would need too many digits. If so none is closed, and only what is asked is compared.
    """
    known = {Cell(o.alias, name): digits for o in occurrences for name, digits in o.digits.items()}
    decimals = [equals for equals in equalities if equals.kind == "decimal"]
    digits = [known.get(cell) for equals in decimals for cell in equals.cells]
    digits += [
        count_digits(read_number_literal(constant)) for equals in decimals for constant in equals.constants
    ]
    return are_comparable(digits)


def find_equality_neighbours(form: NormalForm) -> list[frozenset[int]]:
    """The sets of positions that equalities between columns hold together."""
    place = {occurrence.alias: j for j, occurrence in enumerate(form.occurrences)}
    links = [
        {place[cell.alias] for cell in equals.cells if cell.alias in place}
        for equals in form.classes
        if not equals.constants
    ]
    links += [{place[c.alias] for c in part.cells} for part in form.parts if is_column_equality(part)]
    return find_connected(range(len(form.occurrences)), links)


def find_connected(items: Sequence[int] | range, links: Sequence[set[int]]) -> list[frozenset[int]]:
    """The connected parts of ``items``, in the order of their least members."""
    groups = [{item} for item in items]
    for link in links:
        touched = [group for group in groups if group & link]
        if len(touched) > 1:
            groups = [group for group in groups if not group & link] + [set().union(*touched)]
    return sorted((frozenset(group) for group in groups), key=min)


def is_column_equality(part: Formula) -> bool:
    """Whether a conjunct says that two columns are equal."""
    tree = getattr(part, "expression", None)
    return (
        isinstance(tree, exp.EQ)
        and isinstance(tree.this, exp.Column)
        and isinstance(tree.expression, exp.Column)
    )


def _written(
    occurrences: Sequence[Occurrence], positions: Sequence[int], names: Mapping[str, str]
) -> dict[Cell, Cell]:
    """The cells at some positions, under other aliases."""
    return {
        Cell(occurrence.alias, name): Cell(names.get(occurrence.alias, occurrence.alias), name)
        for occurrence in (occurrences[j] for j in positions)
        for name in occurrence.columns
    }


def _named(condition: exp.Expr, kinds: dict[Cell, ColumnType]) -> exp.Expr:
    """The condition with columns as the catalogue writes them."""
    names = {(cell.alias.casefold(), cell.name.casefold()): cell for cell in kinds}
    holder = exp.Paren(this=condition.copy())
    for column in list(holder.find_all(exp.Column)):
        cell = read_cell(column)
        found = cell if cell in kinds else names.get((cell.alias.casefold(), cell.name.casefold()))
        if found is None:
            aliases = ", ".join(dict.fromkeys(c.alias for c in kinds))
            raise ParameterError(f"{column.sql()} is no column of the tables in FROM: {aliases}")
        column.replace(write_cell(found))
    inner: exp.Expr = holder.this
    return inner


def _closable(part: Formula, kinds: dict[Cell, ColumnType]) -> EqualCells | None:
    """The cells and constants that a conjunct makes equal, if it does and equality is transitive for their kind."""
    tree = getattr(part, "expression", None)
    if not isinstance(tree, exp.EQ):
        return None
    left, right = tree.this.unnest(), tree.expression.unnest()
    if not isinstance(left, exp.Column):
        left, right = right, left
    if not isinstance(left, exp.Column) or kinds[read_cell(left)] not in _CLOSED:
        return None
    kind = kinds[read_cell(left)]
    if isinstance(right, exp.Column):
        cells = (read_cell(left), read_cell(right))
        return EqualCells(cells, (), kind) if kinds[cells[1]] == kind else None
    return None if read_constant(right, kind) is None else EqualCells((read_cell(left),), (right,), kind)


def read_constant(tree: exp.Expr, kind: ColumnType) -> Fraction | str | bool | None:
    """The value of a literal that a column of this kind is compared with; None for what is no such literal.

    Two literals of one kind have equal values if and only if every engine says that they are equal: numbers as such,
    text by its bytes, dates by their ISO text. A value that stands for all groups is one of its own.
    """
    if find_group(tree) is not None:
        return f":{tree.name}"
    match kind:
        case "integer":
            number = read_number_literal(tree)
            return number if number is not None and number.denominator == 1 and abs(number) < 2**31 else None
        case "decimal":
            return read_number_literal(tree)
        case "text":
            return str(tree.this) if isinstance(tree, exp.Literal) and tree.is_string else None
        case "boolean":
            return bool(tree.this) if isinstance(tree, exp.Boolean) else None
        case "date":
            written = tree.this if isinstance(tree, exp.Cast) and tree.is_type("date") else None
            return str(written.this) if isinstance(written, exp.Literal) else None
    return None


def _closed(equalities: Sequence[EqualCells]) -> tuple[EqualCells, ...]:
    """Classes that share a cell become one."""
    cells = sorted({cell for equals in equalities for cell in equals.cells})
    number = {cell: i for i, cell in enumerate(cells)}
    classes = []
    for group in find_connected(
        range(len(cells)), [{number[c] for c in equals.cells} for equals in equalities]
    ):
        members = tuple(cells[i] for i in sorted(group))
        here = [equals for equals in equalities if equals.cells[0] in members]
        constants = tuple(dict.fromkeys(constant for equals in here for constant in equals.constants))
        classes.append(EqualCells(members, constants, here[0].kind))
    return tuple(classes)
