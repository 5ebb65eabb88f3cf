"""Thousands of analytical questions in three dialects, whole and damaged: each is answered or refused with a place."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import duckdb
import pytest

import sordino as sd
from sordino.core import ParameterError, UnsupportedError
from sordino.engines import connect
from sordino.sql.answering.exact import compute_answers
from sordino.sql.reading import read
from sordino.sql.reading.read import read_public_keys, read_statement
from sordino.sql.reading.syntax import parse_statement

from ..unit.sql.outcomes import FallenError, check_refusal, outcome, texts
from ..unit.sql.storm import DIALECTS, FIELDS, POLICY, SCHEMA

TEXTS = 2000
EXACT, RELEASED = 200, 50


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_text_is_accepted_or_refused_with_a_place(dialect, seed):
    found = Counter(outcome(text, dialect) for text in texts(seed, dialect, TEXTS // 2))
    assert set(found) == {"accepted", "refused", "wrong"}
    assert min(found.values()) > TEXTS // 20, f"the storm says too little of one kind: {found}"


def test_the_storm_is_the_same_every_time():
    assert list(texts(0, "spark", 50)) == list(texts(0, "spark", 50))
    assert list(texts(0, "spark", 50)) != list(texts(1, "spark", 50))


@pytest.mark.parametrize("planted", [AttributeError, KeyError, ValueError, RuntimeError, AssertionError])
def test_a_planted_crash_is_caught_by_the_harness(monkeypatch, planted):
    """Control: what the reader turns into a refusal as the last resort is still a defect here."""
    keys = read._keys

    def crash(select, scope, names, policy):
        if select.args.get("group") is not None:
            raise planted("planted")
        return keys(select, scope, names, policy)

    monkeypatch.setattr(read, "_keys", crash)
    with pytest.raises(FallenError, match=f"{planted.__name__} was caught in"):
        Counter(outcome(text, "duckdb") for text in texts(0, "duckdb", 500))


def test_a_planted_hang_is_caught_by_the_harness(monkeypatch):
    def hang(*given):
        while True:
            pass

    monkeypatch.setattr(read, "_keys", hang)
    with pytest.raises(FallenError, match=r"more than 0\.2 seconds"):
        outcome("SELECT COUNT(*) FROM posts", "duckdb", seconds=0.2)


@pytest.mark.parametrize("message", ["", "the query cannot be read", "line 1, column 1: " + "x" * 1000])
def test_a_refusal_without_a_place_or_an_end_is_caught_by_the_harness(monkeypatch, message):
    def refuse(*given):
        raise UnsupportedError(message)

    monkeypatch.setattr(read, "_keys", refuse)
    with pytest.raises(FallenError, match=r"no place in|characters about"):
        outcome("SELECT COUNT(*) FROM posts", "duckdb")


@pytest.fixture(scope="module")
def shop():
    with duckdb.connect() as owner:
        owner.execute(SCHEMA)
        yield owner


def accepted(engine):
    """Texts that were understood, with what was understood."""
    catalogue = engine.catalogue()
    for text in texts(3, "duckdb", 20 * EXACT):
        try:
            yield text, read_statement(text, policy=POLICY, catalogue=catalogue, dialect="duckdb")
        except (ParameterError, UnsupportedError) as error:
            check_refusal(text, error)


def test_what_is_accepted_is_computed_without_an_error(shop):
    engine = connect(shop)
    count = 0
    for text, statement in islice(accepted(engine), EXACT):
        # Reading leaves the tree as it was: its text is that of a fresh parse.
        assert statement.canonical == parse_statement(text, "duckdb").sql(dialect="duckdb", comments=False)
        with engine.snapshot() as snapshot:
            compute_answers(snapshot, read_public_keys(statement, snapshot))
        count += 1
    assert count == EXACT


def test_what_is_accepted_is_released_or_refused_before_it_is_paid(shop):
    released = 0
    with sd.connect(shop, policy=FIELDS | {"budgets": {"ann": {"epsilon": 1000}}}) as curator:
        session = curator.session("ann")
        for text, _ in islice(accepted(connect(shop)), RELEASED):
            before = session.budget().spent
            try:
                session.query(text, 1)
                released += 1
            except (ParameterError, UnsupportedError):
                assert session.budget().spent == before
    assert released > RELEASED // 2
