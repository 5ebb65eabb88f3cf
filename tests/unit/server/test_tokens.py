"""Tokens: shown once, kept as hashes, closed at once."""

import sqlite3

import pytest

from sordino.core import LedgerError, ParameterError
from sordino.server import tokens as tokens_module
from sordino.server.scram import make_verifier
from sordino.server.tokens import Tokens, read_life


@pytest.fixture
def tokens(tmp_path):
    with Tokens(tmp_path / "tokens", create=True) as book:
        yield book


def test_a_token_speaks_for_its_name(tokens):
    text, made = tokens.add("ann")
    found = tokens.check(text)
    assert (found.name, found.owner, found.token) == ("ann", False, made.id)


def test_what_is_kept_does_not_hold_the_token(tokens):
    text, _ = tokens.add("ann", owner=True)
    secret = text.rpartition("_")[2]
    raw = tokens.path.read_bytes()
    assert text.encode() not in raw
    assert secret.encode() not in raw
    assert tokens.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "change", [str.upper, lambda text: text[:-1], lambda text: text + "A", lambda text: ""]
)
def test_another_text_speaks_for_nobody(tokens, change):
    text, _ = tokens.add("ann")
    assert tokens.check(change(text)) is None
    assert tokens.check(text) is not None
    assert tokens.check(change(text)) is None  # nor after the right one was remembered


def test_a_revoked_token_is_closed_at_once_in_every_process(tokens):
    text, made = tokens.add("ann")
    with Tokens(tokens.path) as other:
        assert other.check(text) is not None
        tokens.revoke(made.id)
        assert other.check(text) is None
        assert other.verifiers("ann") == []
    with pytest.raises(ParameterError, match="no token 'x'"):
        tokens.revoke("x")


def test_a_token_ends_when_it_was_said_to(tokens, monkeypatch):
    text, made = tokens.add("ann", expires="1 day")
    assert tokens.check(text) is not None
    monkeypatch.setattr(tokens_module, "_now", lambda: "9999-01-01T00:00:00+00:00")
    assert tokens.check(text) is None
    assert not tokens.still_valid(tokens_module.Identity("ann", False, made.id))


def test_all_tokens_of_a_name_share_its_salt(tokens):
    texts = [tokens.add("ann")[0] for _ in range(2)]
    salt = tokens.salt("ann")
    assert [keys for _, keys in tokens.verifiers("ann")] == [make_verifier(text, salt) for text in texts]
    assert len(tokens.salt("nobody")) == len(salt)


def test_a_name_that_gets_its_first_token_looks_as_before(tokens):
    """SCRAM shows the salt of every name to strangers."""
    before = tokens.salt("ann")
    tokens.add("ann")
    assert tokens.salt("ann") == before != tokens.salt("bob")


def test_a_visit_lasts_as_long_as_its_token_and_some_hours(tokens, monkeypatch):
    identity = tokens.check(tokens.add("ann", owner=True)[0])
    cookies = [tokens.begin_visit(identity, 12) for _ in range(30)]
    with Tokens(tokens.path) as other:  # another process, or the next one
        assert [other.visitor(cookie) for cookie in cookies[-2:]] == [identity, identity]
        assert tokens.visitor(cookies[0]) is None  # the latest ones are kept
        tokens.end_visit(cookies[-1])
        assert other.visitor(cookies[-1]) is None
        assert other.visitor(cookies[-2]) == identity
        tokens.revoke(identity.token)
        assert other.visitor(cookies[-2]) is None
    identity = tokens.check(tokens.add("ann")[0])
    cookie = tokens.begin_visit(identity, 12)
    monkeypatch.setattr(tokens_module, "_now", lambda: "9999-01-01T00:00:00+00:00")
    assert tokens.visitor(cookie) is None
    for text in (None, "", "x", cookie + "x"):
        assert tokens.visitor(text) is None


@pytest.mark.parametrize("text", ["", "soon", "0 days", "-1 day", "1 month", None])
def test_a_life_that_is_none_is_refused(text):
    with pytest.raises(ParameterError, match="expires must be a length"):
        read_life(text)


def test_files_of_something_else_are_refused_untouched(tmp_path):
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (x)")
    before = other.read_bytes()
    with pytest.raises(LedgerError, match="something else"):
        Tokens(other)
    assert other.read_bytes() == before
    with pytest.raises(ParameterError, match="no such file"):
        Tokens(tmp_path / "missing")
