"""`sordino query`, `explain` and `policy` on a folder of CSV files: answers, exit codes, and nothing left behind."""

from __future__ import annotations

import json
import os

import duckdb
import pytest

from sordino.ledger import Ledger
from sordino.sql.policy import Policy

JOIN = "SELECT COUNT(*) FROM orders JOIN items ON orders.id = items.order_id"
POLICY = """
version: 1
dataset: shop
tables:
  orders:
    columns:
      id: integer
      city: {type: text, domain: [Rome, Oslo, Lima]}
  items:
    columns:
      order_id: integer
      price: {type: integer, bounds: [0, 20]}
budgets:
  ann: {epsilon: 1, delta: 1e-6}
  bob: {epsilon: 0.5}
"""
SENTINEL = "sentinel90210"


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "shop"
    folder.mkdir()
    cities = ("Rome", "Oslo", SENTINEL)
    (folder / "orders.csv").write_text("id,city\n" + "".join(f"{i},{cities[i % 3]}\n" for i in range(40)))
    (folder / "items.csv").write_text("order_id,price\n" + "".join(f"{i % 40},{i % 9}\n" for i in range(200)))
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


def ask(
    sordino,
    *more,
    sql=JOIN,
    target="shop",
    policy="policy.yaml",
    ledger="shop.ledger",
    analyst="ann",
    epsilon="0.25",
):
    return sordino(
        "query", target, sql, "--policy", policy, "--ledger", ledger, "--analyst", analyst, "--epsilon", epsilon, *more
    )  # fmt: skip


def test_a_join_is_answered_with_its_guarantee_and_what_is_left(sordino, shop):
    result = ask(sordino)
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert int(lines[0]) is not None
    assert "ε = 0.25 for one row added or removed" in lines[1]
    assert lines[2] == "budget of ann: epsilon 0.75, delta 0.000001 left of epsilon 1, delta 0.000001"


def test_json_is_one_document_with_the_budget(sordino, shop):
    result = ask(sordino, "--json", "--error-share", "0.2")
    content = json.loads(result.out)
    assert content["guarantee"]["epsilon"] == 0.25
    assert content["error"] > 0
    assert content["budget"]["left"]["epsilon"] == 0.75
    assert content["private"]


def test_groups_are_printed_as_a_table(sordino, shop):
    result = ask(sordino, sql="SELECT city, COUNT(*) AS n FROM orders GROUP BY city")
    assert result.code == 0, result.err
    assert [line.split()[0] for line in result.out.splitlines()[1:5]][-3:] == ["Rome", "Oslo", "Lima"]
    assert SENTINEL not in result.out


def test_sql_may_come_through_a_pipe(sordino, shop):
    result = sordino(
        "query", "shop", "-", "-p", "policy.yaml", "-l", "shop.ledger", "-a", "ann", "-e", "0.1", stdin=JOIN.encode()
    )  # fmt: skip
    assert result.code == 0, result.err


def test_reuse_gives_the_same_answer_at_no_cost(sordino, shop):
    first = json.loads(ask(sordino, "--json").out)
    again = json.loads(ask(sordino, "--json", "--reuse").out)
    assert first == again


def test_a_database_file_is_a_target(sordino, shop):
    with duckdb.connect("shop.duckdb") as connection:
        connection.execute("CREATE TABLE orders AS SELECT i AS id, 'Rome' AS city FROM range(10) t(i)")
        connection.execute("CREATE TABLE items AS SELECT i AS order_id, i AS price FROM range(10) t(i)")
    for target in ("shop.duckdb", "duckdb://shop.duckdb", f"duckdb:///{shop}/shop.duckdb"):
        result = ask(sordino, target=target, epsilon="0.1")
        assert result.code == 0, result.err


BAD = {
    "syntax": ({"sql": "SELECT COUNT(* FROM orders"}, "line 1"),
    "table": ({"sql": "SELECT COUNT(*) FROM order"}, "orders"),
    "column": ({"sql": "SELECT COUNT(*) FROM orders WHERE citty = 'Rome'"}, "city"),
    "clause": ({"sql": "SELECT DISTINCT city FROM orders"}, "DISTINCT"),
    "bounds": ({"sql": "SELECT SUM(id) FROM orders"}, "bounds"),
    "epsilon 0": ({"epsilon": "0"}, "epsilon must be > 0"),
    "epsilon text": ({"epsilon": "much"}, "epsilon"),
    "no such folder": ({"target": "shpo"}, "shpo"),
    "scheme": ({"target": "duckbd:///x"}, "duckdb"),
    "unreachable server": ({"target": "postgresql://nobody:secret@127.0.0.1:1/shop"}, "postgresql"),
    "no database": ({"target": "policy.db"}, "not a database"),
    "policy missing": ({"policy": "nowhere.yaml"}, "nowhere.yaml"),
    "policy types": ({"policy": "wrong.yaml"}, "weight"),
    "policy field": ({"policy": "field.yaml"}, "budgets"),
    "exhausted": ({"epsilon": "1.5"}, "epsilon 1, delta 0.000001 is left"),
    "nobody": ({"analyst": "eve"}, "no budget was granted"),
    "ledger": ({"ledger": "policy.yaml"}, "ledger"),
    "ledger folder": ({"ledger": "nowhere/shop.ledger"}, "folder"),
}


CODES = {
    "clause": 4,
    "unreachable server": 7,
    "no database": 7,
    "exhausted": 5,
    "nobody": 5,
    "ledger": 8,
    "ledger folder": 8,
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_leaves_nothing(sordino, shop, case):
    (shop / "wrong.yaml").write_text(POLICY.replace("orders:\n", "orders:\n    weight: heavy\n"))
    (shop / "field.yaml").write_text(POLICY.replace("budgets:", "bugdets:"))
    (shop / "policy.db").write_text("no database")
    before = sorted(os.listdir(shop))
    arguments, words = BAD[case]
    result = ask(sordino, **arguments)
    assert result.code == CODES.get(case, 2), (result.code, result.err)
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert words.lower() in result.err.lower()
    assert "secret" not in result.err
    assert SENTINEL not in result.err
    assert sorted(os.listdir(shop)) == before


def test_an_exhausted_budget_says_what_is_left_of_the_own_account_only(sordino, shop):
    assert ask(sordino, analyst="bob", epsilon="0.5").code == 0
    result = ask(sordino, analyst="bob", epsilon="0.1")
    assert result.code == 5
    assert "epsilon 0 is left of the budget of 'bob'" in result.err
    assert "ann" not in result.err
    with Ledger.open("shop.ledger", create=False) as ledger:
        assert ledger.account("shop", "ann").spent.loss == 0


def test_explain_shows_the_owner_the_exact_answer_and_spends_nothing(sordino, shop):
    before = sorted(os.listdir(shop))
    result = sordino("explain", "shop", JOIN, "--policy", "policy.yaml", "--epsilon", "1")
    assert result.code == 0, result.err
    assert result.out.startswith("NOT PRIVATE")
    assert "exact answer: 200" in result.out
    assert "unbounded" in result.out
    facts = json.loads(sordino("explain", "shop", JOIN, "-p", "policy.yaml", "-e", "1", "--json").out)
    assert facts["exact"] == 200
    assert sorted(os.listdir(shop)) == before


def test_explain_begins_with_ten_lines_and_brief_shows_them_alone(sordino, shop):
    asked = ("explain", "shop", JOIN, "-p", "policy.yaml", "-e", "1")
    lines = sordino(*asked, "--brief").out.splitlines()
    assert 8 <= len(lines) <= 10
    assert lines[0] == "NOT PRIVATE: for the owner of the data only"
    assert lines[1] == f"asked:    {JOIN}"
    assert lines[2] == "exact:    200"
    assert sordino(*asked).out.splitlines()[: len(lines)] == lines
    content = json.loads(sordino(*asked, "--brief", "--json").out)
    assert list(content) == ["warning", "brief"]
    whole = json.loads(sordino(*asked, "--json").out)
    assert (whole["brief"]["exact"], whole["brief"]["table"]) == (whole["exact"], "orders")
    assert whole["brief"]["smooth_bound"] == whole["numbers"][0]["smooth_bound"]


def test_explain_of_groups_prints_a_table(sordino, shop):
    result = sordino(
        "explain",
        "shop",
        "SELECT city, COUNT(*) AS n FROM orders GROUP BY city",
        "-p",
        "policy.yaml",
        "-e",
        "1",
    )
    assert result.code == 0, result.err
    assert "partition" in result.out


def test_a_first_policy_loads_as_it_is_written(sordino, shop):
    result = sordino("policy", "init", "shop", "-o", "first.yaml")
    assert result.code == 0, result.err
    text = (shop / "first.yaml").read_text()
    assert SENTINEL not in text
    assert "Rome" not in text
    loaded = Policy.load(shop / "first.yaml")
    assert set(loaded.tables) == {"orders", "items"}
    assert all(table.private for table in loaded.tables.values())
    assert sordino("policy", "check", "shop", "first.yaml").code == 0
    assert sordino("policy", "init", "shop", "-o", "first.yaml").code == 2
    assert sordino("policy", "init", "shop", "-o", "first.yaml", "--force").code == 0


def test_a_first_policy_of_a_database_has_no_types_and_awkward_names_in_quotes(sordino, shop):
    with duckdb.connect("odd.duckdb") as connection:
        connection.execute(
            'CREATE TABLE "no" ("yes: no" BIGINT, "2nd" DOUBLE, "ünï" VARCHAR, list BIGINT[], "a#b" DATE)'
        )
    result = sordino("policy", "init", "odd.duckdb")
    assert result.code == 0, result.err
    loaded = Policy.load(result.out)
    assert loaded.dataset == "odd"
    assert list(loaded.tables["no"].columns) == ["yes: no", "2nd", "ünï", "list", "a#b"]
    (shop / "odd.yaml").write_text(result.out)
    assert sordino("policy", "check", "odd.duckdb", "odd.yaml").code == 0


def test_policy_check_names_what_does_not_fit(sordino, shop):
    (shop / "wrong.yaml").write_text(POLICY.replace("  items:", "  itmes:"))
    result = sordino("policy", "check", "shop", "wrong.yaml")
    assert result.code == 2
    assert "did you mean 'items'" in result.err
    content = json.loads(sordino("policy", "check", "shop", "policy.yaml", "--json").out)
    assert content["private"] == ["items", "orders"]
    assert content["distance"] == "one row added or removed"


def test_policy_check_counts_the_rows_that_break_it(sordino, shop):
    (shop / "keys.yaml").write_text(
        POLICY.replace("  orders:\n", "  orders:\n    key: id\n").replace(
            "  items:\n", "  items:\n    key: order_id\n    foreign_keys: {order_id: orders.id}\n"
        )
    )
    silent = sordino("policy", "check", "shop", "keys.yaml")
    assert (silent.code, "NOT PRIVATE" in silent.out) == (0, False)
    result = sordino("policy", "check", "shop", "keys.yaml", "--rows")
    assert result.code == 3
    assert "NOT PRIVATE" in result.out
    assert "broken: 1" in result.out
    document = json.loads(sordino("policy", "check", "shop", "keys.yaml", "--rows", "--json").out)["rows"]
    assert not document["holds"]
    assert {(item["table"], item["kind"]): item["rows"] for item in document["findings"]} == {
        ("orders", "key"): 0,
        ("orders", "domain"): 13,  # every third of 40
        ("items", "key"): 200,
        ("items", "foreign_key"): 0,
        ("items", "bounds"): 0,
    }
    assert SENTINEL not in result.out + result.err


def test_a_first_policy_for_users_is_written(sordino, shop):
    with duckdb.connect("keyed.duckdb") as connection:
        connection.execute("CREATE TABLE customers (id BIGINT PRIMARY KEY, kind ENUM('new', 'old'))")
        connection.execute(
            "CREATE TABLE orders (customer BIGINT REFERENCES customers (id), n BIGINT NOT NULL)"
        )
    assert sordino("policy", "init", "keyed.duckdb", "--users", "customers.id", "-o", "keyed.yaml").code == 0
    loaded = Policy.load(shop / "keyed.yaml")
    assert str(loaded.users[0]) == "customers.id"
    assert loaded.tables["customers"].columns["kind"].domain == ("new", "old")
    checked = sordino("policy", "check", "keyed.duckdb", "keyed.yaml", "--rows")
    assert checked.code == 0, checked.err
    assert "one customer with all their rows" in checked.out
    assert sordino("policy", "init", "keyed.duckdb", "--users", "customer.id").code == 2


def test_tables_are_listed_for_free(sordino, shop):
    listed = sordino("tables", "shop", "--policy", "policy.yaml")
    assert listed.code == 0, listed.err
    assert "items (private)\n  order_id  integer\n  price     integer  0 to 20\n" in listed.out
    assert "budget" not in listed.out
    one = json.loads(sordino("tables", "shop", "orders", "-p", "policy.yaml", "--json").out)
    assert [column["domain"] for column in one["columns"]] == [None, ["Rome", "Oslo", "Lima"]]
    with_budget = sordino("tables", "shop", "-p", "policy.yaml", "-l", "shop.ledger", "-a", "ann")
    assert "budget: epsilon 1, delta 0.000001 left" in with_budget.out
    assert sordino("tables", "shop", "-p", "policy.yaml", "-l", "shop.ledger").code == 2
    assert sordino("tables", "shop", "nowhere", "-p", "policy.yaml").code == 2
    # the same in SQL, where a question would need an epsilon
    query = ("query", "shop", "-p", "policy.yaml", "-l", "shop.ledger", "-a", "ann")
    assert sordino(*query, "SHOW TABLES").out == with_budget.out
    assert json.loads(sordino(*query, "DESCRIBE orders", "--json").out) == one
    refused = sordino(*query, "SELECT COUNT(*) FROM orders")
    assert (refused.code, refused.err) == (
        2,
        "sordino: give --epsilon, the privacy loss to spend (or --rho)\n",
    )
    assert not (shop / "shop.ledger").exists()


def test_a_dry_run_says_the_price_and_spends_nothing(sordino, shop):
    shown = ask(sordino, "--dry-run", sql="SELECT COUNT(*) FROM orders")
    assert shown.code == 0, shown.err
    for words in ("cost: ε = 0.25", "error of COUNT(*): ±12 with 95 %", "left afterwards: epsilon 0.75"):
        assert words in shown.out
    document = json.loads(
        ask(sordino, "--dry-run", "--json", sql="SELECT COUNT(*) FROM orders", epsilon="2").out
    )
    assert not document["affordable"]
    assert not (shop / "shop.ledger").exists()


def test_policy_check_says_what_a_weight_means(sordino, shop):
    (shop / "heavy.yaml").write_text(
        POLICY.replace("  orders:\n", "  orders:\n    weight: 10\n").replace(
            "  items:\n", "  items:\n    weight: 0.5\n"
        )
    )
    out = sordino("policy", "check", "shop", "heavy.yaml").out
    for name, weight in (("orders", "10"), ("items", "0.5")):
        assert (
            f"{name}: weight {weight}: one row counts {weight}, so an answer of epsilon 1 protects a single row with "
            f"epsilon {weight}\n"
        ) in out
    assert "counts" not in sordino("policy", "check", "shop", "policy.yaml").out
    facts = json.loads(sordino("policy", "check", "shop", "heavy.yaml", "--json").out)
    assert facts["weights"] == {"orders": 10, "items": 0.5}


def test_commands_without_a_word_show_their_help(sordino, shop):
    assert "init" in sordino("policy").out
    for command in ("query", "explain"):
        assert "Examples" in sordino(command, "--help").out


def test_help_shows_a_policy_a_query_its_explanation_a_ledger_and_the_exit_codes(sordino):
    shown = sordino("--help").out
    for words in (
        "policy init",
        "query shop/",
        "explain shop/",
        "ledger show",
        "2    a slip",
        "4    refused",
        "5    the budget",
        "70   a defect",
    ):
        assert words in shown


def test_a_refusal_is_one_line_of_ours(shop, sordino):
    refused = ask(sordino, sql="EXPLAIN SELECT COUNT(*) FROM orders")
    assert (refused.code, refused.out) == (4, "")
    assert (
        refused.err == "sordino: line 1, column 1: EXPLAIN is refused: questions only read: ask one SELECT\n"
    )
    assert not (shop / "shop.ledger").exists()


def test_rows_come_in_the_order_that_was_asked(shop, sordino):
    grouped = "SELECT city AS place, COUNT(*) AS n FROM orders GROUP BY place ORDER BY"
    rows = json.loads(ask(sordino, "--json", sql=f"{grouped} n DESC").out)["value"]
    assert [row["n"] for row in rows] == sorted((row["n"] for row in rows), reverse=True)
    rows = json.loads(ask(sordino, "--json", sql=f"{grouped} city").out)["value"]
    assert [row["place"] for row in rows] == ["Lima", "Oslo", "Rome"]


def test_an_account_of_rho_is_asked_with_rho(sordino, shop):
    (shop / "policy.yaml").write_text(f"{POLICY}  zoe: {{rho: 0.5, at_delta: 1e-6}}\n")
    common = ("--policy", "policy.yaml", "--ledger", "shop.ledger", "--analyst", "zoe", "--json")
    one = sordino("query", "shop", "SELECT COUNT(*) FROM items", *common, "--rho", "0.125")
    assert one.code == 0, one.err
    told = json.loads(one.out)
    assert told["guarantee"]["rho"] == 0.125
    assert told["mechanism"] == "discrete_gaussian noise"
    join = sordino("query", "shop", JOIN, *common, "--rho", "0.125", "--mechanism", "truncation")
    assert join.code == 0, join.err
    assert json.loads(join.out)["budget"]["left"]["rho"] == 0.25
    both = sordino("query", "shop", JOIN, *common, "--rho", "0.125", "--epsilon", "1")
    assert both.code == 2
    assert "exactly one" in both.err


@pytest.mark.parametrize("budget", [("--rho", "0.5"), ("--epsilon", "1")])
def test_explain_shows_truncation_and_rho(sordino, shop, budget):
    result = sordino("explain", "shop", JOIN, "--policy", "policy.yaml", "--mechanism", "truncation", *budget)
    assert result.code == 0, result.err
    assert f"for {budget[0][2:]} {budget[1]}" in result.out
    assert "truncation" in result.out
