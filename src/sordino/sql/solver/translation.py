"""From a question that is answered to a query of the solver, which says at least as much as the question can do.

What a solver cannot say of the engine's expressions becomes a function of which only this is known: equal values of the
same columns make it equal. A bound over all such functions holds for the engine's own, NULLs and rounding included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sordino.core import SordinoError
from sordino.engines import ColumnType
from sordino.sql.expressions.value import Value
from sordino.sql.question import CountedRows, CountedSelect, JoinQuestion, Occurrence
from sordino.sql.solver.conditions import Asserted, Condition, Every
from sordino.sql.solver.query import ColumnShape, JoinLeaf, SetQuery, SetTree, TableShape
from sordino.sql.solver.reading import read_condition
from sordino.sql.solver.terms import Hidden, RowField, SolverKind, Term
from sordino.sql.text import Text

# What is compared alike by an engine and by the solver; all else is told apart and nothing more.
_KINDS: dict[ColumnType, SolverKind] = {"integer": "integer", "text": "text", "date": "date"}
_REJECTING = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)


@dataclass(slots=True)
class Translator:
    """Knows all positions of all SELECTs of a question.

    **Guarantee**: whatever a row changes in the question, in databases that obey keys and checks, a row changes in the
    query over the shapes, in some database without NULLs. A column is *filled* if it is never NULL by catalogue or
    check, or a comparison at every position of its table leaves rows out where it is NULL: such rows then take part
    nowhere. Only conditions whose columns are filled are read as they are. Keys and checks count where their columns
    are filled. In all other columns NULL is a value like any other, which hidden functions may treat as they like.
    """

    selects: Sequence[tuple[Sequence[Occurrence], Sequence[exp.Expr]]]
    shapes: dict[str, TableShape] = field(init=False)
    _filled: set[tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        tables: dict[str, list[Occurrence]] = {}
        for occurrences, _ in self.selects:
            for occurrence in occurrences:
                tables.setdefault(occurrence.table, []).append(occurrence)
        self._filled = {
            (table, column)
            for table, found in tables.items()
            for column in {name for occurrence in found for name in occurrence.columns}
            if self._is_filled(found[0], column)
        }
        self.shapes = {table: self._shape(found) for table, found in tables.items()}

    def leaf(self, place: int, outputs: Sequence[Value] = (), *, distinct: bool = False) -> JoinLeaf:
        """One SELECT."""
        occurrences, conditions = self.selects[place]
        positions = {occurrence.alias: j for j, occurrence in enumerate(occurrences)}
        found = [self._condition(condition, occurrences, positions) for condition in conditions]
        # A row that finds no row of a public table counts nowhere.
        found += [
            Asserted(
                Hidden(
                    f"row of {occurrence.table} found in {occurrence.lookups!r}",
                    self._fields(occurrence, j),
                    "boolean",
                )
            )
            for j, occurrence in enumerate(occurrences)
            if occurrence.lookups
        ]
        return JoinLeaf(
            tuple(occurrence.table for occurrence in occurrences),
            tuple(occurrence.alias for occurrence in occurrences),
            Every(tuple(found)),
            tuple(self._output(value, occurrences, positions) for value in outputs),
            tuple(f"c{k}" for k in range(len(outputs))),
            distinct,
        )

    def _shape(self, found: list[Occurrence]) -> TableShape:
        first = found[0]
        columns = {name: kind for occurrence in found for name, kind in occurrence.columns.items()}
        digits = {name: known for occurrence in found for name, known in occurrence.digits.items()}
        shapes = tuple(
            ColumnShape(name, "real", digits[name].behind)
            if kind == "decimal" and name in digits
            else ColumnShape(name, _KINDS.get(kind, "integer"))
            for name, kind in columns.items()
        )
        keyed = bool(first.key) and all((first.table, column) in self._filled for column in first.key)
        checks = []
        for check in first.checks:
            try:
                checks.append(
                    read_condition(check, lambda column: self._known(column, first, 0), Text("", ""))
                )
            except SordinoError:  # one that is not understood rules out nothing
                continue
        return TableShape(first.table, shapes, (first.key,) if keyed else (), tuple(checks))

    def _is_filled(self, first: Occurrence, column: str) -> bool:
        if column in first.filled:
            return True
        return all(
            any(_rejects_null(condition, occurrence.alias, column) for condition in conditions)
            for occurrences, conditions in self.selects
            for occurrence in occurrences
            if occurrence.table == first.table
        )

    def _condition(
        self, condition: exp.Expr, occurrences: Sequence[Occurrence], positions: dict[str, int]
    ) -> Condition:
        def resolve(column: exp.Column) -> RowField:
            place = positions[column.table]
            return self._known(column, occurrences[place], place)

        try:
            return read_condition(condition, resolve, Text("", ""))
        except SordinoError:
            return Asserted(self._hide(condition, "boolean", occurrences, positions))

    def _known(self, column: exp.Column, occurrence: Occurrence, place: int) -> RowField:
        """A column that engine and solver compare alike."""
        kind = occurrence.columns[column.name]
        exact = kind in _KINDS or (kind == "decimal" and column.name in occurrence.digits)
        if not exact or (occurrence.table, column.name) not in self._filled:
            raise _HiddenError("this column is told apart only")
        return self._field(column.name, occurrence, place)

    def _field(self, name: str, occurrence: Occurrence, place: int) -> RowField:
        kind = occurrence.columns[name]
        decimal = kind == "decimal" and name in occurrence.digits
        return RowField(place, name, "real" if decimal else _KINDS.get(kind, "integer"))

    def _fields(self, occurrence: Occurrence, place: int) -> tuple[RowField, ...]:
        return tuple(self._field(name, occurrence, place) for name in occurrence.columns)

    def _output(self, value: Value, occurrences: Sequence[Occurrence], positions: dict[str, int]) -> Term:
        if value.column is not None:
            alias, name = value.column
            return self._field(name, occurrences[positions[alias]], positions[alias])
        kind: SolverKind = "real" if value.kind == "decimal" else "integer"
        return self._hide(value.expression, kind, occurrences, positions)

    def _hide(
        self,
        tree: exp.Expr,
        kind: SolverKind,
        occurrences: Sequence[Occurrence],
        positions: dict[str, int],
    ) -> Hidden:
        """The same expression of the same columns of a table is the same function, wherever the table stands.

        Of other columns it is another one: their types may differ where their values do not, and the engine calculates
        in the types. As doubles, a HUGEINT and the BIGINT that equals it are two numbers of DuckDB.
        """
        holder = exp.Paren(this=tree.copy())
        fields: dict[tuple[str, str], RowField] = {}
        for column in list(holder.find_all(exp.Column)):
            place = positions[column.table]
            key = (column.table, column.name)
            fields.setdefault(key, self._field(column.name, occurrences[place], place))
            number = list(fields).index(key)
            column.replace(exp.Placeholder(this=f"{number}"))
        tables = [occurrences[positions[alias]].table for alias, _ in fields]
        of = [f"{table!r}.{name!r}" for table, (_, name) in zip(tables, fields, strict=True)]
        return Hidden(f"{kind} {holder.sql(comments=False)} of {' '.join(of)}", tuple(fields.values()), kind)


class _HiddenError(SordinoError):
    """A condition is not read as it is."""


def translate_join(question: JoinQuestion) -> tuple[JoinLeaf, dict[str, TableShape]]:
    """The rows of a join."""
    translator = Translator([(question.occurrences, question.conditions)])
    return translator.leaf(0), translator.shapes


def translate_counted(rows: CountedRows) -> tuple[SetQuery, dict[str, TableShape]]:
    """Rows without repeats."""
    selects = list(rows.selects())
    translator = Translator([(select.occurrences, select.conditions) for select in selects])
    places = iter(range(len(selects)))

    def build(part: CountedRows) -> SetQuery:
        match part:
            case CountedSelect():
                return translator.leaf(next(places), part.outputs, distinct=True)
            case _:
                left = build(part.left)
                return SetTree(part.operator, left, build(part.right))

    return build(rows), translator.shapes


def _rejects_null(condition: exp.Expr, alias: str, column: str) -> bool:
    """Whether a condition is never TRUE where the column is NULL: a comparison of it."""
    tree = condition.unnest()
    if not isinstance(tree, _REJECTING):
        return False
    sides = [tree.this, tree.expression] if isinstance(tree, exp.Binary) else [tree.this]
    compared = [side.unnest() for side in sides]
    return any(isinstance(one, exp.Column) and (one.table, one.name) == (alias, column) for one in compared)
