"""What a data set's policies have said about its tables, and which changes would make an earlier guarantee false.

The guarantees of one account add up for one set of protected rows: the rows of the private tables. A table that was
private and is declared public later is read without noise from then on, and what its rows were promised is false; a
table that was public and is private later has rows that earlier answers did not protect, so that the account's sum is
false for them; and a row of a view is another row than that of a table. Such a change is refused once the data set
has been asked about, until the owner records it (`Ledger.redeclare`) or takes another data set name.

Nothing else that a policy says about tables does that. ``protects`` and ``weight`` are in the Distance, which is fixed
for good. Bounds, granularities, types and domains belong to each answer by itself; a key changes no noise. A table that
is left out cannot be asked about, and is remembered; a new table was never asked about. Tables are known by their
names, upper and lower case alike: a table under a new name is a new table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sordino.core import ParameterError
from sordino.core.parameters import choice, did_you_mean
from sordino.ledger.event import write_canonical_json
from sordino.ledger.records import CAP, append_event
from sordino.ledger.storage import Connection

TABLE_KINDS = ("private", "view", "public")  # rows of a table are protected, rows of a view are, none are

_WAS = {
    "private": "private, each of its rows protected",
    "view": "a private view, each row of the view protected",
    "public": "public, its rows not protected",
}


def declare_tables(connection: Connection, dataset: str, tables: Mapping[str, str]) -> None:
    """Record what is new; refuse what contradicts the record, unless nothing was asked yet."""
    known = read_tables(connection, dataset)
    news = {}
    for name, kind in _checked(tables).items():
        before = known.get(name)
        if before == kind:
            continue
        if before is not None and _was_asked(connection, dataset):
            raise ParameterError(
                f"policy tables.{name}: data set {dataset!r} has been asked about while this table was {_WAS[before]}; "
                f"now it is {_WAS[kind]}, and the guarantees given so far would not hold for its rows. Declare it as "
                "before, give the data set another name and budgets of its own, or have the owner record the change: "
                f"'sordino ledger redeclare FILE --dataset … --table … --as {kind}' or Ledger.redeclare"
            )
        news[name] = kind
    if news:
        _write(connection, "declare", dataset, news)


def redeclare_table(connection: Connection, dataset: str, table: str, kind: str) -> None:
    """The owner's act: from now on the table counts as this; saying the same again changes nothing."""
    ((name, kind),) = _checked({table: kind}).items()
    known = read_tables(connection, dataset)
    if name not in known:
        others = f"known: {', '.join(sorted(known)) or 'none'}"
        raise ParameterError(
            f"no policy has declared a table {table!r} of data set {dataset!r}: "
            f"{did_you_mean(name, known, otherwise=others)}"
        )
    if known[name] != kind:
        _write(connection, "redeclare", dataset, {name: kind})


def read_tables(connection: Connection, dataset: str) -> dict[str, str]:
    """Every table that a policy has named, by its name in lower case, with what it was declared as last."""
    rows = connection.execute(
        "SELECT parameters FROM events WHERE kind IN ('declare', 'redeclare') AND dataset = ? ORDER BY number",
        (dataset,),
    )
    known: dict[str, str] = {}
    for (content,) in rows.fetchall():
        known |= json.loads(content)["tables"]
    return known


def _checked(tables: Any) -> dict[str, str]:
    if not isinstance(tables, Mapping) or not all(isinstance(name, str) and name for name in tables):
        raise ParameterError("tables must be a dict of table names")
    return {name.casefold(): choice(f"table {name!r}", kind, TABLE_KINDS) for name, kind in tables.items()}


def _was_asked(connection: Connection, dataset: str) -> bool:
    found = connection.execute(
        "SELECT 1 FROM events WHERE kind = 'reserve' AND dataset = ? LIMIT 1", (dataset,)
    )
    return found.fetchone() is not None


def _write(connection: Connection, kind: str, dataset: str, tables: dict[str, str]) -> None:
    parameters = write_canonical_json("tables", {"tables": tables})
    append_event(connection, kind=kind, dataset=dataset, analyst=CAP, parameters=parameters)
