"""Each kind of error has its exit code; with --json it is one document on standard output, and nothing else is."""

import json
import os
import subprocess
import sys

import pytest

import sordino as sd
from sordino.cli.exit_codes import MEANINGS, exit_code_of
from sordino.core import MissingExtraError, ProofError
from sordino.ledger import Ledger, Limit

from .test_cli_query import ask, shop  # noqa: F401


def suspend():
    with Ledger.open("shop.ledger") as ledger:
        ledger.grant("shop", "ann", Limit.of(epsilon=1))
        guarantee = sd.Guarantee(sd.Loss(epsilon=0.1), sd.add_remove_row(), "Laplace mechanism")
        with pytest.raises(ZeroDivisionError):
            ledger.spend("shop", "ann", guarantee, "SELECT", lambda: 1 / 0)


def raising(monkeypatch, error):
    def broken(*arguments, **options):
        raise error

    monkeypatch.setattr("sordino.curator.connect", broken)


# What is asked, the code in the document, the exit code, and the place.
KINDS = {
    "option": (("--espilon", "1"), "usage", 2, None),
    "value": (("--error-share", "much"), "usage", 2, None),
    "parameter": ({"epsilon": "0"}, "parameter", 2, None),
    "file": ({"policy": "nowhere.yaml"}, "parameter", 2, None),
    "folder": ({"target": "shpo"}, "parameter", 2, None),
    "policy syntax": ({"policy": "broken.yaml"}, "parameter", 2, {"line": 3, "column": 14}),
    "policy key": ({"policy": "twice.yaml"}, "parameter", 2, {"line": 2, "column": 1}),
    "sql syntax": ({"sql": "SELECT COUNT(* FROM orders"}, "parameter", 2, {"line": 1, "column": 13}),
    "sql column": (
        {"sql": "SELECT COUNT(*)\nFROM orders WHERE citty = 'Rome'"},
        "parameter",
        2,
        {"line": 2, "column": 19},
    ),
    "refusal": ({"sql": "SELECT DISTINCT city FROM orders"}, "unsupported", 4, {"line": 1, "column": 8}),
    "budget": ({"epsilon": "1.5"}, "budget", 5, None),
    "no account": ({"analyst": "eve"}, "budget", 5, None),
    "suspended": ({}, "suspended", 6, None),
    "engine": ({"target": "postgresql://nobody:secret@127.0.0.1:1/shop"}, "engine", 7, None),
    "ledger": ({"ledger": "policy.yaml"}, "ledger", 8, None),
    "extra": (MissingExtraError("postgres needs psycopg"), "missing_extra", 9, None),
    "proof": (ProofError("no pairs"), "proof", 9, None),
    "defect": (RuntimeError("secret"), "defect", 70, None),
    "interrupt": (KeyboardInterrupt(), "interrupted", 130, None),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_of_error_has_its_exit_code_and_its_document(sordino, shop, monkeypatch, name):  # noqa: F811
    given, code, exit_code, place = KINDS[name]
    (shop / "broken.yaml").write_text("version: 1\ndataset: shop\ntables: {a: }}\n")
    (shop / "twice.yaml").write_text("version: 1\nversion: 1\n")
    if name == "suspended":
        suspend()
    if isinstance(given, BaseException):
        raising(monkeypatch, given)
        given = {}
    more, changed = (given, {}) if isinstance(given, tuple) else ((), given)
    plain = ask(sordino, *more, **changed)
    result = ask(sordino, *more, "--json", **changed)
    assert (plain.code, plain.out, plain.err.count("\n")) == (exit_code, "", 1)
    assert result.code == exit_code
    error = json.loads(result.out)["error"]
    assert list(json.loads(result.out)) == ["error"]
    assert (error["code"], error["place"]) == (code, place)
    assert result.err == f"sordino: {' '.join(error['message'].split())}\n" == plain.err
    assert "secret" not in result.out + result.err


def test_data_that_break_a_declaration_are_a_document_too(sordino, files):
    (files / "text.csv").write_text("a\n1\nsecret123\n")
    result = sordino("select", "text.csv", "--sensitivity", 1, "-e", 1, "--json")
    assert (result.code, json.loads(result.out)["error"]["code"]) == (3, "private_data")
    assert "secret123" not in result.out


def test_sql_that_looks_like_an_option_does_not_ask_for_json(sordino, shop):  # noqa: F811
    result = sordino(
        "query", "shop", "-p", "policy.yaml", "-l", "x.ledger", "-a", "ann", "-e", "0.1", "--", "--json"
    )
    assert (result.code, result.out) == (2, "")


def test_bytes_that_are_no_text_are_a_document_in_a_process_of_its_own(shop):  # noqa: F811
    command = [os.fsencode(sys.executable), b"-c", b"from sordino.cli import main; main()", b"query", b"shop"]
    options = b"-p policy.yaml -l shop.ledger -a ann -e 0.1 --json".split()
    done = subprocess.run([*command, b"SELECT \xff", *options], capture_output=True, check=False)
    assert json.loads(done.stdout)["error"]["code"] == "parameter"
    assert done.returncode == 2


def test_every_exit_code_is_in_the_help(sordino):
    shown = " ".join(sordino("--help").out.split())
    for code, meaning in MEANINGS.items():
        assert f"{code} {meaning}" in shown
    assert {exit_code_of(code) for _, code, _, _ in KINDS.values()} <= set(MEANINGS)
