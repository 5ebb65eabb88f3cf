"""The journal: whatever is done to its lines is found."""

import json
import multiprocessing

import pytest

from sordino.core import LedgerError
from sordino.server.journal import Journal, verify_journal


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "journal"
    journal = Journal(path)
    for number in range(5):
        journal.write("query", analyst="ann", sql=f"SELECT {number}", epsilon=0.1)
    journal.close()
    return path


def test_an_honest_journal_verifies_and_goes_on(written):
    count, last = verify_journal(written)
    assert count == 5
    journal = Journal(written)
    journal.write("login", analyst="bob")
    journal.close()
    assert verify_journal(written, last=last)[0] == 6


def change_a_text(lines):
    lines[2] = lines[2].replace("SELECT 2", "SELECT 9")


def change_a_hash(lines):
    content = json.loads(lines[1])
    lines[1] = json.dumps(content | {"hash": "0" * 64})


@pytest.mark.parametrize(
    "attack",
    [
        change_a_text,
        change_a_hash,
        lambda lines: lines.pop(1),
        lambda lines: lines.insert(1, lines[1]),
        lambda lines: lines.reverse(),
        lambda lines: lines.append("nonsense"),
    ],
)
def test_a_changed_journal_is_found(written, attack):
    lines = written.read_text().splitlines()
    attack(lines)
    written.write_text("\n".join(lines) + "\n")
    with pytest.raises(LedgerError, match="was changed, or stands in the wrong place"):
        verify_journal(written)


def test_lines_that_were_cut_off_are_found_by_who_kept_the_last_hash(written):
    _, last = verify_journal(written)
    lines = written.read_text().splitlines()[:-1]
    written.write_text("\n".join(lines) + "\n")
    verify_journal(written)  # the rest is a chain
    with pytest.raises(LedgerError, match="cut off or rewritten"):
        verify_journal(written, last=last)


def write_many(path, name):
    journal = Journal(path)
    for number in range(50):
        journal.write("query", analyst=name, number_of=number)
    journal.close()


def test_processes_write_one_chain(tmp_path):
    path = tmp_path / "journal"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=write_many, args=(path, name)) for name in "abc"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert verify_journal(path)[0] == 150


def test_a_half_written_line_stays_visible(written):
    with written.open("a") as file:
        file.write('{"number":6,')
    journal = Journal(written)
    journal.write("login", analyst="bob")
    journal.close()
    with pytest.raises(LedgerError, match="line 6"):
        verify_journal(written)


def test_a_line_longer_than_what_is_read_at_once_is_found_again(tmp_path):
    """Or a long question would close the journal, and so the server, at its next start."""
    path = tmp_path / "journal"
    for number in range(3):
        journal = Journal(path)
        journal.write("query", sql="\x01" * 600_000, number_of=number)  # six bytes each, as JSON has it
        journal.close()
    assert verify_journal(path)[0] == 3
