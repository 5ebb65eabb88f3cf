"""Where a ledger is: a file, or a database by its address. Another kind of store is one file and one entry here."""

from __future__ import annotations

import os
from pathlib import Path

from sordino.core import LedgerError
from sordino.ledger.storage import Storage
from sordino.ledger.store import Store
from sordino.ledger.store_postgresql import SCHEMES, PostgreSQLStore, has_ledger


def open_storage(source: str | os.PathLike[str], *, create: bool, patience: float, write: bool) -> Storage:
    """The store of a path or an address."""
    if is_address(source):
        return PostgreSQLStore(str(source), create=create, patience=patience, write=write)
    return Store(Path(source), create=create, patience=patience, write=write)


def is_address(source: str | os.PathLike[str]) -> bool:
    """Whether it is the address of a database and not a path."""
    return isinstance(source, str) and source.startswith(SCHEMES)


def find_ledger(source: str | os.PathLike[str]) -> bool:
    """Whether there is a ledger; LedgerError if none could be made there, for a reason that shows now."""
    if is_address(source):
        return has_ledger(str(source))
    path = Path(source)
    if path.exists():
        return True
    if not path.absolute().parent.is_dir():
        raise LedgerError(f"ledger {path}: its folder does not exist")
    return False
