"""The file: what it refuses, and that a refusal releases nothing."""

import os
import pickle
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

import sordino as sd
from sordino.ledger import Ledger, Limit
from sordino.ledger.schema import SCHEMA_VERSION
from tests.unit.ledger.conftest import pure
from tests.unit.ledger.tampering import add_event, tampering

NOBODY = 65534


def never():
    raise AssertionError("a value was drawn that could not be paid for")


@contextmanager
def without_root():
    """The super-user may write anything; be nobody meanwhile."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_commits_are_synchronous_and_the_log_is_ahead(ledger):
    with ledger._store.reading() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_file_that_is_no_database_is_refused_and_left_alone(path):
    path.write_text("name,salary\n" * 100)
    with pytest.raises(sd.LedgerError, match="not a ledger"):
        Ledger.open(path)
    assert path.read_text() == "name,salary\n" * 100


def test_a_database_of_something_else_is_refused_and_left_alone(path):
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE rows (a)")
    other.close()
    content = path.read_bytes()
    with pytest.raises(sd.LedgerError, match="of something else"):
        Ledger.open(path)
    assert path.read_bytes() == content


def test_a_newer_format_is_refused(ledger, path):
    ledger.close()
    other = sqlite3.connect(path)
    other.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    other.close()
    with pytest.raises(sd.LedgerError, match="written by a newer Sordino"):
        Ledger.open(path)


def test_a_missing_file_is_made_only_where_that_is_meant(path):
    with pytest.raises(sd.LedgerError, match="no such file"):
        Ledger.open(path, create=False)
    assert not path.exists()
    with pytest.raises(sd.LedgerError, match="is a directory"):
        Ledger.open(path.parent)
    with pytest.raises(sd.LedgerError, match="cannot be opened or made"):
        Ledger.open(path / "deeper" / "ledger")


def read_all(path):
    with Ledger.open(path) as ledger:
        ledger.verify()
        ledger.history()
        ledger.spend("shop", "ann", pure(0.1), "q", never)


@pytest.mark.parametrize("damage", [2000, 6000])
def test_a_damaged_file_is_refused(ledger, path, damage):
    for turn in range(40):
        ledger.spend("shop", "ann", pure(0.001), f"q{turn}" * 50, lambda: {"value": 1})
    ledger.close()
    content = bytearray(path.read_bytes())
    content[damage : damage + 3000] = b"\xff" * 3000
    path.write_bytes(content)
    with pytest.raises(sd.LedgerError):
        read_all(path)


@pytest.fixture
def open_folder():
    """A folder of its own that everybody may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def test_a_folder_that_may_not_be_entered_is_refused(open_folder):
    inner = open_folder / "inner"
    inner.mkdir(mode=0o700)
    Ledger.open(inner / "shop.ledger").close()
    inner.chmod(0o000)
    with without_root(), pytest.raises(sd.LedgerError, match="permission denied"):
        Ledger.open(inner / "shop.ledger")
    inner.chmod(0o700)


def test_a_read_only_file_is_refused(open_folder):
    folder, path = open_folder, open_folder / "shop.ledger"
    with Ledger.open(path) as ledger:
        ledger.grant("shop", "ann", Limit.of(epsilon=1))
    path.chmod(0o444)
    folder.chmod(0o555)
    try:
        with without_root(), pytest.raises(sd.LedgerError, match="read-only"):
            Ledger.open(path)
    finally:
        folder.chmod(0o755)
    with Ledger.open(path) as ledger:
        assert ledger.account("shop", "ann").spent.loss == 0


def looked_at(path):
    with Ledger.open(path, write=False) as ledger:
        ledger.verify()
        return [event.kind for event in ledger.history()], str(ledger.account("shop", "ann").spent.loss)


@pytest.mark.parametrize("busy", [False, True])
def test_a_read_only_file_can_be_looked_at(open_folder, busy):
    """With its log beside it, while somebody writes, and without."""
    path = open_folder / "shop.ledger"
    writer = Ledger.open(path)
    writer.grant("shop", "ann", Limit.of(epsilon=1))
    writer.spend("shop", "ann", pure(0.25), "q", lambda: {"value": 1})
    if not busy:
        writer.close()
    before = sorted(file.name for file in open_folder.iterdir())
    for file in open_folder.iterdir():
        file.chmod(0o444)
    open_folder.chmod(0o555)
    try:
        with without_root():
            assert looked_at(path) == (["grant", "reserve", "commit"], "1/4")
    finally:
        open_folder.chmod(0o755)
        writer.close()
    assert len(before) == (3 if busy else 1)


def test_looking_leaves_nothing_behind_and_writes_nothing(ledger, path):
    ledger.spend("shop", "ann", pure(0.25), "q", lambda: {"value": 1})
    ledger.close()
    content = path.read_bytes()
    with Ledger.open(path, write=False) as reader:
        assert reader.account("shop", "ann").spent.loss > 0
        for act in (
            lambda: reader.spend("shop", "ann", pure(0.1), "q2", never),
            lambda: reader.grant("shop", "ann", Limit.of(epsilon=9)),
        ):
            with pytest.raises(sd.LedgerError, match="for reading only"):
                act()
        with pytest.raises(sd.LedgerError, match="for reading only"):
            pickle.loads(pickle.dumps(reader)).grant("shop", "ann", Limit.of(epsilon=9))
    assert path.read_bytes() == content
    assert sorted(path.parent.iterdir()) == [path]


def test_what_a_crash_left_in_the_log_is_seen(ledger, path, tmp_path):
    ledger.spend("shop", "ann", pure(0.25), "q", lambda: {"value": 1})
    left = tmp_path / "left.ledger"
    for end in ("", "-wal"):
        Path(f"{left}{end}").write_bytes(Path(f"{path}{end}").read_bytes())
    assert looked_at(left)[1] == "1/4"


@pytest.mark.parametrize("stays", [False, True])
def test_a_writer_who_comes_while_the_file_is_read_is_noticed(ledger, path, stays):
    ledger.close()
    with Ledger.open(path, write=False) as reader:
        reader.history()
        writer = Ledger.open(path)
        writer.spend("shop", "ann", pure(0.25), "q", lambda: {"value": 1})
        if not stays:
            writer.close()
        with pytest.raises(sd.LedgerError, match="somebody wrote to it"):
            reader.history()
        writer.close()


def test_nothing_is_made_by_looking(tmp_path):
    with pytest.raises(sd.LedgerError, match="no such file"):
        Ledger.open(tmp_path / "none.ledger", write=False)
    (tmp_path / "empty.ledger").touch()
    with pytest.raises(sd.LedgerError, match="the file is empty"):
        Ledger.open(tmp_path / "empty.ledger", write=False)
    assert [file.name for file in tmp_path.iterdir()] == ["empty.ledger"]


def test_a_file_that_becomes_read_only_releases_nothing(ledger):
    with ledger._store.reading() as connection:
        pass
    connection.execute("PRAGMA query_only = ON")
    with pytest.raises(sd.LedgerError, match="read-only"):
        ledger.spend("shop", "ann", pure(0.1), "q", never)
    connection.execute("PRAGMA query_only = OFF")
    assert ledger.account("shop", "ann").spent.loss == 0


def fill_up(ledger):
    with ledger._store.reading() as connection:
        pass
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    return connection


def test_a_full_disk_before_the_draw_spends_and_releases_nothing(ledger):
    connection = fill_up(ledger)
    with pytest.raises(sd.LedgerError, match="disk is full; nothing was released"):
        ledger.spend("shop", "ann", pure(0.1), "q" * 100_000, never)
    connection.execute("PRAGMA max_page_count = 1000000")
    assert ledger.account("shop", "ann").spent.loss == 0
    ledger.verify()


def test_a_full_disk_after_the_draw_wastes_the_budget_and_releases_nothing(ledger):
    handed_out = []

    def produce():
        fill_up(ledger)
        return {"value": "x" * 100_000}

    with pytest.raises(sd.LedgerError, match="disk is full; nothing was released"):
        handed_out.append(ledger.spend("shop", "ann", pure(0.1), "q", produce))
    assert not handed_out
    assert ledger.account("shop", "ann").spent.loss == Fraction(1, 10)
    assert ledger.stored("shop", "ann", "q") is None
    ledger.verify()


def test_a_disk_that_is_really_full_releases_nothing(ledger, path):
    """The kernel refuses to let the files grow, as a full disk would: no value is printed, the sums stay right."""
    size = max(file.stat().st_size for file in path.parent.iterdir())
    script = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, ({size + 20_000},) * 2)
import sordino as sd
from sordino.ledger import Ledger
ledger = Ledger.open(sys.argv[1])
guarantee = sd.Guarantee(sd.Loss(epsilon=0.001), sd.add_remove_row(), "t")
try:
    for turn in range(500):
        print(ledger.spend("shop", "ann", guarantee, f"q{{turn}}", lambda: {{"value": "x" * 500}}).number, flush=True)
except sd.LedgerError as error:
    print(error, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, timeout=60)
    assert "nothing was released" in done.stderr
    printed = {int(line) for line in done.stdout.split()}
    assert len(printed) < 500
    assert printed <= {event.number for event in ledger.history() if event.kind == "commit"}
    ledger.verify()


def test_a_file_that_stays_locked_is_refused_after_the_wait(ledger, path):
    with Ledger.open(path, patience=0.05) as hasty:
        blocker = sqlite3.connect(path, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        with pytest.raises(sd.LedgerError, match=r"locked for more than 0\.05 s"):
            hasty.spend("shop", "ann", pure(0.1), "q", never)
        blocker.execute("ROLLBACK")
        blocker.close()
        hasty.spend("shop", "ann", pure(0.1), "q", lambda: {"value": 1})


def test_a_file_that_is_locked_for_a_moment_is_waited_for(ledger, path):
    blocker = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    blocker.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.2, lambda: blocker.execute("ROLLBACK"))
    timer.start()
    assert ledger.spend("shop", "ann", pure(0.1), "q", lambda: {"value": 1}).content == {"value": 1}
    timer.join()
    blocker.close()


@pytest.mark.parametrize("replacement", [False, True])
def test_a_file_that_vanishes_or_is_replaced_releases_nothing(ledger, path, replacement):
    path.unlink()
    if replacement:
        path.write_bytes(b"")
    with pytest.raises(sd.LedgerError, match="removed or replaced"):
        ledger.spend("shop", "ann", pure(0.1), "q", never)


def test_events_cannot_be_changed_or_removed(ledger, path):
    other = sqlite3.connect(path)
    for statement in ("UPDATE events SET epsilon = '0'", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            other.execute(statement)
    other.close()


def test_sums_that_do_not_match_the_events_are_found(ledger, path):
    ledger.spend("shop", "ann", pure(0.5), "q", lambda: {"value": 1})
    ledger.verify()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("UPDATE accounts SET loss_spent = '1/4'")
    other.close()
    with pytest.raises(sd.LedgerError, match="does not match its events"):
        ledger.verify()


@pytest.mark.parametrize(("analyst", "whose"), [("ann", "analyst 'ann'"), ("", "the cap")])
def test_an_account_that_was_removed_is_found(ledger, path, analyst, whose):
    """A cap that is gone holds nobody back, and its events still say that there is one."""
    ledger.set_cap("shop", Limit.of(epsilon=1))
    ledger.verify()
    with tampering(path) as file:
        file.execute("DELETE FROM accounts WHERE analyst = ?", (analyst,))
    with pytest.raises(sd.LedgerError, match=f"{whose} on data set 'shop' does not match its events"):
        ledger.verify()


@pytest.mark.parametrize("beyond", [False, True])
def test_a_limit_that_nobody_granted_and_a_payment_beyond_the_limit_are_found(ledger, path, beyond):
    ledger.spend("shop", "ann", pure(0.5), "q", lambda: {"value": 1})
    if beyond:
        columns = "time, kind, dataset, analyst, epsilon, delta, theorem"
        add_event(path, columns, "'', 'reserve', 'shop', 'ann', '7/4', '0', 't'")
    with tampering(path) as file:
        file.execute("UPDATE accounts SET " + ("loss_spent = '9/4'" if beyond else "loss_limit = '5'"))
        file.execute(
            "INSERT INTO unended SELECT number, dataset, analyst, NULL FROM events WHERE epsilon = '7/4'"
        )
    with pytest.raises(sd.LedgerError, match="does not match its events"):
        ledger.verify()


def test_a_closed_ledger_is_refused(ledger):
    ledger.close()
    with pytest.raises(sd.LedgerError, match="is closed"):
        ledger.accounts()
