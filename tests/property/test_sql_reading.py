"""Rewriting keeps answers: a text run as it is, and as it was read, give the same count on DuckDB."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.core import ParameterError, UnsupportedError
from sordino.engines import Column, Table, connect
from sordino.sql.answering.exact import compute_answers
from sordino.sql.policy import Policy
from sordino.sql.reading.read import read_statement

from ..unit.sql.outcomes import check_refusal, outcome, texts
from ..unit.sql.storm import DIALECTS

pytestmark = pytest.mark.slow

POLICY = Policy.load(
    {
        "version": 1,
        "dataset": "x",
        "tables": {
            name: {"columns": {"a": {}, "b": {}, "s": {"domain": ["u", "v", None]}}} for name in ("r", "q")
        },
    }
)
CELLS = st.one_of(st.none(), st.integers(-3, 3))
ROWS = st.lists(st.tuples(CELLS, CELLS, st.sampled_from(["u", "v", "w", None])), max_size=5)

# Small whole numbers: doubles and the engine's integers agree on them.
NUMBERS = st.recursive(
    st.sampled_from(["x.a", "x.b", "y.a", "y.b", "0", "1", "2", "-1", "NULL"]),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
        st.builds("COALESCE({}, {})".format, inner, inner),
        st.builds("NULLIF({}, {})".format, inner, inner),
        st.builds("ABS({})".format, inner),
        st.builds("(- {})".format, inner),
        st.builds("GREATEST({}, {})".format, inner, inner),
        st.builds("LEAST({}, {})".format, inner, inner),
        st.builds("CASE WHEN {} > {} THEN {} ELSE {} END".format, inner, inner, inner, inner),
    ),
    max_leaves=4,
)
TEXTS = st.sampled_from(
    ["x.s", "y.s", "'u'", "LOWER(x.s)", "x.s || y.s", "COALESCE(y.s, 'v')", "SUBSTRING(x.s, 1, 1)"]
)
TRUTHS = st.recursive(
    st.one_of(
        st.builds("({} {} {})".format, NUMBERS, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), NUMBERS),
        st.builds("({} {} {})".format, TEXTS, st.sampled_from(["=", "<>"]), TEXTS),
        st.builds("({} IS NULL)".format, NUMBERS),
        st.builds("({} IS {}DISTINCT FROM {})".format, NUMBERS, st.sampled_from(["", "NOT "]), NUMBERS),
        st.builds("({} IS {}DISTINCT FROM {})".format, TEXTS, st.sampled_from(["", "NOT "]), TEXTS),
        st.builds("({} BETWEEN {} AND {})".format, NUMBERS, NUMBERS, NUMBERS),
        st.builds("({} IN (1, 2, NULL))".format, NUMBERS),
        st.builds("({} NOT IN (1, 2))".format, NUMBERS),
        st.builds("(x.s {} 'u%')".format, st.sampled_from(["LIKE", "NOT LIKE"])),
        st.sampled_from(["TRUE", "FALSE", "x.a = y.a", "x.s = y.s", "x.b % 2 = 1"]),
    ),
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("(NOT {})".format, inner),
        st.builds("({} IS NOT TRUE)".format, inner),
        st.builds("({} IS FALSE)".format, inner),
    ),
    max_leaves=5,
)
FROMS = st.sampled_from(
    [
        "FROM r AS x, q AS y WHERE {}",
        "FROM r AS x JOIN q AS y ON {}",
        "FROM r AS x CROSS JOIN r AS y WHERE {}",
        "FROM (SELECT a, b, s FROM r WHERE a > 0) AS x JOIN (SELECT b AS a, a AS b, s FROM q) AS y ON {}",
        "FROM (SELECT a + b AS a, b, s FROM r) AS x, (SELECT * FROM q WHERE s <> 'u') AS y WHERE {}",
        "FROM (SELECT x.a, y.b, x.s FROM r x JOIN q y USING (s)) AS x, q AS y WHERE {}",
    ]
)


def filled(rows, other):
    connection = duckdb.connect()
    for name, content in (("r", rows), ("q", other)):
        connection.execute(f"CREATE TABLE {name} (a BIGINT, b BIGINT, s VARCHAR)")
        if content:
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", content)
    return connection


def read(connection, text):
    engine = connect(connection)
    statement = read_statement(text, policy=POLICY, catalogue=engine.catalogue(), dialect="duckdb")
    with engine.snapshot() as snapshot:
        return compute_answers(snapshot, statement)


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(ROWS, ROWS, FROMS, TRUTHS, NUMBERS)
def test_what_was_read_counts_and_sums_as_the_text_itself(rows, other, origin, condition, value):
    value = f"CASE WHEN x.s = 'u' THEN x.b ELSE {value} END"
    # Written with GREATEST and LEAST it would be clipped when NULL, too: they skip NULLs.
    clipped = f"CASE WHEN {value} < -9 THEN -9 WHEN {value} > 9 THEN 9 ELSE {value} END"
    tail = origin.format(condition)
    with filled(rows, other) as connection:
        expected = connection.execute(
            f"SELECT COUNT(*), COUNT({value}), COALESCE(SUM({clipped}), 0) {tail}"
        ).fetchone()
        total = f"SUM(CASE WHEN {value} IS NULL THEN NULL ELSE LEAST(GREATEST({value}, -9), 9) END)"
        assert read(connection, f"SELECT COUNT(*), COUNT({value}), {total} {tail}")[()] == expected


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(ROWS, ROWS, FROMS, TRUTHS)
def test_groups_count_as_the_text_itself(rows, other, origin, condition):
    tail = origin.format(condition)
    with filled(rows, other) as connection:
        expected = {
            (key,): numbers
            for key, *numbers in connection.execute(
                f"SELECT x.s, COUNT(*), COUNT(y.b) {tail} GROUP BY x.s"
            ).fetchall()
        }
        found = read(connection, f"SELECT x.s, COUNT(*), COUNT(y.b) {tail} GROUP BY x.s")
        assert found == {key: tuple(expected.get(key, (0, 0))) for key in [("u",), ("v",), (None,)]}


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["duckdb", "postgres", "spark"]))
def test_any_text_is_read_or_refused(text, dialect):
    catalogue = {name: Table(name, (Column("a", "integer"), Column("s", "text"))) for name in ("r", "q")}
    for query in (
        text,
        f"SELECT COUNT(*) FROM r WHERE {text}",
        f"SELECT {text} FROM r",
        f"SELECT COUNT(*) FROM {text}",
    ):
        try:
            read_statement(query, policy=POLICY, catalogue=catalogue, dialect=dialect)
        except (ParameterError, UnsupportedError) as error:
            check_refusal(query, error)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(DIALECTS))
def test_any_question_whole_or_damaged_is_accepted_or_refused_with_a_place(seed, dialect):
    for text in texts(seed, dialect, 3):
        outcome(text, dialect)
