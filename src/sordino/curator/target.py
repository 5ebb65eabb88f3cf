"""Opening what the owner points at, with the types that the policy declares."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sordino.engines import Engine, connect
from sordino.engines.files import DATABASE_SUFFIXES, list_table_files
from sordino.sql.policy import Policy, match_name


def open_target(
    target: Any, policy: Policy, *, memory_limit: str | None, threads: int | None
) -> tuple[Engine, bool]:
    """The engine, and whether it is ours to close."""
    if isinstance(target, Engine):
        return target, False
    engine = connect(target, types=declare_types(target, policy), memory_limit=memory_limit, threads=threads)
    return engine, True


def declare_types(target: Any, policy: Policy) -> dict[str, dict[str, str]] | None:
    """The policy's types of what has none of its own: CSV files, and names of folders; None where all has."""
    if not isinstance(target, str | os.PathLike) or "://" in str(target):
        return None
    path = Path(target)
    if path.suffix.lower() in DATABASE_SUFFIXES or not path.exists():
        return None
    declared = policy.types()
    types = {}
    for file in list_table_files(path):
        name = match_name(file.name, declared)
        if name is None or file.untyped == ():
            continue
        columns = declared[name]
        if file.untyped is not None:
            found = {key: match_name(key, columns) for key in file.untyped}
            columns = {key: columns[written] for key, written in found.items() if written is not None}
        types[file.name] = columns
    return types or None
