"""Random questions over the extreme values of PostgreSQL's types."""

from __future__ import annotations

import pytest

from ..unit.sql.writer import Columns
from .sql_fuzz import MARK, Fuzz, duckdb_answers, same_values

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
    fuzz.statements(1, 400)
    assert fuzz.answered > fuzz.asked / 10, "the writer asks too little that is understood"


def test_answers_over_the_same_extreme_values_equal_those_of_duckdb(fuzz):
    answers = fuzz.batches(2, 400, size=16, table="c")
    assert len(answers) > 40, "the writer asks too little that is understood"
    assert answers == duckdb_answers(answers, fuzz.policy)


def test_joins_over_extreme_values_are_bounded(fuzz):
    assert fuzz.joins(3, 60) > 20
