"""`sordino ledger` as an owner would use it."""

import csv
import io
import json
from pathlib import Path

import pytest

import sordino as sd
from sordino.ledger import Ledger, Limit, write_question_key

ANN = ("ledger", "grant", "shop.ledger", "--dataset", "shop", "--analyst", "ann")


@pytest.fixture
def spent(sordino, tmp_path, monkeypatch):
    """A ledger with two accounts, a cap and one release."""
    monkeypatch.chdir(tmp_path)
    assert sordino(*ANN, "--epsilon", 1, "--delta", 1e-6).code == 0
    assert sordino(*ANN[:-1], "bob", "--rho", 0.1, "--at-delta", 1e-6).code == 0
    assert sordino(*ANN[:-2], "--cap", "-e", 1.5, "--delta", 1e-6).code == 0
    with Ledger.open("shop.ledger") as ledger:
        guarantee = sd.Guarantee(sd.Loss(epsilon=0.3), sd.add_remove_row(), "Laplace mechanism")
        ledger.spend("shop", "ann", guarantee, "SELECT [b]", lambda: {"value": 12}, mechanism="laplace")
    return tmp_path


def test_grant_says_what_is_left(sordino, spent):
    done = sordino(*ANN, "--epsilon", 2)
    assert (done.code, done.out) == (0, "ann on shop: epsilon 1.7 left of epsilon 2\n")
    account = json.loads(sordino(*ANN, "--epsilon", 2, "--json").out)
    assert account["left"] == {"epsilon": 1.7, "delta": 0}


def test_show_lists_limits_and_what_is_left(sordino, spent):
    done = sordino("ledger", "show", "shop.ledger")
    assert done.code == 0
    for text in ("ann", "bob", "cap over all", "0.7", "1.2", "one row added"):
        assert text in done.out
    accounts = json.loads(sordino("ledger", "show", "shop.ledger", "--json").out)["accounts"]
    assert [account["analyst"] for account in accounts] == [None, "ann", "bob"]
    assert accounts[1]["spent"] == {"epsilon": 0.3, "delta": 0}
    assert accounts[1]["distance"] == "one row added or removed"
    assert (
        len(
            json.loads(sordino("ledger", "show", "shop.ledger", "--dataset", "shop", "--json").out)[
                "accounts"
            ]
        )
        == 3
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "--dataset", "shp"), "no data set 'shp': did you mean 'shop'?"),
        (("show", "--dataset", "web"), "no data set 'web': known: shop"),
        (("history", "--dataset", "shp"), "did you mean 'shop'?"),
        (("history", "--analyst", "an"), "no analyst 'an': did you mean 'ann'?"),
        (("export", "--analyst", "eve"), "no analyst 'eve': known: ann, bob"),
    ],
)
def test_names_that_the_ledger_does_not_know_are_refused_with_the_nearest(sordino, spent, arguments, message):
    done = sordino("ledger", arguments[0], "shop.ledger", *arguments[1:])
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_grant_says_what_it_has_made(sordino, spent):
    assert (
        sordino(*ANN[:-1], "zoe", "-e", 1).out == "zoe on shop: epsilon 1 left of epsilon 1 (new account)\n"
    )
    assert sordino(*ANN[:-1], "zoe", "-e", 2).out == "zoe on shop: epsilon 2 left of epsilon 2\n"
    done = sordino("ledger", "grant", "shop.ledger", "--dataset", "shpo", "--cap", "-e", 1)
    assert done.out.endswith("(new data set)\n")
    for name, new in (("yan", "account"), ("ann", None)):
        assert json.loads(sordino(*ANN[:-1], name, "-e", 1, "--json").out)["new"] == new


def test_history_lists_events_in_order(sordino, spent):
    done = sordino("ledger", "history", "shop.ledger")
    assert done.code == 0
    assert "SELECT [b]" in done.out
    assert "release of reservation 4" in done.out
    events = json.loads(sordino("ledger", "history", "shop.ledger", "--analyst", "ann", "--json").out)[
        "events"
    ]
    assert [event["kind"] for event in events] == ["grant", "reserve", "commit"]
    assert events[-1]["release"] == {"value": 12}


def test_history_shows_sql_in_one_short_line_and_everything_as_json(sordino, spent):
    sql = "SELECT COUNT(*)\n  FROM   t WHERE " + " OR ".join(f"a = {number}" for number in range(50))
    with Ledger.open("shop.ledger") as ledger:
        guarantee = sd.Guarantee(sd.Loss(epsilon=0.1, delta=1e-7), sd.add_remove_row(), "Laplace mechanism")
        question = write_question_key(sql, noise="laplace")
        ledger.spend("shop", "ann", guarantee, question, lambda: {"value": 3}, parameters={"question": sql})
        ledger.declare("shop", {"eve": Limit.of(epsilon=1)}, distance=sd.add_remove_row())
        ledger.declare("shop", {}, distance=sd.add_remove_row())
    out = " ".join(sordino("ledger", "history", "shop.ledger").out.split())
    assert "SELECT COUNT(*) FROM t WHERE a = 0 OR" in out
    assert "epsilon 0.1, delta 1e-7" in out
    assert "…" in out
    assert "a = 49" not in out
    assert "{" not in out
    assert "limit by the policy" in out
    assert "withdrawn by the policy" in out
    events = json.loads(sordino("ledger", "history", "shop.ledger", "--json").out)["events"]
    assert [event["question"] for event in events if event["kind"] == "reserve"][-1] == question
    assert "none (withdrawn)" in " ".join(sordino("ledger", "show", "shop.ledger").out.split())


def test_export_gives_every_event_as_lines_or_as_a_table(sordino, spent):
    lines = [json.loads(line) for line in sordino("ledger", "export", "shop.ledger").out.splitlines()]
    assert [line["kind"] for line in lines] == ["grant", "grant", "grant", "reserve", "commit"]
    table = list(
        csv.DictReader(io.StringIO(sordino("ledger", "export", "shop.ledger", "--format", "csv").out))
    )
    assert [row["number"] for row in table] == ["1", "2", "3", "4", "5"]
    assert json.loads(table[-1]["release"]) == {"value": 12}
    assert json.loads(sordino("ledger", "export", "shop.ledger", "--json").out)["events"] == lines


def suspend(analyst="ann"):
    with Ledger.open("shop.ledger") as ledger:
        guarantee = sd.Guarantee(sd.Loss(epsilon=0.1), sd.add_remove_row(), "Laplace mechanism")
        with pytest.raises(ZeroDivisionError):
            ledger.spend("shop", analyst, guarantee, "SELECT [c]", lambda: 1 / 0)


RESUME = ("ledger", "resume", "shop.ledger", "--dataset", "shop", "--analyst", "ann")


def test_a_suspension_is_shown_and_lifted(sordino, spent):
    assert "suspended" not in sordino("ledger", "show", "shop.ledger").out
    suspend()
    shown = sordino("ledger", "show", "shop.ledger").out
    assert shown.count("(suspended)") == 1
    assert "ledger resume" in shown
    accounts = json.loads(sordino("ledger", "show", "shop.ledger", "--json").out)["accounts"]
    assert [account["suspended"] for account in accounts] == [False, True, False]
    assert "suspended: failure of reservation 6" in sordino("ledger", "history", "shop.ledger").out
    done = sordino(*RESUME)
    assert done.code == 0
    assert (
        done.out == "ann on shop: epsilon 0.6, delta 0.000001 left of epsilon 1, delta 0.000001 (resumed)\n"
    )
    assert sordino(*RESUME).out.endswith("(was not suspended)\n")
    assert "suspended" not in sordino("ledger", "show", "shop.ledger").out
    assert "resumed by the owner" in sordino("ledger", "history", "shop.ledger").out
    suspend()
    again = json.loads(sordino(*RESUME, "--json").out)
    assert (again["resumed"], again["suspended"]) == (True, False)
    assert json.loads(sordino(*RESUME, "--json").out)["resumed"] is False
    lines = [json.loads(line) for line in sordino("ledger", "export", "shop.ledger").out.splitlines()]
    assert [line["kind"] for line in lines][5:] == ["reserve", "suspend", "resume"] * 2


def test_a_suspended_analyst_is_refused_at_the_command_line_until_the_owner_resumes(sordino, spent):
    (spent / "data").mkdir()
    (spent / "data" / "orders.csv").write_text("id\n1\n2\n")
    (spent / "policy.yaml").write_text("version: 1\ndataset: shop\ntables: {orders: {}}\n")
    query = (
        "query",
        "data",
        "SELECT COUNT(*) FROM orders",
        "-p",
        "policy.yaml",
        "-l",
        "shop.ledger",
        "-a",
        "ann",
    )
    assert sordino(*query, "-e", 0.1).code == 0
    suspend()
    for more in ((), ("--reuse",)):
        done = sordino(*query, "-e", 0.1, *more)
        assert (done.code, done.out) == (6, "")
        assert "this account is suspended until the owner of the data resumes it" in done.err
    assert sordino(*RESUME).code == 0
    assert sordino(*query, "-e", 0.1, "--reuse").code == 0
    done = sordino(*query, "-e", 1e-7)
    assert (done.code, done.err.count("least_epsilon")) == (2, 1)
    (spent / "policy.yaml").write_text("version: 1\ndataset: shop\ntables: {orders: {private: false}}\n")
    done = sordino(*query, "-e", 0.1)
    assert done.code == 2
    assert "redeclare" in done.err


def test_a_question_whose_process_died_is_shown_by_looking(sordino, spent):
    with Ledger.open("shop.ledger") as ledger:
        guarantee = sd.Guarantee(sd.Loss(epsilon=0.1), sd.add_remove_row(), "Laplace mechanism")
        ledger.reserve("shop", "ann", guarantee, question="q")
        assert "suspended" not in sordino("ledger", "show", "shop.ledger").out  # it is under way
    assert "(suspended)" in sordino("ledger", "show", "shop.ledger").out
    assert sordino(*RESUME).out.endswith("(resumed)\n")
    assert "suspended: the process died of reservation 6" in sordino("ledger", "history", "shop.ledger").out


def test_a_table_is_redeclared_by_the_owner(sordino, spent):
    with Ledger.open("shop.ledger") as ledger:
        ledger.declare("shop", {}, distance=sd.add_remove_row(), tables={"Orders": "private"})
    redeclare = (
        "ledger",
        "redeclare",
        "shop.ledger",
        "--dataset",
        "shop",
        "--table",
        "Orders",
        "--as",
        "public",
    )
    assert sordino(*redeclare).out == "table Orders of shop was private and is from now on public\n"
    assert sordino(*redeclare).out == "table Orders of shop is public\n"
    assert json.loads(sordino(*redeclare, "--json").out) == {
        "dataset": "shop",
        "table": "Orders",
        "before": "public",
        "now": "public",
    }
    history = sordino("ledger", "history", "shop.ledger").out
    assert "orders private" in history
    assert "orders public" in history
    assert history.count("(cap)") == 1  # tables belong to nobody's account


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*RESUME[:-1], "an"), "no analyst 'an': did you mean 'ann'?"),
        (("ledger", "resume", "shop.ledger", "--dataset", "shp", "--analyst", "ann"), "did you mean 'shop'?"),
        (RESUME[:-2], "'--analyst'"),
        (
            ("ledger", "redeclare", "shop.ledger", "--dataset", "shop", "--table", "x", "--as", "open"),
            "'--as'",
        ),
        (
            ("ledger", "redeclare", "shop.ledger", "--dataset", "shop", "--table", "x", "--as", "view"),
            "known: none",
        ),
        (
            ("ledger", "redeclare", "shop.ledger", "--dataset", "web", "--table", "x", "--as", "view"),
            "known: shop",
        ),
    ],
)
def test_acts_of_the_owner_name_what_is_there(sordino, spent, arguments, message):
    done = sordino(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (RESUME, "no such file"),
        (
            ("ledger", "redeclare", "shop.ledger", "--dataset", "d", "--table", "t", "--as", "view"),
            "no such file",
        ),
        ((*ANN, "-e", 0), "epsilon must be > 0"),
        ((*ANN, "-e", "nan"), "finite"),
        ((*ANN, "-e", 1, "--delta", 1), "delta must be in [0, 1)"),
        (ANN, "either epsilon"),
        ((*ANN, "-e", 1, "--rho", 1), "either epsilon"),
        ((*ANN, "--rho", 1), "rho needs at_delta"),
        ((*ANN, "-e", 1, "--cap"), "exactly one of --analyst NAME and --cap"),
        ((*ANN[:-2], "-e", 1), "exactly one of --analyst NAME and --cap"),
        ((*ANN[:-1], " ", "-e", 1), "--analyst must"),
        (("ledger", "grant", "shop.ledger", "--dataset", "", "--cap", "-e", 1), "--dataset must"),
        (("ledger", "show", "shop.ledger"), "no such file"),
        (("ledger", "history", "shop.ledger"), "no such file"),
        (("ledger", "export", "."), "is a directory"),
        (("ledger", "export", "shop.ledger", "--format", "xml"), "'--format'"),
        (("ledger", "audit", "shop.ledger"), "No such command"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(sordino, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = sordino(*arguments)
    code = 8 if message in ("no such file", "is a directory") else 2
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)
    assert message in done.err
    assert not list(tmp_path.iterdir())


def test_a_limit_below_what_was_spent_is_told_to_the_owner_and_leaves_nothing(sordino, spent):
    done = sordino(*ANN, "--epsilon", 0.2)
    assert done.code == 0
    assert done.out == "ann on shop: epsilon 0 left of epsilon 0.2 (epsilon 0.3 was spent before)\n"
    assert sordino("ledger", "show", "shop.ledger").code == 0


def test_revoke_takes_a_budget_back_and_says_what_was_spent(sordino, spent):
    revoke = ("ledger", "revoke", "shop.ledger", "--dataset", "shop", "--analyst", "ann")
    done = sordino(*revoke)
    told = "ann on shop: no budget any more, was epsilon 1, delta 0.000001; epsilon 0.3 was spent\n"
    assert (done.code, done.out) == (0, told)
    assert sordino(*revoke).out == "ann on shop: had no budget; epsilon 0.3 was spent\n"
    content = json.loads(sordino(*revoke, "--json").out)
    assert (content["revoked"], content["withdrawn"], content["spent"]["epsilon"]) == (False, True, 0.3)
    assert "revoked by the owner" in " ".join(sordino("ledger", "history", "shop.ledger").out.split())
    assert "none (withdrawn)" in " ".join(sordino("ledger", "show", "shop.ledger").out.split())
    missed = sordino(*revoke[:-1], "an")
    assert (missed.code, missed.out) == (2, "")
    assert "did you mean 'ann'?" in missed.err


def test_a_file_that_is_no_ledger_is_refused_and_left_alone(sordino, files):
    before = (files / "votes.csv").read_bytes()
    for command in (("show",), ("grant", "--dataset", "shop", "--cap", "-e", 1)):
        done = sordino("ledger", command[0], "votes.csv", *command[1:])
        assert done.code == 8
        assert "not a ledger" in done.err
    assert (files / "votes.csv").read_bytes() == before


def test_the_command_alone_shows_its_help(sordino):
    done = sordino("ledger")
    assert done.code == 0
    assert "grant" in done.out


def test_the_ledger_is_verified_and_anchored(sordino, spent):
    done = sordino("ledger", "verify", "shop.ledger")
    events = len(json.loads(sordino("ledger", "history", "shop.ledger", "--json").out)["events"])
    assert (done.code, done.out) == (
        0,
        f"{events} events: unbroken, and every sum is that of its events\n",
    )
    assert sordino("ledger", "anchor", "shop.ledger", "-o", "kept").out == f"anchored at event {events}\n"
    older = Path("shop.ledger").read_bytes()
    assert sordino(*ANN, "-e", 3).code == 0
    told = sordino("ledger", "verify", "shop.ledger", "--anchor", "kept").out
    assert told.startswith(f"{events + 1} events, 1 since the anchor of ")
    kept = Path("kept").read_text()
    moved = json.loads(sordino("ledger", "anchor", "shop.ledger", "-o", "kept", "--json").out)
    assert moved["number"] == events + 1
    assert Path("kept").read_text() != kept
    Path("shop.ledger").write_bytes(older)
    assert sordino("ledger", "verify", "shop.ledger").code == 0
    for command in (("verify", "shop.ledger", "--anchor", "kept"), ("anchor", "shop.ledger", "-o", "kept")):
        refused = sordino("ledger", *command)
        assert refused.code != 0
        assert "it is an older copy, or its last events were removed" in refused.err
    assert json.loads(Path("kept").read_text())["sordino_anchor"]["number"] == events + 1  # not moved back


def test_an_anchor_that_is_not_there_is_not_taken_for_granted(sordino, spent):
    refused = sordino("ledger", "verify", "shop.ledger", "--anchor", "none")
    assert refused.code != 0
    assert "anchor none: no such file" in refused.err
    assert not Path("none").exists()
