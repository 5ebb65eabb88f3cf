"""The shadow: an empty database built from the policy, which answers what drivers ask of PostgreSQL's catalogues.

It holds names and types and no row of any table, so no catalogue question can touch one: it is another database.
Questions are rewritten for it (`shadow_rewrite.py`); what it cannot answer is an error of its own and tells nothing.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp, parse_one
from sqlglot.dialects import Postgres
from sqlglot.errors import SqlglotError

from sordino.core import EngineError
from sordino.curator.description import Description
from sordino.server.postgres.shadow_relations import RELATIONS
from sordino.server.postgres.shadow_rewrite import rewrite
from sordino.server.postgres.shadow_tables import SCHEMA, fill_rows
from sordino.server.postgres.sqlstate import state_error
from sordino.server.postgres.values import (
    ARRAYS,
    BOOL,
    CALLED,
    DATE,
    FLOAT8,
    INT2,
    INT2VECTOR,
    INT4,
    INT8,
    NUMERIC,
    OF_COLUMN,
    OID,
    OIDVECTOR,
    TEXT,
    TIMESTAMP,
    UNKNOWN,
    WireColumn,
)

_OIDS = {
    "BOOLEAN": BOOL,
    "SMALLINT": INT2,
    "INTEGER": INT4,
    "BIGINT": INT8,
    "UINTEGER": OID,
    "HUGEINT": NUMERIC,
    "DOUBLE": FLOAT8,
    "FLOAT": FLOAT8,
    "DATE": DATE,
    "TIMESTAMP": TIMESTAMP,
}
_VECTORS = {
    "indkey": INT2VECTOR,
    "indoption": INT2VECTOR,
    "indclass": OIDVECTOR,
    "indcollation": OIDVECTOR,
    "proargtypes": OIDVECTOR,
}
_PATIENCE = 5.0  # seconds for one question
_CAST = re.compile(
    r"\$(\d{1,5})\s*::\s*(?:pg_catalog\s*\.\s*)?(double\s+precision|\w+)\s*(\[\s*\])?", re.IGNORECASE
)


class Catalogue:
    """One shadow for all connections of a server.

    It is a process of its own (`shadow_process.py`) with bounds on its time and memory: what it is asked is written by
    analysts, and a question that it does not survive ends it alone; the next one finds a new shadow.
    """

    def __init__(self, description: Description) -> None:
        self.turn = (
            asyncio.Lock()
        )  # who waits for the shadow waits here, and holds no thread that others need
        self._lock = threading.Lock()
        self._tables = {table.name.casefold(): table for table in description.tables}
        filling: list[tuple[str, list[tuple[Any, ...]] | None]] = [(statement, None) for statement in SCHEMA]
        for table, rows in fill_rows(description).items():
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                filling.append((f"INSERT INTO {table} VALUES ({marks})", rows))
        self._filling = json.dumps(filling)
        self._process: subprocess.Popen[str] | None = None
        try:
            self._running()
        except OSError:
            self._end()
            raise EngineError("the shadow of the catalogue does not start") from None

    def describe(self, sql: str) -> tuple[WireColumn, ...]:
        """The columns of a catalogue question."""
        return self.ask(sql, "")[0]

    def ask(self, sql: str, name: str) -> tuple[tuple[WireColumn, ...], list[tuple[Any, ...]]]:
        """Columns and rows."""
        try:
            written = rewrite(sql, name)
        except (SqlglotError, RecursionError, ValueError):
            raise state_error("42601", "this question about the catalogue is not understood") from None
        with self._lock:
            told = self._exchange(written)
        if "columns" not in told:
            raise state_error("0A000", "this question about the catalogue is not answered here")
        columns = tuple(WireColumn(item, _oid(item, kind)) for item, kind in told["columns"])
        return columns, [tuple(row) for row in told["rows"]]

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _exchange(self, sql: str) -> dict[str, Any]:
        try:
            process = self._running()
            if process.stdin is None or process.stdout is None:
                return {}
            watch = threading.Timer(_PATIENCE, process.kill)
            watch.start()
            try:
                process.stdin.write(json.dumps(sql) + "\n")
                process.stdin.flush()
                told: dict[str, Any] = json.loads(process.stdout.readline())
                return told
            finally:
                watch.cancel()
        except (OSError, ValueError):
            self._end()
            return {}

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = process = subprocess.Popen(
                [sys.executable, "-I", str(Path(__file__).with_name("shadow_process.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                start_new_session=True,  # an interrupt is the server's to handle
            )
            if process.stdin is None or process.stdout is None:
                raise OSError
            process.stdin.write(self._filling + "\n")
            process.stdin.flush()
            if process.stdout.readline() != "ready\n":
                raise OSError
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def guess_types(self, sql: str, known: Sequence[int]) -> list[int]:
        """Types of parameters that a client left open: as the statement calls them, or what they are compared with."""
        guessed = list(known)
        if UNKNOWN not in guessed:
            return guessed
        found = {**self._compared(sql), **_called(sql)}
        return [found.get(place, TEXT) if oid == UNKNOWN else oid for place, oid in enumerate(guessed, 1)]

    def _compared(self, sql: str) -> Mapping[int, int]:
        try:
            tree = parse_one(sql, read=Postgres)
        except (SqlglotError, RecursionError):
            return {}
        types = _CATALOGUE_TYPES | {
            column.name.casefold(): OF_COLUMN.get(column.type.partition("(")[0], TEXT)
            for table in self._tables.values()
            for column in table.columns
        }
        found: dict[int, int] = {}
        for node in tree.find_all(exp.Parameter):
            above = node.parent
            names = [] if above is None else [item.name.casefold() for item in above.find_all(exp.Column)]
            oid = next((types[name] for name in names if name in types), None)
            if oid is not None and node.name.isdigit():
                found[int(node.name)] = oid
        return found


def _oid(name: str, kind: str) -> int:
    if kind == "BIGINT" and (name == "oid" or name.endswith(("relid", "typid", "oid"))):
        return OID
    if kind == "BIGINT[]" and name.endswith("oids"):
        return ARRAYS[OID]
    if kind.endswith("[]"):
        return _VECTORS.get(name, ARRAYS[_OIDS.get(kind[:-2], TEXT)])
    return _OIDS.get(kind, TEXT)


_CATALOGUE_TYPES = {
    name: _oid(name, kind) for columns in RELATIONS.values() for name, kind in columns.items()
}


def _called(sql: str) -> dict[int, int]:
    """Types that a statement gives to its parameters. A guess: the parser does not know lists of all types."""
    found: dict[int, int] = {}
    for place, kind, listed in _CAST.findall(sql):
        oid = CALLED.get(" ".join(kind.lower().split()))
        if oid is not None:
            found[int(place)] = ARRAYS[oid] if listed else oid
    return found
