"""Scores, steps, bounds and budgets at the ends of what machines hold: exact, or refused in so many words."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sordino as sd
from sordino.core import SordinoError
from sordino.mechanisms.selection import inverse_sensitivity, majority_labels, majority_law
from sordino.mechanisms.selection.concentrated import largest_root_rho
from sordino.mechanisms.selection.inverse_sensitivity import inverse_scores
from sordino.mechanisms.selection.local_dampening import dampened_scores
from sordino.mechanisms.selection.question import pose_question
from sordino.mechanisms.selection.scores import bound_on_grid, grid_step, sensitivity_on_grid
from sordino.mechanisms.selection.single_winner import turning_point
from sordino.sensitivity import profile as profiles_file

UNIT = 1 << 20


def dampened(score: int, table: list[int], bound: int) -> Fraction:
    """D from its definition, for whole scores: the bound past the table, in one division."""
    if score == 0:
        return Fraction(0)
    magnitude, steps = abs(score), 0
    for delta in table:
        if magnitude < delta:
            break
        magnitude, steps = magnitude - delta, steps + 1
    else:
        steps, magnitude, delta = steps + magnitude // bound, magnitude % bound, bound
    place = steps + (Fraction(magnitude, delta) if magnitude else 0)
    return place if score >= 0 else -place


# ---- local dampening ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", ["exponential", "permute_and_flip"])
@pytest.mark.parametrize("top", [100.0, 2**42 - 1, 2**43 - 1, 2**43, 2**44, 2**53])
def test_a_score_worth_many_steps_keeps_its_lead(top, sampler):
    """Only differences count, and one step between neighbours costs ε at most: 64 bits must not wrap."""
    options = {
        "profile": 1.0,
        "epsilon": 1.0,
        "mechanism": "local_dampening",
        "step": 1.0,
        "sampler": sampler,
    }
    law = sd.selection_law(np.array([top, top - 3.0, top - 7.0]), log=True, **options)
    small = sd.selection_law(np.array([20.0, 17.0, 13.0]), log=True, **options)
    np.testing.assert_allclose(law, small, rtol=1e-12)
    assert [sd.select([float(top), 0.0], **(options | {"epsilon": 1e3})).value for _ in range(5)] == [0] * 5


whole_scores = st.integers(-(2**59), 2**59) | st.integers(-(2**43) - 5, 2**43 + 5) | st.integers(-30, 30)
tables = st.lists(st.integers(0, 2**20), max_size=4).map(sorted)


@settings(max_examples=200, deadline=None)
@given(st.lists(whole_scores, min_size=2, max_size=5), tables, st.integers(1, 2**31))
def test_dampening_is_exact_at_every_size(scores, table, bound):
    scores = [int(float(u)) for u in scores]
    table = [min(delta, bound) for delta in table]
    profile = sd.Profile.from_table(np.array(table, dtype=float), bound=bound)
    grid = dampened_scores(pose_question(np.array(scores, dtype=float), profile=profile, epsilon=1, step=1.0))
    units = [math.floor(dampened(u, table, bound) * UNIT) for u in scores]
    floor = max(units) - (1 << 62)
    below = [max(value, floor) - max(units) for value in units]
    assert [int(v) - int(grid.values.max()) for v in grid.values] == below


@settings(max_examples=200, deadline=None)
@given(st.lists(whole_scores, min_size=2, max_size=4), st.data())
def test_neighbours_never_differ_by_more_than_epsilon(scores, data):
    moves = data.draw(st.lists(st.integers(-3, 3), min_size=len(scores), max_size=len(scores)))
    options = {"profile": 3.0, "epsilon": 1.0, "mechanism": "local_dampening", "step": 1.0, "log": True}
    near = [int(float(u)) for u in scores]
    pair = [
        np.array(near, dtype=float),
        np.array([u + m for u, m in zip(near, moves, strict=True)], dtype=float),
    ]
    if np.abs(pair[1] - pair[0]).max() > 3:  # beyond 2^53 doubles are further apart than the sensitivity
        return
    laws = [sd.selection_law(u, **options) for u in pair]
    possible = laws[0] > -1e6  # below, the law itself is known to about 1e-9 only
    assert (np.abs(laws[0] - laws[1])[possible] <= 1 + 1e-9).all()


@pytest.mark.slow
def test_partial_sums_of_a_large_profile_do_not_wrap():
    profile = sd.Profile.from_table(np.full(1 << 23, 2.0**40), bound=np.inf)
    grid = dampened_scores(pose_question([2.0**59, 2.0**41], profile=profile, epsilon=1, step=1.0))
    assert grid.values.tolist() == [2**19 * UNIT, 2 * UNIT]


# ---- grids -------------------------------------------------------------------------------------------------


def test_a_sensitivity_that_underflows_still_counts_as_a_step():
    profile = sd.Profile.from_table([0.0, 5e-324], bound=1e308)
    step = grid_step(profile, None)
    assert sensitivity_on_grid(np.array([[0.0, 5e-324]]), step).tolist() == [[0, 1]]
    assert bound_on_grid(sd.Profile.constant(1e-250), 2.0**1000) == 1
    gap = profile.gap_on_grid(step)[0]
    bound = math.ceil(Fraction(1e308) / Fraction(step))
    assert gap == bound + bound - 1


def test_the_grid_is_a_power_of_two_at_or_below_the_step():
    just_below = math.nextafter(8.0, 0)
    assert grid_step(sd.Profile.constant(1.0), just_below) == 4.0
    assert grid_step(sd.Profile.constant(just_below), None) == 2.0**-28
    with pytest.raises(sd.ParameterError, match="at least 1e-300"):
        grid_step(sd.Profile.from_table([1.0], bound=np.inf), 5e-324)


def test_whole_scores_that_no_double_holds_are_refused():
    with pytest.raises(sd.PrivateDataError, match="2\\^53"):
        sd.select(np.array([2**53 + 1, 0]), profile=1.0, epsilon=1, step=1.0, mechanism="exponential")
    assert (
        sd.select(np.array([2**53 - 1, 0]), profile=1.0, epsilon=1, step=1.0, mechanism="exponential").value
        == 0
    )


@pytest.mark.parametrize("changes", [np.array([2**63, 0], dtype=np.uint64), [-(2**63), 0], [2**61, 0]])
def test_changes_that_sixty_four_bits_would_wrap_are_refused(changes):
    with pytest.raises(sd.PrivateDataError, match="2\\^60"):
        sd.select([0.0, 0.0], profile=1.0, epsilon=1, mechanism="inverse_sensitivity", changes=changes)


# ---- refusals ----------------------------------------------------------------------------------------------


def test_inverse_sensitivity_answers_profiles_that_it_does_not_keep(monkeypatch):
    rng = np.random.default_rng(3)
    scores = rng.integers(-50, 50, size=40).astype(float)
    table = np.sort(rng.integers(0, 9, size=(7, 30)), axis=1)
    profile = sd.Profile.grouped(table, rng.integers(0, 7, size=40), bound=10)
    kept = inverse_scores(pose_question(scores, profile=profile, epsilon=1)).values
    monkeypatch.setattr(inverse_sensitivity, "_KEPT_CELLS", 20)
    monkeypatch.setattr(inverse_sensitivity, "_LARGE_CHUNK_CELLS", 30)
    np.testing.assert_array_equal(
        inverse_scores(pose_question(scores, profile=profile, epsilon=1)).values, kept
    )


def test_steps_to_close_a_lead_follow_the_definition():
    rng = np.random.default_rng(5)
    for _ in range(20):
        scores = rng.integers(-60, 60, size=5).tolist()
        table = np.sort(rng.integers(0, 6, size=(5, 4)), axis=1)
        profile = sd.Profile.from_table(table, bound=7)

        def reach(r, t, table=table):
            return sum(table[r][:t].tolist()) + 7 * max(0, t - 4)

        def behind(r, s, scores=scores, reach=reach):
            lead = scores[s] - scores[r]
            closed = next(t for t in itertools.count() if reach(r, t) + reach(s, t) >= abs(lead))
            return closed if lead > 0 else -max(closed - 1, 0)

        expected = [max(behind(r, s) for s in range(5) if s != r) for r in range(5)]
        grid = inverse_scores(pose_question([float(u) for u in scores], profile=profile, epsilon=1, step=1.0))
        assert (-grid.values).tolist() == expected


def test_a_profile_that_never_reaches_its_bound_is_read_to_a_public_horizon(monkeypatch):
    monkeypatch.setattr(profiles_file, "_MOST_STEPS", 1000)
    flat = sd.Profile.from_function(lambda t: np.full(len(t), 0.5), bound=1.0)
    table = sd.Profile.from_table(np.full(3000, 0.5), bound=1.0)
    for quiet in (flat, table):
        assert quiet.gap_on_grid(0.5)[0] == 1000
        assert sum(block.shape[1] for _, block in quiet.blocks()) == 1000
        assert inverse_scores(pose_question([0.0, 1100.0], profile=quiet, epsilon=1)).values[0] == -1050
        assert dampened_scores(pose_question([1100.0], profile=quiet, epsilon=1)).values[0] == 1600 * UNIT


def test_a_smooth_bound_of_a_long_quiet_profile_is_positive():
    """e^(−βt) leaves the range of doubles before the product with the bound does."""
    for bound in (1e-250, 1.0, 1e20, 1e290):
        quiet = sd.Profile.from_table(np.zeros(20_000), bound=bound)
        nearer = sd.Profile.from_table(np.zeros(6_999), bound=bound)
        assert 0 < quiet.smooth(0.1) <= nearer.smooth(0.1)
        one = sd.Profile.from_table(np.zeros(7_000), bound=bound).smooth(0.1)
        assert nearer.smooth(0.1) <= math.exp(0.1) * one * (1 + 1e-12)
        assert sd.select([0.0, bound], profile=quiet, epsilon=1, mechanism="smooth_noisy_max").value == 1


def test_bounds_that_no_double_equals_are_rounded_up():
    just_above = Fraction(1) + Fraction(1, 2**60)
    assert sd.Profile.constant(just_above).bound > 1
    profile = sd.Profile.from_table(np.array([2**60 + 1]), bound=2**60 + 1)
    assert profile.bound == profile.at(0) == 2.0**60 + 256


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-9, 1.0, 1e18, 1e308])
@pytest.mark.parametrize("bound", [1e-250, 1.0, 1e308])
def test_extreme_budgets_and_bounds_are_answered_or_refused_in_words(epsilon, bound):
    profiles = [bound, sd.Profile.from_table(np.zeros(3_000), bound=bound)]
    variants = [
        ("exponential", {}),
        ("permute_and_flip", {}),
        ("report_noisy_max", {"noise": "laplace"}),
        ("local_dampening", {}),
        ("local_dampening", {"step": 1.0}),
        ("shifted_dampening", {"direction": "minus"}),
        ("inverse_sensitivity", {}),
        ("smooth_noisy_max", {"noise": "polynomial"}),
        ("smooth_noisy_max", {"noise": "student_t"}),
        ("smooth_noisy_max", {"noise": "laplace", "delta": 5e-324}),
        ("smooth_noisy_max", {"noise": "winner"}),
        ("smooth_noisy_max", {"noise": "certified"}),
    ]
    for profile, (mechanism, options) in itertools.product(profiles, variants):
        asked = {"profile": profile, "epsilon": epsilon, "mechanism": mechanism, **options}
        for scores in ([0.0, 1.0, 0.0], [0.0, bound / 4, -bound / 2]):
            try:
                assert sd.select(scores, **asked).value in range(3)
                law = sd.selection_law(scores, **asked)
                assert law.sum() == pytest.approx(1, abs=1e-9)
                if mechanism != "smooth_noisy_max":
                    sd.top_k(scores, 2, **(asked | {"delta": 5e-324}))
            except SordinoError:
                continue


# ---- budgets -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-300, 1e-12, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("delta", [5e-324, 1e-9, 0.2])
def test_the_zcdp_of_a_budget_is_not_rounded_up(epsilon, delta):
    """ρ + 2√(ρL) ≤ ε up to the last digits, also where √(L + ε) − √L would cancel."""
    root = largest_root_rho(epsilon, delta)
    spent = root * root + 2 * root * math.sqrt(-math.log(delta))
    assert spent == pytest.approx(epsilon, rel=1e-13)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1, 10), Fraction(1), Fraction(50)])
@pytest.mark.parametrize("candidates", [2, 3, 1000, 10**6])
def test_the_turning_point_is_the_first_that_has_turned(epsilon, candidates):
    turn = turning_point(epsilon, candidates)

    def excess(m):
        growth = math.exp(epsilon)
        return (m + 1) * float(epsilon) + math.log1p(growth) - math.log(growth + candidates - 1)

    assert excess(turn) > -1e-9
    assert turn == 0 or excess(turn - 1) < 1e-9


def test_a_majority_of_very_many_rows_and_of_one_label():
    for mechanism, rows in (
        ("local_dampening", 2**22),
        ("smooth_noisy_max", 2**22),
        ("permute_and_flip", 2**50),
        ("exponential", 2**50),
    ):
        counts = np.array([[rows, 5, 0], [3, rows, 7]])
        assert majority_labels(counts, Fraction(1), mechanism).tolist() == [0, 1]
        assert majority_labels(np.array([[4], [0]]), Fraction(1), mechanism).tolist() == [0, 0]
        assert majority_law(np.array([4]), Fraction(1), mechanism).tolist() == [0.0]
