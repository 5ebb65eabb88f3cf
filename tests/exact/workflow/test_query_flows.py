"""Queries as tasks, against their answers: where a change of one column is seen in another, the table says so."""

from __future__ import annotations

from collections import Counter
from random import Random

import duckdb
import pytest

from sordino.workflow import Process, sql_flow

TABLES = {"t": ("a", "b", "k"), "u": ("a", "c", "k")}
ROUNDS = 200
QUERIES = [
    "SELECT a, b + 1 AS c FROM t",
    "SELECT a FROM t WHERE b = 1 OR k > 0",
    "SELECT DISTINCT a, b FROM t",
    "SELECT COUNT(*) AS n FROM t",
    "SELECT COUNT(DISTINCT a) AS n FROM t GROUP BY b",
    "SELECT a, SUM(b) AS n FROM t GROUP BY 1",
    "SELECT a + k AS g, SUM(b) AS n FROM t GROUP BY 1 ORDER BY n DESC",
    "SELECT SUM(b) AS n, MAX(a) AS m FROM t GROUP BY k HAVING MIN(b) > 0",
    "SELECT SUM(b) AS n FROM t GROUP BY ROLLUP (a, k)",
    "SELECT SUM(b) AS n FROM t GROUP BY GROUPING SETS ((a), ())",
    "SELECT t.b, u.c FROM t JOIN u ON t.k = u.k WHERE t.a < u.a",
    "SELECT u.c FROM t LEFT JOIN u ON t.k = u.k",
    "SELECT t.b FROM t LEFT JOIN u ON t.k = u.k AND u.c = 1",
    "SELECT t.b FROM t LEFT JOIN u ON t.k = u.k WHERE u.c IS NULL",
    "SELECT x.b, y.a FROM t x, t y WHERE x.k = y.k",
    "SELECT t.a, COUNT(*) AS n FROM t CROSS JOIN u GROUP BY t.a",
    'SELECT t.b AS "B", u.k AS b FROM t JOIN u ON t.A = U.a AND NOT (t.k = 1 AND u.c = 1)',
]


def draw_rows(random: Random) -> list[list[int | None]]:
    return [[random.choice((0, 1, 2, None)) for _ in range(3)] for _ in range(random.randint(1, 4))]


def answer(connection, sql, tables):
    given = ", ".join(
        f"{name}({', '.join(TABLES[name])}) AS (VALUES {', '.join(map(write_row, rows))})"
        for name, rows in tables.items()
    )
    return connection.execute(f"WITH {given} {sql}").fetchall()


def write_row(row: list[int | None]) -> str:
    return f"({', '.join('CAST(NULL AS INT)' if value is None else str(value) for value in row)})"


def find_unsaid(sql: str, rounds: int) -> set[tuple[str, str]]:
    """(column of the result, column of a table) that depend on one another while the table says never."""
    process = Process.load({"parties": ["A"], "tasks": [{"name": "q", "by": "A", "sql": sql, "to": ["y"]}]})
    words = process.leaks(columns=True)
    outputs = [f"y.{name}" for name in sql_flow.read_sql_flow(sql, "the query").outputs]
    said = {
        (row, column)
        for row, cells in words.rows.items()
        for column, cell in zip(words.columns, cells, strict=True)
        if cell.text != "never"
    }
    random, connection, found = Random(sql), duckdb.connect(), set()
    for _ in range(rounds):
        tables = {name: draw_rows(random) for name in TABLES}
        name = random.choice(sorted(TABLES))
        place = random.randrange(3)
        changed = [
            [random.choice((0, 1, 2, None)) if at == place else value for at, value in enumerate(row)]
            for row in tables[name]
        ]
        before = answer(connection, sql, tables)
        after = answer(connection, sql, tables | {name: changed})
        for number, output in enumerate(outputs):
            if Counter(row[number] for row in before) != Counter(row[number] for row in after):
                found.add((output, f"{name}.{TABLES[name][place]}"))
    return found - said


@pytest.mark.parametrize("sql", QUERIES)
def test_what_never_flows_never_changes_anything(sql):
    assert find_unsaid(sql, ROUNDS) == set()


def test_a_reading_that_forgets_places_in_group_by_is_refused(monkeypatch):
    monkeypatch.setattr(sql_flow, "_at_place", lambda part, items, where: None)
    assert ("y.n", "t.a") in find_unsaid("SELECT a, SUM(b) AS n FROM t GROUP BY 1", ROUNDS)


def test_a_reading_that_forgets_distinct_is_refused():
    honest = "SELECT DISTINCT a, b FROM t"
    with pytest.MonkeyPatch.context() as patch:
        real = sql_flow.read_sql_flow
        patch.setattr(
            "sordino.workflow.process_file.read_sql_flow",
            lambda sql, where: real(sql.replace("DISTINCT ", ""), where),
        )
        assert ("y.a", "t.b") in find_unsaid(honest, ROUNDS)
