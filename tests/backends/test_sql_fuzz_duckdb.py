"""Random questions and their analyses over the extreme values of DuckDB's types, under settings of a hostile caller."""

from __future__ import annotations

from contextlib import suppress

import duckdb
import pytest
from sqlglot import exp

from sordino.core import EngineError
from sordino.engines import connect
from sordino.sql.aggregates import BoundedSum

from ..unit.sql.writer import Columns
from .analysis_fuzz import AnalysisFuzz
from .extreme_tables import LABELS, definition, extreme_tables
from .sql_fuzz import MARK, Fuzz, same_values
from .test_duckdb import HOSTILE_SETTINGS

# Types that no other engine has, and days that no other holds.
WIDE = Columns(
    numbers=("i1", "i2", "i4", "i8", "i16", "u1", "u8", "f4", "f8", "n"),
    whole=("i1", "i2", "i4", "i8", "i16", "u1", "u8"),
    texts=("s", "e"),
    days=("d", "t", "ts", "tm", "tn", "z"),
    flags=("b",),
    odd=("l", "u16"),
)
TABLES = f"""
    CREATE TYPE colour AS ENUM ('red', '{MARK}');
    CREATE TABLE w (i1 TINYINT, i2 SMALLINT, i4 INTEGER, i8 BIGINT, i16 HUGEINT, u1 UTINYINT, u8 UBIGINT, f4 FLOAT,
        f8 DOUBLE, n DECIMAL(38, 10), s VARCHAR COLLATE NOCASE, e colour, b BOOLEAN, d DATE, t TIMESTAMP,
        ts TIMESTAMP_S, tm TIMESTAMP_MS, tn TIMESTAMP_NS, z TIMESTAMPTZ, l INTEGER[], u16 UHUGEINT);
    INSERT INTO w VALUES
    ('-128', '-32768', '-2147483648', '-9223372036854775808', '-170141183460469231731687303715884105728', 0, 0, '-inf',
     '-inf', '-9999999999999999999999999999.9999999999', '{MARK}', '{MARK}', true, '5877642-06-25 (BC)',
     '290309-12-22 (BC) 00:00:00', '290309-12-22 (BC) 00:00:00', '290309-12-22 (BC) 00:00:00', '1678-01-01',
     '290309-12-22 (BC) 00:00:00+00', [1], 0),
    ('127', '32767', '2147483647', '9223372036854775807', '170141183460469231731687303715884105727', 255,
     '18446744073709551615', 'nan', 'nan', '9999999999999999999999999999.9999999999', '', 'red', false, '5881580-07-10',
     '294247-01-10 04:00:54.775806', '294247-01-10 04:00:54', '294247-01-10 04:00:54.775', '2262-01-01',
     '294247-01-10 04:00:54.775806+00', [], '340282366920938463463374607431768211455'),
    (0, 0, 0, 0, 0, 0, 0, 'inf', '5e-324', '1e-10', '٣', NULL, NULL, 'infinity', 'infinity', NULL, NULL, NULL,
     'infinity', NULL, NULL),
    (7, 7, 7, 9007199254740993, 7, 7, 7, '3e38', '1.7e308', 7, '12', 'red', true, '-infinity', '-infinity',
     '2024-02-29', '2024-02-29', '2024-02-29', '-infinity', NULL, NULL),
    (-1, -1, -1, -1, -1, 1, 1, '-0.0', '-0.0', '-1e-10', 'É''%_', 'red', false, '0001-01-01', '0001-01-01',
     '0001-01-01', '9999-12-31', '1969-12-31', '0001-01-01 00:00:00+00', NULL, 1);
"""


def hostile_connection():
    """The engine over a caller's connection with the extreme tables, and settings that would change what they mean."""
    tables, owner = extreme_tables(7), duckdb.connect()
    owner.execute(f"CREATE TYPE label AS ENUM ({LABELS}); {TABLES}")
    for name, rows in {**tables, "c": same_values()}.items():
        owner.register("given", rows)
        if name in tables:
            owner.execute(definition(name, "duckdb"))
            owner.execute(f"INSERT INTO {name} SELECT * FROM given")
        else:
            owner.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        owner.unregister("given")
    for name, value in HOSTILE_SETTINGS.items():
        # Versions differ in what they know, and a setting that cannot be pinned is refused.
        with suppress(duckdb.Error):
            owner.execute(f"SET GLOBAL {name} = '{value}'")
            try:
                connect(owner)
            except EngineError:
                owner.execute(f"RESET GLOBAL {name}")
    return owner, tables


@pytest.fixture(scope="module")
def held():
    owner, tables = hostile_connection()
    yield connect(owner), tables
    owner.close()


@pytest.fixture
def analyses(held):
    return AnalysisFuzz(*held)


@pytest.fixture
def fuzz(held):
    return Fuzz(held[0], WIDE)


def test_the_caller_is_hostile(held):
    """Else the tests below show less than they say."""
    engine, _ = held
    seen = dict(engine._connection.execute("SELECT name, value FROM duckdb_settings()").fetchall())
    assert sum(seen.get(name, "").lower() == value for name, value in HOSTILE_SETTINGS.items()) > 5


def test_statements_over_extreme_values_are_refused_or_answered(fuzz):
    fuzz.statements(1, 80)
    assert fuzz.answered > fuzz.asked / 10, "the writer asks too little that is understood"


@pytest.mark.parametrize("analyses", [None, ("patterns",), ("residual",), ("elastic",)])
def test_joins_over_extreme_values_are_bounded(fuzz, analyses):
    assert fuzz.joins(3, 12, analyses=analyses) > 4


def test_as_many_rows_meet_as_the_rule_of_equality_says(analyses):
    analyses.equal_columns()


def test_chains_and_cycles_of_one_type_are_those_of_the_rows(analyses):
    analyses.chains(1, 24)


def test_sums_over_joins_and_their_bounds_are_those_of_the_rows(analyses):
    assert analyses.sums(1, policies=1) > 30


def test_every_value_of_a_domain_finds_its_own_rows(analyses):
    analyses.groups()


def test_decimals_are_fractions(analyses):
    assert analyses.decimals(1, 250) > 80


def test_whole_questions_are_refused_or_measured_and_dominate(analyses):
    seen = analyses.whole_questions(1, 24)
    assert min(seen[2], seen[3] + seen[4]) > 5, seen


# --- the controls: what the tests above are there to find


def test_the_absolute_value_of_the_least_integer_is_found(fuzz, analyses, monkeypatch):
    size = BoundedSum.size

    def size_of_the_raw_value(measure):
        if not (measure.whole and measure.step == 1):
            return size(measure)
        limits = [exp.Literal.number(measure.reach)]
        return exp.Least(this=exp.Abs(this=measure.value.copy()), expressions=limits)

    monkeypatch.setattr(BoundedSum, "size", size_of_the_raw_value)
    with pytest.raises(pytest.fail.Exception, match=r"(?i)overflow on abs"):
        analyses.sums(1, policies=2)
    with pytest.raises(pytest.fail.Exception, match=r"(?i)overflow on abs"):
        fuzz.joins(3, 60)
    with pytest.raises(pytest.fail.Exception, match=r"(?i)overflow on abs"):
        analyses.whole_questions(1, 40)


def test_a_collation_that_is_not_taken_off_is_found(held, monkeypatch):
    engine, tables = held
    monkeypatch.setattr("sordino.engines.duckdb_catalogue._canonical", lambda *_, **__: None)
    with pytest.raises(AssertionError, match="'k'"):
        AnalysisFuzz(connect(engine._connection), tables).equal_columns([("k", "k")])


def test_decimals_beyond_what_fits_are_found(analyses, monkeypatch):
    monkeypatch.setattr("sordino.sql.expressions.decimals._MOST_CALCULATED", 38)
    with pytest.raises((pytest.fail.Exception, AssertionError)):
        analyses.decimals(1, 400)


def test_decimals_that_are_closed_although_they_do_not_fit_are_found(analyses, monkeypatch):
    monkeypatch.setattr("sordino.sql.analysis.closure._decimals_fit", lambda *_: True)
    with pytest.raises((pytest.fail.Exception, AssertionError)):
        analyses.chains(1, 60, sorts=("decimal",))


def test_a_bound_that_is_too_small_is_found(analyses, monkeypatch):
    monkeypatch.setattr(
        "sordino.sql.analysis.analysis._per_unit",
        lambda bounds, weight: tuple(min(bound, 1) / weight for bound in bounds),
    )
    with pytest.raises(AssertionError):
        analyses.whole_questions(1, 40)
