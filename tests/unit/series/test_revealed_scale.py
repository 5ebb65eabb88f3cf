"""A noise level that is released: its split, its calibration, and what the uncorrected one does."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq

import sordino as sd
from sordino.core import CalibrationError, ParameterError
from sordino.series import revealed_scale as module

S = sd.series

# (nβ, median scale, a, scale with a hidden level) for ε = 1 and c = 1
TABLE = [
    (0.01, 1.2276273246518064, 0.09512492197250393, 1.0101010101010102),
    (0.1, 1.9839324650212786, 0.27015621187164246, 1.1111111111111112),
    (0.4, 4.418001576289371, 0.46332495807108004, 1.6666666666666667),
    (0.5, 5.43656365691809, 0.5, 2.0),
    (0.6, 6.600169279739, 0.5306623862918074, 2.5),
    (0.9, 11.20422267584516, 0.6, 10.0),
    (0.95, 12.170092683730568, 0.6092624221100721, 20.0),
    (1, 13.203179065212284, 0.6180339887498949, None),
    (2, 57.34058739617453, 0.7320508, None),
    (3, 212.31841055007064, 0.7912878, None),
    (4, 728.6360040835475, 0.8284271, None),
    (10, 656034.405125172, 0.9160798, None),
    (20, 2.7664644276074154e10, 0.9544512, None),
]


def plan_of(cost, epsilon=1.0):
    slack = 4.0
    return S.plan_reveal(epsilon=epsilon, delta=math.exp(-slack) / 2, beta=cost / slack)


@pytest.mark.parametrize(("cost", "scale", "share", "hidden"), TABLE)
def test_the_printed_table(cost, scale, share, hidden):
    plan = plan_of(cost)
    assert plan.median_scale(1) == pytest.approx(scale, rel=1e-12)
    assert plan.scale_share == pytest.approx(share, abs=1e-7)
    if hidden is None:
        with pytest.raises(CalibrationError, match="needs epsilon above"):
            plan.hidden_scale(1)
    else:
        assert plan.hidden_scale(1) == pytest.approx(hidden, rel=1e-9)


def test_the_golden_with_slack():
    plan = S.plan_reveal(epsilon=1, delta=1e-6, beta=0.1)
    assert plan.slack == pytest.approx(13.122363, abs=1e-6)
    assert plan.scale_share == pytest.approx(0.664006, abs=1e-6)
    assert plan.median_scale(1) == pytest.approx(21.475305, abs=1e-6)
    with pytest.raises(CalibrationError, match=r"1\.31224"):
        plan.hidden_scale(1)


def test_the_split_is_the_best_one_and_costs_at_most_e():
    def ratio(cost):
        plan = plan_of(cost)
        return plan.median_scale(1) / plan.hidden_scale(1)

    for cost in (0.05, 0.5, 2.0):
        plan = plan_of(cost)
        others = np.linspace(0.01, 0.99, 400)
        assert plan.median_scale(1) <= min(np.exp(cost / others) / (1 - others)) * (1 + 1e-12)
    assert max(map(ratio, np.linspace(0.01, 0.99, 400))) <= math.e + 1e-12
    assert ratio(0.5) == pytest.approx(math.e)
    assert brentq(lambda cost: ratio(cost) - 1, 0.8, 0.99) == pytest.approx(0.9125988800, abs=1e-9)


def hockey_stick(slack, beta, moved, epsilon=1.0, factor=1.0):
    """δ at ε of (λ, f + Lap(λ)) for two databases whose bounds are e^β apart, by integration over ln λ."""
    share = -slack * beta / 2 + math.sqrt((slack * beta) ** 2 / 4 + epsilon * slack * beta)
    width, left = beta / share, epsilon - share

    def divergence(first, second):
        """first and second: ln of the bound of each database."""

        def inner(log):
            one = math.exp(-abs(log - first) / width) / (2 * width)
            two = math.exp(-abs(log - second) / width) / (2 * width)
            scale = factor / left * math.exp(slack * width + log)
            weight = epsilon + math.log(two / one)
            if weight >= moved / scale:
                return 0.0
            if weight <= -moved / scale:
                return one - math.exp(epsilon) * two
            edge = (moved - scale * weight) / 2  # beyond it, on the side of the first, the first weighs more
            tail = 1 - math.exp(-abs(edge) / scale) / 2 if edge >= 0 else math.exp(-abs(edge) / scale) / 2
            far = (edge - moved) / scale
            other = 1 - math.exp(-abs(far)) / 2 if far >= 0 else math.exp(-abs(far)) / 2
            return max(0.0, one * tail - math.exp(epsilon) * two * other)

        low, high = min(first, second), max(first, second)
        nodes, weights = np.polynomial.legendre.leggauss(7)
        points = sorted({*np.linspace(low - 30 * width, high + 30 * width, 1201), low, high})
        return sum(
            (end - start) / 2 * weight * inner(start + (end - start) * (node + 1) / 2)
            for start, end in pairwise(points)
            for node, weight in zip(nodes, weights, strict=True)
        )

    return max(divergence(0.0, beta), divergence(beta, 0.0))


@pytest.mark.parametrize(("slack", "found"), [(1, 0.225477), (2, 0.077464), (4, 0.009523)])
def test_derivative_bounds_break_the_uncorrected_delta_at_a_large_beta(slack, found):
    claimed = math.exp(-slack) / 2
    stretch = math.expm1(5) / 5
    broken = hockey_stick(slack, 5.0, moved=stretch)
    assert broken == pytest.approx(found, abs=2e-6)
    assert broken > claimed
    assert hockey_stick(slack, 5.0, moved=stretch, factor=stretch) <= claimed
    assert hockey_stick(slack, 5.0, moved=1.0) <= claimed, "local bounds never needed the factor"


@pytest.mark.parametrize("beta", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("delta", [1e-6, 0.01])
@pytest.mark.parametrize("kind", ["local", "derivative"])
def test_the_scale_is_too_small_with_probability_at_most_delta(beta, delta, kind):
    """From the law of the code: the released index is its place plus the lift plus discrete Laplace noise."""
    plan = S.plan_reveal(epsilon=1, delta=delta, beta=beta)
    rate = plan.scale_share / module._MOVED
    lift = module.find_lift(rate, delta)
    below = math.exp(-rate * lift) / (1 + math.exp(-rate))
    assert below <= delta
    assert math.exp(-rate * (lift - 1)) / (1 + math.exp(-rate)) > delta, "and no smaller lift would do"
    rest, step = Fraction(1) - Fraction(plan.scale_share), Fraction(1, 8)
    for bound in (0.001, 1.0, 37.5):
        place = module._find_place(bound, kind, plan, step, rest)
        least = (bound * (math.expm1(beta) / beta if kind == "derivative" else 1) + 0.125) / float(rest)
        assert module._scale_at(place, beta) >= least  # not too small unless the noise is -lift or less
        moved = module._find_place(bound * math.exp(beta), kind, plan, step, rest) - place
        assert 0 <= moved <= module._MOVED
        tiny = Fraction(1, 10**12)
        wide = module._find_place(bound * math.exp(1.01 * beta), kind, plan, tiny, rest)
        assert wide - module._find_place(bound, kind, plan, tiny, rest) > module._MOVED, (
            "the control: less smooth"
        )


def test_the_median_of_released_scales_is_the_planned_one():
    plan = S.plan_reveal(epsilon=1, delta=1e-3, beta=0.1)
    scales = [
        S.reveal_scale(100.0, 50.0, kind="local", epsilon=1, delta=1e-3, beta=0.1, step=0.01).scale
        for _ in range(300)
    ]
    # the median of 300 draws lies between the 25 % and 75 % quantiles of the law but for a chance below 1e-17
    spread = math.exp(0.1 / plan.scale_share * math.log(2))
    assert plan.median_scale(50) / spread / 1.01 < np.median(scales) < plan.median_scale(50) * spread * 1.01


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"delta": 0.6}, "below 1/2"),
        ({"delta": 0}, "delta"),
        ({"beta": 0}, "beta"),
        ({"beta": 100}, "beta"),
        ({"epsilon": 0}, "epsilon"),
        ({"step": 0}, "step"),
        ({"kind": None}, "kind"),
        ({"kind": "global"}, "kind"),
    ],
)
def test_bad_parameters_are_refused(change, match):
    good = {"kind": "local", "epsilon": 1, "delta": 1e-6, "beta": 0.1, "step": 1}
    with pytest.raises(ParameterError, match=match):
        S.reveal_scale(1.0, 1.0, **(good | change))


def test_a_value_that_is_no_number_is_refused_without_showing_it():
    with pytest.raises(sd.PrivateDataError, match="finite"):
        S.reveal_scale(float("nan"), 1.0, kind="local", epsilon=1, delta=1e-6, beta=0.1, step=1)


def test_a_smooth_bound_says_its_own_kind():
    bound = sd.SmoothBound(lambda beta: 2.0, kind="derivative")
    release = S.reveal_scale(5, bound, epsilon=1, delta=1e-6, beta=0.1, step=1)
    assert "derivative" in release.guarantee.theorem
    assert release.to_dict()["scale"] == release.scale
    with pytest.raises(ParameterError, match="is of kind"):
        S.reveal_scale(5, bound, kind="local", epsilon=1, delta=1e-6, beta=0.1, step=1)


def test_advice_follows_the_rules_of_two_and_two_e():
    slack = -math.log(2e-6)
    best = {"epsilon": 1, "delta": 1e-6, "beta": 1 / (2 * slack)}
    advice = S.advise_scale(1, quantile_sensitivity=1.99, **best)
    assert advice.hidden == pytest.approx(2)
    assert advice.revealed == pytest.approx(2 * math.e)
    assert advice.best == "quantile"
    assert S.advise_scale(1, quantile_sensitivity=2.01, **best).best == "hidden"
    assert "weaker than" in str(advice)
    assert S.advise_scale(1, epsilon=1, delta=1e-6, beta=0.1, quantile_sensitivity=5).hidden is None


def test_the_quantile_is_conservative():
    assert S.quantile_sensitivity(range(1, 20), 0.05) == 19
    with pytest.raises(ParameterError, match="at least 19"):
        S.quantile_sensitivity(range(18), 0.05)


def test_pairs_in_a_group_are_smoothly_bounded():
    """COUNT of pairs within groups: the derivative 2m is bounded by S(m), which grows by at most e^β per row."""
    for beta in (0.05, 0.3, 1.0):

        def bound(m, beta=beta):
            return 2 * m if m >= 1 / beta else 2 / beta * math.exp(beta * m - 1)

        for m in np.arange(0, 60, 0.25):
            assert bound(m) >= 2 * m - 1e-9
            assert bound(m + 1) <= bound(m) * math.exp(beta) * (1 + 1e-12)
