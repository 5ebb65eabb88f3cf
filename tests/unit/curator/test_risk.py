"""Budgets given as a risk, and the risk beside the cost of a question."""

from __future__ import annotations

import math
from fractions import Fraction

import pyarrow as pa
import pytest

import sordino as sd
from sordino.core import ParameterError

ROWS = {"t": pa.table({"x": [1, 2, 3]})}


def connect(budgets):
    policy = {"version": 1, "dataset": "d", "protects": "row", "tables": {"t": {}}, "budgets": budgets}
    return sd.connect(ROWS, policy=policy)


def test_a_budget_may_be_the_rise_of_a_belief():
    with connect({"ann": {"advantage": 0.1}, "bob": {"advantage": 0.1, "prior": 0.2}}) as curator:
        ann, bob = (curator.session(name).budget().limit.amount.loss for name in ("ann", "bob"))
    # two changes apart: 2·artanh(0.1), and half of ln of the odds that lead from 0.2 to 0.3
    assert float(ann) == pytest.approx(2 * math.atanh(0.1), abs=2e-6)
    assert float(bob) == pytest.approx(math.log(0.8 * 0.3 / (0.2 * 0.7)) / 2, abs=2e-6)
    assert ann <= Fraction(2 * math.atanh(0.1))
    # all of it spent: no belief rises further
    assert sd.risk.bound_belief(0.2, float(bob), units=2) <= 0.3


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({"advantage": 0.1, "epsilon": 1}, "must hold epsilon"),
        ({"advantage": 0}, "must be > 0 and < 1"),
        ({"advantage": 1}, "must be > 0 and < 1"),
        ({"advantage": 0.1, "prior": 1}, "prior must be > 0 and < 1"),
        ({"epsilon": 1, "prior": 0.5}, "prior belongs to advantage"),
        ({"advantage": 0.1, "delta": 1e-6}, "leave delta out"),
        ({"advantage": 0.9, "prior": 0.5}, "cannot rise by 0.9"),
    ],
)
def test_risks_that_are_none_are_refused(budget, message):
    with pytest.raises(ParameterError, match=message), connect({"ann": budget}) as curator:
        curator.session("ann").budget()


def test_a_risk_needs_units_that_are_one_step_apart():
    heavy = {
        "version": 1,
        "dataset": "d",
        "tables": {"t": {"weight": 3}},
        "budgets": {"ann": {"advantage": 0.1}},
    }
    with pytest.raises(ParameterError, match="rows of weight 1"):
        sd.connect(ROWS, policy=heavy)
    with sd.connect(ROWS, policy=heavy | {"budgets": {"ann": {"epsilon": 2}}}) as curator:
        seen = curator.session("ann").preview("SELECT COUNT(*) FROM t", 1.0)
    assert seen.to_dict()["membership_advantage"] is None


def test_a_preview_says_what_the_loss_means():
    with connect({"ann": {"epsilon": 2}}) as curator:
        seen = curator.session("ann").preview("SELECT COUNT(*) FROM t", 1.0)
        told = curator.explain("SELECT COUNT(*) FROM t", 1.0).reveal()
    assert "right at most 73.1 % of the time" in str(seen)
    assert seen.to_dict()["membership_advantage"] == pytest.approx(math.tanh(0.5))
    assert "73.1 %" in told["risk"]


def test_beliefs_and_their_limits_belong_together():
    for prior in (0.01, 0.3, 0.5):
        epsilon = sd.risk.limit_belief(0.05, prior=prior, units=1)
        assert sd.risk.bound_belief(prior, epsilon) <= prior + 0.05 + 1e-9
        assert sd.risk.bound_belief(1 - prior, epsilon) <= 1 - prior + 0.05 + 1e-9
        assert max(
            sd.risk.bound_belief(prior, epsilon) - prior,
            sd.risk.bound_belief(1 - prior, epsilon) - (1 - prior),
        ) == pytest.approx(0.05)
        assert sd.risk.limit_belief(0.05, units=1) <= epsilon + 1e-12
