"""With --json every command prints one document in which numbers are numbers; no command is left out."""

import json
import sqlite3

import pytest
import typer

from sordino.audit import zoo
from sordino.cli.app import app
from sordino.demo.example_files import write_example_files
from sordino.server.journal import Journal

from .test_cli_query import JOIN, shop  # noqa: F401

POLICY, LEDGER = ("-p", "policy.yaml"), ("-l", "shop.ledger", "-a", "ann")
ANN = ("shop.ledger", "--dataset", "shop", "--analyst", "ann")
SMOKER = ("--goal", "is(smoker)", "--prior", "setPrior ('yes', 0.2) ('no', 0.8)")
CLUB = ("--policy", "club.yaml", "--ledger", "club.ledger", "--analyst", "ann")
OPEN = ("series", "open", "club", "SELECT SUM(amount) FROM orders", "--time", "ts", "--every", "1 day", "--start",
        "2024-01-01", "--horizon", "30", "-e", "1")  # fmt: skip
CLUB_POLICY = """
version: 1
dataset: club
protects: row
tables:
  orders:
    columns: {ts: {type: timestamp, fixed: true}, amount: {type: integer, bounds: [0, 10], granularity: 1}}
budgets:
  ann: {epsilon: 100}
"""
SPACE = """{"distances": [[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]],
  "names": ["a", "b", "c", "d"], "values": [0, 5, 1, 7.5]}"""
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
    "policy check": ("policy", "check", "shop", "policy.yaml", "--rows"),
    "tables": ("tables", "shop", "--policy", "policy.yaml"),
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
    "sensitivity": ("sensitivity", "question.sql", "-s", "schema.sql", "--timeout", "60"),
    "ranges": ("ranges", "SELECT SUM(x) AS s FROM t", "-c", "t.att"),
    "risk epsilon": ("risk", "epsilon", *SMOKER, "--advantage", "0.1"),
    "risk advantage": ("risk", "advantage", *SMOKER, "-e", "1"),
    "risk curve": ("risk", "curve", "-e", "1"),
    "series open": (*OPEN, "--name", "weekly", *CLUB),
    "series next": ("series", "next", "club", "daily", "--now", "2024-01-04", *CLUB),
    "series show": ("series", "show", "club", "daily", *CLUB),
    "series plot": ("series", "plot", "club", "daily", "--output", "daily.png", *CLUB),
    "series tree": ("series", "tree", "changes.csv", "--horizon", "7", "-e", "1"),
    "series kalman": ("series", "kalman", "changes.csv", "--step-variance", "1", "--noise-variance", "8"),
    "series advise": ("series", "advise", "--horizon", "365", "-e", "1"),
    "series events": ("series", "events", "events.csv", "--horizon", "4", "-e", "1"),
    "components": ("components", "space.json", "--rho", "a,b|c,d", "--sigma", "a,c|b,d"),
    "workflow cost": ("workflow", "cost", "made/shop-workflow.yaml"),
    "workflow disclosure": ("workflow", "disclosure", "made/log_correlation.yaml"),
    "workflow dependencies": ("workflow", "dependencies", "made/log_correlation.yaml"),
    "workflow leaks": ("workflow", "leaks", "made/log_correlation.yaml"),
    "workflow page": ("workflow", "page", "made/log_correlation.yaml", "-o", "process.html"),
    "series budget": ("series", "budget", "--limit", "1", "--correlation", "1/2", "--times", "3"),
    "logs correlate": ("logs", "correlate", "a=a.csv", "b=b.csv", "--values", "user"),
    "logs pipeline": ("logs", "pipeline", "a=a.csv", "b=b.csv", "--values", "user", "--emulate"),
    "logs demo": ("logs", "demo", "--entries", "9", "--emulate"),
    "ledger verify": ("ledger", "verify", "shop.ledger"),
    "ledger anchor": ("ledger", "anchor", "shop.ledger", "-o", "shop.anchor"),
    "token add": ("token", "add", "bob"),
    "token list": ("token", "list"),
    "token revoke": ("token", "revoke", "abcdefgh"),
    "journal verify": ("journal", "verify", "journal"),
}
ENDLESS = {"serve"}  # its document is tested where servers are


@pytest.fixture
def everything(shop, sordino, monkeypatch):  # noqa: F811
    (shop / "parties.csv").write_text("name,n\nred,4\nblue,3\ngreen,1\n")
    (shop / "friends.txt").write_text("ann bob\nbob cat\ncat ann\n")
    (shop / "visits.csv").write_text("colour,age,bought\n" + "red,30.5,yes\nblue,60,no\n" * 20)
    (shop / "schema.json").write_text('{"colour": ["red", "blue"], "age": {"bounds": [0, 100], "bins": 4}}')
    (shop / "question.sql").write_text("SELECT DISTINCT x FROM t")
    (shop / "schema.sql").write_text("CREATE TABLE t (x INTEGER, y INTEGER);")
    (shop / "t.att").write_text("t.x range 0 5;")
    (shop / "changes.csv").write_text("change\n" + "3\n" * 7)
    (shop / "events.csv").write_text("provenance,added,removed,value\nann,1,3,2\nbob,2,,1\n")
    (shop / "a.csv").write_text("time,user\n1,ann\n3,bob\n")
    (shop / "b.csv").write_text("time,user\n2,ann\n4,cat\n")
    (shop / "space.json").write_text(SPACE)
    write_example_files(shop / "made")
    assert sordino("token", "add", "ann").code == 0
    with sqlite3.connect("sordino.tokens") as tokens:
        tokens.execute("UPDATE tokens SET id = 'abcdefgh'")
    journal = Journal("journal")
    journal.write("login", analyst="ann")
    journal.close()
    (shop / "club").mkdir()
    (shop / "club" / "orders.csv").write_text(
        "ts,amount\n" + "2024-01-01 01:00:00,3\n2024-01-02 02:00:00,4\n"
    )
    (shop / "club.yaml").write_text(CLUB_POLICY)
    few = zoo.specimens()[:2]
    monkeypatch.setattr(zoo, "specimens", lambda: few)
    asked = sordino("query", "shop", JOIN, *POLICY, *LEDGER, "-e", "0.3")
    assert asked.code == 0, asked.err
    opened = sordino(*OPEN, "--name", "daily", *CLUB)
    assert opened.code == 0, opened.err
    answered = sordino("series", "next", "club", "daily", "--now", "2024-01-02", *CLUB)
    assert answered.code == 0, answered.err


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
    assert set(commands(typer.main.get_command(app))) == {*CASES, *ENDLESS}


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
