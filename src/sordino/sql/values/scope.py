"""ValueScope: the tables of a question about values, their norms, and the filters on protected columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from sordino.core import ParameterError
from sordino.engines import Table
from sordino.sensitivity.derivatives.cell_bounds import CellBounds
from sordino.sensitivity.derivatives.node import CellFunction
from sordino.sensitivity.norms import Norm
from sordino.sql.expressions import Expressions
from sordino.sql.policy import Policy
from sordino.sql.question import Occurrence
from sordino.sql.reading.grouped_rows import read_grouped_rows
from sordino.sql.reading.names import Names, Scope
from sordino.sql.text import Text
from sordino.sql.values.columns import ValueColumn, find_value_column
from sordino.sql.values.filters import Filters
from sordino.sql.values.translate import CellTranslator


class ValueNames(Names):
    """Names of a SELECT whose conditions on protected columns are set aside: the engine does not filter by them."""

    def __init__(self, text: Text, policy: Policy, catalogue: Mapping[str, Table]) -> None:
        super().__init__(text, policy, catalogue, read_grouped_rows)
        self.set_aside: list[tuple[exp.Expr, Scope]] = []
        self._owner = policy

    def look(self, value: object) -> ValueColumn | None:
        """What is known of a column."""
        by_alias = {occurrence.alias: occurrence for occurrence in self.occurrences}
        return find_value_column(value, by_alias, self._owner)  # type: ignore[arg-type]

    def is_protected(self, node: exp.Expr, expressions: Expressions) -> bool:
        """Whether a condition reads a protected column."""
        found = [self.look(expressions.value(column)) for column in node.find_all(exp.Column)]
        return any(column is None or column.private for column in found)

    def _add_conditions(self, node: exp.Expr, scope: Scope) -> None:
        node = node.unnest() if isinstance(node, exp.Paren) else node
        if isinstance(node, exp.And):
            for part in node.flatten():
                self._add_conditions(part, scope)
            return
        if self.is_protected(node, self.expressions(scope)):
            self.set_aside.append((node, Scope(list(scope.sources), dict(scope.merged))))
            return
        super()._add_conditions(node, scope)

    def _add_condition(self, condition: exp.Expr) -> None:
        by_alias = {occurrence.alias: occurrence for occurrence in self.occurrences}
        for column in condition.find_all(exp.Column):
            table = (
                self._owner.table_named(by_alias[column.table].table) if column.table in by_alias else None
            )
            if table is not None and table.norm is not None and column.name in table.norm.columns:
                self.text.refuse(
                    "USING", f"{column.name} is protected: write ON, and it becomes a filter", keyword="USING"
                )
        super()._add_condition(condition)


@dataclass(slots=True)
class ValueScope:
    """``passes``: the filters, each a number between 0 and 1 for every joined row. ``norms``: by alias.

    ``counts_rows``: whether the number of rows is protected too.
    """

    translator: CellTranslator
    passes: list[CellFunction]
    norms: dict[str, Norm]
    counts_rows: bool = False

    @classmethod
    def of(cls, names: ValueNames, scope: Scope, policy: Policy, filters: Filters) -> ValueScope:
        """Translate the conditions that were set aside."""
        translator = CellTranslator(names.expressions(scope), names.look, filters)
        norms = measure_rows(names.occurrences, policy)
        passes = []
        for node, inner in names.set_aside:
            reader = CellTranslator(names.expressions(inner), names.look, filters)
            reader.cells, reader.domains = translator.cells, translator.domains
            passes.append(reader.condition(node))
            translator.smoothed = translator.smoothed or reader.smoothed
        joined = [filters.every(passes)] if passes else []
        return cls(translator, joined, norms, policy.counts_rows)

    def bounds_of(self, function: CellFunction) -> CellBounds:
        """The function with its smooth bounds in the norms of the rows."""
        return CellBounds.of(function, self.norms, self.translator.domains)


def measure_rows(occurrences: list[Occurrence], policy: Policy) -> dict[str, Norm]:
    """The norm of the row of every protected table in a joined row, with the names of the calculus."""
    norms = {}
    for occurrence in occurrences:
        table = policy.table_named(occurrence.table)
        if table is not None and table.norm is not None:
            if table.norm.shared:
                raise ParameterError(f"tables.{table.name}.norm has a column twice: write each column once")
            norms[occurrence.alias] = table.norm.renamed(
                {column: f"{occurrence.alias}.{column}" for column in table.norm.columns}
            )
    return norms
