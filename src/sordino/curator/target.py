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
    engine = connect(target, types=csv_types(target, policy), memory_limit=memory_limit, threads=threads)
    return engine, True


def csv_types(target: Any, policy: Policy) -> dict[str, dict[str, str]] | None:
    """The declared types of the tables that are CSV files; None where the target has types of its own."""
    if not isinstance(target, str | os.PathLike) or "://" in str(target):
        return None
    path = Path(target)
    if path.suffix.lower() in DATABASE_SUFFIXES or not path.exists():
        return None
    declared = policy.types()
    types = {}
    for file in list_table_files(path):
        name = match_name(file.name, declared)
        if name is not None and not file.is_parquet:
            types[file.name] = declared[name]
    return types or None
