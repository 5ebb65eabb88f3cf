"""Description: what an analyst may know of a data set before asking. All of it is in the policy and the catalogue."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from sordino.core.errors import missing_package
from sordino.curator.dataset import DataSet
from sordino.curator.description_view import list_description, render_description, write_description
from sordino.curator.questions.workload import find_table, open_columns
from sordino.display.frames import FRAMES
from sordino.engines import Column, Table
from sordino.ledger import Account
from sordino.sql.policy import ColumnPolicy, TablePolicy, match_name, name_unit

# DESCRIBE t, DESC t, SHOW TABLES; a name may be in quotes and have a schema.
_METADATA = re.compile(
    r"""\s*(?:SHOW\s+TABLES|DESC(?:RIBE)?(?:\s+(?:TABLE\s+)?(?P<name>[^\s;"`]+|(?:["`][^"`]+["`]\.?)+))?)\s*;?\s*""",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """A column that questions may name. SUM and AVG need ``bounds``, groups a ``domain`` (or a public table).

    ``period``: the bounds of a date or timestamp. ``fixed``: a series may ask which interval of time a row belongs to.
    """

    name: str
    type: str
    bounds: tuple[Fraction, Fraction] | None = None
    granularity: Fraction | None = None
    domain: tuple[str | int | bool | date | None, ...] | None = None
    period: tuple[date, date] | None = None
    fixed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "name": self.name,
            "type": self.type,
            "bounds": None if self.bounds is None else list(self.bounds),
            "period": None if self.period is None else list(self.period),
            "granularity": self.granularity,
            "domain": None if self.domain is None else list(self.domain),
            "fixed": self.fixed,
        }


@dataclass(frozen=True, slots=True)
class TableDescription:
    """A table that may be asked about.

    ``key``: columns that no two rows share, where the database or the owner sees to it. ``foreign_keys``: columns
    whose values are keys of other tables. ``owners``: who is protected with their rows; nobody's where rows are
    protected each by itself, or public.
    """

    name: str
    private: bool
    columns: tuple[ColumnDescription, ...]
    key: tuple[str, ...] = ()
    foreign_keys: tuple[tuple[str, str], ...] = ()
    owners: tuple[str, ...] = ()
    weight: Fraction = Fraction(1)

    def __str__(self) -> str:
        return write_description([self])

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return render_description([self])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "name": self.name,
            "private": self.private,
            "key": list(self.key),
            "foreign_keys": dict(self.foreign_keys),
            "owners": list(self.owners),
            "weight": self.weight,
            "columns": [column.to_dict() for column in self.columns],
        }

    def to_pandas(self) -> Any:
        """One row per column, as a pandas DataFrame."""
        return _framed("pandas", [self])


@dataclass(frozen=True, slots=True)
class Description:
    """The tables of a data set, what one unit of its losses is, and what an analyst may still spend.

    >>> import pyarrow as pa
    >>> import sordino as sd
    >>> orders = {"columns": {"amount": {"bounds": [0, 100]}, "card": {"hidden": True}}}
    >>> policy = {"version": 1, "dataset": "shop", "protects": "row", "tables": {"orders": orders}}
    >>> policy["budgets"] = {"ann": {"epsilon": 2}}
    >>> rows = {"orders": pa.table({"amount": [1, 2], "card": [3, 4]})}
    >>> with sd.connect(rows, policy=policy) as curator:
    ...     print(curator.session("ann").tables())
    shop: losses are per one row added or removed
    budget: epsilon 2 left of epsilon 2
    orders (private)
      amount  integer  0 to 100
    """

    dataset: str
    distance: str
    least_epsilon: Fraction
    tables: tuple[TableDescription, ...]
    budget: Account | None = None

    def __str__(self) -> str:
        return write_description(self.tables, self._facts())

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return render_description(self.tables, self._facts())

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "dataset": self.dataset,
            "distance": self.distance,
            "least_epsilon": self.least_epsilon,
            "tables": [table.to_dict() for table in self.tables],
            "budget": None if self.budget is None else self.budget.to_dict(),
        }

    def to_pandas(self) -> Any:
        """One row per column of every table, as a pandas DataFrame."""
        return _framed("pandas", self.tables)

    def _facts(self) -> list[tuple[str, str]]:
        facts = [(self.dataset, f"losses are per {self.distance}")]
        return facts if self.budget is None else [*facts, ("budget", str(self.budget))]


def describe_data(data: DataSet, analyst: str | None = None) -> Description:
    """All tables of the policy, and the account of an analyst. Reads no rows."""
    budget = None if analyst is None else data.accounts.account(analyst)
    tables = tuple(_describe(data, table) for table in data.policy.tables.values())
    return Description(data.policy.dataset, str(data.distance), data.policy.least_epsilon, tables, budget)


def describe_table(data: DataSet, name: str) -> TableDescription:
    """One table of the policy, by a name in any case. Reads no rows."""
    return _describe(data, find_table(data, name)[0])


def read_metadata(sql: str) -> Callable[[DataSet, str], Description | TableDescription] | None:
    """What ``SHOW TABLES``, ``DESCRIBE`` and ``DESCRIBE orders`` ask for; None where a text is something else."""
    found = _METADATA.fullmatch(sql)
    if found is None:
        return None
    name = (found["name"] or "").replace('"', "").replace("`", "")
    return (lambda data, _: describe_table(data, name)) if name else describe_data


def _describe(data: DataSet, table: TablePolicy) -> TableDescription:
    catalogued = data.catalogue[match_name(table.name, data.catalogue) or table.name]
    shown = open_columns(table, catalogued)
    names = {column.name.casefold(): column.name for column in shown}
    keys = [*catalogued.keys, *([table.key] if table.key_enforced else [])]
    owners = data.policy.owner_paths(table.name) if data.policy.users and table.private else ()
    return TableDescription(
        table.name,
        table.private,
        tuple(_describe_column(column, _declared(table, column)) for column in shown),
        next((_shown(key, names) for key in keys if set(map(str.casefold, key)) <= set(names)), ()),
        tuple(
            (names[key.column.casefold()], str(key.to))
            for key in table.foreign_keys
            if key.column.casefold() in names and _is_open(data, key.to.table, key.to.column)
        ),
        tuple(dict.fromkeys(name_unit((path.entity,)).partition(" with ")[0] for path in owners)),
        table.weight,
    )


def _describe_column(column: Column, declared: ColumnPolicy | None) -> ColumnDescription:
    kind: str = column.type
    if column.type == "decimal" and column.digits is not None:
        kind = f"decimal({column.digits}, {column.scale})"
    if declared is None:
        return ColumnDescription(column.name, kind)
    return ColumnDescription(
        column.name,
        kind,
        declared.bounds,
        declared.granularity,
        declared.domain,
        declared.period,
        declared.fixed,
    )


def _declared(table: TablePolicy, column: Column) -> ColumnPolicy | None:
    name = match_name(column.name, table.columns)
    return None if name is None else table.columns[name]


def _shown(key: tuple[str, ...], names: dict[str, str]) -> tuple[str, ...]:
    return tuple(names[column.casefold()] for column in key)


def _is_open(data: DataSet, table: str, column: str) -> bool:
    """Whether a column at the end of a foreign key is not hidden."""
    declared = data.policy.tables[table]
    catalogued: Table = data.catalogue[match_name(table, data.catalogue) or table]
    return column.casefold() in {item.name.casefold() for item in open_columns(declared, catalogued)}


def _framed(library: str, tables: Sequence[TableDescription]) -> Any:
    try:
        return FRAMES[library](list_description(tables))
    except ModuleNotFoundError as error:
        raise missing_package(error) from None
