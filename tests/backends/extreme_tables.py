"""Tables at the ends of every type, the same on all engines, and policies that reach as far.

The rows are known here, in the form that statements compare (text without the padding of CHAR, moments in UTC), so that
what an engine finds can be calculated in Python too.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from ..unit.sql.writer import Columns

# Stands in the rows only: a message that holds it came from data.
MARK = "zqxj"
PRIVATE = ("a", "b")
PUBLIC = "p"
ROWS = {"a": 12, "b": 10, "p": 6}
# Digits, and how many of them behind the point.
DECIMALS = ((4, 1), (9, 9), (17, 2), (18, 0), (18, 18), (38, 0), (38, 30), (38, 38))
_LONGEST = Context(prec=200)


@dataclass(frozen=True, slots=True)
class Kind:
    """A column: the catalogue's word for its type, each engine's own type, and values at its ends."""

    type: str
    arrow: pa.DataType
    duckdb: str
    postgresql: str
    spark: str
    values: tuple[Any, ...]


def _whole(bits: int, arrow: pa.DataType, *types: str) -> Kind:
    end = 2 ** (bits - 1)
    return Kind("integer", arrow, *types, (-end, end - 1, 1 - end, 0, -1, 1, 7))


def _decimal(digits: int, scale: int) -> Kind:
    kind = f"DECIMAL({digits}, {scale})"
    whole = (
        10**digits - 1,
        1 - 10**digits,
        0,
        1,
        -1,
        5 * 10 ** (digits - 1),
        10**scale if digits > scale else 10,
    )
    values = tuple(Decimal(number).scaleb(-scale, _LONGEST) for number in whole)
    return Kind("decimal", pa.decimal128(digits, scale), kind, kind, kind, values)


def _text(duckdb: str, postgresql: str, spark: str, *values: str) -> Kind:
    return Kind("text", pa.string(), duckdb, postgresql, spark, values)


def _moments(zone: datetime.timezone | None) -> tuple[datetime.datetime, ...]:
    texts = (
        "0001-01-01",
        "9999-12-31T23:59:59.999999",
        "1582-10-10T12:00:00",
        "2024-02-29",
        "1969-12-31T23:59:59",
    )
    return tuple(datetime.datetime.fromisoformat(text).replace(tzinfo=zone) for text in texts)


_SINGLE = tuple(
    float(np.float32(value)) for value in (math.nan, math.inf, -math.inf, 3e38, 1e-45, -0.0, 0.0, 7)
)
_WORDS = ("", "a", "A", "a ", "ä", "a\u0308", "😀", "it's", "\\", "%_", "${env:HOME}", MARK)
_SHORT = ("", "a", "A", "ä", "it's", "\\", "%_", MARK)
# Some collations take some of these for equal.
_ALIKE = ("a", "A", "ä", "Ä", "a\u0308", "a ", "", "it's")
KINDS: dict[str, Kind] = {
    "i1": _whole(8, pa.int8(), "TINYINT", "smallint", "TINYINT"),
    "i2": _whole(16, pa.int16(), "SMALLINT", "smallint", "SMALLINT"),
    "i4": _whole(32, pa.int32(), "INTEGER", "integer", "INT"),
    "i8": _whole(64, pa.int64(), "BIGINT", "bigint", "BIGINT"),
    **{f"n{digits}_{scale}": _decimal(digits, scale) for digits, scale in DECIMALS},
    "f4": Kind("float", pa.float32(), "FLOAT", "real", "FLOAT", _SINGLE),
    "f8": Kind("float", pa.float64(), "DOUBLE", "double precision", "DOUBLE",
               (math.nan, math.inf, -math.inf, 1.7e308, 5e-324, -0.0, 0.0, 7.0, 0.1)),
    "s": _text("VARCHAR", "text", "STRING", *_WORDS, "x" * 70_000, "x" * 69_999 + "y", "12", "2024-02-29"),
    "v": _text("VARCHAR(20)", "varchar(20)", "VARCHAR(20)", *_WORDS),
    "h": _text("CHAR(6)", "char(6)", "CHAR(6)", *_SHORT),
    "g": _text("VARCHAR", "word", "CHAR(9)", *_SHORT),
    "e": _text("label", "label", "STRING", *_SHORT),
    "k": _text("VARCHAR COLLATE NOCASE.NOACCENT", "folded", "STRING COLLATE UTF8_LCASE", *_ALIKE),
    "q": Kind("boolean", pa.bool_(), "BOOLEAN", "boolean", "BOOLEAN", (True, False)),
    "d": Kind("date", pa.date32(), "DATE", "date", "DATE", tuple(
        map(datetime.date.fromisoformat, ("0001-01-01", "9999-12-31", "1582-10-10", "2024-02-29", "1969-12-31")))),
    "t": Kind("timestamp", pa.timestamp("us"), "TIMESTAMP", "timestamp", "TIMESTAMP_NTZ", _moments(None)),
    "z": Kind("timestamp", pa.timestamp("us", "UTC"), "TIMESTAMP WITH TIME ZONE", "timestamptz", "TIMESTAMP",
              _moments(datetime.UTC)),
}  # fmt: skip
LABELS = ", ".join("'" + value.replace("'", "''") + "'" for value in _SHORT)


def named(*types: str) -> tuple[str, ...]:
    """The columns of these types."""
    return tuple(name for name, kind in KINDS.items() if kind.type in types)


COLUMNS = Columns(
    numbers=named("integer", "decimal", "float"),
    whole=named("integer"),
    texts=named("text"),
    days=named("date", "timestamp"),
    flags=named("boolean"),
)


def extreme_tables(seed: int) -> dict[str, pa.Table]:
    """The rows of all tables: values at random from the ends of their types, some NULL, and a number of the row."""
    draw = Random(seed)
    tables = {}
    for table, size in ROWS.items():
        columns = {"id": pa.array(range(size), pa.int32())}
        for name, kind in KINDS.items():
            values = [None if draw.random() < 0.1 else draw.choice(kind.values) for _ in range(size - 2)]
            values += kind.values[:2]  # the least and the greatest
            draw.shuffle(values)
            columns[name] = pa.array(values, kind.arrow)
        tables[table] = pa.table(columns)
    return tables


def definition(table: str, engine: str, **types: str) -> str:
    """CREATE TABLE in an engine's own types; ``types``: others for some columns."""
    kinds = {name: types.get(name) or getattr(kind, engine) for name, kind in KINDS.items()}
    return f"CREATE TABLE {table} (id INT, {', '.join(f'{name} {kind}' for name, kind in kinds.items())})"


def written(number: Fraction) -> str:
    """A number of finitely many digits, without an exponent."""
    return f"{_LONGEST.divide(Decimal(number.numerator), Decimal(number.denominator)):f}"


def ranges(draw: Random, name: str) -> dict[str, str]:
    """Bounds and granularity of a column of numbers: as wide as its type or beyond, in steps of every size."""
    kind = KINDS[name]
    if kind.type == "float":
        low, high, step = draw.choice(
            [
                ("-1e15", "1e15", "1"), ("-100", "100", "0.1"), ("-1e6", "1e6", "1/1048576"), ("-1e29", "1e29", "1e15"),
                ("0", "1e-15", "1e-30"), ("-7", "7", "3.5"),
            ]
        )  # fmt: skip
        return {"bounds": [low, high], "granularity": step}
    if kind.type == "integer":
        end = -min(kind.values)
        options = [("1/2", end), ("1/4", end), ("1/10", end), ("7", end), ("8192", end), ("1/2", 2**49), ("3/2", 2**50),
                   ("1", 100), *[("1", min(end, 2**50)), ("1", 2**50)] * 3]  # fmt: skip
    else:
        end = Fraction(max(kind.values))
        own = Fraction(1, 10**kind.arrow.scale)
        options = [
            (None, min(end, own * 2**50)), (None, min(end, own * 1000)), (None, end), (written(own * 10), own * 2**50),
            ("1/8", min(end, 2**47)), ("1000000000000000", min(end, 10**30)), (written(own / 2), own * 100),
        ]  # fmt: skip
    step, reach = draw.choice(options)
    grain = Fraction(1, 10**kind.arrow.scale) if step is None else Fraction(step)
    most = Fraction(reach) // grain * grain
    most = most or grain
    # The greatest integer is one below the size of the least.
    high = most - grain if kind.type == "integer" and most > grain and draw.random() < 0.5 else most
    given = {"bounds": [written(-most), written(high)]}
    return given if step is None else given | {"granularity": step}


DOMAINS: dict[str, list[Any]] = {
    "i1": [-128, 127, 128, 0, None],
    "i2": [-32768, 32767, 2**40, -1],
    "i4": [-(2**31), 2**31 - 1, 2**31, None],
    "i8": [-(2**63), 2**63 - 1, 0],
    "s": ["", "a", "ö", "it's", "\\", "%_", "${env:HOME}", "😀", "x" * 70_000, None],
    "h": ["a", "it's", "\\", "longer than six", "${env:HOME}"],
    "g": ["", "%_", None],
    "e": ["a", "it's", "no label", None],
    "k": ["a", "it's", None],
    "q": [True, False, None],
    "d": ["0001-01-01", "9999-12-31", None],
}


def random_policy(seed: int) -> dict[str, Any]:
    """Every number bounded, every key with a domain, rows of several weights."""
    draw = Random(seed)
    tables: dict[str, Any] = {}
    for table in (*PRIVATE, PUBLIC):
        columns: dict[str, Any] = {name: ranges(draw, name) for name in COLUMNS.numbers}
        for name, domain in DOMAINS.items():
            if table != PUBLIC:
                columns[name] = columns.get(name, {}) | {"domain": domain}
                if KINDS[name].type == "date":
                    columns[name]["type"] = "date"
        tables[table] = {"columns": columns}
    tables[PUBLIC]["private"] = False
    for table in PRIVATE:
        tables[table]["weight"] = draw.choice(["1", "1", "1/2", "2", "1/3"])
    return {"version": 1, "dataset": "extremes", "tables": tables, "budgets": {"ann": {"epsilon": 1000}}}
