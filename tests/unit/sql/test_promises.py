"""Enforced keys and checks in a policy, in the Distance, and in the ledger."""

from __future__ import annotations

import duckdb
import pytest

import sordino as sd
from sordino.core import Distance, ParameterError
from sordino.ledger.event import read_distance, write_distance_key
from sordino.sql.policy import Policy


def policy_with(**table):
    return {"version": 1, "dataset": "g", "tables": {"edges": table}, "budgets": {"ann": {"epsilon": 5}}}


@pytest.fixture
def edges():
    with duckdb.connect() as owner:
        owner.execute("CREATE TABLE edges (id BIGINT, Source BIGINT, target BIGINT)")
        yield owner


def test_a_note_of_a_key_changes_nothing(edges):
    with sd.connect(edges, policy=policy_with(key="id")) as curator:
        assert str(curator.distance) == "one row added or removed"


def test_promises_are_part_of_the_distance(edges):
    promises = policy_with(key={"columns": ["id"], "enforced": True}, check=["source <> target"])
    with sd.connect(edges, policy=promises) as curator:
        said = str(curator.distance)
    assert said.endswith(
        "databases that obey the declared keys and checks: edges (id), edges (source <> target)"
    )


def test_a_ledger_does_not_mix_answers_with_and_without_promises(edges, tmp_path):
    ledger = tmp_path / "g.ledger"
    ask = "SELECT COUNT(*) FROM edges"
    with sd.connect(edges, policy=policy_with(), ledger=ledger) as curator:
        curator.session("ann").query(ask, 1)
    promised = policy_with(key={"columns": "id", "enforced": True})
    with (
        pytest.raises(sd.SordinoError, match="obey the declared keys"),
        sd.connect(edges, policy=promised, ledger=ledger) as curator,
    ):
        curator.session("ann").query(ask, 1)


def test_a_distance_is_read_as_it_was_written():
    plain, among = Distance("row", "add_remove"), Distance("row", "add_remove", (), "databases with few rows")
    assert write_distance_key(plain) != write_distance_key(among)
    for distance in (plain, among):
        assert read_distance(write_distance_key(distance)) == distance
    assert "among" not in write_distance_key(plain)


@pytest.mark.parametrize(
    "check", ["source + target", "lower(source) = target", "edges.source = 1", "source", "1 =", ""]
)
def test_checks_that_are_no_conditions_of_a_row_are_refused(check):
    with pytest.raises(ParameterError, match=r"tables\.edges\.check"):
        Policy.load(policy_with(check=check))


def test_a_check_of_a_column_that_is_not_there_is_refused(edges):
    with pytest.raises(ParameterError, match="no column 'weight'"):
        sd.connect(edges, policy=policy_with(check="weight > 0"))


def test_an_enforced_key_names_columns():
    with pytest.raises(ParameterError, match="names no column"):
        Policy.load(policy_with(key={"columns": [], "enforced": True}))


def test_a_check_is_about_the_columns_of_the_catalogue(edges):
    with sd.connect(edges, policy=policy_with(check="source <> target")) as curator:
        plan = curator.plan("SELECT COUNT(*) FROM edges e JOIN edges f ON e.target = f.source", _options())
    checks = [check.sql() for occurrence in plan.statement.join.occurrences for check in occurrence.checks]
    assert checks == ['"e"."Source" <> "e"."target"', '"f"."Source" <> "f"."target"']


def _options():
    from sordino.sql.answering.plan import AnswerOptions

    return AnswerOptions.checked(1, 0)
