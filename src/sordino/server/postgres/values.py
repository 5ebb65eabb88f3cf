"""Values on the wire: types by their numbers, in text and in binary form."""

from __future__ import annotations

import math
import struct
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sordino.server.postgres.frames import FrameError

BOOL, BYTEA, CHAR, NAME, INT8, INT2, INT4, TEXT, OID = 16, 17, 18, 19, 20, 21, 23, 25, 26
FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR, DATE, TIMESTAMP, TIMESTAMPTZ, NUMERIC, UUID = (
    700, 701, 705, 1042, 1043, 1082, 1114, 1184, 1700, 2950,
)  # fmt: skip
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
        return (
            "{" + ",".join("NULL" if item is None else _quoted(_as_text(item, TEXT)) for item in value) + "}"
        )
    return str(value)


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


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
            unpack = _UNPACK.get(oid)
            return raw.decode("utf-8") if unpack is None else unpack(raw)
    except (ValueError, struct.error, ArithmeticError, UnicodeDecodeError):
        raise FrameError(f"a parameter of type {oid} is malformed") from None
    raise FrameError(f"a parameter has the format {format_code}; there are 0 (text) and 1 (binary)")


def _truth(text: str) -> bool:
    if text.lower() not in ("t", "f", "true", "false", "1", "0", "on", "off", "yes", "no"):
        raise ValueError
    return text.lower() in ("t", "true", "1", "on", "yes")


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
    DATE: date.fromisoformat,
    TIMESTAMP: datetime.fromisoformat,
    TIMESTAMPTZ: datetime.fromisoformat,
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
