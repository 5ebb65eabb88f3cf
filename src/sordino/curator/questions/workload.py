"""WorkloadQuote: what the library answers about data in memory, asked of a data set instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, TypeVar

from sordino.core import Guarantee, LedgerError, ParameterError, Release, Secret, UnsupportedError
from sordino.core.loss import round_as_written, round_up
from sordino.core.parameters import as_written, positive
from sordino.curator.dataset import DataSet
from sordino.engines import Column, Snapshot, Table
from sordino.sql.policy import TablePolicy, match_name, suggest_name

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class WorkloadQuote(Generic[Read]):
    """A library call whose data are read by ``read`` and answered by ``ask``.

    **Guarantee**: ``ask`` states one per row of one table, which does not depend on the rows, so the price is that of
    no rows. A row of weight G is worth G units of distance: where ``ask`` spends Gε on it, a unit costs ε.
    **Requires**: ``read`` and ``ask`` are total: they raise on no rows that the table can hold.
    """

    text: str
    identity: str
    parameters: Mapping[str, Any]
    guarantee: Guarantee
    mechanism: str
    read: Callable[[Snapshot], Read]
    ask: Callable[[Read], Release]

    def measure(self, snapshot: Snapshot) -> Read:
        """The data, as the workload takes them."""
        return self.read(snapshot)

    def draw(self, measured: Read) -> dict[str, Any]:
        """The answer; refused if it cost other than what was paid."""
        release = self.ask(measured)
        if release.guarantee.theorem not in self.guarantee.theorem:
            raise LedgerError("an answer states another guarantee than was paid for")
        return replace(release, guarantee=self.guarantee, details=Secret({})).to_dict()

    def present(self, stored: Mapping[str, Any]) -> Release:
        """As it was drawn."""
        return Release.from_dict(stored, self.guarantee)


def quote_workload(
    data: DataSet,
    table: TablePolicy,
    *,
    text: str,
    parameters: Mapping[str, Any],
    epsilon: Any,
    nothing: Read,
    read: Callable[[Snapshot], Read],
    ask: Callable[[Read, Fraction], Release],
    because: str = "",
) -> WorkloadQuote[Read]:
    """The quote of a call about the rows of one private table.

    ``parameters``: what makes it the same question beside its text and ε. ``ask`` answers with a loss of so much per
    row; ``nothing`` are the data of an empty table, which tell the price.
    ``because``: why what ``ask`` calls a change is what one row does, if that is not the same.
    """
    if data.policy.users:
        raise UnsupportedError(
            f"this is counted per row, and data set {data.policy.dataset!r} protects a {data.distance.unit}: ask "
            "session.query, which counts per user"
        )
    if data.policy.protects != "row":
        raise UnsupportedError(
            f"this is counted per row, and data set {data.policy.dataset!r} protects what cells contain: ask "
            "session.query"
        )
    positive("epsilon", epsilon)
    asked = as_written("epsilon", epsilon)
    data.check_epsilon(asked)
    per_row = asked * table.weight
    rehearsed = ask(nothing, per_row)
    price = rehearsed.guarantee
    if price.epsilon is None or price.epsilon > round_up(per_row):
        raise LedgerError("a workload states a larger loss than it was given")
    if price.delta and table.weight != 1:
        raise UnsupportedError(f"a delta is spent on tables of weight 1 only, and {table.name!r} has another")
    loss = replace(price.loss, epsilon=round_as_written(asked))
    theorem = f"{price.theorem}; {because}" if because else price.theorem
    guarantee = Guarantee(loss, data.distance, theorem)
    parameters = {**parameters, "epsilon": float(asked)}
    return WorkloadQuote(
        text, text, parameters, guarantee, rehearsed.mechanism, read, lambda found: ask(found, per_row)
    )


def find_table(data: DataSet, name: str) -> tuple[TablePolicy, Table]:
    """A table of the policy and of the catalogue, by a name in any case."""
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(f"a table must be named, got {name!r}")
    table = data.policy.table_named(name)
    found = None if table is None else match_name(table.name, data.catalogue)
    if table is None or found is None:
        hint = suggest_name(name, data.policy.tables, "the tables")
        raise ParameterError(f"there is no table {name!r} that may be asked about: {hint}")
    return table, data.catalogue[found]


def find_column(table: TablePolicy, catalogued: Table, name: str) -> str:
    """A column of a table that may be asked about, as the catalogue writes it."""
    columns = {column.name: column for column in open_columns(table, catalogued)}
    found = match_name(name, columns) if isinstance(name, str) else None
    if found is None:
        raise ParameterError(
            f"there is no column {name!r} of table {table.name!r} that may be asked about: "
            f"{suggest_name(name, columns, 'its columns')}"
        )
    return found


def open_columns(table: TablePolicy, catalogued: Table) -> list[Column]:
    """The columns of a table that are not hidden, whatever the case in which the policy names them."""
    hidden = {column.casefold() for column, policy in table.columns.items() if policy.hidden}
    return [column for column in catalogued.columns if column.name.casefold() not in hidden]


def split_name(name: str) -> tuple[str, str]:
    """``table.column``, where the table may have a schema in front."""
    table, dot, column = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    if not dot or not table.strip() or not column.strip():
        raise ParameterError(f"a column is named as 'table.column', got {name!r}")
    return table, column


__all__ = ["WorkloadQuote", "find_column", "find_table", "open_columns", "quote_workload", "split_name"]
