"""Random questions over the extreme values of PostgreSQL's types."""

from __future__ import annotations

import psycopg
import pytest

from sordino.engines import connect

from ..unit.sql.writer import Columns
from .analysis_fuzz import AnalysisFuzz, comparable
from .extreme_tables import LABELS, definition, extreme_tables
from .sql_fuzz import MARK, Fuzz, duckdb_answers, same_values
from .test_postgresql import EVIL, HOSTILE_SETTINGS

WIDE = Columns(
    numbers=("i2", "i4", "i8", "n", "n38", "f4", "f8"),
    whole=("i2", "i4", "i8"),
    texts=("s", "v", "p", "e"),
    days=("d", "t", "z"),
    flags=("b",),
    odd=("j", "l"),
)
TABLES = f"""
    CREATE TYPE colour AS ENUM ('red', '{MARK}');
    CREATE TABLE w (i2 smallint, i4 integer, i8 bigint, n numeric, n38 numeric(38, 10), f4 real, f8 double precision,
        s text, v varchar(20), p char(6), e colour, b boolean, d date, t timestamp, z timestamptz, j jsonb, l int[]);
    INSERT INTO w VALUES
    (-32768, -2147483648, -9223372036854775808, '-1e1000', '-9999999999999999999999999999.9999999999',
     '-infinity', '-infinity', '{MARK}', '{MARK}', '{MARK}', '{MARK}', true,
     '-infinity', '-infinity', '-infinity', '{{}}', '{{1}}'),
    (32767, 2147483647, 9223372036854775807, '1e1000', '9999999999999999999999999999.9999999999',
     'infinity', 'infinity', '', '', '', 'red', false, 'infinity', 'infinity', 'infinity', NULL, '{{}}'),
    (0, 0, 0, 'NaN', 'NaN', 'NaN', 'NaN', '٣', '٣', '٣', NULL, NULL,
     '4714-11-24 BC', '4714-11-24 00:00:00 BC', '4714-11-24 00:00:00+00 BC', NULL, NULL),
    (7, 7, 7, '1e-1000', '0.0000000001', '1e-45', '5e-324', '12', '12', '12', 'red', true,
     '5874897-12-31', '294276-12-31 23:59:59.999999', '294276-12-31 23:59:59.999999+00', NULL, NULL),
    (-1, -1, -1, '-1e-1000', '-0.0000000001', '-3.4e38', '1.7e308', E'12\\n', '-7.5', 'É''%_', 'red', false,
     '0001-12-31 BC', '0001-12-31 23:59:59 BC', '0001-12-31 23:59:59+00 BC', NULL, NULL),
    (1, 1, 9007199254740993, '1e131071', '7', '-0', '-0', '2024-02-29', '2024-02-30', 'a', 'red', true,
     '9999-12-31', '9999-12-31 23:59:59.999999', '9999-12-31 23:59:59.999999+00', NULL, NULL),
    (NULL, NULL, NULL, 'infinity', NULL, 0.1, 1e70, 'a', 'a', NULL, NULL, NULL,
     '2024-02-29', '2024-02-29', '2024-02-29 00:00:00+00', NULL, NULL);
    INSERT INTO w (n, f8) VALUES ('-infinity', 1e-70), ('1e38', 1e38), ('1e-16383', -1e-310), (7, 0.1), (NULL, NULL);
    CREATE TABLE c (i2 smallint, i4 integer, i8 bigint, f4 real, f8 double precision, n1 numeric(4, 1),
        n2 numeric(38, 0), n3 numeric(38, 38), s text, b boolean, d date, t timestamp);
"""


@pytest.fixture
def fuzz(postgresql_backend):
    engine, owner = postgresql_backend.load({}), postgresql_backend.owner
    owner.execute(TABLES)
    with owner.cursor().copy("COPY c FROM STDIN") as copy:
        for row in same_values().to_pylist():
            copy.write_row(list(row.values()))
    return Fuzz(engine, WIDE)


def test_statements_over_extreme_values_are_refused_or_answered(fuzz):
    fuzz.statements(1, 250)
    assert fuzz.answered > fuzz.asked / 10, "the writer asks too little that is understood"


def test_answers_over_the_same_extreme_values_equal_those_of_duckdb(fuzz):
    answers = fuzz.batches(2, 300, size=16, table="c")
    assert len(answers) > 40, "the writer asks too little that is understood"
    assert answers == duckdb_answers(answers, fuzz.policy)


def test_joins_over_extreme_values_are_bounded(fuzz):
    assert fuzz.joins(3, 60) > 20


# --- the analyses, under settings of a hostile database


def hostile_database(server, name, folded):
    """A database whose settings and schemas would change what a statement means, with the extreme tables in it."""
    tables = extreme_tables(7)
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        owner.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
    with psycopg.connect(server.url(name), autocommit=True) as owner:
        owner.execute(f"CREATE TYPE label AS ENUM ({LABELS}); CREATE DOMAIN word AS char(9)")
        owner.execute(folded)
        for table, rows in tables.items():
            owner.execute(definition(table, "postgresql"))
            with owner.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                for row in rows.to_pylist():
                    copy.write_row(list(row.values()))
        owner.execute(EVIL)
        for setting, value in HOSTILE_SETTINGS.items():
            shown = value if setting == "search_path" else f"'{value}'"
            owner.execute(f"ALTER DATABASE {name} SET {setting} = {shown}")
    return AnalysisFuzz(connect(server.url(name)), tables)


@pytest.fixture(scope="module")
def analyses(server):
    return hostile_database(server, "extremes", 'CREATE DOMAIN folded AS text COLLATE "POSIX"')


def test_as_many_rows_meet_as_the_rule_of_equality_says(analyses):
    analyses.equal_columns()


def test_chains_and_cycles_of_one_type_are_those_of_the_rows(analyses):
    analyses.chains(1, 20)


def test_sums_over_joins_and_their_bounds_are_those_of_the_rows(analyses):
    assert analyses.sums(1, policies=1) > 30


def test_every_value_of_a_domain_finds_its_own_rows(analyses):
    analyses.groups()


def test_decimals_are_fractions(analyses):
    assert analyses.decimals(1, 300) > 100


def test_whole_questions_are_refused_or_measured_and_dominate(analyses):
    seen = analyses.whole_questions(1, 30)
    assert min(seen[2], seen[3] + seen[4]) > 5, seen


def test_collations_that_take_texts_for_equal_do_not_show_in_analyses(icu_server):
    folded = """
        CREATE COLLATION ai (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
        CREATE DOMAIN folded AS text COLLATE ai
    """
    analyses = hostile_database(icu_server, "extremes", folded)
    texts = [pair for pair in comparable() if "k" in pair]
    analyses.equal_columns(texts)
    analyses.groups(("k",))
    assert analyses.sums(1, keys=("k",), policies=1) > 5
