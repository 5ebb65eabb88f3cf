"""Databases behind one protocol: dialect, catalogue, snapshot, aggregate."""

from sordino.engines.connect import connect
from sordino.engines.engine import (
    Column,
    ColumnType,
    Engine,
    FileEngine,
    KeepingSnapshot,
    Reference,
    Snapshot,
    Table,
)
from sordino.engines.query import write_double

__all__ = [
    "Column",
    "ColumnType",
    "Engine",
    "FileEngine",
    "KeepingSnapshot",
    "Reference",
    "Snapshot",
    "Table",
    "connect",
    "write_double",
]
