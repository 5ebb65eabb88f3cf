"""Random questions over the extreme values of Spark's types, few statements of many aggregates each."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from sordino.engines import connect

from ..unit.sql.writer import Columns
from .analysis_fuzz import AnalysisFuzz
from .extreme_tables import definition, extreme_tables
from .sql_fuzz import MARK, Fuzz, duckdb_answers, same_values
from .test_spark import HOSTILE_SETTINGS

WIDE = Columns(
    numbers=("i1", "i2", "i4", "i8", "f4", "f8", "n2", "n3", "n10"),
    whole=("i1", "i2", "i4", "i8"),
    texts=("s",),
    days=("d", "t", "z"),
    flags=("b",),
    odd=("l", "y"),
)
_NINES = "9" * 38
# Days and microseconds from 1970 on.
ROWS = f"""
    (-128, -32768, -2147483648, -9223372036854775808, '-Infinity', '-Infinity', '-{_NINES}', '-0.{_NINES}',
     '-9999999999999999999999999999.9999999999', '{MARK}', true, -2147483648, -9223372036854775808),
    (127, 32767, 2147483647, 9223372036854775807, 'Infinity', 'Infinity', '{_NINES}', '0.{_NINES}',
     '9999999999999999999999999999.9999999999', '', false, 2147483647, 9223372036854775807),
    (0, 0, 0, 0, 'NaN', 'NaN', '0', '0', '0', '٣', NULL, -719163, -62135596800000001),
    (7, 7, 7, 9007199254740993, '1e-45', '5e-324', '9007199254740993', '1e-38', '1e-10', '12', true,
     2932896, 253402300799999999),
    (-1, -1, -1, -1, '3e38', '1.7e308', '7', '0.1', '7', '12\\n', false, 19782, 1709164800000000),
    (1, 1, 1, 1, '-0.0', '-0.0', '1', '-1e-38', '-0.1', '2024-02-29', true, -719162, -62135596800000000),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
"""
TABLE = f"""
    SELECT CAST(a AS BYTE) AS i1, CAST(b AS SHORT) AS i2, CAST(c AS INT) AS i4, CAST(d AS LONG) AS i8,
           CAST(e AS FLOAT) AS f4, CAST(f AS DOUBLE) AS f8, CAST(g AS DECIMAL(38, 0)) AS n2,
           CAST(h AS DECIMAL(38, 38)) AS n3, CAST(i AS DECIMAL(38, 10)) AS n10, j AS s, k AS b,
           DATE_FROM_UNIX_DATE(CAST(l AS INT)) AS d, CAST(TIMESTAMP_MICROS(m) AS TIMESTAMP_NTZ) AS t,
           TIMESTAMP_MICROS(m) AS z, ARRAY(a) AS l, CAST(j AS BINARY) AS y
    FROM VALUES {ROWS} AS given(a, b, c, d, e, f, g, h, i, j, k, l, m)
"""


@pytest.fixture(scope="module")
def fuzz(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    # Behind files, so that conditions are pushed into their readers too.
    spark.sql(TABLE).coalesce(1).write.parquet(str(folder / "w"))
    pq.write_table(same_values(), folder / "c.parquet")
    spark.read.parquet(str(folder / "w")).createTempView("w")
    spark.read.parquet(str(folder / "c.parquet")).createTempView("c")
    yield Fuzz(connect(spark), WIDE)
    for name in "wc":
        spark.catalog.dropTempView(name)


def test_aggregates_over_extreme_values_are_refused_or_answered(fuzz):
    assert len(fuzz.batches(1, 80, size=40)) > 20, "the writer asks too little that is understood"


def test_statements_over_extreme_values_are_refused_or_answered(fuzz):
    fuzz.statements(2, 8)


def test_answers_over_the_same_extreme_values_equal_those_of_duckdb(fuzz):
    answers = fuzz.batches(3, 90, size=50, table="c")
    assert len(answers) > 20, "the writer asks too little that is understood"
    assert answers == duckdb_answers(answers, fuzz.policy)


def test_joins_over_extreme_values_are_bounded(fuzz):
    assert fuzz.joins(4, 7) > 3


# --- the analyses, under settings of a hostile session


@pytest.fixture(scope="module")
def analyses(spark, tmp_path_factory):
    """Tables with CHAR, VARCHAR and collated columns, in a session whose settings would change what they mean."""
    folder, tables = tmp_path_factory.mktemp("extremes"), extreme_tables(7)
    for name, rows in tables.items():
        spark.sql(f"{definition(name, 'spark')} USING parquet LOCATION '{folder / name}'")
        pq.write_table(rows, folder / f"{name}.parquet")
        spark.read.parquet(str(folder / f"{name}.parquet")).coalesce(1).write.insertInto(name)
    before = {key: spark.conf.get(key) for key in HOSTILE_SETTINGS}
    for key, value in HOSTILE_SETTINGS.items():
        spark.conf.set(key, value)
    yield AnalysisFuzz(connect(spark), tables)
    for key, value in before.items():
        spark.conf.set(key, value)
    for name in tables:
        spark.sql(f"DROP TABLE {name}")


def test_as_many_rows_meet_as_the_rule_of_equality_says(analyses):
    analyses.equal_columns(
        answers=[("h", "s"), ("k", "v"), ("g", "h"), ("n4_1", "n17_2"), ("f4", "f8"), ("t", "z")]
    )


def test_chains_and_cycles_of_one_type_are_those_of_the_rows(analyses):
    analyses.chains(1, 2, removals=False)


def test_sums_over_joins_and_their_bounds_are_those_of_the_rows(analyses):
    assert analyses.sums(1, keys=("h",), policies=1) > 5


def test_every_value_of_a_domain_finds_its_own_rows(analyses):
    analyses.groups(("h",))


def test_decimals_are_fractions(analyses):
    assert analyses.decimals(1, 180, size=60) > 60


def test_whole_questions_are_refused_or_measured_and_dominate(analyses):
    seen = analyses.whole_questions(1, 6, sizes=(2, 2, 3), removals=False)
    assert seen[2] + seen[3] > 2, seen
