"""Witnesses, replayed in a database."""

from __future__ import annotations

from collections import Counter

import duckdb


def replay(schema: str, sql: str, witness, *, groups: int = 0) -> int:
    """How many result rows change, or groups by so many first columns, when the row is taken out again."""
    with duckdb.connect() as connection:
        connection.execute(schema)
        *others, last = witness.statements()
        for statement in others:
            connection.execute(statement)
        without = Counter(connection.execute(sql).fetchall())
        connection.execute(last)
        full = Counter(connection.execute(sql).fetchall())
    changed = (full - without) + (without - full)
    return len({row[:groups] for row in changed}) if groups else changed.total()
