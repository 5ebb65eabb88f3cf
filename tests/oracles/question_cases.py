"""Random questions over two tables whose columns have any type and may be NULL."""

from __future__ import annotations

import itertools
import random

from .relations import OracleTable

# A type, two of its values and what compares or calculates with them.
TYPES: dict[str, tuple[tuple[str, str], tuple[str, ...]]] = {
    "VARCHAR": (("a", "A"), ("{} = 'a'", "UPPER({}) = 'A'", "{} IN ('a', 'b')", "{} LIKE 'a%'")),
    "BOOLEAN": (("true", "false"), ("{}", "NOT {}", "{} = TRUE", "{} <> FALSE")),
    "DATE": (("2024-02-29", "2024-03-01"), ("{} > DATE '2024-02-29'", "{} <> DATE '2024-03-01'")),
    "DECIMAL(4, 1)": (("0.5", "-0.5"), ("{} > 0", "{} = 0.5", "{} + 1 > 1", "NOT ({} <= -0.5)")),
    "DOUBLE": (("nan", "-0.0"), ("{} > 1", "{} = 0", "{} <> {}", "NOT ({} < 1)")),
    "TIMESTAMP": (("2024-02-29 00:00:00", "infinity"), ("{} > TIMESTAMP '2024-02-29 12:00:00'",)),
}
_NUMBERS = (
    "{} = 1",
    "{} >= 1",
    "{} < 1",
    "{} IN (0, 1)",
    "{} BETWEEN 0 AND 1",
    "{} + 1 = 2",
    "COALESCE({}, 1) = 1",
)
_ANY = ("{} IS NULL", "{} IS NOT NULL", "{} = {}", "{} IS NOT DISTINCT FROM {}")
# Without a key a row may be there several times.
KEYS = {"r": (("id",), ("id", "x"), ("x",), ()), "s": (("id",), ("id", "k"), ("k",), ("id", "k"), ())}


def make_tables(rng: random.Random, kind: str, *, filled: bool) -> tuple[OracleTable, OracleTable]:
    """r(id, x) with an x of the type, and s(id, k), of which k may always be 0; ``filled``: without NULL."""
    nothing = () if filled else (None,)
    some = TYPES[kind][0]
    return (
        OracleTable(
            "r",
            ("id", "x"),
            rng.choice(KEYS["r"]),
            ((0, 1, *nothing), (*some, *nothing)),
            2,
            ("INTEGER", kind),
        ),
        OracleTable(
            "s",
            ("id", "k"),
            rng.choice(KEYS["s"]),
            ((0, 1), (*rng.choice(((0, 1), (0,))), *nothing)),
            2,
            ("INTEGER", "INTEGER"),
        ),
    )


def _atom(rng: random.Random, kind: str, sources: list[tuple[str, str]]) -> str:
    columns = [
        f"{alias}.{column}" for alias, table in sources for column in ("id", "x" if table == "r" else "k")
    ]
    column = rng.choice(columns)
    if rng.random() < 0.4:
        other = rng.choice([one for one in columns if one.endswith(".x") == column.endswith(".x")])
        unordered = kind in ("VARCHAR", "BOOLEAN") and column.endswith(".x")
        signs = ("=", "=", "<>") if unordered else ("=", "=", "<>", "<", ">=")
        return f"{column} {rng.choice(signs)} {other}"
    forms = TYPES[kind][1] if column.endswith(".x") else _NUMBERS
    return rng.choice((*forms, *_ANY)).replace("{}", column)


def _condition(rng: random.Random, kind: str, sources: list[tuple[str, str]]) -> str:
    atoms = [_atom(rng, kind, sources) for _ in range(2)]
    draw = rng.random()
    if draw < 0.6:
        return atoms[0]
    return f"NOT ({atoms[0]} AND {atoms[1]})" if draw < 0.7 else f"({atoms[0]} OR {atoms[1]})"


def _source(rng: random.Random, kind: str, most: int) -> tuple[list[tuple[str, str]], str]:
    sources = [(f"p{i}", rng.choice("rs")) for i in range(rng.randint(1, most))]
    conditions = [_condition(rng, kind, sources) for _ in range(rng.randint(0, 2))]
    for (one, table), (other, _) in itertools.pairwise(sources):
        if rng.random() < 0.8:
            conditions.append(f"{one}.{'id' if table == 'r' else rng.choice(('id', 'k'))} = {other}.id")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return sources, f"{', '.join(f'{table} {alias}' for alias, table in sources)}{where}"


def make_join(rng: random.Random, kind: str) -> str:
    """FROM and WHERE of a join of two or three."""
    while True:
        sources, written = _source(rng, kind, 3 if rng.random() < 0.2 else 2)
        if len(sources) > 1:
            return written


def make_counted(rng: random.Random, kind: str, depth: int = 0) -> str:
    """SELECT DISTINCT of a column, or set operations of some."""
    if depth < 2 and rng.random() < 0.5:
        word = rng.choice(("UNION", "INTERSECT", "EXCEPT"))
        return f"({make_counted(rng, kind, depth + 1)}) {word} ({make_counted(rng, kind, depth + 1)})"
    sources, written = _source(rng, kind, 2)
    alias, table = rng.choice(sources)
    # All sides of a set operation are integers.
    output = f"{alias}.{rng.choice(('id', 'k') if table == 's' else ('id',))}"
    if depth == 0 and kind not in ("DOUBLE", "TIMESTAMP") and table == "r" and rng.random() < 0.7:
        output = rng.choice(
            (f"{alias}.x", f"{alias}.x, {alias}.id", f"CASE WHEN {alias}.id > 0 THEN {alias}.x END")
        )
    return f"SELECT DISTINCT {output} FROM {written}"
