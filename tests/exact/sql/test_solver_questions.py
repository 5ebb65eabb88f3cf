"""The solver in questions that are answered: its limits hold over all tiny databases, NULLs and repeats included."""

from __future__ import annotations

from functools import cache

import duckdb
import pytest

import sordino as sd
from sordino.audit import prove
from sordino.core import MissingExtraError, UnsupportedError
from sordino.sql.analysis import row_limits
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.solver import limits, translation
from sordino.sql.solver.effort import Effort
from sordino.sql.solver.z3_solver import solve
from tests.oracles.relations import AllDatabases, OracleTable

# Columns may be NULL, so that a key is one only where it is not.
R = OracleTable("r", ("id", "x"), ("id",), values=((0, 1, None), ("a", None)), most=3)
S = OracleTable("s", ("id", "k"), ("id", "k"), values=((0, 1), (0, 1, None)), most=3)
CREATE = "CREATE TABLE r (id INTEGER, x VARCHAR); CREATE TABLE s (id INTEGER, k INTEGER)"
POLICY = {
    "version": 1,
    "dataset": "tiny",
    "tables": {
        "r": {"key": {"columns": ["id"], "enforced": True}},
        "s": {"key": {"columns": ["id", "k"], "enforced": True}, "check": ["k >= 0", "k <= 1"]},
    },
    "budgets": {"ann": {"epsilon": 1000}},
}
COUNTED = [
    "SELECT DISTINCT x FROM r",
    "SELECT DISTINCT UPPER(x) AS x FROM r",
    "SELECT DISTINCT b.x FROM r a, r b",
    "SELECT DISTINCT x, id FROM r",
    "SELECT DISTINCT x, k FROM r JOIN s ON r.id = s.id WHERE k >= 0",
    "SELECT x FROM r GROUP BY x",
    "SELECT id FROM r UNION SELECT id FROM s",
    "SELECT id FROM r EXCEPT SELECT id FROM s",
    "SELECT id FROM r INTERSECT SELECT k FROM s",
    "SELECT id FROM s WHERE id >= 0 EXCEPT SELECT r.id FROM r JOIN s ON r.id = s.id WHERE x = 'a'",
    "SELECT id FROM r EXCEPT SELECT id FROM r WHERE x IS NULL",
    "SELECT id FROM s EXCEPT SELECT k FROM s WHERE k + 0 = 1",
]
JOINED = [
    ("r JOIN s ON r.id = s.id", {"s": 1}),
    ("r JOIN s ON r.id = s.id WHERE k >= 0", {"r": 2, "s": 1}),
    ("r JOIN s ON r.id = s.id WHERE k = 1", {"r": 1, "s": 1}),
    ("r a JOIN r b ON a.id = b.id", {"r": 1}),
    ("r a JOIN r b ON a.id = b.id WHERE a.x <> b.x", {"r": 0}),
]


@cache
def databases() -> AllDatabases:
    return AllDatabases((R, S))


@pytest.fixture(scope="module")
def curator():
    connection = duckdb.connect()
    connection.execute(CREATE)
    with sd.connect(connection, policy=POLICY) as found:
        yield found


@pytest.fixture(autouse=True)
def _forgetful(monkeypatch):
    """What is remembered of other limits is forgotten."""
    monkeypatch.setattr(limits, "_remembered", {})


def statement_of(curator, sql):
    return curator.plan(sql, AnswerOptions.checked(1.0, 0.0)).statement


@pytest.mark.parametrize("sql", COUNTED)
def test_rows_without_repeats_change_by_no_more_than_the_limit(curator, sql):
    plan = curator.plan(f"SELECT COUNT(*) FROM ({sql})", AnswerOptions.checked(1.0, 0.0))
    found = limits.find_count_limits(plan.statement.counted)
    assert found
    for table, one in found.items():
        assert databases().sensitivity(sql, table) <= one.at_most
    assert plan.noises[0].sensitivity == max(1, *(one.at_most for one in found.values()))


@pytest.mark.parametrize(("source", "expected"), JOINED)
def test_joined_rows_change_by_no_more_than_the_limit(curator, source, expected):
    statement = statement_of(curator, f"SELECT COUNT(*) FROM {source}")
    found = dict(limits.find_join_limits(statement.join))
    assert found == expected
    for table, limit in found.items():
        columns = "a.id" if " a " in source else "r.id"
        assert databases().sensitivity(f"SELECT {columns} FROM {source}", table) <= limit


def test_keys_that_may_be_null_are_caught(curator, monkeypatch):
    """The mutant takes every column for filled, and the key of s for one although k may be NULL in many rows."""
    source = "r JOIN s ON r.id = s.id"
    statement = statement_of(curator, f"SELECT COUNT(*) FROM {source}")
    monkeypatch.setattr(translation.Translator, "_is_filled", lambda self, first, column: True)
    limit = limits.find_join_limits(statement.join)["r"]
    assert databases().sensitivity(f"SELECT r.id FROM {source}", "r") > limit


@pytest.mark.parametrize("sql", [COUNTED[2], COUNTED[4], COUNTED[7]])
def test_the_law_of_an_answer_has_the_claimed_loss(curator, sql):
    plan = curator.plan(f"SELECT COUNT(*) FROM ({sql})", AnswerOptions.checked(1.0, 0.0))
    rows = databases().results(sql)
    numbers = [len(rows.get(i, ())) for i in range(len(databases().databases))]
    near = databases().neighbours()
    # One database for each pair of numbers is enough: the law follows the number alone.
    pairs = {(numbers[i], numbers[j]) for i, others in near.items() for j in others}
    universe = sorted({number for pair in pairs for number in pair})

    def neighbours(number):
        return [b for a, b in pairs if a == number]

    assert prove(lambda number: plan.noises[0].law(number, None), universe, neighbours, 1.0).holds
    worst = max(abs(a - b) for a, b in pairs)
    tighter = type(plan.noises[0])(plan.noises[0].sensitivity * worst / (worst + 1), plan.noises[0].epsilon)
    if worst == plan.noises[0].sensitivity:
        assert not prove(lambda number: tighter.law(number, None), universe, neighbours, 1.0).holds


def test_answers_are_those_of_the_rows_and_explain_shows_the_solver():
    connection = duckdb.connect()
    connection.execute(CREATE)
    connection.execute("INSERT INTO r VALUES (0, 'a'), (1, NULL), (NULL, NULL), (NULL, 'b')")
    connection.execute("INSERT INTO s VALUES (0, 0), (0, 1), (1, NULL), (1, NULL)")
    with sd.connect(connection, policy=POLICY) as curator:
        for sql in COUNTED:
            asked = f"SELECT COUNT(*) FROM ({sql})"
            (expected,) = connection.execute(asked).fetchone()
            facts = curator.explain(asked, epsilon=1).reveal()
            assert facts["exact"] == expected, sql
            assert {row["analysis"] for row in facts["numbers"][0]["bounds"]} == {"solver"}
            assert facts["mechanism"] == "discrete_laplace noise"
        ann = curator.session("ann")
        asked = "SELECT COUNT(*) * 2 AS twice FROM (SELECT DISTINCT x FROM r) AS s"
        release = ann.query(asked, epsilon=20)
        assert abs(release.value - 6) <= 4
        assert ann.query(asked, epsilon=20, reuse=True).value == release.value
        assert ann.preview(asked, epsilon=20).numbers[0].error is not None
        facts = curator.explain("SELECT COUNT(*) FROM r JOIN s ON r.id = s.id", epsilon=1).reveal()
        assert "solver" in {row["analysis"] for row in facts["numbers"][0]["bounds"]}
        assert "solver" in facts["guarantee"]


def test_a_constant_caps_the_other_analyses(curator):
    """Every order has at most two lines, whatever the rows; smooth noise is made for no more at any β."""
    sql = "SELECT COUNT(*) FROM r JOIN s ON r.id = s.id WHERE k >= 0"
    facts = curator.explain(sql, epsilon=0.01).reveal()
    by_name = {
        (row["table"], row["analysis"]): row["smooth"] for row in facts["numbers"][0].get("bounds", ())
    }
    assert by_name["r", "solver"] == pytest.approx(2, rel=1e-9)
    assert facts["numbers"][0]["smooth_bound"] <= 2 * (1 + 1e-9)
    alone = curator.explain(sql, epsilon=0.01, analyses="solver").reveal()
    assert alone["mechanism"] == "discrete_laplace noise"
    assert alone["numbers"][0]["noise_scale"] == pytest.approx(200)


def test_what_the_solver_cannot_bound_is_refused(curator, monkeypatch):
    with pytest.raises(UnsupportedError, match="name other analyses too"):
        curator.plan(
            "SELECT COUNT(*) FROM r JOIN s ON r.id = s.id", AnswerOptions.checked(1.0, 0.0, analyses="solver")
        )
    with pytest.raises(UnsupportedError, match="any number of these rows"):
        curator.plan(
            "SELECT COUNT(*) FROM (SELECT DISTINCT s.id, k FROM r, s WHERE r.x = 'a')",
            AnswerOptions.checked(1.0, 0.0),
        )
    for others in ("patterns", ["patterns", "solver"], "none"):
        with pytest.raises(UnsupportedError, match="by the solver and by nothing else"):
            curator.plan(
                "SELECT COUNT(*) FROM (SELECT DISTINCT x FROM r)",
                AnswerOptions.checked(1.0, 0.0, analyses=others),
            )
    with pytest.raises(UnsupportedError, match=r"SUM\(x\) is refused: of rows without repeats COUNT"):
        statement_of(curator, "SELECT COUNT(*), SUM(x) FROM (SELECT DISTINCT x FROM r)")
    for name in ("COUNT_UNITS", "MOST_TERMS"):
        with monkeypatch.context() as little:
            little.setattr(limits, "_remembered", {})
            little.setattr(limits, name, 1)
            with pytest.raises(UnsupportedError, match="the work that a question may cost"):
                curator.plan(
                    "SELECT COUNT(*) FROM (SELECT DISTINCT x FROM r)", AnswerOptions.checked(1.0, 0.0)
                )


def test_what_a_question_gets_does_not_depend_on_the_clock(curator, monkeypatch):
    """Less work than needed is another plan, always the same; less time is a refusal, and no other plan."""
    asked = "SELECT COUNT(*) FROM r JOIN s ON r.id = s.id WHERE k >= 0"

    def analyses():
        monkeypatch.setattr(limits, "_remembered", {})
        plan = curator.plan(asked, AnswerOptions.checked(1.0, 0.0))
        return {name for reading in plan.readings for name in reading.prepared}

    with_it = analyses()
    assert row_limits.SOLVER in with_it
    with monkeypatch.context() as little:
        little.setattr(limits, "JOIN_UNITS", 1)
        assert analyses() == with_it - {row_limits.SOLVER}
    monkeypatch.setattr(limits, "LATEST_SECONDS", 1e-9)
    for _ in range(2):  # and nothing of it is remembered
        with pytest.raises(UnsupportedError, match="nothing was paid"):
            analyses()
    ann = curator.session("ann")
    before = ann.budget()
    for ask in (ann.query, ann.preview, curator.explain):
        with pytest.raises(UnsupportedError, match="nothing was paid"):
            ask(asked, epsilon=1)
    assert ann.budget() == before


def test_long_lists_of_literals_are_bounded_by_terms(curator, monkeypatch):
    """3 000 numbers in up to 64 joined rows are more than is written; and nothing is written after that."""
    written = []
    spend = Effort.spend
    monkeypatch.setattr(
        Effort, "spend", lambda self, units, terms: written.append(terms) or spend(self, units, terms)
    )
    numbers = ", ".join(map(str, range(3_000)))
    asked = f"SELECT COUNT(*) FROM r JOIN s ON r.id = s.id WHERE k IN ({numbers}) AND k >= 0"
    monkeypatch.setattr(limits, "MOST_TERMS", 50_000)
    monkeypatch.setattr(limits, "JOIN_UNITS", 4_000_000_000)
    curator.plan(asked, AnswerOptions.checked(1.0, 0.0))
    assert max(written) > 9_000
    assert sum(written) <= 2 * 50_000  # of each of two tables


def test_work_is_counted_and_ends_where_it_is_said():
    """Nobody knows the end of this search: so much work and no more, without a word of time."""
    x = "(* x x x)"
    hard = "".join(f"(declare-fun {v} () Int)" for v in "xyz")
    hard += f"(assert (= (+ {x} {x.replace('x', 'y')} {x.replace('x', 'z')}) 114))"
    first, second = (solve(hard, seconds=300, units=100_000) for _ in range(2))
    assert (first.verdict, first.stopped) == ("unknown", False)
    assert first.units == second.units >= 100_000
    easy = "(declare-fun x () Int)(assert (> x 3))"
    assert solve(easy, seconds=300, units=100_000).units < 1_000
    assert solve(easy, seconds=0, units=100_000).stopped


def test_without_enforced_keys_or_z3_the_solver_is_not_asked(monkeypatch):
    connection = duckdb.connect()
    connection.execute(CREATE)
    noted = {"r": {"key": "id"}, "s": {"key": ["id", "k"]}}
    sql = "SELECT COUNT(*) FROM r JOIN s ON r.id = s.id"
    with sd.connect(connection, policy=POLICY | {"tables": noted}) as curator:
        plan = curator.plan(sql, AnswerOptions.checked(1.0, 0.0))
        assert not any(row_limits.SOLVER in reading.prepared for reading in plan.readings)
        with pytest.raises(UnsupportedError, match="enforced"):
            curator.plan(sql, AnswerOptions.checked(1.0, 0.0, analyses="solver"))
    monkeypatch.setattr(row_limits, "is_available", lambda: False)
    with sd.connect(connection, policy=POLICY) as curator:
        plan = curator.plan(sql, AnswerOptions.checked(1.0, 0.0))
        assert not any(row_limits.SOLVER in reading.prepared for reading in plan.readings)
        with pytest.raises(MissingExtraError, match="solver"):
            curator.plan(sql, AnswerOptions.checked(1.0, 0.0, analyses="solver"))


def test_users_are_not_protected_by_it():
    connection = duckdb.connect()
    connection.execute(CREATE)
    policy = POLICY | {"protects": "user", "users": "r.id", "tables": {"r": {}}}
    with (
        sd.connect(connection, policy=policy) as curator,
        pytest.raises(UnsupportedError, match="where rows are protected"),
    ):
        curator.plan("SELECT COUNT(*) FROM (SELECT DISTINCT x FROM r)", AnswerOptions.checked(1.0, 0.0))


def test_rows_of_two_tables_that_look_up_one_public_table():
    """What a row of each finds there are two functions: they may have other columns, or the same in another order."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE r (id INTEGER NOT NULL, a INTEGER); CREATE TABLE q (a INTEGER, z INTEGER);"
        "CREATE TABLE p (id INTEGER, name VARCHAR); INSERT INTO p VALUES (0, 'x'), (1, 'y')"
    )
    tables = {
        "r": {"key": {"columns": ["id"], "enforced": True}},
        "q": {"key": {"columns": ["a"], "enforced": True}},
        "p": {"private": False},
    }
    asked = "SELECT COUNT(*) FROM r, q, p WHERE r.a = p.id AND q.a = p.id AND r.a = q.a AND p.name = 'x'"
    with sd.connect(connection, policy=POLICY | {"tables": tables}) as curator:
        found = limits.find_join_limits(statement_of(curator, asked).join)
    assert dict(found) == {"r": 1}


def test_what_is_calculated_of_two_columns_may_differ_where_they_are_equal():
    """DuckDB turns a HUGEINT and the BIGINT that equals it into two doubles: one row brings in both lines."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE r (id INTEGER NOT NULL, i BIGINT NOT NULL, h HUGEINT NOT NULL);"
        "CREATE TABLE s (id INTEGER NOT NULL, k INTEGER NOT NULL); INSERT INTO s VALUES (1, 0), (1, 1);"
        "INSERT INTO r VALUES (1, -9007199254740994, -9007199254740994)"
    )

    def near(column):
        return f"SELECT {column} + 0 = -9007199254740994 AS near, k FROM r, s WHERE r.id = s.id AND r.i = r.h"

    asked = f"SELECT COUNT(*) FROM ({near('i')} EXCEPT {near('h')})"
    with sd.connect(connection, policy=POLICY) as curator:
        facts = curator.explain(asked, epsilon=1).reveal()
        plan = curator.plan(asked, AnswerOptions.checked(1.0, 0.0))
    limit = limits.find_count_limits(plan.statement.counted)["r"].at_most
    assert facts["exact"] == 2  # and none without the only row of r
    assert limit >= 2
