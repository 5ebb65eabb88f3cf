"""Rows as they are sent: answers of questions, and of COPY."""

from __future__ import annotations

import struct
from datetime import date, datetime
from typing import Any

from sordino.server.postgres import frames
from sordino.server.postgres.frames import frame
from sordino.server.postgres.values import (
    ARRAYS,
    BOOL,
    BPCHAR,
    DATE,
    NAME,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    UNKNOWN,
    VARCHAR,
    WireColumn,
    encode,
)

_COPY_HEAD = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)


def write_rows(columns: tuple[WireColumn, ...], rows: list[tuple[Any, ...]], formats: list[int]) -> bytes:
    """Rows as messages, each column in its format."""
    codes = [pick_format(formats, place) for place in range(len(columns))]
    return b"".join(
        frames.data_row(
            [encode(value, column.oid, code) for value, column, code in zip(row, columns, codes, strict=True)]
        )
        for row in rows
    )


def write_copy(columns: tuple[WireColumn, ...], rows: list[tuple[Any, ...]], binary: bool) -> bytes:
    """Rows as COPY sends them."""
    written = [_copy_row(columns, row, binary) for row in rows]
    if binary:
        written.append(struct.pack("!h", -1))
        written[0] = _COPY_HEAD + written[0]  # some clients want them together
    return frames.copy_out(len(columns), binary) + b"".join(frame(b"d", row) for row in written) + frame(b"c")


def _copy_row(columns: tuple[WireColumn, ...], row: tuple[Any, ...], binary: bool) -> bytes:
    values = [encode(value, column.oid, int(binary)) for value, column in zip(row, columns, strict=True)]
    if binary:
        cells = [
            b"\xff\xff\xff\xff" if value is None else struct.pack("!i", len(value)) + value
            for value in values
        ]
        return struct.pack("!h", len(values)) + b"".join(cells)
    return b"\t".join(rb"\N" if value is None else _escaped(value) for value in values) + b"\n"


def _escaped(value: bytes) -> bytes:
    for plain, written in ((b"\\", b"\\\\"), (b"\t", rb"\t"), (b"\n", rb"\n"), (b"\r", rb"\r")):
        value = value.replace(plain, written)
    return value


def pick_format(formats: list[int], place: int) -> int:
    """One format for all, one for each, or text."""
    if not formats:
        return 0
    return formats[0] if len(formats) == 1 else formats[place] if place < len(formats) else 0


def example(oid: int) -> Any:
    """A value of a type, for a description before values are known."""
    if oid in (TEXT, UNKNOWN, BPCHAR, VARCHAR, NAME):
        return ""
    if oid in ARRAYS.values():
        return "{}"
    if oid == BOOL:
        return True
    if oid == DATE:
        return date(2000, 1, 1)
    return datetime(2000, 1, 1) if oid in (TIMESTAMP, TIMESTAMPTZ) else 1
