"""Conditions that the solver reads as they are mean the same to the engine: on odd values, for every row."""

from __future__ import annotations

import random
from datetime import date
from decimal import Decimal
from fractions import Fraction

import duckdb
import pytest
from sqlglot import exp

import sordino as sd
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.solver import reading, translation
from sordino.sql.solver.terms import Hidden

# Neighbours in doubles, the ends of types, texts that fold or are padded elsewhere, the ends of the calendar.
VALUES = {
    "i": ("BIGINT", (0, 1, -1, 2**53, 2**53 + 1, -(2**53) - 2, 2**63 - 1, -(2**63))),
    "h": ("HUGEINT", (0, 1, -1, 2**53, 2**53 + 1, -(2**53) - 2, 2**63, 2**100)),
    "d": ("DECIMAL(4, 1)", tuple(map(Decimal, ("0", "0.1", "-0.1", "1", "999.9", "-999.9")))),
    "e": ("DECIMAL(17, 6)", tuple(map(Decimal, ("0", "0.1", "0.100001", "1", "-99999999999.999999")))),
    "t": (
        "VARCHAR",
        ("", "a", "A", "a ", "\N{LATIN SMALL LETTER E WITH ACUTE}", "e\N{COMBINING ACUTE ACCENT}"),
    ),
    "u": ("VARCHAR", ("", "a", "A", "a ", "a\x00")),
    "n": ("DATE", (date(1, 1, 1), date(2024, 2, 29), date(2024, 3, 1), date(9999, 12, 31))),
    "m": ("DATE", (date(1, 1, 1), date(2024, 2, 29), date(9999, 12, 31))),
}
LITERALS = {
    "ih": ("0", "1", "-1", "9007199254740993", "9223372036854775807", "9223372036854775808", "0.5", "1.0"),
    "de": ("0", "0.1", "-0.1", "0.10", "0.100001", "1", "999.95", "2 - 1.9"),
    "tu": ("''", "'a'", "'A'", "'e\N{COMBINING ACUTE ACCENT}'"),
    "nm": ("DATE '2024-02-29'", "'9999-12-31'", "'0001-01-01'"),
}
CALCULATED = ("d + e", "d - e", "d * 2", "d * d", "1 - d", "-d", "d + 0.05")


def make_condition(rng: random.Random, depth: int = 0) -> str:
    if depth < 2 and rng.random() < 0.4:
        one, other = (make_condition(rng, depth + 1) for _ in range(2))
        return rng.choice((f"({one} AND {other})", f"({one} OR {other})", f"NOT ({one})"))
    family = rng.choice(list(LITERALS))
    sides = [*family, *rng.choices(LITERALS[family], k=2), *(CALCULATED if family == "de" else ())]
    left = rng.choice([side for side in sides if side not in LITERALS[family]])
    if rng.random() < 0.2:
        listed = rng.sample(LITERALS[family], 2)
        between = family != "tu" and rng.random() < 0.5
        return (
            f"{left} BETWEEN {listed[0]} AND {listed[1]}" if between else f"{left} IN ({', '.join(listed)})"
        )
    sign = rng.choice(("=", "<>") if family == "tu" else ("=", "<>", "<", "<=", ">", ">="))
    return f"{left} {sign} {rng.choice(sides)}"


def is_read(condition: object) -> bool:
    """Whether nothing of it is hidden."""
    parts = getattr(condition, "parts", ())
    return all(map(is_read, parts)) and not isinstance(getattr(condition, "term", None), Hidden)


def to_plain(value: object) -> object:
    return Fraction(value) if isinstance(value, Decimal) else value


@pytest.fixture(scope="module")
def rows():
    rng = random.Random("rows")
    return [tuple(rng.choice(values) for _, values in VALUES.values()) for _ in range(400)]


def compare(rows, number):
    """(how many conditions are read, those that hold for some rows, those that the engine reads otherwise)."""
    connection = duckdb.connect()
    columns = ", ".join(f"{name} {kind} NOT NULL" for name, (kind, _) in VALUES.items())
    connection.execute(f"CREATE TABLE r (id INTEGER NOT NULL, {columns})")
    places = ", ".join("?" * (len(VALUES) + 1))
    connection.executemany(f"INSERT INTO r VALUES ({places})", [(k, *row) for k, row in enumerate(rows)])
    rng, names = random.Random("conditions"), list(VALUES)
    read, mixed, different = 0, 0, []
    with sd.connect(connection, policy={"version": 1, "dataset": "tiny", "tables": {"r": {}}}) as curator:
        for _ in range(number):
            asked = f"SELECT COUNT(*) FROM r WHERE {make_condition(rng)}"
            join = curator.plan(asked, AnswerOptions.checked(1.0, 0.0)).statement.join
            leaf, _ = translation.translate_join(join)
            if not is_read(leaf.condition):
                continue
            told = [
                k
                for k, row in enumerate(rows)
                if leaf.condition.holds(lambda field, row=row: to_plain(row[names.index(field.column)]))
            ]
            where = " AND ".join(f"({part.sql(dialect='duckdb')})" for part in join.conditions)
            table = f"r AS {join.occurrences[0].alias}"
            found = connection.execute(f"SELECT id FROM {table} WHERE {where} ORDER BY id").fetchall()
            read += 1
            mixed += 0 < len(told) < len(rows)
            if told != [k for (k,) in found]:
                different.append(asked)
    return read, mixed, different


def test_what_is_read_as_it_is_means_the_same_to_the_engine(rows):
    read, mixed, different = compare(rows, 400)
    assert different == []
    assert read > 200
    assert mixed > 100


def test_a_comparison_that_is_read_otherwise_is_caught(rows, monkeypatch):
    monkeypatch.setitem(reading._COMPARED, exp.LT, ("<=", False))
    assert compare(rows, 60)[2]
