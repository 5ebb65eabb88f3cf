"""A first policy for a database, with comments, from its catalogue alone: no row is read."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sordino.core import ParameterError
from sordino.engines import Column, Table
from sordino.sql.policy.fields import DECLARED_TYPES

_HEAD = """\
# A policy for Sordino, written from the catalogue; no row was read. Edit it, then keep it under version control:
# everything that carries the guarantee is decided here and by nobody else.
version: 1
dataset: {dataset}

# What is protected: each row of each private table by itself. A person with several rows is protected less.
protects: row

# Only tables listed here can be asked about. Remove those that nobody should ask about.
# Types: {types}, and "decimal(10, 2)" in quotes.
# CSV files have none of their own: a column is text until another type is written here. Empty cells of a CSV file
# are NULL, and so are cells that do not convert to the type.
# A column may be asked about unless it says 'hidden: true'.
tables:
"""
_TABLE = """\
  {name}:
    private: true      # false: its rows are public, and every column may be a group
    # key: [id]        # a note, checked against the columns; it changes no noise: a neighbour may break a key
    # weight: 1        # how many units of distance one row is worth; a row of weight 10 costs 10 times the epsilon
"""
_VIEW = """\
  # {name} is a view and left out: one row of a table below it may be many rows in it, or none. To protect each row of
  # the view by itself instead, write {name}: {{view: true}}
"""
_TAIL = """
# What each analyst may spend: epsilon (with delta), or rho (with at_delta).
# A number that changes here counts from then on, and so does 'sordino ledger grant' until it changes here again; a name
# that is removed has no budget any more.
budgets:
  # ann: {epsilon: 1.0, delta: 1e-6}
  # bob: {rho: 0.1, at_delta: 1e-6}

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
    "boolean": "domain: [true, false] to allow groups",
    "date": "domain: [2024-01-01, 2024-01-02] to allow groups",
    "timestamp": "",
}


def write_policy(catalogue: Mapping[str, Table], dataset: str) -> str:
    """YAML text that `Policy.load` reads: every table private, every column with its type, and what could be added."""
    if all(table.view for table in catalogue.values()):
        raise ParameterError("the database has no tables: there is nothing to write a policy about")
    if not isinstance(dataset, str) or not dataset.strip():
        raise ParameterError(f"dataset must be a name, got {dataset!r}")
    parts = [_HEAD.format(dataset=_quoted(dataset), types=", ".join(DECLARED_TYPES))]
    for table in sorted(catalogue.values(), key=lambda table: table.name):
        if table.view:
            parts.append(_VIEW.format(name=_quoted(table.name)))
            continue
        parts.append(_TABLE.format(name=_quoted(table.name)))
        parts.append("    columns:\n")
        parts += [_column(column) for column in table.columns]
    return "".join(parts) + _TAIL


def _column(column: Column) -> str:
    if column.type not in DECLARED_TYPES:
        return f"      {_quoted(column.name)}: {{}}    # a type that can be counted only\n"
    hint = _HINTS[column.type]
    return f"      {_quoted(column.name)}: {{type: {column.type}}}{'    # ' + hint if hint else ''}\n"


def _quoted(name: str) -> str:
    """A name as YAML; plain where every reader takes it for a text, else in quotes."""
    plain = name.isidentifier() and name.isascii() and name.lower() not in _WORDS
    return name if plain else json.dumps(name)


_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
