"""Budgets given as a risk, and the risk beside the cost of a question."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
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
        ({"advantage": 1e-8}, "budgets.ann: an advantage of 1e-08 allows less"),
        ({"epsilon": None}, "budgets.ann: a budget is either epsilon"),
    ],
)
def test_budgets_that_are_none_are_refused_when_the_owner_connects(budget, message):
    with pytest.raises(ParameterError, match=message):
        connect({"ann": budget})


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
    assert "right at most 73.2 % of the time" in str(seen)
    assert seen.to_dict()["membership_advantage"] == pytest.approx(math.tanh(0.5))
    assert "73.2 %" in told["risk"]


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


def measured(sql, **budget):
    """The advantage of a preview, and the plan behind it."""
    policy = {
        "version": 1,
        "dataset": "d",
        "protects": "row",
        "tables": {
            "t": {
                "columns": {
                    "x": {"type": "integer", "bounds": [0, 4]},
                    "g": {"type": "integer", "domain": [1, 2]},
                }
            }
        },
        "budgets": {"ann": {"rho": 2, "at_delta": 1e-6} if "rho" in budget else {"epsilon": 9}},
    }
    rows = {"t": pa.table({"x": [1, 2, 3], "g": [1, 1, 2]})}
    with sd.connect(rows, policy=policy) as curator:
        seen = curator.session("ann").preview(sql, **budget)
        return seen.to_dict()["membership_advantage"], curator.explain(sql, **budget).reveal()["risk"]


@pytest.mark.parametrize(
    ("sql", "steps"),
    [
        ("SELECT COUNT(*) FROM t", 1),
        ("SELECT g, COUNT(*) FROM t GROUP BY g", 1),
        ("SELECT SUM(x) FROM t", 4),
    ],
)
def test_noise_that_is_public_is_reckoned_with_its_own_law(sql, steps):
    """The sum of max(P - Q, 0) over two discrete Laplace laws that many steps apart, by their definition."""
    k = np.arange(-400, 401)
    p, q = (np.tanh(0.5 / steps) * np.exp(-np.abs(place) / steps) for place in (k, k - steps))
    expected = float(np.maximum(p - q, 0).sum())
    advantage, told = measured(sql, epsilon=1.0)
    assert advantage == pytest.approx(expected, abs=1e-9)
    assert f"at most {math.ceil(500 + 500 * expected) / 10} %" in told


def lay_apart(scale, steps, *, gaussian=False):
    """Two laws of discrete noise that many steps apart, at -300 … 300."""
    k = np.arange(-300, 301)
    weights = [
        np.exp(-(np.abs(k - at) ** 2 / 2 / scale**2 if gaussian else np.abs(k - at) / scale))
        for at in (0, steps)
    ]
    return [one / one.sum() for one in weights]


def test_several_numbers_are_reckoned_with_the_law_of_all_of_them():
    advantage, _ = measured("SELECT COUNT(*), SUM(x) FROM t", epsilon=1.0)
    # half of ε each: scales 2 and 8; all pairs of outputs, by their definition
    p, q = (np.multiply.outer(*pair) for pair in zip(lay_apart(2, 1), lay_apart(8, 4), strict=True))
    assert advantage == pytest.approx(float(np.maximum(p - q, 0).sum()), abs=1e-9)
    assert advantage < math.tanh(0.5) - 0.05
    average, _ = measured("SELECT AVG(x) FROM t", epsilon=1.0)
    assert average == pytest.approx(advantage)


def test_gaussian_noise_is_reckoned_with_its_own_law():
    advantage, told = measured("SELECT COUNT(*) FROM t", rho=0.02)
    p, q = lay_apart(5, 1, gaussian=True)
    assert advantage == pytest.approx(float(np.maximum(p - q, 0).sum()), abs=1e-9)
    assert f"{math.ceil(500 + 500 * advantage) / 10} %" in told


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM t a JOIN t b ON a.g = b.g",
        "SELECT MEDIAN(x) FROM t",
        "SELECT COUNT(*), MIN(x) FROM t",
    ],
)
def test_what_follows_the_rows_is_reckoned_with_what_the_loss_implies(sql):
    advantage, _ = measured(sql, epsilon=1.0)
    assert advantage == pytest.approx(math.tanh(0.5))


def test_a_preview_has_the_curve_of_its_answer():
    with connect({"ann": {"epsilon": 2}}) as curator:
        curve = curator.session("ann").preview("SELECT COUNT(*) FROM t", 1.0).trade_off
    assert curve.advantage == pytest.approx(math.tanh(0.5))
    assert curve.misses([0.1])[0] == pytest.approx(1 - 0.1 * math.e)


def test_cells_that_move_have_a_risk_too():
    policy = {
        "version": 1,
        "dataset": "d",
        "protects": "values",
        "tables": {"t": {"norm": "x", "columns": {"x": {"type": "integer", "bounds": [0, 4]}}}},
        "budgets": {"ann": {"epsilon": 2}},
    }
    with sd.connect(ROWS, policy=policy) as curator:
        seen = curator.session("ann").preview("SELECT SUM(x) FROM t", 1.0)
        told = curator.explain("SELECT SUM(x) FROM t", 1.0).reveal()["risk"]
    assert "which of two databases" in told
    assert "at most 73.2 %" in told
    assert told in str(seen)
    assert seen.to_dict()["membership_advantage"] is None


def test_beliefs_that_are_almost_impossible_are_not_bounded_by_nothing():
    assert sd.risk.bound_belief(1e-310, 1.0) >= math.e * 1e-310 * (1 - 1e-9)
