"""What is seen from outside of questions that are under way, whatever keeps the ledger."""

from __future__ import annotations

import os
import time
from pathlib import Path


def count_held(path):
    """How many reservations somebody holds: files beside a file, locks in a database."""
    if isinstance(path, Path):
        return len([file for file in path.parent.iterdir() if "-open-" in file.name])
    return _ask(path, "SELECT count(*) FROM pg_locks JOIN pg_database ON database = pg_database.oid "
                "WHERE locktype = 'advisory' AND objsubid = 2 AND datname = current_database()")[0][0]  # fmt: skip


def await_the_dead(path):
    """Until a server has noticed which processes ended; a file's locks end with them."""
    deadline = time.monotonic() + 10
    while not isinstance(path, Path):
        names = _ask(path, "SELECT application_name FROM pg_stat_activity WHERE datname = current_database() "
                     "AND application_name LIKE 'sordino ledger %'")  # fmt: skip
        if all(_lives(int(name.split()[-1])) for (name,) in names):
            return
        assert time.monotonic() < deadline, "the server keeps the sessions of the dead"
        time.sleep(0.005)


def _ask(url, statement):
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement).fetchall()


def _lives(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
