"""Questions that are paid in rho, and mechanism='truncation': what is accepted, refused, and paid."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sordino as sd
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.units import shared

KEY = {"columns": ["id"], "enforced": True}
TABLES = {
    "c": pa.table({"id": [1, 2, 3], "city": ["a", "b", "a"]}),
    "o": pa.table({"cid": [1, 1, 2, 3, 3, 3], "amount": [1, 2, 3, 4, 5, 6], "kind": list("xyxyxy")}),
}
JOIN = "SELECT COUNT(*) FROM c JOIN o ON c.id = o.cid"


def connect(*, users=False, **changes):
    policy = {
        "version": 1,
        "dataset": "shop",
        "protects": "row",
        "tables": {
            "c": {"key": KEY, "columns": {"city": {"domain": ["a", "b"]}}},
            "o": {"columns": {"amount": {"bounds": [-1, 9]}}},
        },
        "budgets": {"ann": {"epsilon": 5, "delta": 1e-3}, "bob": {"rho": 1, "at_delta": 1e-6}},
    } | changes
    if users:
        policy |= {"protects": "user", "users": "c.id"}
        policy["tables"]["o"]["foreign_keys"] = {"cid": "c.id"}
    return sd.connect(TABLES, policy=policy)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "either epsilon, or rho"),
        ({"epsilon": 1, "rho": 1}, "either epsilon, or rho"),
        ({"rho": 0}, "rho must be > 0"),
        ({"rho": 1, "delta": 1e-6}, "rho goes without a delta"),
        ({"epsilon": 1, "mechanism": "truncate"}, "did you mean 'truncation'"),
    ],
)
def test_exactly_one_of_epsilon_and_rho(given, said):
    with pytest.raises(sd.ParameterError, match=said):
        AnswerOptions.checked(**given)


def test_what_was_asked_before_is_still_the_same_question():
    """Stored answers are found by these: none may get a name more."""
    told = AnswerOptions.checked(0.5, 0).parameters()
    assert told == {"epsilon": 0.5, "delta": 0.0, "noise": None, "error_share": 0.0, "analyses": None}


@pytest.mark.parametrize("sql", ["SELECT COUNT(*) FROM o", "SELECT city, COUNT(*) FROM c GROUP BY city"])
@pytest.mark.parametrize("users", [False, True])
def test_an_account_of_rho_pays_what_is_asked(sql, users):
    with connect(users=users) as curator:
        bob = curator.session("bob")
        release = bob.query(sql, rho=0.25)
        assert "discrete_gaussian" in release.mechanism
        assert release.guarantee.rho == 0.25
        assert release.error is not None
        assert bob.budget().left.loss == 0.75
        assert bob.query(sql, rho=0.25, reuse=True).value == release.value
        with pytest.raises(sd.BudgetError):
            bob.query(sql, rho=0.8)


def test_an_account_of_epsilon_does_not_take_rho_and_spends_nothing():
    with connect() as curator:
        ann = curator.session("ann")
        with pytest.raises(sd.UnsupportedError, match="granted as rho"):
            ann.query("SELECT COUNT(*) FROM o", rho=0.1)
        assert ann.budget().spent.loss == 0


def test_smooth_bounds_have_no_rho():
    with connect() as curator, pytest.raises(sd.UnsupportedError, match="mechanism='truncation'"):
        curator.session("bob").query(JOIN, rho=0.1)
    with connect() as curator:
        assert curator.session("bob").query(JOIN, rho=0.1, mechanism="truncation").guarantee.rho == 0.1


def test_groups_that_are_not_public_have_no_rho():
    with connect(users=True) as curator, pytest.raises(sd.UnsupportedError, match="in place of rho"):
        curator.session("bob").query("SELECT kind, COUNT(*) FROM o GROUP BY kind", rho=0.1)


def test_the_least_epsilon_is_a_least_rho_too():
    with connect(least_epsilon=0.1) as curator:
        bob = curator.session("bob")
        with pytest.raises(sd.ParameterError, match=r"rho must be at least 0\.005"):
            bob.query("SELECT COUNT(*) FROM o", rho=0.004)
        bob.query("SELECT COUNT(*) FROM o", rho=0.005)


@pytest.mark.parametrize(
    ("sql", "options", "said"),
    [
        (JOIN, {"noise": "cauchy"}, "for smooth bounds"),
        (JOIN, {"error_share": 0.1}, "for smooth bounds"),
        (JOIN, {"analyses": "patterns"}, "for smooth bounds"),
        ("SELECT SUM(amount) FROM c JOIN o ON c.id = o.cid", {}, "not negative"),
        ("SELECT COUNT(DISTINCT kind) FROM o", {}, "COUNT and SUM"),
    ],
)
def test_what_truncation_does_not_answer_is_refused_before_it_is_paid(sql, options, said):
    with connect() as curator:
        ann = curator.session("ann")
        with pytest.raises(sd.UnsupportedError, match=said):
            ann.query(sql, 1, mechanism="truncation", **options)
        assert ann.budget().spent.loss == 0


def test_users_are_always_truncated():
    with connect(users=True) as curator:
        ann = curator.session("ann")
        ann.query("SELECT COUNT(*) FROM o", 1, mechanism="truncation")
        with pytest.raises(sd.UnsupportedError, match="protect rows"):
            ann.query("SELECT COUNT(*) FROM o", 1, mechanism="smooth_bound")


def test_more_results_than_are_shared_out_fail_like_a_database(monkeypatch):
    """How many there are is private: the question stays paid and the account is suspended."""
    monkeypatch.setattr("sordino.units.flow_truncation.MOST_RESULTS", 3)
    with connect() as curator:
        ann = curator.session("ann")
        with pytest.raises(sd.EngineError, match="could not answer"):
            ann.query("SELECT COUNT(*) FROM o a JOIN o b ON a.cid = b.cid", 1, mechanism="truncation")
        assert ann.budget().suspended
        assert ann.budget().spent.loss == 1


def test_one_owner_is_truncated_in_the_engine_whatever_the_size(monkeypatch):
    monkeypatch.setattr("sordino.units.flow_truncation.MOST_RESULTS", 0)
    monkeypatch.setattr(shared, "read_shared", None)
    with connect() as curator:
        curator.session("ann").query(JOIN, 1, mechanism="truncation")


@pytest.mark.parametrize("given", [{"rho": 0.5}, {"epsilon": 1}])
def test_the_owner_may_look_at_either(given):
    with connect() as curator:
        for mechanism, sql in (("truncation", JOIN), (None, "SELECT COUNT(*) FROM o")):
            facts = curator.explain(sql, mechanism=mechanism, **given).reveal()
            assert facts["exact"] == 6
            (name, amount), *_ = given.items()
            assert facts[name] == amount
            errors = [row["error"]["95%"] for row in facts["error_against_epsilon"]]
            assert errors == sorted(errors, reverse=True)
            assert facts["numbers"][0]["error"]["95%"] > 0
