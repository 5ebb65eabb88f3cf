"""Values on the wire: types by their numbers, in text and in binary form."""

from __future__ import annotations

import math
import re
import struct
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sordino.server.postgres.frames import FrameError

BOOL, BYTEA, CHAR, NAME, INT8, INT2, INT4, TEXT, OID = 16, 17, 18, 19, 20, 21, 23, 25, 26
FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR, DATE, TIMESTAMP, TIMESTAMPTZ, NUMERIC, UUID = (
    700, 701, 705, 1042, 1043, 1082, 1114, 1184, 1700, 2950,
)  # fmt: skip
INT2VECTOR, OIDVECTOR = 22, 30
# The type of lists of a type.
ARRAYS = {BOOL: 1000, BYTEA: 1001, CHAR: 1002, NAME: 1003, INT2: 1005, INT4: 1007, TEXT: 1009, BPCHAR: 1014,
          VARCHAR: 1015, INT8: 1016, FLOAT4: 1021, FLOAT8: 1022, OID: 1028, TIMESTAMP: 1115, DATE: 1182, 1083: 1183,
          TIMESTAMPTZ: 1185, NUMERIC: 1231, UUID: 2951, INT2VECTOR: 1006, OIDVECTOR: 1013, 24: 1008, 114: 199,
          1186: 1187, 2205: 2210, 2206: 2211, 3802: 3807}  # fmt: skip
VECTORS = {INT2VECTOR: INT2, OIDVECTOR: OID}
_ITEMS = {array: item for item, array in ARRAYS.items()} | VECTORS
# What a statement may call a parameter's type: ``$1::bigint``, ``$2::oid[]``.
CALLED = {"bool": BOOL, "boolean": BOOL, "int2": INT2, "smallint": INT2, "int4": INT4, "int": INT4, "integer": INT4,
          "int8": INT8, "bigint": INT8, "oid": OID, "float4": FLOAT4, "real": FLOAT4, "float8": FLOAT8,
          "double precision": FLOAT8, "numeric": NUMERIC, "decimal": NUMERIC, "text": TEXT, "varchar": VARCHAR,
          "name": NAME, "date": DATE, "timestamp": TIMESTAMP, "timestamptz": TIMESTAMPTZ, "uuid": UUID}  # fmt: skip
LENGTHS = {BOOL: 1, CHAR: 1, NAME: 64, INT8: 8, INT2: 2, INT4: 4, OID: 4, FLOAT4: 4, FLOAT8: 8, DATE: 4,
           TIMESTAMP: 8, TIMESTAMPTZ: 8, UUID: 16}  # fmt: skip
OF_KIND = {
    "integer": INT8,
    "number": FLOAT8,
    "text": TEXT,
    "boolean": BOOL,
    "date": DATE,
    "timestamp": TIMESTAMP,
}
# Of a column of a table, by the engines' kinds of types.
OF_COLUMN = {
    "integer": INT8,
    "decimal": NUMERIC,
    "float": FLOAT8,
    "text": TEXT,
    "boolean": BOOL,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "uuid": UUID,
}
_PLAIN = re.compile(r"[^\s\"{}\\,]+")
_ITEM = re.compile(
    r'\s*+(?:"(?P<quoted>(?:[^"\\]|\\.)*+)"\s*+|(?P<plain>[^\s"{}\\,][^"{}\\,]*+))(?P<end>,|\Z)', re.DOTALL
)
# A zone after a date or a moment without one says nothing, in PostgreSQL too.
_ZONE = re.compile(r"\s*(?:Z|[+-]\d\d(?::?\d\d)?)$")
_DAY_ZERO = date(2000, 1, 1)
_MOMENT_ZERO = datetime(2000, 1, 1)


@dataclass(frozen=True, slots=True)
class WireColumn:
    """A column of a result on the wire."""

    name: str
    oid: int

    def described(self, format_code: int) -> tuple[str, int, int, int]:
        """For a row description."""
        return self.name, self.oid, LENGTHS.get(self.oid, -1), format_code


def encode(value: Any, oid: int, format_code: int) -> bytes | None:
    """A value as its column says; NULL for None."""
    if value is None:
        return None
    if format_code == 0:
        return _as_text(value, oid).encode("utf-8", errors="replace")
    if oid in _ITEMS:
        return _pack_list(value, oid)
    packer = _BINARY.get(oid)
    return _as_text(value, oid).encode("utf-8", errors="replace") if packer is None else packer(value)


def _as_text(value: Any, oid: int) -> str:
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, list | tuple):
        if oid in VECTORS:
            return " ".join(map(str, value))
        return write_list([None if item is None else _as_text(item, _ITEMS.get(oid, TEXT)) for item in value])
    return str(value)


def write_list(items: Sequence[str | None]) -> str:
    """A list as PostgreSQL writes it: {a,"b c",NULL}."""
    return "{" + ",".join("NULL" if item is None else _quoted(item) for item in items) + "}"


def read_list(text: str) -> list[str | None] | None:
    """The items of a list as PostgreSQL writes it; None where it is not one, or one of lists."""
    inner = text.strip()
    if len(inner) < 2 or inner[0] != "{" or inner[-1] != "}":
        return None
    inner = inner[1:-1]
    items: list[str | None] = []
    place = 0
    while inner.strip():
        found = _ITEM.match(inner, place)
        if found is None:
            return None
        quoted, plain = found["quoted"], found["plain"]
        if quoted is not None:
            items.append(re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
        else:
            items.append(None if plain.strip().upper() == "NULL" else plain.strip())
        place = found.end()
        if place >= len(inner):
            return None if inner.endswith(",") and found["end"] == "," else items
    return items


def _quoted(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.upper() != "NULL":
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _pack_list(value: Any, oid: int) -> bytes:
    """One dimension of items of one type; vectors count from zero."""
    kind = _ITEMS[oid]
    items = [encode(item, kind, 1) for item in value]
    if not items and oid not in VECTORS:
        return struct.pack("!iiI", 0, 0, kind)
    first = 0 if oid in VECTORS else 1
    head = struct.pack("!iiIii", 1, int(None in items), kind, len(items), first)
    return head + b"".join(
        struct.pack("!i", -1) if item is None else struct.pack("!i", len(item)) + item for item in items
    )


def _unpack_list(raw: bytes) -> str:
    """A list of one dimension, as its text."""
    dimensions, _, kind = struct.unpack("!iiI", raw[:12])
    if dimensions == 0:
        return "{}"
    (count, _), place = struct.unpack("!ii", raw[12:20]), 20
    items: list[str | None] = []
    while place < len(raw):
        (length,) = struct.unpack("!i", raw[place : place + 4])
        place += 4
        item = None if length < 0 else decode(raw[place : place + length], kind, 1)
        items.append(None if item is None else _as_text(item, kind))
        place += max(length, 0)
    if dimensions != 1 or count != len(items):
        raise ValueError
    return write_list(items)


def _pack_date(value: Any) -> bytes:
    day = value if isinstance(value, date) else date.fromisoformat(str(value)[:10])
    return struct.pack("!i", (day - _DAY_ZERO).days)


def _pack_moment(value: Any) -> bytes:
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    passed = moment.replace(tzinfo=None) - _MOMENT_ZERO
    return struct.pack("!q", (passed.days * 86400 + passed.seconds) * 10**6 + passed.microseconds)


def _pack_numeric(value: Any) -> bytes:
    """PostgreSQL's numeric: groups of four decimal digits."""
    number = Decimal(str(value))
    if number.is_nan():
        return struct.pack("!hhHh", 0, 0, 0xC000, 0)
    sign, digits, exponent = number.as_tuple()
    places = max(0, -int(exponent))
    text = "".join(map(str, digits)) + "0" * max(0, int(exponent))
    whole, part = (
        (text[: len(text) - places] or "0"),
        text[len(text) - places :].rjust(places, "0") if places else "",
    )
    whole = whole.rjust((len(whole) + 3) // 4 * 4, "0")
    part = part.ljust((len(part) + 3) // 4 * 4, "0")
    groups = [int((whole + part)[at : at + 4]) for at in range(0, len(whole) + len(part), 4)]
    weight = len(whole) // 4 - 1
    while groups and groups[0] == 0:
        groups.pop(0)
        weight -= 1
    while groups and groups[-1] == 0:
        groups.pop()
    head = struct.pack("!hhHh", len(groups), weight if groups else 0, 0x4000 if sign else 0, places)
    return head + struct.pack(f"!{len(groups)}h", *groups)


_BINARY: dict[int, Callable[[Any], bytes]] = {
    BOOL: lambda value: struct.pack("!?", bool(value)),
    INT2: lambda value: struct.pack("!h", int(value)),
    INT4: lambda value: struct.pack("!i", int(value)),
    INT8: lambda value: struct.pack("!q", int(value)),
    OID: lambda value: struct.pack("!I", int(value)),
    FLOAT4: lambda value: struct.pack("!f", float(value)),
    FLOAT8: lambda value: struct.pack("!d", float(value)),
    DATE: _pack_date,
    TIMESTAMP: _pack_moment,
    TIMESTAMPTZ: _pack_moment,
    NUMERIC: _pack_numeric,
    UUID: lambda value: uuid.UUID(str(value)).bytes,
}


def decode(raw: bytes | None, oid: int, format_code: int) -> Any:
    """A parameter's value; texts of unknown type stay texts."""
    if raw is None:
        return None
    try:
        if format_code == 0:
            return _TEXTS.get(oid, str)(raw.decode("utf-8"))
        if format_code == 1:
            unpack = _unpack_list if oid in _ITEMS else _UNPACK.get(oid)
            return raw.decode("utf-8") if unpack is None else unpack(raw)
    except (ValueError, struct.error, ArithmeticError, UnicodeDecodeError):
        raise FrameError(f"a parameter of type {oid} is malformed") from None
    raise FrameError(f"a parameter has the format {format_code}; there are 0 (text) and 1 (binary)")


def _truth(text: str) -> bool:
    if text.lower() not in ("t", "f", "true", "false", "1", "0", "on", "off", "yes", "no"):
        raise ValueError
    return text.lower() in ("t", "true", "1", "on", "yes")


def _read_moment(text: str) -> datetime:
    """Some drivers write a zone after dates as well."""
    day = text[:10]
    return datetime.fromisoformat(day + _ZONE.sub("", text[10:]))


def _unpack_numeric(raw: bytes) -> Decimal:
    count, weight, sign, scale = struct.unpack("!hhHh", raw[:8])
    if sign not in (0, 0x4000):
        return Decimal("NaN")
    groups = struct.unpack(f"!{count}h", raw[8:])
    digits = sum(Decimal(group) * Decimal(10000) ** (weight - at) for at, group in enumerate(groups))
    value = Decimal(digits).quantize(Decimal(1).scaleb(-scale))
    return -value if sign else value


_TEXTS: dict[int, Callable[[str], Any]] = {
    BOOL: _truth,
    INT2: int,
    INT4: int,
    INT8: int,
    OID: int,
    FLOAT4: float,
    FLOAT8: float,
    NUMERIC: Decimal,
    DATE: lambda text: _read_moment(text).date(),
    TIMESTAMP: lambda text: _read_moment(text),
    TIMESTAMPTZ: lambda text: datetime.fromisoformat(text),
}
_UNPACK: dict[int, Callable[[bytes], Any]] = {
    BOOL: lambda raw: bool(struct.unpack("!?", raw)[0]),
    INT2: lambda raw: struct.unpack("!h", raw)[0],
    INT4: lambda raw: struct.unpack("!i", raw)[0],
    INT8: lambda raw: struct.unpack("!q", raw)[0],
    OID: lambda raw: struct.unpack("!I", raw)[0],
    FLOAT4: lambda raw: struct.unpack("!f", raw)[0],
    FLOAT8: lambda raw: struct.unpack("!d", raw)[0],
    DATE: lambda raw: date.fromordinal(_DAY_ZERO.toordinal() + struct.unpack("!i", raw)[0]),
    TIMESTAMP: lambda raw: _moment(raw),
    TIMESTAMPTZ: lambda raw: _moment(raw),
    NUMERIC: _unpack_numeric,
    UUID: lambda raw: uuid.UUID(bytes=raw),
}


def _moment(raw: bytes) -> datetime:
    from datetime import timedelta

    return _MOMENT_ZERO + timedelta(microseconds=struct.unpack("!q", raw)[0])
