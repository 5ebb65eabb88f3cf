"""The order of one question, what a failure closes, and what a session gives away of itself."""

from __future__ import annotations

import copy
import pickle
import threading
import traceback
from contextlib import contextmanager
from fractions import Fraction

import duckdb
import pytest

import sordino as sd
from sordino.engines import connect as connect_engine
from sordino.ledger import Ledger
from sordino.ledger.suspension import SUSPENSION_NOTICE

COUNT = "SELECT COUNT(*) FROM people"
JOIN = "SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.id"
BY_ZONE = "SELECT z.zone, COUNT(*) AS n FROM people p JOIN zones z ON p.zone = z.zone GROUP BY z.zone"


def policy(**changes):
    return {
        "version": 1,
        "dataset": "clinic",
        "tables": {"people": {}, "visits": {}, "zones": {"private": False}},
        "budgets": {"ann": {"epsilon": 5}, "bob": {"epsilon": 5}, "owner": {"epsilon": 5}},
    } | changes


class Watched:
    """An engine that notes what it is asked for, and fails where it is told to."""

    name, dialect = "watched", "duckdb"

    def __init__(self, engine):
        self.engine = engine
        self.seen: list[str] = []
        self.fails = lambda sql: None

    def catalogue(self):
        self.seen.append("catalogue")
        return self.engine.catalogue()

    def close(self):
        self.engine.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    @contextmanager
    def snapshot(self):
        self.seen.append("snapshot")
        with self.engine.snapshot() as inner:
            yield _Watched(inner, self)


class _Watched:
    def __init__(self, inner, owner):
        self.inner, self.owner = inner, owner

    def aggregate(self, expression):
        sql = expression.sql(dialect="duckdb")
        self.owner.seen.append(sql)
        self.owner.fails(sql)
        return self.inner.aggregate(expression)


def fail_with(error):
    def fails(sql):
        raise error

    return fails


@pytest.fixture
def engine():
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id, i % 3 AS zone FROM range(30) t(i);"
            "CREATE TABLE visits AS SELECT i % 30 AS id FROM range(90) t(i);"
            "CREATE TABLE zones AS SELECT i AS zone FROM range(3) t(i)"
        )
        yield Watched(connect_engine(connection))


@pytest.fixture
def curator(engine):
    with sd.connect(engine, policy=policy()) as opened:
        engine.seen.clear()
        yield opened


def close_account(curator, engine, analyst="ann"):
    engine.fails = fail_with(OverflowError("row 7"))
    with pytest.raises(sd.EngineError, match="suspended until the owner"):
        curator.session(analyst).query(COUNT, 0.1)
    engine.fails = lambda sql: None
    engine.seen.clear()


@pytest.mark.parametrize(
    "error", [sd.EngineError("no", "row 7"), OverflowError("row 7"), KeyError("row 7"), MemoryError("row 7")]
)
def test_a_failure_after_the_payment_suspends_and_tells_nothing_of_its_cause(curator, engine, error):
    engine.fails = fail_with(error)
    session = curator.session("ann")
    with pytest.raises(sd.EngineError) as told:
        session.query(JOIN, 0.5)
    assert "row 7" not in "".join(traceback.format_exception(told.value)) + repr(vars(told.value))
    account = session.budget()
    assert account.suspended
    assert account.spent.loss == Fraction(1, 2)
    assert not curator.session("bob").budget().suspended


def test_an_interrupt_suspends_too(curator, engine):
    engine.fails = fail_with(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        curator.session("ann").query(COUNT, 0.5)
    assert curator.session("ann").budget().suspended


def test_a_failure_of_the_draw_is_a_failure(curator, monkeypatch):
    from sordino.sql.answering.cell_noise import ConstantNoise

    monkeypatch.setattr(ConstantNoise, "draw", lambda *_: 1 / 0)
    with pytest.raises(sd.EngineError):
        curator.session("ann").query(COUNT, 0.5)
    assert curator.session("ann").budget().suspended


ASKED = {
    "as before": (COUNT, {}),
    "another": (JOIN, {}),
    "public groups": (BY_ZONE, {}),
    "again from the ledger": (JOIN, {"reuse": True, "epsilon": 0.25}),
    "not SQL": ("SELEC", {}),
    "no text": (None, {}),
    "no epsilon": (COUNT, {"epsilon": -1}),
    "too little": (COUNT, {"epsilon": 1e-9}),
    "too much": (COUNT, {"epsilon": 1e9}),
}


@pytest.mark.parametrize("case", ASKED)
def test_a_suspended_analyst_gets_one_sentence_and_nothing_is_read(curator, engine, case):
    curator.session("ann").query(JOIN, 0.25)
    close_account(curator, engine)
    before = curator.session("ann").budget()
    sql, arguments = ASKED[case]
    with pytest.raises(sd.SuspendedError) as refused:
        curator.session("ann").query(sql, **({"epsilon": 0.5} | arguments))
    assert str(refused.value) == SUSPENSION_NOTICE
    assert engine.seen == []
    assert curator.session("ann").budget() == before
    assert curator.session("bob").query(COUNT, 0.5).private


def test_the_owner_resumes_in_the_ledger_or_at_the_curator(engine, tmp_path):
    path = tmp_path / "clinic.ledger"
    with sd.connect(engine, policy=policy(), ledger=path) as curator:
        assert not curator.resume("ann").suspended  # before there is a ledger
        close_account(curator, engine)
    with sd.connect(engine, policy=policy(), ledger=path) as curator:
        with pytest.raises(sd.SuspendedError):
            curator.session("ann").query(COUNT, 0.5)
        assert "suspended" in str(curator.session("ann").budget())
        with Ledger.open(path) as ledger:
            ledger.resume("clinic", "ann")
        curator.session("ann").query(COUNT, 0.5)
        close_account(curator, engine)
        curator.resume("ann")
        curator.session("ann").query(COUNT, 0.5, reuse=True)


def test_the_owners_own_questions_are_no_exception(curator, engine):
    close_account(curator, engine, "owner")
    with pytest.raises(sd.SuspendedError):
        curator.query(COUNT, 0.5)
    assert curator.explain(COUNT, 0.5).reveal()["exact"] == 30  # for the owner's eyes, and no question
    curator.resume("owner")
    assert curator.query(COUNT, 0.5).private


def test_what_is_asked_again_and_again_tells_of_one_failure(engine):
    """The oracle: a question that fails if and only if a row exists, asked once per row, at the least epsilon."""
    with sd.connect(engine, policy=policy(budgets={"ann": {"epsilon": 1}})) as curator:
        session, seen = curator.session("ann"), []
        for row in range(30):
            failing = OverflowError("there") if row % 3 == 1 else None
            engine.fails = (lambda sql: None) if failing is None else fail_with(failing)
            try:
                session.query(COUNT, 1e-6)
                seen.append("answered")
            except sd.SordinoError as error:
                seen.append(str(error))
    assert seen[0] == "answered"
    assert "could not answer" in seen[1]
    assert set(seen[2:]) == {SUSPENSION_NOTICE}  # nothing about rows 2 to 29


def test_two_sessions_of_one_analyst_close_together(curator, engine):
    """One fails while the other is under way: the other ends with the sentence, whatever its own end would be."""
    for second_fails in (False, True):
        under_way, failed, told = threading.Event(), threading.Event(), []

        def first(sql, under_way=under_way, failed=failed, second_fails=second_fails):
            if threading.current_thread().name != "second":
                raise OverflowError("first")
            under_way.set()
            assert failed.wait(20)
            if second_fails:
                raise OverflowError("second")

        def ask(told=told):
            try:
                curator.session("ann").query(COUNT, 0.5)
                told.append("answered")
            except sd.SordinoError as error:
                told.append(str(error))

        engine.fails = first
        second = threading.Thread(target=ask, name="second")
        second.start()
        assert under_way.wait(20)
        with pytest.raises(sd.EngineError):
            curator.session("ann").query(COUNT, 0.5)
        failed.set()
        second.join()
        assert told == [SUSPENSION_NOTICE]
        engine.fails = lambda sql: None
        curator.resume("ann")
        assert curator.session("ann").budget().spent.loss == 1 + second_fails


# --- before the payment


def test_no_private_row_is_read_before_the_payment(curator, engine, monkeypatch):
    reads_at = {}
    reserve = Ledger.reserve

    def noted(self, *arguments, **more):
        reads_at["payment"] = list(engine.seen)
        return reserve(self, *arguments, **more)

    monkeypatch.setattr(Ledger, "reserve", noted)
    curator.session("ann").query(BY_ZONE, 0.5)
    statements = [sql for sql in reads_at["payment"] if sql not in ("catalogue", "snapshot")]
    assert len(statements) == 2  # the groups, and whether each row lies in one
    assert all("zones" in statement for statement in statements)
    assert not any({"people", "visits"} & set(sql.replace('"', " ").split()) for sql in statements)
    engine.seen.clear()
    curator.session("ann").query(JOIN, 0.5)
    assert reads_at["payment"] == ["catalogue"]


@pytest.mark.parametrize(
    "error", [sd.EngineError("people.csv changed", "row 7"), OverflowError("row 7"), KeyError("row 7")]
)
def test_groups_of_a_public_table_that_cannot_be_read_cost_nothing_and_have_one_text(curator, engine, error):
    engine.fails = fail_with(error)
    with pytest.raises(sd.EngineError) as told:
        curator.session("ann").query(BY_ZONE, 0.5)
    assert str(told.value).startswith("a public table could not be read; nothing was spent")
    assert "row 7" not in "".join(traceback.format_exception(told.value))
    assert "row 7" in told.value.details.reveal()
    account = curator.session("ann").budget()
    assert account.spent.loss == 0
    assert not account.suspended


def test_an_epsilon_below_the_least_is_refused_before_anything_is_read(engine):
    for least, fine, refused in (
        (None, [1e-6, "1e-6"], [9.99e-7, 1e-7, 1e-300, 5e-324, Fraction(1, 10**6 + 1)]),
        ("0.1", [0.1, Fraction(1, 10)], [0.0999, 1e-6]),
    ):
        content = policy() if least is None else policy(least_epsilon=least)
        with sd.connect(engine, policy=content) as curator:
            engine.seen.clear()
            session = curator.session("ann")
            for epsilon in refused:
                for ask in (session.query, curator.explain):
                    with pytest.raises(sd.ParameterError, match=r"epsilon must be at least 0.*least_epsilon"):
                        ask(BY_ZONE, epsilon)
            assert engine.seen == []
            assert session.budget().spent.loss == 0
            for epsilon in fine:
                session.query(COUNT, epsilon if not isinstance(epsilon, str) else float(epsilon))


@pytest.mark.parametrize("least", [0, -1, "0", "much", float("nan"), True])
def test_the_least_epsilon_of_a_policy_is_a_number_above_zero(engine, least):
    with pytest.raises(sd.ParameterError, match="least_epsilon"):
        sd.connect(engine, policy=policy(least_epsilon=least))


def test_the_least_epsilon_is_read_as_it_is_written():
    text = "version: 1\ndataset: d\ntables: {t: {}}\n"
    assert sd.Policy.load(text).least_epsilon == Fraction(1, 10**6)
    assert sd.Policy.load(text + "least_epsilon: 0.1\n").least_epsilon == Fraction(1, 10)
    assert sd.Policy.load(text + "least_epsilon: 1e-9\n").least_epsilon == Fraction(1, 10**9)


# --- what the ledger knows about tables


def test_a_table_that_was_private_is_not_read_as_public_under_the_same_name(engine, tmp_path):
    path = tmp_path / "clinic.ledger"
    with sd.connect(engine, policy=policy(), ledger=path) as curator:
        curator.session("ann").query(JOIN, 0.5)
    later = policy(tables={"people": {}, "visits": {"private": False}, "zones": {"private": False}})
    by_visit = "SELECT v.id, COUNT(*) AS n FROM people p JOIN visits v ON p.id = v.id GROUP BY v.id"
    with sd.connect(engine, policy=later, ledger=path) as curator:
        engine.seen.clear()
        for act in (lambda: curator.session("ann").query(by_visit, 0.5), curator.session("ann").budget):
            with pytest.raises(sd.ParameterError, match=r"tables\.visits.*would not hold for its rows"):
                act()
        assert engine.seen == []
    with sd.connect(engine, policy=later | {"dataset": "clinic-2"}, ledger=path) as curator:
        curator.session("ann").query(by_visit, 0.5)
    with Ledger.open(path) as ledger:
        assert ledger.tables("clinic") == {"people": "private", "visits": "private", "zones": "public"}
        ledger.redeclare("clinic", "visits", "public")
    with sd.connect(engine, policy=later, ledger=path) as curator:
        curator.session("ann").query(by_visit, 0.5)
    with (
        sd.connect(engine, policy=policy(), ledger=path) as curator,
        pytest.raises(sd.ParameterError, match="now it is private"),
    ):
        curator.session("ann").query(JOIN, 0.5)


def test_other_changes_of_a_policy_are_the_owners_to_make(engine, tmp_path):
    path = tmp_path / "clinic.ledger"
    with sd.connect(engine, policy=policy(), ledger=path) as curator:
        curator.session("ann").query(COUNT, 0.5)
    for tables in (
        {"people": {"key": "id", "columns": {"zone": {"domain": [0, 1]}}}, "zones": {"private": False}},
        {"people": {"columns": {"zone": {"bounds": [0, 9]}}}, "visits": {}},
    ):
        with sd.connect(engine, policy=policy(tables=tables, least_epsilon="0.01"), ledger=path) as curator:
            curator.session("ann").query(COUNT, 0.5)
    heavy = policy(tables={"people": {"weight": 2}, "visits": {}})
    with (
        sd.connect(engine, policy=heavy, ledger=path) as curator,
        pytest.raises(sd.ParameterError, match="losses of two distances"),
    ):
        curator.session("ann").query(COUNT, 0.5)


# --- what a session gives away of itself


def test_a_session_is_not_copied_out_of_its_process_and_shows_nothing(curator):
    session = curator.session("ann")
    for thing in (session, curator):
        for copied in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="process"):
                copied(thing)
    assert repr(session) == "Session('ann')"
    assert repr(curator) == "Curator('clinic' on watched)"


def test_a_session_stays_that_of_its_analyst(curator):
    session = curator.session("ann")
    with pytest.raises(AttributeError):
        session.analyst = "bob"
    with pytest.raises(AttributeError):
        session.anything = 1
    assert not hasattr(session, "__dict__")
    public = [name for name in dir(session) if not name.startswith("_")]
    assert public == ["analyst", "budget", "count", "describe", "find_series", "forest", "preview", "quantile", "query",
                      "select", "series", "tables", "top_k", "tree"]  # fmt: skip
