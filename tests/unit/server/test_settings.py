"""Where a server may listen."""

import asyncio
from types import SimpleNamespace

import pytest

from sordino.core import ParameterError
from sordino.server.run import listening
from sordino.server.settings import Settings


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_beyond_this_machine_only_with_encryption_or_insisting(host):
    with pytest.raises(ParameterError, match="without TLS tokens and answers could be read"):
        Settings(host=host)
    assert Settings(host=host, insecure=True).host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "::1", "localhost"])
def test_this_machine_needs_none(host):
    assert Settings(host=host).local


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"http_port": 70000}, "http port must lie between"),
        ({"workers": 0}, "workers must be > 0"),
        ({"certificate": __file__}, "give both"),
    ],
)
def test_what_cannot_be_is_refused(given, words):
    with pytest.raises(ParameterError, match=words):
        Settings(**given)


def test_the_longest_statement_is_the_longest_question():
    from sordino.server.settings import LONGEST_STATEMENT
    from sordino.sql.reading.syntax import LONGEST_TEXT

    assert LONGEST_STATEMENT == LONGEST_TEXT


@pytest.mark.parametrize("doors", [{"postgres_port": None}, {"http_port": None}])
def test_a_certificate_that_is_none_is_said_so(tmp_path, doors):
    (tmp_path / "cert.pem").write_text("no certificate")
    settings = Settings(certificate=tmp_path / "cert.pem", key=tmp_path / "cert.pem", **doors)

    async def listen():
        async with listening(SimpleNamespace(settings=settings)):
            raise AssertionError("it listens")

    with pytest.raises(ParameterError, match="are not a certificate and its key"):
        asyncio.run(listen())
