"""Questions of BI tools about the catalogue, and what an attacker asks it: answered or refused, never more."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import sordino as sd
from sordino.curator.description import describe_data
from sordino.server.postgres.catalogue import Catalogue
from sordino.server.postgres.sqlstate import StateError
from tests.e2e.server.serving import POLICY, make_tables


@pytest.fixture(scope="module")
def catalogue():
    with sd.connect(make_tables(), policy=POLICY) as curator:
        made = Catalogue(describe_data(curator.data))
        yield made
        made.close()


# What the tools' drivers send while they connect and list tables, written down from their sources' shape.
TOOLS = {
    "jdbc tables": """
        SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, c.relname AS TABLE_NAME,
          CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'
            WHEN true THEN 'SYSTEM TABLE' WHEN false THEN
            CASE c.relkind WHEN 'r' THEN 'TABLE' ELSE NULL END END AS TABLE_TYPE,
          d.description AS REMARKS
        FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c
          LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0
            AND d.classoid = 'pg_class'::regclass)
        WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p') AND n.nspname LIKE 'public'
        ORDER BY TABLE_TYPE, TABLE_SCHEM, TABLE_NAME""",
    "jdbc columns": """
        SELECT n.nspname, c.relname, a.attname, a.atttypid, a.attnotnull, a.atttypmod, a.attlen, a.attnum, t.typtype
        FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)
          JOIN pg_catalog.pg_attribute a ON (a.attrelid = c.oid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid)
        WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relname LIKE 'orders'
        ORDER BY n.nspname, c.relname, a.attnum""",
    "information schema": """
        SELECT table_schema, table_name, column_name, data_type, is_nullable FROM information_schema.columns
        WHERE table_schema NOT IN ('information_schema', 'pg_catalog') AND table_name = 'orders'
        ORDER BY ordinal_position""",
    "dbeaver relations": """
        SELECT c.oid, c.*, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr
        FROM pg_catalog.pg_class c
          LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0
            AND d.classoid = 'pg_class'::regclass
        WHERE c.relnamespace = 2200 AND c.relkind NOT IN ('i', 'I', 'c') AND c.relname = 'orders'""",
    "superset tables": """
        SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class
          JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
        WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p']) AND pg_catalog.pg_namespace.nspname = 'public'
          AND pg_catalog.pg_class.relname = 'orders'""",
    "tableau": "SELECT table_name, 'orders' AS asked FROM information_schema.tables WHERE table_name = 'orders'",
}


@pytest.mark.parametrize("tool", TOOLS)
def test_tools_find_the_table_and_not_what_is_hidden(catalogue, tool):
    columns, rows = catalogue.ask(TOOLS[tool], "ann")
    assert columns
    assert "orders" in str(rows)
    assert "card" not in str(rows)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "SELECT version()",
        "SELECT current_schema(), current_database(), current_user",
        "SELECT current_setting('server_version_num')",
        "SELECT set_config('search_path', 'public', false)",
        "SELECT oid, typname FROM pg_type WHERE typname = 'int8'",
        "SELECT nspname FROM pg_namespace ORDER BY nspname",
        "SELECT pg_backend_pid()",
        "SELECT * FROM pg_stat_activity",
        "SELECT rolname FROM pg_roles",
        "SELECT conname, pg_get_constraintdef(oid, true) FROM pg_constraint WHERE conrelid = 'orders'::regclass",
    ],
)
def test_small_questions_are_answered(catalogue, sql):
    assert catalogue.ask(sql, "ann")[0]


ATTACKS = {
    "writes": "WITH pg_x AS (SELECT 1) DELETE FROM shadow.pg_class",
    "puts in": "WITH pg_x AS (SELECT 1) INSERT INTO shadow.pg_namespace SELECT 1, 'evil', 1, NULL",
    "into": "SELECT * INTO shadow.pg_evil FROM pg_class",
    "reads files": "SELECT * FROM read_text('/etc/passwd'), pg_class",
    "reads a path": "SELECT * FROM '/etc/passwd', pg_class",
    "loads": "SELECT * FROM pg_class; INSTALL httpfs",
    "python": "SELECT * FROM connection, pg_class",
    "memory": "SELECT repeat('x', 2000000000), relname FROM pg_class",
    "large": "SELECT repeat('x', 1000000) FROM range(1000), pg_class",
    "doubles": "SELECT length(s || s || s || s) FROM (SELECT s || s || s || s AS s FROM "
    "(SELECT s || s || s || s AS s FROM (SELECT s || s || s || s AS s FROM (SELECT repeat('pg_', 3000000) AS s))))",
    "time": "SELECT count(*) FROM range(1000000) a, range(1000000) b, pg_class c WHERE a.range * b.range % 7 = 3",
    "settings": "SELECT current_setting('secret_directory') FROM pg_class, duckdb_settings() WHERE 1 = 0 / 0",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_end_with_the_question_or_its_process(catalogue, name):
    spilled = set(Path().glob(".tmp/*"))
    before = catalogue.ask("SELECT count(*), max(nspname) FROM pg_namespace", "ann")[1]
    classes = catalogue.ask("SELECT count(*) FROM pg_class", "ann")[1]
    begun = time.monotonic()
    try:
        _, rows = catalogue.ask(ATTACKS[name], "ann")
        assert "root:" not in str(rows)
        assert len(str(rows)) < 10_000_000
    except StateError as error:
        assert error.state in ("0A000", "42601")  # noqa: PT017 (some are answered, with nothing in the answer)
    assert time.monotonic() - begun < 30
    assert set(Path().glob(".tmp/*")) <= spilled  # nothing is left on the disk
    assert catalogue.ask("SELECT count(*), max(nspname) FROM pg_namespace", "ann")[1] == before
    assert catalogue.ask("SELECT count(*) FROM pg_class", "ann")[1] == classes
