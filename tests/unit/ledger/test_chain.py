"""Edited, cut, swapped, rewritten, rolled back: a ledger that is not what it was is found; honest growth is fine."""

from __future__ import annotations

import json
import shutil
import sqlite3

import pytest

import sordino as sd
from sordino.ledger import Anchor, Ledger, Limit
from tests.unit.ledger.conftest import pure
from tests.unit.ledger.old_formats import write_old
from tests.unit.ledger.tampering import chain, digest, tampering


@pytest.fixture
def grown(ledger):
    """Every kind of event, and every column said by some event."""
    ledger.declare(
        "shop",
        {"ann": Limit.of(epsilon=1, delta=1e-6), "bob": Limit.of(rho=0.5, at_delta=1e-6)},
        distance=sd.add_remove_row(),
        tables={"orders": "private"},
    )
    ledger.redeclare("shop", "orders", "public")
    loss = sd.Loss(epsilon=0.25, bounded_range=True)
    chosen = sd.Guarantee(loss, sd.add_remove_row(), "exponential mechanism")
    ledger.spend("shop", "ann", chosen, "qué\x00\N{SNOWMAN}", lambda: {"value": "é"}, mechanism="m",
                 parameters={"a": 1}, scope="s")  # fmt: skip
    zero = sd.Guarantee(sd.Loss(rho=0.1), sd.add_remove_row(), "Gaussian mechanism")
    ledger.spend("shop", "bob", zero, "r", lambda: {"value": 2})
    ledger.reserve("shop", "ann", pure(0.1), question="back").refund()
    with pytest.raises(ZeroDivisionError):
        ledger.spend("shop", "ann", pure(0.1), "fails", lambda: 1 // 0)
    ledger.resume("shop", "ann")
    assert {event.kind for event in ledger.history()} == {
        "grant", "declare", "redeclare", "reserve", "commit", "refund", "suspend", "resume"
    }  # fmt: skip
    return ledger


def rows(path):
    file = sqlite3.connect(path)
    file.row_factory = sqlite3.Row
    found = [dict(row) for row in file.execute("SELECT * FROM events ORDER BY number")]
    file.close()
    return found


def test_hashes_are_what_their_definition_says(grown, path):
    previous = "0" * 64
    for row in rows(path):
        assert row["hash"] == digest(row, previous)
        previous = row["hash"]
    assert grown.verify().hash == previous
    assert [event.hash for event in grown.history()] == [row["hash"] for row in rows(path)]


@pytest.mark.slow
def test_an_edit_of_any_field_of_any_event_is_found(grown, path):
    columns = [name for name in rows(path)[0] if name != "number"]
    said = set()
    for row in rows(path):
        for name in columns:
            for value in ("x", None):
                if row[name] == value or (
                    value is None and name in ("time", "kind", "dataset", "analyst", "hash")
                ):
                    continue
                with tampering(path) as file:
                    file.execute("PRAGMA ignore_check_constraints = ON")
                    file.execute("DROP INDEX IF EXISTS one_end_per_reservation")
                    file.execute(f"UPDATE events SET {name} = ? WHERE number = ?", (value, row["number"]))
                with pytest.raises(sd.LedgerError, match=f"event {row['number']} does not fit the chain"):
                    grown.verify()
                with tampering(path) as file:
                    file.execute("PRAGMA ignore_check_constraints = ON")
                    file.execute(f"UPDATE events SET {name} = ? WHERE number = ?", (row[name], row["number"]))
        said |= {name for name in columns if row[name] is not None}
    assert said == set(columns)  # no column that no event says
    grown.verify()


def test_what_is_removed_or_swapped_inside_the_chain_is_found(grown, path):
    last = len(rows(path))
    for number in range(1, last):  # the very last is the anchor's to find
        copy = path.with_name(f"without-{number}")
        grown.close()
        shutil.copy(path, copy)
        with tampering(copy) as file:
            file.execute("DELETE FROM events WHERE number = ?", (number,))
        with (
            Ledger.open(copy, write=False) as book,
            pytest.raises(sd.LedgerError, match=f"event {number} is missing"),
        ):
            book.verify()
        shutil.copy(path, copy)
        with tampering(copy) as file:
            for one, other in ((number, -1), (number + 1, number), (-1, number + 1)):
                file.execute("UPDATE events SET number = ? WHERE number = ?", (other, one))
        with (
            Ledger.open(copy, write=False) as book,
            pytest.raises(sd.LedgerError, match="does not fit the chain"),
        ):
            book.verify()


def test_an_older_copy_is_found_by_the_anchor(ledger, path):
    ledger.spend("shop", "ann", pure(0.5), "q", lambda: {"value": 1})
    ledger.close()
    older = path.with_name("older")
    shutil.copy(path, older)
    with Ledger.open(path) as book:
        book.spend("shop", "ann", pure(0.5), "r", lambda: {"value": 1})
        anchor = book.anchor()
    shutil.copy(older, path)
    with Ledger.open(path) as book:
        book.verify()  # by itself it is a good ledger
        with pytest.raises(sd.LedgerError, match="it is an older copy, or its last events were removed"):
            book.verify(anchor)
        book.spend("shop", "ann", pure(0.5), "r", lambda: {"value": 1})  # as long again, and spent twice
        with pytest.raises(sd.LedgerError, match="is not what it was when it was anchored"):
            book.verify(anchor)
        for turn in range(3):
            book.grant("shop", "ann", Limit.of(epsilon=2 + turn))
        with pytest.raises(sd.LedgerError, match="is not what it was when it was anchored"):
            book.verify(anchor)


def test_a_record_that_was_rewritten_and_chained_anew_is_found_by_the_anchor_alone(grown, path):
    anchor = grown.anchor()
    with tampering(path) as file:
        file.execute("UPDATE events SET question = 'another' WHERE number = 5")
        chain(file)
    grown.verify()
    with pytest.raises(sd.LedgerError, match="is not what it was when it was anchored"):
        grown.verify(anchor)


def test_removing_the_last_events_with_their_sums_is_found_by_the_anchor(ledger, path):
    anchor = ledger.anchor()
    reservation = ledger.reserve("shop", "ann", pure(0.5), question="q")
    reservation.commit({"value": 1})
    later = ledger.anchor(anchor)
    with tampering(path) as file:
        file.execute("DELETE FROM events WHERE number > 1")
        file.execute("UPDATE accounts SET loss_spent = '0'")
    ledger.verify(anchor)
    with pytest.raises(sd.LedgerError, match="it has 1 events and had 3"):
        ledger.verify(later)


def test_honest_growth_keeps_every_anchor(ledger, tmp_path):
    empty = Anchor(0, "0" * 64, "t")
    anchors = [empty]
    for turn in range(5):
        ledger.spend("shop", "ann", pure(0.1), f"q{turn}", lambda: {"value": 1})
        anchors.append(ledger.anchor(anchors[-1]))
        for anchor in anchors:
            assert ledger.verify(anchor).number == 3 + 2 * turn
    anchors[-1].save(tmp_path / "kept")
    assert Anchor.read(tmp_path / "kept") == anchors[-1]
    assert not list(tmp_path.glob(".*"))


def test_another_ledger_is_not_the_anchored_one(ledger, tmp_path):
    with Ledger.open(tmp_path / "other") as other:
        other.grant("shop", "ann", Limit.of(epsilon=1, delta=1e-6))
        with pytest.raises(sd.LedgerError, match="or it is another one"):
            other.verify(ledger.anchor())


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"sordino_anchor": {"number": -1, "hash": "0", "time": ""}}', "\x00", "5"]
)
def test_what_is_no_anchor_is_refused(tmp_path, content):
    (tmp_path / "kept").write_text(content)
    with pytest.raises(sd.ParameterError, match="anchor"):
        Anchor.read(tmp_path / "kept")
    with pytest.raises(sd.ParameterError, match="no such file"):
        Anchor.read(tmp_path / "none")
    with pytest.raises(sd.ParameterError, match="no such file"):
        Anchor(1, "0" * 64, "").save(tmp_path / "none" / "kept")


@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_old_file_is_chained_when_it_is_upgraded_and_looks_alike_before(path, version):
    write_old(path, version)
    before = path.read_bytes()
    with Ledger.open(path, write=False) as reader:
        seen = reader.anchor()
        assert [event.hash for event in reader.history()] == [None] * 6
    assert path.read_bytes() == before
    with Ledger.open(path) as book:
        assert book.verify(seen).number == 6
        book.spend("shop", "bob", pure(0.1), "q", lambda: {"value": 1})
        assert book.verify(seen).number == 8
    previous = "0" * 64
    for row in rows(path):
        previous = digest(row, previous)
        assert row["hash"] == previous
    with tampering(path) as file:
        file.execute("UPDATE events SET time = 't0' WHERE number = 2")
    with Ledger.open(path) as book, pytest.raises(sd.LedgerError, match="event 2 does not fit the chain"):
        book.verify()


def test_a_writer_that_does_not_chain_is_refused(ledger, path):
    """A process of an older version that still has the file open when it is upgraded."""
    file = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match=r"events\.hash"):
        file.execute("INSERT INTO events (time, kind, dataset, analyst) VALUES ('', 'resume', 'shop', 'ann')")
    file.close()


def test_an_anchor_is_a_small_json_file(ledger, tmp_path):
    ledger.anchor().save(tmp_path / "kept")
    content = json.loads((tmp_path / "kept").read_text())["sordino_anchor"]
    assert set(content) == {"number", "hash", "time"}
    assert (content["number"], content["hash"]) == (1, ledger.history()[0].hash)
