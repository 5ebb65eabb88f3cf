"""A first policy as text with comments, from a catalogue alone."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sordino.engines import Column, Table

_HEAD = """\
# What is public about this data set. Nothing here was read from rows, and nothing should be:
# bounds, domains and budgets are promises to the people in the data, made without looking.
version: 1
dataset: {dataset}        # the name under which the ledger keeps the budgets
protects: row             # each row by itself; a person with several rows is not protected as one

"""
_BUDGETS = """
# What each analyst may spend in all, and all analysts together. Without a budget nobody gets an answer.
budgets: {}
#  ann: {epsilon: 1}
#  bob: {epsilon: 2, delta: 1e-6}
#  owner: {epsilon: 1}    # what the owner publishes
#cap: {epsilon: 5, delta: 1e-6}
"""
_TABLES = """\
# Tables that may be asked about; leave out those that may not.
#   private: true unless the rows may be known to everybody
#   weight:  how many units of distance one row is worth (1)
# Columns:
#   type:        {types}
#   bounds:      [lo, hi] of a number; values outside are moved to the nearer one. SUM and AVG need them
#   granularity: the step in which sums are counted (1 for whole numbers); bounds are multiples of it
#   domain:      the values that may be groups, all of them; GROUP BY needs it
tables:
"""
_TYPED = "said by the database"
_UNTYPED = (
    "integer, decimal, decimal(p, s), float, text, boolean, date, timestamp; a cell of another kind is NULL"
)
_HINTS = {
    "integer": "bounds: [0, 100]",
    "decimal": "bounds: [0, 100], granularity: 0.01",
    "float": "bounds: [0, 100], granularity: 0.01",
    "text": "domain: [a, b]",
    "boolean": "domain: [true, false]",
    "date": "domain: [2024-01-01]",
}


def policy_text(catalogue: Mapping[str, Table], dataset: str, *, typed: bool) -> str:
    """YAML that loads as it stands: all tables private, no bounds, no budgets.

    ``typed``: the database knows its types, so the policy need not say them; for CSV files it must.
    """
    parts = [
        _HEAD.format(dataset=_quoted(dataset)),
        _TABLES.format(types=_TYPED if typed else _UNTYPED),
    ]
    for table in catalogue.values():
        parts.append(f"  {_quoted(table.name)}:\n    private: true\n    columns:\n")
        parts += [f"      {_column(column, typed=typed)}\n" for column in table.columns]
    return "".join(parts) + _BUDGETS


def _column(column: Column, *, typed: bool) -> str:
    hint = _HINTS.get(column.type, "")
    if typed:
        note = f"  # {column.type}" + (f", such as {{{hint}}}" if hint else "")
        return f"{_quoted(column.name)}: {{}}{note}"
    if column.type == "other":
        return f"{_quoted(column.name)}: {{}}  # of a type that questions cannot use"
    return (
        f"{_quoted(column.name)}: {{type: {column.type}}}  # such as {{type: integer, {_HINTS['integer']}}}"
    )


def _quoted(name: str) -> str:
    """A name as YAML reads it back: bare where that is safe, else in quotes."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdigit()
    words = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
    return name if plain and name.lower() not in words else json.dumps(name, ensure_ascii=False)
