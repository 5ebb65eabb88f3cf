"""Conditions as formulas over known and unknown cells, and what they say when only some cells are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, NamedTuple

from sqlglot import exp

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
# Where a cell may stand to be written through another cell of the same value and kind but perhaps another width: a
# comparison gives the same truth value, arithmetic might overflow in one width and not in the other.
_EXACT_PLACES = (*_COMPARISONS, exp.Between, exp.In, exp.Is)


class Cell(NamedTuple):
    """A column of an occurrence; the row whose change is studied has the alias `ROW`."""

    alias: str
    name: str


ROW = ""


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """A condition, or the negation of one, that is not taken apart further.

    ``expression`` is shared and never changed; ``places`` says which cells now stand where its columns are, and
    ``template`` is its text without them. Two atoms are equal if these two are.
    """

    expression: exp.Expr
    places: tuple[Cell, ...]
    template: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and (self.template, self.places) == (other.template, other.places)

    def __hash__(self) -> int:
        return hash((self.template, self.places))

    @property
    def cells(self) -> frozenset[Cell]:
        """All cells that occur."""
        return frozenset(self.places)

    @property
    def text(self) -> str:
        """A text of its own, to put formulas in order by."""
        return f"{self.template} {self.places}"

    def seen(self, known: frozenset[Cell], through: Mapping[Cell, exp.Expr]) -> Formula:
        """Itself where all its cells are known or can be written through known ones, else TRUE."""
        if self.cells <= known:
            return self
        if not self.cells <= known | through.keys():
            return TRUE
        for column, cell in zip(self.expression.find_all(exp.Column), self.places, strict=True):
            if cell not in known and not _is_exact(column):
                return TRUE
        return _folded(
            self._with([write_cell(cell) if cell in known else through[cell] for cell in self.places])
        )

    def renamed(self, names: Mapping[Cell, Cell]) -> Formula:
        """With other names for some cells."""
        return replace(self, places=tuple(names.get(cell, cell) for cell in self.places))

    def conjuncts(self) -> tuple[Formula, ...]:
        """Itself."""
        return (self,)

    def tree(self) -> exp.Expr:
        """As SQL."""
        return exp.Paren(this=self._with([write_cell(cell) for cell in self.places]))

    def _with(self, stand_ins: Sequence[exp.Expr]) -> exp.Expr:
        holder = exp.Paren(this=self.expression.copy())
        for column, stand_in in zip(list(holder.find_all(exp.Column)), stand_ins, strict=True):
            if column != stand_in:
                column.replace(stand_in.copy())
        inner: exp.Expr = holder.this
        return inner


@dataclass(frozen=True, slots=True)
class Junction:
    """Several formulas under one word: what conjunctions and disjunctions have in common."""

    parts: tuple[Formula, ...]
    word: ClassVar[str]

    @property
    def cells(self) -> frozenset[Cell]:
        """All cells that occur."""
        return frozenset().union(*(part.cells for part in self.parts))

    @property
    def text(self) -> str:
        """A text of its own, to put formulas in order by."""
        return "(" + f" {self.word} ".join(part.text for part in self.parts) + ")"


@dataclass(frozen=True, slots=True)
class And(Junction):
    """All of ``parts``; TRUE if there are none."""

    word = "AND"

    def seen(self, known: frozenset[Cell], through: Mapping[Cell, exp.Expr]) -> Formula:
        """What still holds whatever the unknown cells are: TRUE wherever the conjunction is TRUE."""
        return all_of(part.seen(known, through) for part in self.parts)

    def renamed(self, names: Mapping[Cell, Cell]) -> Formula:
        """With other names for some cells."""
        return all_of(part.renamed(names) for part in self.parts)

    def conjuncts(self) -> tuple[Formula, ...]:
        """The parts."""
        return self.parts

    def tree(self) -> exp.Expr:
        """As SQL."""
        if not self.parts:
            return exp.true()
        return exp.Paren(this=exp.and_(*(part.tree() for part in self.parts), copy=False))


@dataclass(frozen=True, slots=True)
class Or(Junction):
    """One of ``parts``; FALSE if there are none."""

    word = "OR"

    def seen(self, known: frozenset[Cell], through: Mapping[Cell, exp.Expr]) -> Formula:
        """What still holds whatever the unknown cells are: TRUE wherever the disjunction is TRUE."""
        return any_of(part.seen(known, through) for part in self.parts)

    def renamed(self, names: Mapping[Cell, Cell]) -> Formula:
        """With other names for some cells."""
        return any_of(part.renamed(names) for part in self.parts)

    def conjuncts(self) -> tuple[Formula, ...]:
        """Itself."""
        return (self,)

    def tree(self) -> exp.Expr:
        """As SQL."""
        if not self.parts:
            return exp.false()
        return exp.Paren(this=exp.or_(*(part.tree() for part in self.parts), copy=False))


Formula = Atom | And | Or
TRUE: Formula = And(())
FALSE: Formula = Or(())


def all_of(parts: Iterable[Formula]) -> Formula:
    """The conjunction, flat, without repetitions."""
    flat = tuple(dict.fromkeys(inner for part in parts for inner in part.conjuncts()))
    if FALSE in flat:
        return FALSE
    return flat[0] if len(flat) == 1 else And(flat)


def any_of(parts: Iterable[Formula]) -> Formula:
    """The disjunction, flat, without repetitions."""
    flat = tuple(
        dict.fromkeys(inner for part in parts for inner in (part.parts if isinstance(part, Or) else (part,)))
    )
    if TRUE in flat:
        return TRUE
    return flat[0] if len(flat) == 1 else Or(flat)


def read_formula(condition: exp.Expr, *, negated: bool = False) -> Formula:
    """A condition with NOT pushed down to its atoms.

    De Morgan's laws hold for SQL's three truth values, and a formula without NOT above its atoms is monotone: an atom
    that nothing is known about may be replaced by TRUE. (Before pushing, TRUE under a NOT would become FALSE.)
    """
    match condition:
        case exp.Paren():
            return read_formula(condition.this, negated=negated)
        case exp.Not():
            return read_formula(condition.this, negated=not negated)
        case exp.And() | exp.Or():
            parts = (
                read_formula(condition.this, negated=negated),
                read_formula(condition.expression, negated=negated),
            )
            return all_of(parts) if isinstance(condition, exp.And) != negated else any_of(parts)
        case exp.Boolean():
            return TRUE if bool(condition.this) != negated else FALSE
    tree = condition.copy()
    return atom(exp.Not(this=exp.Paren(this=tree)) if negated else tree)


def atom(tree: exp.Expr) -> Atom:
    """A condition as one atom; the tree is kept and must not be changed afterwards."""
    places = tuple(read_cell(column) for column in tree.find_all(exp.Column))
    holder = exp.Paren(this=tree.copy())
    for column in list(holder.find_all(exp.Column)):
        column.replace(exp.Placeholder())
    return Atom(tree, places, holder.this.sql())


def find_cells(tree: exp.Expr) -> frozenset[Cell]:
    """All cells that an expression mentions."""
    return frozenset(read_cell(column) for column in tree.find_all(exp.Column))


def read_cell(column: exp.Column) -> Cell:
    """The cell that a column node names."""
    return Cell(column.table, column.name)


def write_cell(cell: Cell) -> exp.Column:
    """A node for a cell; names are quoted, as the catalogue writes them."""
    return exp.Column(
        this=exp.Identifier(this=cell.name, quoted=True),
        table=exp.Identifier(this=cell.alias, quoted=True) if cell.alias else None,
    )


def equals_constant(cell: Cell, constant: exp.Expr) -> Formula:
    """The cell has the value of a literal."""
    return atom(exp.EQ(this=write_cell(cell), expression=constant.copy()))


@lru_cache(maxsize=4096)
def equal(left: Cell, right: Cell) -> Formula:
    """Two different cells are equal."""
    return atom(exp.EQ(this=write_cell(left), expression=write_cell(right)))


@lru_cache(maxsize=4096)
def is_present(cell: Cell) -> Formula:
    """The cell is not NULL."""
    return not_null(write_cell(cell))


def not_null(value: exp.Expr) -> Atom:
    """The value is not NULL."""
    return atom(exp.Not(this=exp.Is(this=exp.Paren(this=value.copy()), expression=exp.null())))


def read_number_literal(tree: exp.Expr) -> Fraction | None:
    """The value of a number literal, None for anything else."""
    if isinstance(tree, exp.Paren):
        return read_number_literal(tree.this)
    if isinstance(tree, exp.Neg):
        inner = read_number_literal(tree.this)
        return None if inner is None else -inner
    if isinstance(tree, exp.Literal) and not tree.is_string:
        try:
            return Fraction(tree.name)
        except ValueError:
            return None
    return None


def _folded(tree: exp.Expr) -> Formula:
    """TRUE or FALSE where the literals alone decide, so that nothing needs to be asked."""
    inner, negated = tree, False
    while isinstance(inner, exp.Paren | exp.Not):
        negated ^= isinstance(inner, exp.Not)
        inner = inner.this
    if isinstance(inner, _COMPARISONS):
        left, right = read_number_literal(inner.this), read_number_literal(inner.expression)
        if left is not None and right is not None:
            return TRUE if _holds(inner, left, right) != negated else FALSE
        same = isinstance(inner.this, exp.Column) and inner.this == inner.expression
        if isinstance(inner, exp.EQ) and same and not negated:
            return not_null(inner.this)
    if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
        value = inner.this.unnest()
        if read_number_literal(value) is not None or isinstance(value, exp.Boolean) or _is_text(value):
            return TRUE if negated else FALSE
    return atom(tree)


def _holds(comparison: exp.Expr, left: Fraction, right: Fraction) -> bool:
    match comparison:
        case exp.EQ():
            return left == right
        case exp.NEQ():
            return left != right
        case exp.LT():
            return left < right
        case exp.LTE():
            return left <= right
        case exp.GT():
            return left > right
    return left >= right


def _is_exact(column: exp.Column) -> bool:
    """Whether a column stands where another of the same value and kind may stand instead."""
    place = column.parent
    while isinstance(place, exp.Paren):
        place = place.parent
    if not isinstance(place, _EXACT_PLACES):
        return False
    # A text literal would be read as a number of the column's width.
    return not any(_is_text(part) for part in place.find_all(exp.Literal))


def _is_text(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Literal) and bool(tree.is_string)
