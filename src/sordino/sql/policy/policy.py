"""Policy: what the owner declares about a data set before anybody asks: tables, types, bounds, domains, budgets.

Everything that carries a guarantee comes from here or from the engine's catalogue, never from rows. What is not
declared public is private, and a table that the policy does not name cannot be asked about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from sordino.core import ParameterError
from sordino.core.parameters import did_you_mean
from sordino.engines import ColumnType, Table
from sordino.sensitivity import Norm
from sordino.sql.policy.constrained import add_constraint
from sordino.sql.policy.fields import (
    DECLARED_TYPES,
    read_bounds,
    read_domain,
    read_flag,
    read_granularity,
    read_key,
    read_kind,
    read_mapping,
    read_period,
    read_positive,
    read_seconds,
    read_string,
    read_texts,
    read_type,
    read_weight,
    read_whole,
)
from sordino.sql.policy.measured import (
    RowExponent,
    check_all_measured,
    check_measured,
    read_norm,
    read_row_exponent,
)
from sordino.sql.policy.ownership import (
    ColumnName,
    ForeignKey,
    OwnerPath,
    check_ownership,
    find_owner_paths,
    read_foreign_keys,
    read_users,
)
from sordino.sql.policy.places import field_error
from sordino.sql.policy.promises import find_check_columns, read_check
from sordino.sql.policy.source import find_field, parse, read_text

KEY_TYPES: tuple[ColumnType, ...] = ("integer", "text")
MOST_ROWS = 10**6  # of a unit, where the policy does not say
LEAST_EPSILON = Fraction(1, 10**6)  # of a question, where the policy does not say
MOST_PAIRS = 10**8  # of rows that no equality joins, where the policy does not say


@dataclass(frozen=True, slots=True)
class ColumnPolicy:
    """What is public about a column: its type, the range it is clipped to, the values that may be groups, its grain.

    ``type`` is as written (``decimal(10, 2)``); `kind` is the catalogue's word for it. None where only the
    catalogue says. ``hidden``: no question may name it. ``period``: the bounds of a date or timestamp, in days.
    ``public``: it is not protected, where contents of cells are. ``fixed``: the owner promises that no row ever gets
    another value in it, so that a series may ask which interval of time a row belongs to.
    """

    name: str
    type: str | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    domain: tuple[str | int | bool | date | None, ...] | None = None
    granularity: Fraction | None = None
    hidden: bool = False
    period: tuple[date, date] | None = None
    public: bool = False
    fixed: bool = False

    @property
    def kind(self) -> ColumnType | None:
        """The declared type in the catalogue's words."""
        return None if self.type is None else read_kind(self.type)

    @property
    def ends(self) -> tuple[Fraction, Fraction] | None:
        """The bounds, or the least and the largest of a domain of numbers."""
        if self.bounds is not None or self.domain is None:
            return self.bounds
        numbers = [
            Fraction(item) for item in self.domain if isinstance(item, int) and not isinstance(item, bool)
        ]
        return (min(numbers), max(numbers)) if numbers and len(numbers) >= len(self.domain) - 1 else None


@dataclass(frozen=True, slots=True)
class TablePolicy:
    """A table: whether its rows are protected, its key, and how many units of distance a row is worth.

    A key is checked to be columns and is the owner's note: it bounds no sensitivity, since a neighbouring database
    may hold two rows of one key, unless it is ``key_enforced``: the owner then promises that no database ever does.
    ``foreign_keys`` say who owns a row where users are protected. ``view``: the owner has said that the rows of a view
    are what is to be protected. ``checks``: conditions that the owner promises for every row.
    ``norm``: how far cells of a row have moved, where contents are protected; ``rows``: p of the ℓ_p over rows.
    """

    name: str
    private: bool = True
    view: bool = False
    key: tuple[str, ...] = ()
    key_enforced: bool = False
    foreign_keys: tuple[ForeignKey, ...] = ()
    checks: tuple[str, ...] = ()
    weight: Fraction = Fraction(1)
    norm: Norm | None = None
    rows: RowExponent = Fraction(1)
    columns: Mapping[str, ColumnPolicy] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeclaredBudget:
    """Numbers of a limit as the owner wrote them: epsilon (with delta), rho (with at_delta), or a risk.

    A risk is the ``advantage`` that all answers together may give: how far a belief about one unit may rise, from
    ``prior`` where that is given.
    """

    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    at_delta: Fraction | None = None
    advantage: Fraction | None = None
    prior: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """A whole policy, checked. ``cap`` limits what all analysts together may spend.

    ``least_epsilon``: what a question asks for at least. A budget then pays for a bounded number of questions, so
    nobody can ask forever about what the noise does not hide, such as how long an answer takes.
    ``users``: the entities that are protected with all their rows, where ``protects`` is ``user``. ``min_units``: how
    many of them a group that nobody declared must have at least. ``keys_per_unit``: for how many such groups one of
    them is counted at most. ``most_per_unit``: more than anyone's total, a count or a sum; totals beyond are clipped.
    ``answer_every``: seconds; a server answers at multiples of them after a question came, so that the time of an
    answer tells little of the rows. ``most_pairs``: how many combinations of rows a join makes at most where no
    equality of public columns joins them, and contents alone are protected.

    >>> import sordino as sd
    >>> orders = {"columns": {"amount": {"type": "integer", "bounds": [0, 100]}}}
    >>> fields = {"version": 1, "dataset": "shop", "protects": "row", "tables": {"orders": orders}}
    >>> policy = sd.Policy.load(fields)  # or the name of a YAML or JSON file
    >>> policy.dataset, list(policy.tables)
    ('shop', ['orders'])
    """

    dataset: str
    tables: Mapping[str, TablePolicy]
    budgets: Mapping[str, DeclaredBudget] = field(default_factory=dict)
    cap: DeclaredBudget | None = None
    protects: str = "row"
    version: int = 1
    least_epsilon: Fraction = LEAST_EPSILON
    users: tuple[ColumnName, ...] = ()
    min_units: int = 1
    keys_per_unit: int = 1
    most_per_unit: Fraction | None = None
    answer_every: Fraction | None = None
    most_pairs: int = MOST_PAIRS

    @classmethod
    def load(cls, source: Policy | Mapping[str, Any] | str | Path) -> Policy:
        """From a dict, the path of a YAML or JSON file, or the text of one; a Policy is given back as it is."""
        if isinstance(source, Policy):
            return source
        text = source if isinstance(source, Mapping) else read_text(source)
        try:
            return _policy(parse(text))
        except ParameterError as error:
            if isinstance(text, str) and error.place is not None and error.place.path is not None:
                error.place = find_field(text, error.place.path)
            raise

    def types(self) -> dict[str, dict[str, str]]:
        """``{table: {column: type}}`` for `sordino.engines.connect` of CSV files; undeclared types are left out."""
        return {
            table.name: {name: column.type for name, column in table.columns.items() if column.type}
            for table in self.tables.values()
        }

    def check(self, catalogue: Mapping[str, Table]) -> None:
        """Raise unless every declared table and column exists in the catalogue with the declared type."""
        for table in self.tables.values():
            path = f"tables.{table.name}"
            found = _lookup(table.name, catalogue, path, f"no table {table.name!r} in the database")
            if catalogue[found].view and table.private and not table.view:
                raise field_error(
                    path,
                    f": {table.name} is a view, and one row of a table below it may be many rows in "
                    "it, or none: list the tables themselves, or write 'view: true' if each row of the view by "
                    "itself is what is to be protected",
                )
            columns = {column.name: column for column in catalogue[found].columns}
            for name, reason in catalogue[found].left_out:
                if match_name(name, table.columns) is not None:
                    raise field_error(f"{path}.columns.{name}", f": {reason}")
            for name in table.key:
                _lookup(name, columns, f"{path}.key", f"no column {name!r} in table {table.name!r}")
            for check in table.checks:
                for name in find_check_columns(read_check(f"{path}.check", check)):
                    _lookup(name, columns, f"{path}.check", f"no column {name!r} in table {table.name!r}")
            for column in table.columns.values():
                where = f"{path}.columns.{column.name}"
                real = _lookup(
                    column.name,
                    columns,
                    where,
                    f"no column {column.name!r} in table {table.name!r} of the database",
                )
                _check_type(where, column, columns[real].type)
            check_all_measured(table, catalogue[found])
        self._check_references(catalogue)

    def _check_references(self, catalogue: Mapping[str, Table]) -> None:
        """Raise unless both ends of every foreign key exist, with one type that can be a key."""
        kinds = {
            table.name: {
                column.name: column.type
                for column in catalogue[match_name(table.name, catalogue) or table.name].columns
            }
            for table in self.tables.values()
        }
        for entity in self.users:
            found = _lookup(entity.column, kinds[entity.table], "users", f"no column {str(entity)!r}")
            _check_key_type("users", kinds[entity.table][found])
        for table in self.tables.values():
            for key in table.foreign_keys:
                path = f"tables.{table.name}.foreign_keys.{key.column}"
                own = _lookup(
                    key.column, kinds[table.name], path, f"no column {key.column!r} in {table.name!r}"
                )
                to = _lookup(key.to.column, kinds[key.to.table], path, f"no column {str(key.to)!r}")
                left, right = kinds[table.name][own], kinds[key.to.table][to]
                _check_key_type(path, left)
                if left != right:
                    raise field_error(path, f": {table.name}.{own} is {left}, {key.to.table}.{to} is {right}")

    def owner_paths(self, table: str) -> tuple[OwnerPath, ...]:
        """The ways from a private table's rows to those who own them."""
        return find_owner_paths(table, self.tables, self.users)

    @property
    def measured(self) -> bool:
        """Whether what cells contain is protected, by norms."""
        return self.protects in ("values", "row+values")

    @property
    def counts_rows(self) -> bool:
        """Whether rows that come and go are protected beside what cells contain."""
        return self.protects == "row+values"

    def table_named(self, name: str) -> TablePolicy | None:
        """The table of this name, or of the only name that differs in case alone."""
        found = match_name(name, self.tables)
        return None if found is None else self.tables[found]


def match_name(name: str, known: Mapping[str, Any]) -> str | None:
    """The name as it is declared: exactly, or the only one equal but for upper and lower case."""
    if name in known:
        return name
    folded = [other for other in known if other.casefold() == name.casefold()]
    return folded[0] if len(folded) == 1 else None


def suggest_name(name: str, known: Mapping[str, Any], what: str) -> str:
    """A hint: the nearest name, or all of them."""
    shown = ", ".join(sorted(known)[:12]) + (", ..." if len(known) > 12 else "")
    return did_you_mean(name, known, otherwise=f"{what} are {shown or 'none'}")


def _lookup(name: str, known: Mapping[str, Any], path: str, wrong: str) -> str:
    found = match_name(name, known)
    if found is None:
        raise field_error(path, f": {wrong}: {suggest_name(name, known, 'its names')}")
    return found


def _check_key_type(path: str, kind: ColumnType) -> None:
    if kind not in KEY_TYPES:
        raise field_error(path, f": a column of type {kind} cannot be a key; integers and texts can")


def _check_type(where: str, column: ColumnPolicy, found: ColumnType) -> None:
    if column.kind is not None and column.kind != found:
        raise field_error(
            f"{where}.type",
            f" is {column.type!r}, the database has {found!r}: write that, or leave the type out",
        )
    # What was written without a type is checked now that the type is known.
    if column.domain is not None:
        read_domain(where, list(column.domain), found)
    if column.bounds is not None and found not in ("integer", "decimal", "float"):
        raise field_error(
            f"{where}.bounds", f": a column of type {found} has none; they are for numbers and dates"
        )
    if column.period is not None and found not in ("date", "timestamp"):
        raise field_error(f"{where}.bounds", f" are days, and the column is of type {found}")
    if column.bounds is not None and column.granularity is None and found == "integer":
        read_bounds(where, list(column.bounds), Fraction(1))


def _policy(content: Any) -> Policy:
    known = ("version", "dataset", "protects", "users", "min_units", "keys_per_unit", "most_per_unit", "tables",
             "least_epsilon", "answer_every", "most_pairs", "budgets", "cap")  # fmt: skip
    fields = read_mapping("", content, known, ("version", "dataset"))
    if fields["version"] != 1 or isinstance(fields["version"], bool):
        raise field_error("version", f" must be 1, got {fields['version']!r}")
    protects = fields.get("protects", "row")
    if protects not in ("row", "user", "values", "row+values"):
        raise field_error("protects", f" must be 'row', 'user', 'values' or 'row+values', got {protects!r}")
    for name in ("users", "min_units", "keys_per_unit", "most_per_unit"):
        if protects != "user" and fields.get(name) is not None:
            raise field_error(name, " is for 'protects: user', which protects someone with all their rows")
    if protects != "values" and fields.get("most_pairs") is not None:
        raise field_error("most_pairs", " is for 'protects: values', where the number of rows is public")
    tables = read_mapping("tables", fields.get("tables"), None)
    if not tables:
        raise field_error("tables", " is empty: name at least one table that may be asked about")
    if len({name.casefold() for name in tables}) < len(tables):
        raise field_error("tables", ": two names differ in upper and lower case only")
    budgets = read_mapping("budgets", fields.get("budgets"), None)
    found = {name: _table(name, content) for name, content in tables.items()}
    found = {name: _with_names(table, found) for name, table in found.items()}
    check_measured(found, protects)
    users = () if protects != "user" else tuple(
        _as_declared("users", entity, found) for entity in read_users(fields.get("users"))
    )  # fmt: skip
    if users:
        check_ownership(found, users)
    return Policy(
        dataset=read_string("dataset", fields["dataset"]),
        tables=found,
        budgets={name: _budget(f"budgets.{name}", content) for name, content in budgets.items()},
        cap=None if fields.get("cap") is None else _budget("cap", fields["cap"]),
        protects=protects,
        least_epsilon=read_positive("least_epsilon", fields.get("least_epsilon")) or LEAST_EPSILON,
        users=users,
        min_units=read_whole("min_units", fields.get("min_units"), at_least=1) or 1,
        keys_per_unit=read_whole("keys_per_unit", fields.get("keys_per_unit"), at_least=1) or 1,
        most_per_unit=read_positive("most_per_unit", fields.get("most_per_unit")),
        answer_every=read_seconds("answer_every", fields.get("answer_every")),
        most_pairs=read_whole("most_pairs", fields.get("most_pairs"), at_least=1) or MOST_PAIRS,
    )


def _as_declared(path: str, name: ColumnName, tables: Mapping[str, TablePolicy]) -> ColumnName:
    """The column of a table of the policy, whatever the case in which it is named here."""
    table = _lookup(name.table, tables, path, f"no table {name.table!r} in the policy")
    column = match_name(name.column, tables[table].columns)
    return ColumnName(table, column or name.column)


def _with_names(table: TablePolicy, tables: Mapping[str, TablePolicy]) -> TablePolicy:
    keys = tuple(
        replace(key, to=_as_declared(f"tables.{table.name}.foreign_keys.{key.column}", key.to, tables))
        for key in table.foreign_keys
    )
    return replace(table, foreign_keys=keys)


def _table(name: str, content: Any) -> TablePolicy:
    path = f"tables.{name}"
    known = ("private", "view", "key", "foreign_keys", "check", "weight", "norm", "rows", "columns")
    fields = read_mapping(path, content, known)
    columns = read_mapping(f"{path}.columns", fields.get("columns"), None)
    if len({column.casefold() for column in columns}) < len(columns):
        raise field_error(f"{path}.columns", ": two names differ in upper and lower case only")
    key, enforced = read_key(f"{path}.key", fields.get("key"))
    if enforced and not key:
        raise field_error(f"{path}.key", " is enforced but names no column")
    checks = read_texts(f"{path}.check", fields.get("check"))
    for check in checks:
        read_check(f"{path}.check", check)
    return TablePolicy(
        name=name,
        private=read_flag(f"{path}.private", fields.get("private", True)),
        view=read_flag(f"{path}.view", fields.get("view", False)),
        key=key,
        key_enforced=enforced,
        foreign_keys=read_foreign_keys(f"{path}.foreign_keys", fields.get("foreign_keys")),
        checks=checks,
        weight=read_weight(f"{path}.weight", fields.get("weight", 1)),
        norm=read_norm(f"{path}.norm", fields.get("norm")),
        rows=read_row_exponent(f"{path}.rows", fields.get("rows")),
        columns={
            column: _column(f"{path}.columns.{column}", column, content)
            for column, content in columns.items()
        },
    )


def _column(path: str, name: str, content: Any) -> ColumnPolicy:
    # A bare type is the shortest way to write a column: `age: integer`.
    written = {"type": content} if isinstance(content, str) else content
    if isinstance(written, Mapping) and isinstance(written.get("type"), str):
        read_type(
            f"{path}.type", written["type"]
        )  # first: a type that YAML has cut in two leaves an odd field
    known = ("type", "bounds", "domain", "granularity", "hidden", "public", "fixed", "constraint")
    fields = read_mapping(path, written, known)
    declared = None if fields.get("type") is None else read_type(f"{path}.type", fields["type"])
    kind = None if declared is None else read_kind(declared)
    granularity = read_granularity(f"{path}.granularity", fields.get("granularity"), kind)
    grain = Fraction(1) if granularity is None and kind == "integer" else granularity
    fields = add_constraint(path, fields, grain)
    period = None if kind not in (None, "date", "timestamp") else read_period(path, fields.get("bounds"))
    if kind is not None and kind not in ("integer", "decimal", "float"):
        for number in ("bounds", "granularity"):
            if fields.get(number) is not None and not (number == "bounds" and period is not None):
                raise field_error(
                    f"{path}.{number}", f": a column of type {kind} has none; it is for numbers"
                )
    return ColumnPolicy(
        name=name,
        type=declared,
        bounds=None if period is not None else read_bounds(path, fields.get("bounds"), grain),
        domain=read_domain(path, fields.get("domain"), kind),
        granularity=granularity,
        hidden=read_flag(f"{path}.hidden", fields.get("hidden", False)),
        period=period,
        public=read_flag(f"{path}.public", fields.get("public", False)),
        fixed=read_flag(f"{path}.fixed", fields.get("fixed", False)),
    )


def _budget(path: str, content: Any) -> DeclaredBudget:
    fields = read_mapping(path, content, ("epsilon", "delta", "rho", "at_delta", "advantage", "prior"))
    if sum(name in fields for name in ("epsilon", "rho", "advantage")) != 1:
        raise field_error(
            path, " must hold epsilon (with delta), rho (with at_delta) or advantage (with prior, or without)"
        )
    if "advantage" in fields and "delta" in fields:
        raise field_error(path, ": an advantage is a pure epsilon: leave delta out")
    if "prior" in fields and "advantage" not in fields:
        raise field_error(path, ": prior belongs to advantage")
    if ("rho" in fields) != ("at_delta" in fields):
        raise field_error(path, ": rho and at_delta belong together")
    return DeclaredBudget(
        epsilon=read_positive(f"{path}.epsilon", fields.get("epsilon")),
        delta=read_positive(f"{path}.delta", fields.get("delta") or None, below=1) or Fraction(0),
        rho=read_positive(f"{path}.rho", fields.get("rho")),
        at_delta=read_positive(f"{path}.at_delta", fields.get("at_delta"), below=1),
        advantage=read_positive(f"{path}.advantage", fields.get("advantage"), below=1),
        prior=read_positive(f"{path}.prior", fields.get("prior"), below=1),
    )


__all__ = [
    "DECLARED_TYPES",
    "MOST_ROWS",
    "ColumnPolicy",
    "DeclaredBudget",
    "Policy",
    "TablePolicy",
    "match_name",
    "suggest_name",
]
