"""Encoded: a formula whose models are databases in which one row changes so many result rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sordino.sql.solver.script import RowNames, Script


@dataclass(frozen=True, slots=True)
class Encoded:
    """``row``: y, the row that is added or removed. ``others``: rows beside it, each there if its flag is true."""

    script: Script
    row: RowNames
    others: tuple[tuple[str | None, RowNames], ...]


class Encoding(Protocol):
    """One question to a solver for every number N of changed rows; satisfiable for N if it is for N + 1."""

    @property
    def most(self) -> int | None:
        """The largest N whose formula is not too large; None: any."""

    def encode(self, number: int, terms: int | None = None) -> Encoded:
        """That a row changes at least so many result rows in some database, in at most so many terms."""
