"""The record for the Deployments Registry: fits the registry's schema, and holds nothing of an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

import sordino as sd
from sordino.cli.app import run

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
    jsonschema.validate(json.loads(record[0]), yaml.safe_load(SCHEMA.read_text()))
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
