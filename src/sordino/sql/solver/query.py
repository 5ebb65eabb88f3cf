"""The queries that are understood: joins, perhaps without repeats or grouped, and set operations over such joins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from sordino.sql.solver.conditions import Compared, Condition, Every
from sordino.sql.solver.terms import RowField, SolverKind, Term

SetWord = Literal["union", "intersect", "except"]


@dataclass(frozen=True, slots=True)
class ColumnShape:
    """A column; ``scale``: of a decimal whose values are whole multiples of 10^-scale, else None.

    ``filled``: it is never NULL, as the schema says.
    """

    name: str
    kind: SolverKind
    scale: int | None = None
    filled: bool = False


@dataclass(frozen=True, slots=True)
class TableShape:
    """What every database obeys in a table: its columns, its keys and its checks, which speak of position 0.

    Without a key a row may be there several times.
    """

    name: str
    columns: tuple[ColumnShape, ...]
    keys: tuple[tuple[str, ...], ...] = ()
    checks: tuple[Condition, ...] = ()

    def column(self, name: str) -> ColumnShape:
        """The column of a name."""
        return next(column for column in self.columns if column.name == name)

    def smallest_keys(self) -> tuple[tuple[str, ...], ...]:
        """Keys that contain no other; those of all columns say nothing about rows that are values."""
        least = [key for key in self.keys if not any(set(other) < set(key) for other in self.keys)]
        return tuple(dict.fromkeys(key for key in least if len(set(key)) < len(self.columns)))


Shapes = Mapping[str, TableShape]


@dataclass(frozen=True, slots=True)
class JoinLeaf:
    """SELECT [DISTINCT] outputs FROM tables WHERE condition; a position is a place in ``tables``.

    ``names``: of the outputs. ``aliases``: of the positions, for people.
    """

    tables: tuple[str, ...]
    aliases: tuple[str, ...]
    condition: Condition = field(default_factory=Every)
    outputs: tuple[Term, ...] = ()
    names: tuple[str, ...] = ()
    distinct: bool = False

    def leaves(self) -> tuple[JoinLeaf, ...]:
        """Itself."""
        return (self,)

    def member(self, inside: Mapping[int, str], place: int = 0) -> str:
        """The formula that a row is in the result, where ``inside`` says it of each leaf."""
        return inside[place]

    def with_leaves(self, leaves: tuple[JoinLeaf, ...]) -> JoinLeaf:
        """Another leaf in its place."""
        return leaves[0]

    def combine(self, results: tuple[frozenset[tuple[object, ...]], ...]) -> frozenset[tuple[object, ...]]:
        """The rows, where those of each leaf are known."""
        return results[0]

    def positions(self, table: str) -> tuple[int, ...]:
        """Where a table stands."""
        return tuple(j for j, name in enumerate(self.tables) if name == table)


@dataclass(frozen=True, slots=True)
class SetTree:
    """UNION, INTERSECT or EXCEPT of results without repeats."""

    word: SetWord
    left: SetQuery
    right: SetQuery

    def leaves(self) -> tuple[JoinLeaf, ...]:
        """From left to right."""
        return (*self.left.leaves(), *self.right.leaves())

    def member(self, inside: Mapping[int, str], place: int = 0) -> str:
        """The formula that a row is in the result."""
        left = self.left.member(inside, place)
        right = self.right.member(inside, place + len(self.left.leaves()))
        return {
            "union": f"(or {left} {right})",
            "intersect": f"(and {left} {right})",
            "except": f"(and {left} (not {right}))",
        }[self.word]

    def with_leaves(self, leaves: tuple[JoinLeaf, ...]) -> SetTree:
        """Other leaves in the places of these."""
        cut = len(self.left.leaves())
        return replace(
            self, left=self.left.with_leaves(leaves[:cut]), right=self.right.with_leaves(leaves[cut:])
        )

    def combine(self, results: tuple[frozenset[tuple[object, ...]], ...]) -> frozenset[tuple[object, ...]]:
        """The rows, where those of each leaf are known."""
        cut = len(self.left.leaves())
        left, right = self.left.combine(results[:cut]), self.right.combine(results[cut:])
        if self.word == "union":
            return left | right
        return left & right if self.word == "intersect" else left - right


SetQuery = JoinLeaf | SetTree


@dataclass(frozen=True, slots=True)
class GroupedLeaf:
    """GROUP BY: one row per value of the leaf's outputs, with aggregates of any kind."""

    leaf: JoinLeaf


SolverQuery = JoinLeaf | SetTree | GroupedLeaf


def list_leaves(query: SolverQuery) -> tuple[JoinLeaf, ...]:
    """The joins of a query."""
    return (query.leaf,) if isinstance(query, GroupedLeaf) else query.leaves()


def list_tables(query: SolverQuery) -> tuple[str, ...]:
    """The tables of a query, each once."""
    return tuple(dict.fromkeys(table for leaf in list_leaves(query) for table in leaf.tables))


def split_copies(query: SolverQuery, table: str, shapes: Shapes) -> tuple[SolverQuery, dict[str, TableShape]]:
    """Every occurrence of a table as a table of its own; and the shapes with these tables, ``table#1``, …

    **Guarantee**: what one row changes is at most the sum over the new tables of what one row of each changes: the
    query over t is the new query over copies of t, and removing a row of t removes one of each.
    """
    known = dict(shapes)
    leaves = []
    number = 0
    for leaf in list_leaves(query):
        names = list(leaf.tables)
        for j in leaf.positions(table):
            number += 1
            names[j] = f"{table}#{number}"
            known[names[j]] = replace(shapes[table], name=names[j])
        leaves.append(replace(leaf, tables=tuple(names)))
    if isinstance(query, GroupedLeaf):
        return GroupedLeaf(leaves[0]), known
    return query.with_leaves(tuple(leaves)), known


def keep_used(query: SolverQuery, shapes: Shapes) -> dict[str, TableShape]:
    """The tables of a query with only the columns that keys, checks, conditions and outputs name; at least one each.

    **Guarantee**: what one row can change stays the same. Rows of a table with a key are told apart by it. Of a table
    without one a result depends on the named columns alone: a row that is there twice in these changes nothing that is
    without repeats, and where repeats count the formula does not tell such rows apart.
    """
    kept = {}
    for table, names in _list_used(query, shapes).items():
        shape = shapes[table]
        columns = tuple(column for column in shape.columns if column.name in names)
        kept[table] = replace(shape, columns=columns or shape.columns[:1])
    return kept


def list_assumed(query: SolverQuery, shapes: Shapes) -> tuple[str, ...]:
    """The columns that the schema lets be NULL, and whose NULLs may change the number, as table.column.

    Not those that a comparison asks for wherever their table stands, as a row without them takes part nowhere; nor what
    is selected where repeats count, since the rows are counted whatever is in them.
    """
    if isinstance(query, JoinLeaf) and not query.distinct:
        query = replace(query, outputs=())
    compared = [
        (leaf.tables[position], position, n, column)
        for n, leaf in enumerate(list_leaves(query))
        for position, column in _list_compared(leaf.condition)
    ]
    places = {
        table: {(j, n) for n, leaf in enumerate(list_leaves(query)) for j in leaf.positions(table)}
        for table in list_tables(query)
    }
    return tuple(
        f"{table}.{column.name}"
        for table, names in _list_used(query, shapes).items()
        for column in shapes[table].columns
        if column.name in names
        and not column.filled
        and {(j, n) for name, j, n, said in compared if (name, said) == (table, column.name)} != places[table]
    )


def _list_compared(condition: Condition) -> Iterator[tuple[int, str]]:
    """Position and name of columns without which a condition does not hold."""
    match condition:
        case Every():
            for part in condition.parts:
                yield from _list_compared(part)
        case Compared():
            yield from ((field.position, field.column) for field in condition.fields())


def _list_used(query: SolverQuery, shapes: Shapes) -> dict[str, set[str]]:
    """Of each table the columns that keys, checks, conditions and outputs name."""
    used: dict[str, set[str]] = {table: set() for table in list_tables(query)}
    for leaf in list_leaves(query):
        terms = [field for term in leaf.outputs for field in term.fields()]
        for found in (*leaf.condition.fields(), *terms):
            used[leaf.tables[found.position]].add(found.column)
    for table, names in used.items():
        names |= {name for key in shapes[table].keys for name in key}
        names |= {found.column for check in shapes[table].checks for found in check.fields()}
    return used


def place_at(position: int, field: RowField) -> RowField:
    """A field of a check at a position of FROM."""
    return replace(field, position=position)
