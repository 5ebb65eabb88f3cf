"""With --json every command prints one document in which numbers are numbers; no command is left out."""

import json

import pytest
import typer

from sordino.audit import zoo
from sordino.cli.app import app

from .test_cli_query import JOIN, shop  # noqa: F401

POLICY, LEDGER = ("-p", "policy.yaml"), ("-l", "shop.ledger", "-a", "ann")
ANN = ("shop.ledger", "--dataset", "shop", "--analyst", "ann")
CASES = {
    "demo": ("demo", "--no-report"),
    "examples": ("examples", "tried"),
    "query": ("query", "shop", JOIN, *POLICY, *LEDGER, "-e", "0.1", "--error-share", "0.5"),
    "explain": ("explain", "shop", JOIN, *POLICY, "-e", "0.1"),
    "select": ("select", "parties.csv", "--score", "n", "--label", "name", "--sensitivity", "1", "-e", "1"),
    "quantile": ("quantile", "parties.csv", "--column", "n", "--bounds", "0", "9", "--step", "1", "-e", "1"),
    "topk": ("topk", "friends.txt", "-k", "1", "-e", "1"),
    "count": ("count", "friends.txt", "triangles", "-e", "1"),
    "tree": (
        "tree",
        "visits.csv",
        "--target",
        "bought",
        "--schema",
        "schema.json",
        "--classes",
        "no,yes",
        "--max-rows",
        "100",
        "-e",
        "1",
        "--depth",
        "2",
    ),
    "compare": ("compare", "parties.csv", "--score", "n", "--sensitivity", "1", "-e", "1"),
    "audit": ("audit", "--zoo"),
    "policy init": ("policy", "init", "shop"),
    "policy check": ("policy", "check", "shop", "policy.yaml"),
    "ledger grant": ("ledger", "grant", *ANN, "--rho", "0.1", "--delta", "1e-7", "--at-delta", "1e-6"),
    "ledger revoke": ("ledger", "revoke", *ANN),
    "ledger resume": ("ledger", "resume", *ANN),
    "ledger redeclare": (
        "ledger",
        "redeclare",
        "shop.ledger",
        "--dataset",
        "shop",
        "--table",
        "items",
        "--as",
        "view",
    ),
    "ledger show": ("ledger", "show", "shop.ledger"),
    "ledger history": ("ledger", "history", "shop.ledger"),
    "ledger export": ("ledger", "export", "shop.ledger"),
}


@pytest.fixture
def everything(shop, sordino, monkeypatch):  # noqa: F811
    (shop / "parties.csv").write_text("name,n\nred,4\nblue,3\ngreen,1\n")
    (shop / "friends.txt").write_text("ann bob\nbob cat\ncat ann\n")
    (shop / "visits.csv").write_text("colour,age,bought\n" + "red,30.5,yes\nblue,60,no\n" * 20)
    (shop / "schema.json").write_text('{"colour": ["red", "blue"], "age": {"bounds": [0, 100], "bins": 4}}')
    few = zoo.specimens()[:2]
    monkeypatch.setattr(zoo, "specimens", lambda: few)
    asked = sordino("query", "shop", JOIN, *POLICY, *LEDGER, "-e", "0.3")
    assert asked.code == 0, asked.err


def commands(group, before=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*before, name))
        else:
            yield " ".join((*before, name))


def numbers_in_texts(value, path=""):
    """The places of texts that are numbers; "inf" and "nan" are what JSON has no number for."""
    if isinstance(value, dict):
        return [found for name, item in value.items() for found in numbers_in_texts(item, f"{path}.{name}")]
    if isinstance(value, list):
        return [found for item in value for found in numbers_in_texts(item, f"{path}[]")]
    if not isinstance(value, str):
        return []
    try:
        float(value.replace(",", ""))
    except ValueError:
        return []
    return [] if value in ("inf", "-inf", "nan") else [path]


def test_a_number_in_a_text_would_be_found():
    assert numbers_in_texts({"a": [{"b": "0.1"}, {"c": "inf", "d": 3}], "e": "20,001"}) == [".a[].b", ".e"]


def test_no_command_is_left_out():
    assert set(commands(typer.main.get_command(app))) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_document_holds_numbers_as_numbers(sordino, everything, name):
    result = sordino(*CASES[name], "--json")
    assert (result.code, result.err) == (0, "")
    assert numbers_in_texts(json.loads(result.out)) == []


def test_the_same_loss_is_the_same_number_wherever_it_stands(sordino, everything):
    paid = json.loads(sordino("ledger", "history", "shop.ledger", "--json").out)["events"]
    shown = json.loads(sordino("ledger", "show", "shop.ledger", "--json").out)["accounts"]
    asked = json.loads(sordino(*CASES["query"], "--json").out)
    assert [event["epsilon"] for event in paid if event["kind"] == "reserve"] == [0.3]
    assert [account["spent"]["epsilon"] for account in shown if account["analyst"] == "ann"] == [0.3]
    assert (asked["guarantee"]["epsilon"], asked["budget"]["spent"]["epsilon"]) == (0.1, 0.4)
