"""The record for the Deployments Registry: fits the registry's schema, and holds nothing of an answer."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

import sordino as sd
from sordino.cli.app import run
from sordino.core import ParameterError
from sordino.curator.deployment_record import make_deployment_record
from sordino.ledger import Ledger
from sordino.sql.policy import Policy
from sordino.testing import seeded

SCHEMA = Path(__file__).parents[3] / "shared" / "data" / "registry" / "deployments-schema.yaml"
POLICY = {
    "version": 1,
    "dataset": "shop",
    "protects": "user",
    "users": "customers.id",
    "tables": {
        "customers": {"columns": {"id": {"type": "integer"}}},
        "cities": {"private": False},
    },
    "budgets": {"ann": {"epsilon": 3}},
    "cap": {"epsilon": 5},
}


@pytest.fixture
def record(tmp_path, capsys):
    tables = {"customers": pa.table({"id": range(777)}), "cities": pa.table({"name": ["Rome"]})}
    book, policy = tmp_path / "shop.ledger", tmp_path / "shop.yaml"
    policy.write_text(json.dumps(POLICY))
    with sd.connect(tables, policy=POLICY, ledger=book) as curator:
        ann = curator.session("ann")
        released = [
            ann.query("SELECT COUNT(*) AS secret_name FROM customers", epsilon=1).value for _ in range(2)
        ]
    words = ["ledger", "export", str(book), "--registry", "--dataset", "shop", "--policy", str(policy)]
    assert run([*words, "--state", "curator=The shop", "--state", "region=Europe"]) == 0
    return capsys.readouterr().out, released


def test_the_record_says_what_was_promised(record):
    text, _ = record
    content = json.loads(text)["deployment"]
    assert content["basic"]["data_curators"] == ["The shop"]
    assert content["privacy_loss"]["privacy_unit"] == "customer with all their rows"
    assert content["privacy_loss"]["privacy_parameters"] == {"epsilon": 5.0}
    assert content["dp_variant"]["variant_name"] == "Pure DP"
    assert "cities" in content["dp_variant"]["unprotected_quantities"]
    assert "2 releases" in content["deployment_model"]["release_type_details"]
    assert "discrete" in content["implementation"]["mechanisms"]


def test_no_answer_and_no_question_is_in_it(record):
    text, released = record
    assert "secret_name" not in text
    assert all(str(value) not in text for value in released)


def test_the_record_fits_the_schema_of_the_registry(record):
    if not SCHEMA.is_file():
        pytest.skip("the registry's schema is not beside this checkout")
    jsonschema = pytest.importorskip("jsonschema", reason="validates the record")
    dates = jsonschema.FormatChecker()
    jsonschema.validate(json.loads(record[0]), yaml.safe_load(SCHEMA.read_text()), format_checker=dates)
    broken = json.loads(record[0])
    broken["deployment"]["privacy_loss"]["loss"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, yaml.safe_load(SCHEMA.read_text()))


def test_what_is_missing_is_said(tmp_path, capsys):
    book = tmp_path / "shop.ledger"
    assert run(["ledger", "grant", str(book), "--dataset", "shop", "--analyst", "ann", "-e", "1"]) == 0
    assert run(["ledger", "export", str(book), "--registry"]) != 0
    assert "--dataset" in capsys.readouterr().err
    assert (
        run(["ledger", "export", str(book), "--registry", "--dataset", "shop", "--state", "colour=red"]) != 0
    )
    assert "unknown field 'colour'" in capsys.readouterr().err
    assert run(["ledger", "export", str(book), "--registry", "--dataset", "shop", "--state", "region"]) != 0
    assert "FIELD=TEXT" in capsys.readouterr().err


def make_record(policy, ask):
    with Ledger.in_memory() as book:
        for said in policy if isinstance(policy, list) else [policy]:
            with sd.connect({"t": pa.table({"x": [1]})}, policy=said, ledger=book) as curator:
                ask(curator)
                used = curator.policy
        return make_deployment_record(book, "d", policy=used)["deployment"]


ROWS = {
    "version": 1,
    "dataset": "d",
    "protects": "row",
    "tables": {"t": {}},
    "budgets": {"ann": {"epsilon": 3}},
}


def ask_once(curator):
    if "ann" in curator.policy.budgets:
        curator.session("ann").query("SELECT COUNT(*) FROM t", epsilon=2)
    else:
        curator.session("bob").query("SELECT COUNT(*) FROM t", epsilon=1)


def test_a_budget_that_was_taken_back_was_spent_all_the_same():
    content = make_record([ROWS, ROWS | {"budgets": {"bob": {"epsilon": 1}}}], ask_once)
    assert content["privacy_loss"]["privacy_parameters"] == {"epsilon": 3.0}  # ann's 2, and bob's 1
    assert "1 analyst with" in content["deployment_model"]["access_type_details"]


def test_what_values_do_not_protect_is_named():
    columns = {"x": {"type": "integer", "bounds": [0, 4]}}
    policy = ROWS | {"protects": "values", "tables": {"t": {"norm": "x", "columns": columns}}}
    assert (
        "how many rows"
        in make_record(policy, lambda curator: curator.session("ann").query("SELECT SUM(x) FROM t", 1))[
            "dp_variant"
        ]["unprotected_quantities"]
    )
    assert "how many rows" not in make_record(ROWS, ask_once)["dp_variant"]["unprotected_quantities"]


def test_a_record_that_would_not_be_true_is_refused():
    def ask_seeded(curator):
        with seeded(1):
            ask_once(curator)

    with pytest.raises(ParameterError, match="NOT PRIVATE"):
        make_record(ROWS, ask_seeded)
    with (
        Ledger.in_memory() as book,
        sd.connect({"t": pa.table({"x": [1]})}, policy=ROWS, ledger=book) as curator,
    ):
        ask_once(curator)
        with pytest.raises(ParameterError, match="the policy is about 'other'"):
            make_deployment_record(book, "d", policy=Policy.load(ROWS | {"dataset": "other"}))


@pytest.mark.parametrize(
    ("budgets", "variant", "parameters"),
    [
        ({"ann": {"rho": 1, "at_delta": 1e-6}}, "Zero-concentrated DP", {"rho": 1.0}),
        (
            {"ann": {"epsilon": 1, "delta": 1e-6}, "bob": {"epsilon": 2}},
            "Approximate DP",
            {"epsilon": 3.0, "delta": 1e-6},
        ),
        # 1 + 1 + 2√ln(10⁶): the losses of two measures add up as (ε, δ)
        (
            {"ann": {"rho": 1, "at_delta": 1e-6}, "bob": {"epsilon": 1, "delta": 1e-6}},
            "Approximate DP",
            {"epsilon": pytest.approx(2 + 2 * math.sqrt(math.log(1e6)), rel=1e-6), "delta": 2e-6},
        ),
        ({"ann": {"advantage": 0.1}}, "Pure DP", {"epsilon": pytest.approx(2 * math.atanh(0.1), abs=2e-6)}),
    ],
)
def test_losses_of_all_accounts_are_stated_together(budgets, variant, parameters):
    policy = {"version": 1, "dataset": "d", "protects": "row", "tables": {"t": {}}, "budgets": budgets}
    with (
        Ledger.in_memory() as book,
        sd.connect({"t": pa.table({"x": [1]})}, policy=policy, ledger=book) as curator,
    ):
        for name, budget in budgets.items():
            paid = {"rho": 0.1} if "rho" in budget else {"epsilon": 0.1}
            curator.session(name).query("SELECT COUNT(*) FROM t", **paid)
        content = make_deployment_record(book, "d", policy=curator.policy)["deployment"]
    assert content["dp_variant"]["variant_name"] == variant
    assert content["privacy_loss"]["privacy_parameters"] == parameters
