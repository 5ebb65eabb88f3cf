"""Hostile SQL on the command line: an exit code of those that are documented, one line, no traceback."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ..unit.sql.outcomes import texts
from .test_cli_query import shop  # noqa: F401

REFUSED = (2, 4)  # wrong, or not supported
START = "SELECT COUNT(*) FROM orders WHERE "
HOSTILE = [
    "",
    " ",
    ";",
    "@",
    "\\",
    "'",
    "$$",
    "/*",
    "SELECT",
    START + "@",
    START + "@@",
    START + "?",
    START + "\ud800",
    START + "\x1b[31m",
    START + "\u202e",
    START + "(" * 5000,
    START + "NOT " * 4000,
    START + "STRUCT ( " * 60,
    START + "[1]" * 6000,
    START + "id = " + "9" * 15000,
    START + "x" * 19000,
    START + "x" * 90000,
    "SELECT COUNT(*) FROM orders " + "JOIN orders " * 60,
    "SELECT COUNT(*) FROM orders; DROP TABLE orders",
    "--help",
]  # fmt: skip
BYTES = [
    b"\xff",
    b"SELECT COUNT(*)\nFROM orders WHERE city = '\xe9'",
    b"\x00",
    b"\xef\xbb\xbf",
    b"SELECT COUNT(*) FROM orders WHERE @",
    "SELECT COUNT(*) FROM orders".encode("utf-16"),
    bytes(range(256)),
    b"(" * 100_000,
]


def arguments(text):
    return ("query", "shop", "-p", "policy.yaml", "-l", "shop.ledger", "-a", "ann", "-e", "0.001", "--", text)


def check_refused(result):
    assert result.code in REFUSED, result
    assert result.out == ""
    assert result.err.startswith("sordino: line ")
    assert result.err.count("\n") == 1
    assert len(result.err) < 1100


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_arguments_are_refused_in_one_line(sordino, shop, text):  # noqa: F811
    check_refused(sordino(*arguments(text)))
    assert not (shop / "shop.ledger").exists()


@pytest.mark.parametrize("raw", BYTES, ids=range(len(BYTES)))
def test_hostile_files_are_refused_in_one_line(sordino, shop, raw):  # noqa: F811
    check_refused(sordino(*arguments("-"), stdin=raw))


def test_bytes_that_are_no_text_are_refused_with_their_line(sordino, shop):  # noqa: F811
    result = sordino(*arguments("-"), stdin=b"SELECT COUNT(*)\nFROM orders WHERE city = '\xe9'")
    assert result.err == "sordino: line 2: the query is not UTF-8 text: byte 42 is 0xe9\n"


def test_a_file_may_begin_with_a_byte_order_mark(sordino, shop):  # noqa: F811
    result = sordino(*arguments("-"), stdin="\ufeffSELECT COUNT(*) FROM orders WHERE city = 'é'".encode())
    assert result.code == 0, result.err


def test_a_storm_of_texts_about_other_tables_is_refused_in_one_line(sordino, shop):  # noqa: F811
    for text in texts(9, "duckdb", 12):
        check_refused(sordino(*arguments("-"), stdin=text.encode("utf-8", "surrogatepass")))


def test_a_process_of_its_own_ends_the_same_way(shop):  # noqa: F811
    """Bytes that are no text reach the arguments of a real process as half surrogates."""
    command = [sys.executable.encode(), b"-c", b"from sordino.cli import main; main()"]
    for text in (b"\xff\xfe", START.encode() + b"@"):
        given = [*command, *(part.encode() for part in arguments("")[:-1]), text]
        result = subprocess.run(given, capture_output=True, check=False)
        assert result.returncode in REFUSED
        assert b"Traceback" not in result.stderr
        assert result.stderr.startswith(b"sordino: line 1")
