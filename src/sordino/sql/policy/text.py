"""A first policy for a database, with comments, from its catalogue alone: no row is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from sordino.core import ParameterError
from sordino.engines import Column, Table
from sordino.sql.policy.fields import DECLARED_TYPES, read_domain
from sordino.sql.policy.ownership import ColumnName
from sordino.sql.policy.relations import Relations, find_entities, find_relations, find_users

_HEAD = """\
# A policy for Sordino, written from the catalogue; no row was read. Edit it, then keep it under version control:
# everything that carries the guarantee is decided here and by nobody else.
version: 1
dataset: {dataset}

{protects}
# Only tables listed here can be asked about. Remove those that nobody should ask about.
# Types: {types}, and "decimal(10, 2)" in quotes.
# CSV files have none of their own: a column is text until another type is written here. Empty cells of a CSV file
# are NULL, and so are cells that do not convert to the type.
# A column may be asked about unless it says 'hidden: true'.
tables:
"""
_ROWS = """\
# What is protected: each row of each private table by itself. A person with several rows is protected less.
protects: row

# To protect someone with all their rows instead, name the key of the table that they are rows of; the other tables
# need foreign_keys that lead there.
{suggestion}# protects: user
# users: {example}
"""
_USERS = """\
# What is protected: each of these with all their rows, found through foreign_keys.
protects: user
users: {users}
# min_units: 10        # how many of them a group that nobody declared must have at least
# keys_per_unit: 1     # for how many such groups one of them is counted at most
# most_per_unit: 1000  # more than anyone's total, a count or a sum; totals beyond it are clipped
"""
_VIEW = """\
  # {name} is a view and left out: one row of a table below it may be many rows in it, or none. To protect each row of
  # the view by itself instead, write {name}: {{view: true}}
"""
_OWNERLESS = """\
  # {name} is left out: no enforced foreign key leads from it to {users}. List it with foreign_keys that do
  # ({example}), or with private: false if its rows are public:
"""
_NO_KEY = "# key: [id]        # a note, checked against the columns; it changes no noise: a neighbour may break a key"
_WEIGHT = "# weight: 1        # how many units of distance a row is worth; one of weight 10 costs 10 times the epsilon"
_TWIN = "left out, its name differs from another in upper and lower case only"
_TAIL = """
# What each analyst may spend: epsilon (with delta), rho (with at_delta), or advantage: how far a belief may rise.
# A number that changes here counts from then on, and so does 'sordino ledger grant' until it changes here again; a name
# that is removed has no budget any more.
budgets:
  # ann: {epsilon: 1.0, delta: 1e-6}
  # bob: {rho: 0.1, at_delta: 1e-6}
  # eve: {advantage: 0.1, prior: 0.2}

# What all analysts together may spend.
# cap: {epsilon: 3.0, delta: 1e-6}

# What a question asks for at least; a smaller epsilon is refused.
# least_epsilon: 1e-6
"""
_HINTS = {
    "integer": "bounds: [0, 100] to allow sums; domain: [1, 2, 3] to allow groups",
    "decimal": "bounds: [0, 100] and granularity: 0.01 to allow sums",
    "float": "bounds: [0, 100] and granularity: 0.01 to allow sums",
    "text": "domain: [a, b] to allow groups",
    "boolean": "groups: false, true and NULL; domain: [true, false] to leave NULL out",
    "date": "domain: [2024-01-01, 2024-01-02] to allow groups; fixed: true if rows keep it",
    "timestamp": "fixed: true if rows keep it, to allow series",
}
_MOST_LABELS = 1000
_MOST_ENTITIES = 3


def write_policy(catalogue: Mapping[str, Table], dataset: str, users: Sequence[str] = ()) -> str:
    """YAML text that `Policy.load` reads: every table private, every column with its type, and what could be added.

    Keys, foreign keys and the labels of enumerations are the catalogue's. ``users``: the entities that are protected
    with all their rows, such as ``customers.id``; tables that no foreign key ties to them are left out, as comments.
    """
    twins = _find_twins(catalogue)
    tables = {
        name: catalogue[name] for name in sorted(catalogue) if not (catalogue[name].view or name in twins)
    }
    if not tables:
        raise ParameterError("the database has no tables: there is nothing to write a policy about")
    if not isinstance(dataset, str) or not dataset.strip():
        raise ParameterError(f"dataset must be a name, got {dataset!r}")
    entities = find_users(users, tables)
    relations = find_relations(tables, entities)
    protects = _users(entities) if entities else _rows(tables)
    parts = [_HEAD.format(dataset=_quoted(dataset), types=", ".join(DECLARED_TYPES), protects=protects)]
    for name in sorted(catalogue):
        if name in twins:
            parts.append(f"  # {_TWIN}: {_quoted(name)}\n")
        elif name not in tables:
            parts.append(_VIEW.format(name=_quoted(name)))
        elif name in relations.ownerless:
            parts.append(_ownerless(name, entities))
            parts += [f"  # {line}\n" for line in _table(tables[name], relations, entities)]
        else:
            parts += [f"  {line}\n" for line in _table(tables[name], relations, entities)]
    return "".join(parts) + _TAIL


def _rows(tables: Mapping[str, Table]) -> str:
    found = [_quoted_column(entity) for entity in find_entities(tables)]
    shown = ", ".join(found[:_MOST_ENTITIES]) + (", …" if len(found) > _MOST_ENTITIES else "")
    suggestion = f"# The database has foreign keys to {shown}\n" if found else ""
    return _ROWS.format(suggestion=suggestion, example=found[0] if found else "customers.id")


def _users(entities: Sequence[ColumnName]) -> str:
    names = [_quoted_column(entity) for entity in entities]
    return _USERS.format(users=names[0] if len(names) == 1 else f"[{', '.join(names)}]")


def _ownerless(name: str, entities: Sequence[ColumnName]) -> str:
    example = f"foreign_keys: {{{_guess(entities[0])}: {_quoted_column(entities[0])}}}"
    return _OWNERLESS.format(
        name=_quoted(name), users=" or ".join(map(_quoted_column, entities)), example=example
    )


def _guess(entity: ColumnName) -> str:
    """What a column that refers to an entity might be called."""
    table = entity.table.rpartition(".")[2]
    return f"{table.removesuffix('s')}_{entity.column}" if table.isidentifier() else "column"


def _table(table: Table, relations: Relations, entities: Sequence[ColumnName]) -> list[str]:
    """The lines of one table, without what stands in front of all of them."""
    lines = [f"{_quoted(table.name)}:"]
    lines.append("  private: true      # false: its rows are public, and every column may be a group")
    lines += [f"  {line}" for line in _keys(table, entities)]
    declared = relations.declared[table.name]
    if declared:
        lines.append(
            "  foreign_keys:      # enforced by the database: who owns a row, where users are protected"
        )
        lines += [f"    {_quoted(key.column)}: {_quoted_column(key.to)}" for key in declared]
    elif not entities:
        lines.append(
            "  # foreign_keys: {customer_id: customers.id}  # who owns a row, where users are protected"
        )
    for reference, reason in relations.left[table.name]:
        own, to = ", ".join(map(_quoted, reference.columns)), ", ".join(map(_quoted, reference.to))
        lines.append(f"  # foreign key not listed: {own} → {_quoted(reference.table)} ({to}): {reason}")
    if not entities:
        lines.append(f"  {_WEIGHT}")
    lines.append("  columns:")
    twins = _find_twins([column.name for column in table.columns])
    for column in table.columns:
        twin = f"# {_TWIN}: " if column.name in twins else ""
        lines.append(f"    {twin}{_column(column)}")
    return lines


def _find_twins(names: Collection[str]) -> set[str]:
    """The names that differ from another in upper and lower case only: they cannot stand in a policy."""
    counts = Counter(name.casefold() for name in names)
    return {name for name in names if counts[name.casefold()] > 1}


def _keys(table: Table, entities: Sequence[ColumnName]) -> list[str]:
    if not table.keys:
        entity = next((entity for entity in entities if entity.table == table.name), None)
        if entity is None:
            return [_NO_KEY]
        promise = f"# key: {{columns: [{_quoted(entity.column)}], enforced: true}}"
        return [f"{promise}  # your promise: no two rows ever share it, in no database"]
    first, *others = ([*map(_quoted, key)] for key in table.keys)
    lines = [f"key: [{', '.join(first)}]  # enforced by the database"]
    return lines + [
        f"# no two rows share [{', '.join(key)}] either: enforced by the database" for key in others
    ]


def _column(column: Column) -> str:
    filled = "" if column.nullable else "never NULL"
    if column.type not in DECLARED_TYPES:
        notes = ["a type that can be counted only", filled]
        return f"{_quoted(column.name)}: {{}}{_comment(*notes)}"
    domain = _domain(column)
    hint = "the labels of the enumeration; remove what nobody may know" if domain else _HINTS[column.type]
    return f"{_quoted(column.name)}: {{type: {column.type}{domain}}}{_comment(filled, hint)}"


def _comment(*notes: str) -> str:
    said = "; ".join(note for note in notes if note)
    return f"    # {said}" if said else ""


def _domain(column: Column) -> str:
    """The labels as a domain; none where two of them could be taken for one (`read_domain`)."""
    if not column.labels or len(column.labels) > _MOST_LABELS:
        return ""
    try:
        read_domain(column.name, list(column.labels), "text")
    except ParameterError:
        return ""
    return f", domain: [{', '.join(_in_quotes(label) for label in column.labels)}]"


def _quoted_column(name: ColumnName) -> str:
    plain = all(part == _quoted(part) for part in (*name.table.split("."), name.column))
    return str(name) if plain else _in_quotes(str(name))


def _quoted(name: str) -> str:
    """A name as YAML; plain where every reader takes it for a text, else in quotes."""
    plain = name.isidentifier() and name.isascii() and name.lower() not in _WORDS
    return name if plain else _in_quotes(name)


def _in_quotes(text: str) -> str:
    """A text in double quotes; unlike JSON's, an escape of YAML is a whole character."""
    return '"' + "".join(map(_character, text)) + '"'


def _character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08X}"


_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
