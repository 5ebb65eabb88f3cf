"""Small random logs with ties, NULLs and values that are shared between columns, owners and times."""

from __future__ import annotations

from random import Random

import pyarrow as pa

from sordino.logs import Chains
from tests.oracles.log_chains import Entry, give_owner, list_chains

NAMES = ("x", "y", "z")


def draw_log(random: Random, *, largest: int = 13, owners: int = 4, size: int | None = None) -> list[Entry]:
    entries = random.randint(0, largest) if size is None else size
    columns = random.randint(1, 3)
    people = [f"o{index}" for index in range(random.randint(1, owners))]
    pool = [None, *(f"v{index}" for index in range(random.randint(1, 8)))]
    return [
        (random.randint(0, 8), random.choice(people), tuple(random.choice(pool) for _ in range(columns)))
        for _ in range(entries)
    ]


def as_table(log: list[Entry], columns: int | None = None) -> pa.Table:
    width = len(log[0][2]) if columns is None else columns
    return pa.table(
        {
            "time": pa.array([time for time, _, _ in log], pa.int64()),
            "owner": pa.array([who for _, who, _ in log], pa.string()),
            **{
                name: pa.array([values[place] for _, _, values in log], pa.string())
                for place, name in enumerate(NAMES[:width])
            },
        }
    )


def read_rows(table: pa.Table) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def check_against_rule(found: Chains, log: list[Entry], match: str) -> None:
    """Every owner gets what the rule gives, no more and no less."""
    ordered, chains = list_chains(log, match)
    for owner in found.owners:
        shown, alone = give_owner(ordered, chains, owner)
        assert read_rows(found.for_owner(owner)) == shown
        assert read_rows(found.unmatched(owner)) == alone
