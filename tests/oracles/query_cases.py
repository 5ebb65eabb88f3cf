"""Random small queries of every shape, over three tables with keys."""

from __future__ import annotations

import random

from .relations import OracleTable

T = OracleTable("t", ("id", "x"), ("id",))
U = OracleTable("u", ("a",), ("a",))
W = OracleTable("w", ("c", "d"), ("c", "d"))
TABLES = (T, U, W)
# The same with a table that may hold a row several times.
M = OracleTable("m", ("e",), (), values=((0, 1),), most=3)
REPEATED = (T, U, M)


Tables = tuple[OracleTable, ...]


def _from(rng: random.Random, most: int, tables: Tables) -> list[tuple[str, OracleTable]]:
    return [(f"p{i}", rng.choice(tables)) for i in range(rng.randint(1, most))]


def _column(rng: random.Random, sources: list[tuple[str, OracleTable]]) -> str:
    alias, table = rng.choice(sources)
    return f"{alias}.{rng.choice(table.columns)}"


def _atom(rng: random.Random, sources: list[tuple[str, OracleTable]]) -> str:
    left, right = _column(rng, sources), _column(rng, sources)
    if rng.random() < 0.3:
        right = str(rng.randint(0, 1))
    elif rng.random() < 0.3:
        right = f"{right} {rng.choice('+-')} 1"
    if rng.random() < 0.1:
        return f"{left} BETWEEN 0 AND {right}"
    return f"{left} {rng.choice(['=', '=', '=', '<>', '<', '<=', '>'])} {right}"


def _condition(rng: random.Random, sources: list[tuple[str, OracleTable]], depth: int = 0) -> str:
    kind = rng.random()
    if depth == 2 or kind < 0.45:
        return _atom(rng, sources)
    if kind < 0.55:
        return f"NOT ({_condition(rng, sources, depth + 1)})"
    parts = [_condition(rng, sources, depth + 1) for _ in range(2)]
    word = rng.choice([" AND ", " AND ", " OR "])
    return f"({word.join(parts)})"


def _select(rng: random.Random, head: str, outputs: int, most: int, tables: Tables) -> str:
    sources = _from(rng, most, tables)
    selected = [_column(rng, sources) for _ in range(outputs)]
    if rng.random() < 0.15:
        selected[0] = f"{selected[0]} + {_column(rng, sources)}"
    where = f" WHERE {_condition(rng, sources)}" if rng.random() < 0.8 else ""
    listed = ", ".join(f"{table.name} {alias}" for alias, table in sources)
    return f"SELECT {head}{', '.join(selected)} FROM {listed}{where}"


def _grouped(rng: random.Random, outputs: int, tables: Tables) -> str:
    sources = _from(rng, 2, tables)
    keys = ", ".join(dict.fromkeys(_column(rng, sources) for _ in range(outputs)))
    where = f" WHERE {_condition(rng, sources)}" if rng.random() < 0.8 else ""
    listed = ", ".join(f"{table.name} {alias}" for alias, table in sources)
    return f"SELECT {keys}, COUNT(*) FROM {listed}{where} GROUP BY {keys}"


def _tree(rng: random.Random, leaves: int, outputs: int, most: int, tables: Tables) -> str:
    if leaves == 1:
        return _select(rng, "DISTINCT ", outputs, most, tables)
    cut = rng.randint(1, leaves - 1)
    word = rng.choice(["UNION", "INTERSECT", "EXCEPT"])
    left, right = (_tree(rng, number, outputs, most, tables) for number in (cut, leaves - cut))
    return f"({left}) {word} ({right})"


def make_cases(
    seed: int, *, rows: int, distinct: int, trees: int, grouped: int, tables: Tables = TABLES
) -> list[tuple[str, str]]:
    """(shape, SQL) of so many of each."""
    rng = random.Random(seed)
    cases = [
        ("rows", _select(rng, "", rng.randint(1, 2), 3 if rng.random() < 0.2 else 2, tables))
        for _ in range(rows)
    ]
    cases += [("distinct", _select(rng, "DISTINCT ", rng.randint(1, 2), 2, tables)) for _ in range(distinct)]
    cases += [
        (
            "tree",
            _tree(
                rng, 3 if rng.random() < 0.2 else 2, rng.randint(1, 2), 2 if rng.random() < 0.3 else 1, tables
            ),
        )
        for _ in range(trees)
    ]
    return cases + [("grouped", _grouped(rng, rng.randint(1, 2), tables)) for _ in range(grouped)]
