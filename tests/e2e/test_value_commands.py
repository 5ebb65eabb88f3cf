"""`sordino explain`, `query` and `policy check` where contents of cells are protected."""

from __future__ import annotations

import json

import pytest

POLICY = """
version: 1
dataset: ships
protects: row+values
tables:
  ship:
    norm: x
    weight: 4
    key: id
    columns:
      id: {type: integer, public: true}
      x: {type: float, granularity: 0.5, constraint: range 0 10}
budgets: {ann: {epsilon: 5}}
"""
SQL = "SELECT SUM(x) AS s FROM ship WHERE x > 2"


@pytest.fixture
def harbour(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ship.csv").write_text("id,x\n1,1.5\n2,\n3,7.25\n")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


def test_explain_prints_both_answers_and_the_bound_of_every_beta(sordino, harbour):
    options = ("--policy", "policy.yaml", "--epsilon", 1, "--filters", "ramp(2)")
    result = sordino("explain", "ship.csv", SQL, *options)
    assert result.code == 0
    assert "exact answer: 7.5" in result.out
    assert "continuous version, filters ramp(2): 7.875" in result.out
    assert "exact:    7.5; its continuous version, to which the noise is added, is 7.875" in result.out
    assert "off by filters" in result.out
    assert "one unit of the norm changes it by at most" in result.out
    facts = json.loads(sordino("explain", "ship.csv", SQL, *options, "--json").out)
    assert facts["numbers"][0]["bounds_by_beta"]["ship"]


def test_explain_draws_the_error_against_epsilon(sordino, harbour):
    options = ("--policy", "policy.yaml", "--epsilon", 1, "--brief", "--plot")
    assert sordino("explain", "ship.csv", SQL, *options, "error.png").code == 0
    assert (harbour / "error.png").read_bytes().startswith(b"\x89PNG")
    refused = sordino("explain", "ship.csv", SQL, *options, "error.txt")
    assert refused.code == 2
    assert "FILE.png" in refused.err


def test_the_owner_is_told_of_cells_that_are_not_there(sordino, harbour):
    result = sordino("policy", "check", "ship.csv", "policy.yaml", "--rows", "--json")
    assert result.code == 3
    assert '"granularity"' in result.out
    assert '"null"' in result.out
