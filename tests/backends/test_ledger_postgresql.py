"""The suites of the ledger over PostgreSQL, and what a server and a connection can do to it."""

from __future__ import annotations

import json
import pickle
import threading
from fractions import Fraction

import duckdb
import psycopg
import pytest
from hypothesis import settings

import sordino as sd
from sordino.ledger import Anchor, Ledger, Limit
from tests.e2e.conftest import sordino
from tests.property.test_ledger import LedgerMachine
from tests.unit.ledger import (
    test_declared,
    test_forged,
    test_ledger,
    test_revoke,
    test_suspension,
    test_tables,
)
from tests.unit.ledger.conftest import ledger, pure
from tests.unit.ledger.tampering import digest
from tests.unit.ledger.test_declared import book
from tests.unit.ledger.test_forged import both, real
from tests.unit.ledger.test_store import never
from tests.unit.ledger.under_way import count_held
from tests.unit.series import test_lasting_budgets

__all__ = ["book", "both", "ledger", "real", "sordino"]  # fixtures

# What is about files, their locks or the tables inside them; and ledgers in memory, which are no other here.
ABOUT_FILES = {
    "test_a_file_of_an_old_format_keeps_what_was_granted_since_its_policy_spoke",
    "test_a_file_of_an_old_format_is_read_as_it_is_by_those_who_only_look",
    "test_a_file_of_an_old_format_keeps_every_event_as_it_was",
    "test_a_crash_while_the_format_changes_changes_nothing",
    "test_events_that_no_question_can_have_left_are_found",
    "test_a_list_of_open_reservations_that_its_events_do_not_make_is_found",
    "test_a_pickled_ledger_opens_the_same_file",
    "test_a_ledger_in_memory_is_refused_in_a_fork",
    "test_a_ledger_in_memory_suspends_too",
    "test_threads_share_a_ledger_in_memory_and_never_overspend",
    "test_opening_removes_what_tells_nothing_and_leaves_what_is_held_or_named",
    "test_a_link_leads_to_the_same_questions",
    "test_where_there_are_no_locks_what_others_have_open_counts_as_failed",
    "test_a_folder_without_locks_releases_nothing",
    "test_a_question_that_an_older_format_left_without_an_end_has_failed",
}
for module in (test_ledger, test_declared, test_forged, test_revoke, test_suspension, test_tables):
    globals().update(
        {
            f"{module.__name__.rpartition('.')[2]}_{name[5:]}": thing
            for name, thing in vars(module).items()
            if name.startswith("test_") and name not in ABOUT_FILES
        }
    )


@pytest.fixture
def path(place):
    return place


@pytest.fixture
def owner(place):
    with psycopg.connect(place, autocommit=True) as connection:
        yield connection


def test_every_name_that_is_left_out_is_there():
    known = {
        name for module in (test_ledger, test_declared, test_forged, test_suspension) for name in vars(module)
    }
    assert known >= ABOUT_FILES


def emptied(place):
    with psycopg.connect(place, autocommit=True) as owner:
        owner.execute("SET client_min_messages = warning; DROP SCHEMA IF EXISTS sordino_ledger CASCADE")
    return place


@pytest.mark.parametrize(
    "name",
    [
        "test_a_ledger_renews_an_account_and_refuses_to_mix",
        "test_an_account_of_rows_takes_no_renewable_loss",
        "test_a_long_pause_ends_at_once_and_all_has_come_back",
        "test_what_never_comes_back_does_not_mix_with_what_does",
        "test_a_failure_after_payment_suspends_and_stays_paid",
    ],
)
def test_budgets_renew_themselves_on_a_server_too(place, monkeypatch, name):
    opened = []

    def on_the_server(cls):
        opened.append(cls.open(emptied(place)))
        return opened[-1]

    monkeypatch.setattr(Ledger, "in_memory", classmethod(on_the_server))
    getattr(test_lasting_budgets, name)()
    opened[-1].verify()
    for one in opened:
        one.close()


def test_any_interleaving_of_two_processes_keeps_the_sums(place):
    class OnTheServer(LedgerMachine):
        def make_place(self):
            return emptied(place)

        def remove_place(self):
            pass

    machine = OnTheServer.TestCase
    machine.settings = settings(max_examples=8, stateful_step_count=20, deadline=None)
    machine().runTest()


# --- durable, and one after another


def test_commits_are_synchronous_whatever_the_address_says(place):
    with (
        Ledger.open(place + "?options=-c%20synchronous_commit%3Doff") as book,
        book._store.reading() as connection,
    ):
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)


def test_a_server_that_may_forget_is_refused_and_left_alone(server):
    with pytest.raises(sd.LedgerError, match="the server has fsync = off"):
        Ledger.open(server.url())
    with psycopg.connect(server.url()) as connection:
        found = connection.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'sordino_ledger'")
        assert found.fetchone() == (0,)


def test_a_transaction_that_failed_inside_is_never_taken_for_durable(ledger):
    def fail_and_go_on():
        with ledger._store.transaction() as connection:
            connection.execute("INSERT INTO datasets (dataset) VALUES ('web')")
            with pytest.raises(psycopg.Error):
                connection.execute("SELECT 1/0")

    with pytest.raises(sd.LedgerError, match="did not end well; nothing was released"):
        fail_and_go_on()
    assert ledger.distance("web") is None
    ledger.spend("shop", "ann", pure(0.1), "q", lambda: {"value": 1})


def test_a_ledger_that_stays_locked_is_refused_after_the_wait(ledger, place, owner):
    with Ledger.open(place, patience=0.05) as hasty:
        owner.execute("BEGIN; LOCK TABLE sordino_ledger.ledger IN EXCLUSIVE MODE")
        with pytest.raises(sd.LedgerError, match=r"locked for more than 0\.05 s; nothing was released"):
            hasty.spend("shop", "ann", pure(0.1), "q", never)
        threading.Timer(0.2, lambda: owner.execute("ROLLBACK")).start()
        assert ledger.spend("shop", "ann", pure(0.1), "q", lambda: {"value": 1}).content == {"value": 1}
        hasty.spend("shop", "ann", pure(0.1), "r", lambda: {"value": 1})
    ledger.verify()


def test_threads_share_a_connection_and_never_overspend(ledger):
    given, refused = [], []

    def ask(me):
        for turn in range(5):
            try:
                given.append(ledger.spend("shop", "ann", pure(0.05), f"{me}/{turn}", lambda: {"value": me}))
            except sd.BudgetError:
                refused.append(me)

    threads = [threading.Thread(target=ask, args=(me,)) for me in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(given), len(refused)) == (20, 20)
    ledger.verify()


# --- edited, cut, rolled back


def test_events_cannot_be_changed_or_removed(ledger, owner):
    for statement in ("UPDATE {} SET epsilon = '0'", "DELETE FROM {}", "TRUNCATE {} CASCADE"):
        with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
            owner.execute(statement.format("sordino_ledger.events"))


def rows(owner):
    cursor = owner.execute("SELECT * FROM sordino_ledger.events ORDER BY number")
    return [dict(zip([column.name for column in cursor.description], row, strict=True)) for row in cursor]


def test_edits_are_found_and_what_is_chained_anew_is_found_by_the_anchor(ledger, owner):
    ledger.spend("shop", "ann", pure(0.25), "qué", lambda: {"value": "é"})
    anchor = ledger.anchor()
    previous = "0" * 64
    for row in rows(owner):
        assert row["hash"] == (previous := digest(row, previous))
    owner.execute("SET search_path = sordino_ledger; ALTER TABLE events DISABLE TRIGGER ALL")
    owner.execute("ALTER TABLE events DROP CONSTRAINT events_kind_check")
    for row in rows(owner):
        for name in row.keys() - {"number", "reservation"}:
            owner.execute(f"UPDATE events SET {name} = 'x' WHERE number = %s", (row["number"],))
            with pytest.raises(sd.LedgerError, match=f"event {row['number']} does not fit the chain"):
                ledger.verify()
            owner.execute(f"UPDATE events SET {name} = %s WHERE number = %s", (row[name], row["number"]))
    ledger.verify(anchor)
    owner.execute("UPDATE events SET question = 'another' WHERE number = 2")
    previous = "0" * 64
    for row in rows(owner):
        previous = digest(row, previous)
        owner.execute("UPDATE events SET hash = %s WHERE number = %s", (previous, row["number"]))
    ledger.verify()
    with pytest.raises(sd.LedgerError, match="is not what it was when it was anchored"):
        ledger.verify(anchor)
    owner.execute("DELETE FROM events WHERE number > 1; UPDATE accounts SET loss_spent = '0'")
    ledger.verify()
    with pytest.raises(sd.LedgerError, match="it has 1 events and had 3"):
        ledger.verify(anchor)


# --- connections that are lost, ledgers that vanish


def cut(owner):
    """End every session of a ledger, as a restart or a network does."""
    owner.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name LIKE 'sordino%'"
    )


def test_a_connection_that_was_lost_is_made_anew(ledger, owner):
    cut(owner)
    assert ledger.spend("shop", "ann", pure(0.1), "q", lambda: {"value": 1}).content == {"value": 1}
    cut(owner)
    assert ledger.account("shop", "ann").spent.loss == Fraction(1, 10)


def test_a_question_whose_lock_is_lost_is_answered_only_if_nobody_found_it_dead(ledger, place, owner):
    first = ledger.reserve("shop", "ann", pure(0.1), question="q")
    cut(owner)
    assert first.commit({"value": 1}).content == {"value": 1}
    second = ledger.reserve("shop", "ann", pure(0.1), question="r")
    cut(owner)
    assert ledger.account("shop", "ann").suspended  # here too, where its process lives
    with Ledger.open(place) as other, pytest.raises(sd.SuspendedError):
        other.spend("shop", "ann", pure(0.1), "s", never)
    with pytest.raises(sd.LedgerError, match="has ended with a suspend"):
        second.commit({"value": 1})
    ledger.verify()


def test_a_connection_that_is_lost_inside_a_transaction_releases_nothing(ledger, owner):
    ledger._reached = lambda point: cut(owner) if point == "reserve written" else None
    with pytest.raises(sd.LedgerError, match="connection to it was lost; nothing was released"):
        ledger.spend("shop", "ann", pure(0.1), "q", never)
    ledger._reached = lambda point: cut(owner) if point == "commit written" else None
    seen = []
    with pytest.raises(sd.LedgerError, match="connection to it was lost; nothing was released"):
        seen.append(ledger.spend("shop", "ann", pure(0.1), "q", lambda: {"value": 1}))
    del ledger._reached
    assert not seen
    assert ledger.account("shop", "ann").spent.loss == Fraction(1, 10)
    assert ledger.account("shop", "ann").suspended
    assert ledger.stored("shop", "ann", "q") is None
    ledger.resume("shop", "ann")
    ledger.verify()


def test_a_child_does_not_take_its_parents_locks_for_its_own(ledger, place):
    ledger.reserve("shop", "ann", pure(0.1), question="q")

    def look():
        with psycopg.connect(place, autocommit=True) as owner:
            cut(owner)  # the parent's session; the child has none yet
        return ledger.account("shop", "ann").suspended

    assert test_ledger.in_a_fork(look) == 0


def test_a_pooler_in_between_is_refused(place, monkeypatch):
    """What stands in between tells a number of its own for the session."""
    monkeypatch.setattr(psycopg.ConnectionInfo, "backend_pid", property(lambda _: 1))
    with pytest.raises(sd.LedgerError, match="a pooler stands between"):
        Ledger.open(place)


@pytest.mark.parametrize("replacement", [False, True])
def test_a_ledger_that_vanishes_or_is_replaced_releases_nothing(ledger, place, owner, replacement):
    owner.execute("SET client_min_messages = warning; DROP SCHEMA sordino_ledger CASCADE")
    if replacement:
        with Ledger.open(place) as other:
            other.grant("shop", "ann", Limit.of(epsilon=9))
    with pytest.raises(sd.LedgerError, match="nothing was released"):
        ledger.spend("shop", "ann", pure(0.1), "q", never)
    with pytest.raises(sd.LedgerError, match="nothing was released"):
        ledger.accounts()


def test_a_closed_ledger_is_refused(ledger, place):
    ledger.reserve("shop", "ann", pure(0.1), question="q")
    ledger.close()
    with pytest.raises(sd.LedgerError, match="is closed"):
        ledger.accounts()
    assert count_held(place) == 0


# --- what is refused, in plain words


def test_a_ledger_is_made_only_where_that_is_meant(place, owner):
    for how in ({"create": False}, {"write": False}):
        with pytest.raises(sd.LedgerError, match="there is no ledger in this database"):
            Ledger.open(place, **how)
    owner.execute("CREATE SCHEMA sordino_ledger; CREATE TABLE sordino_ledger.rows (a int)")
    with pytest.raises(sd.LedgerError, match="of something else, not a ledger"):
        Ledger.open(place)


def test_a_newer_format_is_refused(ledger, place, owner):
    owner.execute("UPDATE sordino_ledger.ledger SET format = 2")
    with pytest.raises(sd.LedgerError, match="written by a newer Sordino"):
        Ledger.open(place)


def test_who_may_only_read_looks_and_writes_nothing(ledger, ledger_server, owner):
    ledger.spend("shop", "ann", pure(0.25), "q", lambda: {"value": 1})
    owner.execute(
        "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD 'r'; "
        "GRANT USAGE ON SCHEMA sordino_ledger TO reader; "
        "GRANT SELECT ON ALL TABLES IN SCHEMA sordino_ledger TO reader"
    )
    try:
        url = ledger_server.url(user="reader", password="r")
        with Ledger.open(url, write=False) as book:
            book.verify()
            assert book.account("shop", "ann").spent.loss == Fraction(1, 4)
            with pytest.raises(sd.LedgerError, match="for reading only"):
                book.spend("shop", "ann", pure(0.1), "q", never)
        with Ledger.open(url) as book, pytest.raises(sd.LedgerError, match="permission denied to this user"):
            book.spend("shop", "ann", pure(0.1), "q", never)
    finally:
        owner.execute("DROP OWNED BY reader; DROP ROLE reader")


def whole_chain(error):
    return (
        ""
        if error is None
        else f"{error!r} {error}" + whole_chain(error.__cause__) + whole_chain(error.__context__)
    )


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://owner:hush@127.0.0.1:{port}/postgres",
        "postgresql://owner:hush@127.0.0.1:{port}/nowhere",
        "postgresql://nobody:hush@127.0.0.1:{port}/postgres",
        "postgresql://owner:hush@127.0.0.1:1/postgres",
        "postgresql://owner:@hush@127.0.0.1/postgres",
        "postgresql://owner:1/hush@127.0.0.1/postgres",
        "postgresql://owner:a/hush@127.0.0.1/postgres",
        "postgres://owner:a hush@127.0.0.1:x/postgres",
        "postgresql://owner:%zzhush@127.0.0.1/postgres",
    ],
)
def test_no_error_shows_a_password(ledger_server, address):
    for opened in (Ledger.open, lambda url: sd.connect(duckdb.connect(), policy=POLICY, ledger=url)):
        with pytest.raises((sd.LedgerError, sd.ParameterError)) as refused:
            opened(address.format(port=ledger_server.port))
        assert "hush" not in str(refused.value)
        assert "hush" not in whole_chain(refused.value)


def test_a_text_that_the_server_cannot_keep_spends_nothing(ledger):
    with pytest.raises(sd.LedgerError, match="cannot keep this"):
        ledger.spend("shop", "ann", pure(0.1), "q\x00", never)
    assert ledger.account("shop", "ann").spent.loss == 0
    long = "q" * 100_000
    ledger.spend("shop", "ann", pure(0.1), long, lambda: {"value": 1})
    assert ledger.stored("shop", "ann", long).content == {"value": 1}


def test_a_copy_carries_no_password(ledger, place, monkeypatch):
    with pytest.raises(sd.LedgerError, match="stays in the process") as refused:
        pickle.dumps(ledger)
    assert "sesame" not in str(refused.value) + repr(ledger) + repr(vars(ledger._store))
    monkeypatch.setenv("PGPASSWORD", "open sesame/@:%")
    with Ledger.open(place.replace(":open%20sesame%2F%40%3A%25", "")) as open_address:
        content = pickle.dumps(open_address)
        assert b"sesame" not in content
        with pickle.loads(content) as other:
            other.spend("shop", "ann", pure(0.5), "q", lambda: {"value": 1})
    assert ledger.account("shop", "ann").spent.loss == Fraction(1, 2)


# --- wherever a path is accepted

POLICY = {"version": 1, "dataset": "tiny", "tables": {"r": {}}, "budgets": {"ann": {"epsilon": 1}}}


def test_a_curator_makes_the_ledger_when_the_first_question_is_accepted(place, owner):
    data = duckdb.connect()
    data.execute("CREATE TABLE r AS SELECT range AS a FROM range(100)")
    with sd.connect(data, policy=POLICY, ledger=place) as curator:
        session = curator.session("ann")
        with pytest.raises(sd.BudgetError):
            session.query("SELECT COUNT(*) FROM r", 5.0)
        assert owner.execute("SELECT to_regnamespace('sordino_ledger')").fetchone() == (None,)
        session.query("SELECT COUNT(*) FROM r", 0.5)
    with sd.connect(data, policy=POLICY, ledger=place) as curator, pytest.raises(sd.BudgetError):
        curator.session("ann").query("SELECT COUNT(*) FROM r", 0.6)
    sd.add_noise(41, 1, epsilon=0.25, step=1, ledger=place, account=("tiny", "ann"))
    with Ledger.open(place) as book:
        assert book.account("tiny", "ann").spent.loss == Fraction(3, 4)
        book.verify()


def test_the_commands_take_an_address(place, sordino, tmp_path):
    assert sordino("ledger", "grant", place, "--dataset", "shop", "--analyst", "ann", "-e", "1").code == 0
    kept = tmp_path / "kept"
    assert sordino("ledger", "anchor", place, "-o", kept).out == "anchored at event 1\n"
    with Ledger.open(place) as book:
        book.spend("shop", "ann", pure(0.5), "q", lambda: {"value": 1})
    told = sordino("ledger", "verify", place, "--anchor", kept, "--json")
    assert json.loads(told.out)["since_anchor"] == 2
    assert "epsilon 0.5" in sordino("ledger", "show", place).out
    Anchor(9, "0" * 64, "then").save(kept)
    refused = sordino("ledger", "verify", place, "--anchor", kept)
    assert refused.code != 0
    assert "older copy" in refused.err
    assert "sesame" not in refused.err
