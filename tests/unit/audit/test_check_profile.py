"""check_profile and check_smooth: bounds that hold, that fall short in one place, and every refusal."""

import math

import numpy as np
import pytest

from sordino.audit import check_profile, check_smooth
from sordino.core.errors import ParameterError, ProofError

SCORES = (0.0, 1.0, 1.0, 4.0, 4.5)  # one score along a path of five databases
PATH = range(len(SCORES))


def along(x):
    return [y for y in (x - 1, x + 1) if y in PATH]


def local(x, t=0):
    near = [y for y in PATH if abs(x - y) <= t]
    return max(abs(SCORES[y] - SCORES[z]) for y in near for z in along(y))


def table(x):
    return [local(x, t) for t in range(5)]


class ByDistance:
    def __init__(self, x):
        self.x = x

    def at(self, t):
        return local(self.x, t)


def check(profile_of, **changes):
    arguments = {"utility": SCORES.__getitem__, "horizon": 4} | changes
    return check_profile(profile_of, PATH, along, **arguments)


@pytest.mark.parametrize("exact", [False, True])
def test_the_local_sensitivity_is_admissible_and_exact(exact):
    for profile_of in (table, ByDistance):
        verdict = check(profile_of, exact=exact)
        assert verdict.holds
        assert verdict
        assert verdict.worst_excess == 0
        assert verdict.pairs == 8
        assert verdict.cases == (25 if exact else 8 * 5)


def test_a_larger_constant_is_admissible_but_not_exact():
    assert check(lambda x: [3.0] * 5)
    refused = check(lambda x: [3.0] * 5, exact=True)
    assert not refused.holds
    assert refused.worst_excess == pytest.approx(2.5)
    assert refused.witness.neighbour is None


def test_an_infinite_bound_is_admissible():
    assert check(lambda x: [math.inf] * 5).holds


def test_a_profile_below_the_local_sensitivity_is_refused():
    refused = check(lambda x: [2.9] * 5)
    assert not refused.holds
    assert refused.worst_excess == pytest.approx(0.1)
    assert {refused.witness.database, refused.witness.neighbour} == {2, 3}
    assert refused.witness.distance == 0
    assert "REFUTED" in str(refused)
    assert "2.9 given, 3 required" in str(refused)


def test_a_profile_that_grows_but_not_to_its_neighbours_is_refused():
    refused = check(lambda x: [local(x)] * 5)  # the printed definition, x on both sides, accepts this
    assert not refused.holds
    assert "δ(y,t)" in refused.witness.condition


def test_tolerance_decides_small_shortfalls():
    short = lambda x: [3.0 - 1e-7] * 5  # noqa: E731
    assert not check(short).holds
    assert check(short, tolerance=1e-6).holds


def test_a_finite_bound_beside_an_infinite_one_is_refused():
    refused = check(lambda x: [math.inf if x == 0 else 3.0] * 5)
    assert refused.worst_excess == math.inf


def test_candidates_have_their_own_rows():
    scores = np.array([SCORES, np.zeros(5)]).T
    per_candidate = lambda x: [table(x), [0.0] * 5]  # noqa: E731
    verdict = check(per_candidate, utility=lambda x: scores[x], exact=True)
    assert verdict.holds
    assert verdict.cases == 50
    swapped = lambda x: [[0.0] * 5, table(x)]  # noqa: E731
    refused = check(swapped, utility=lambda x: scores[x])
    assert not refused.holds
    assert refused.witness.candidate == 0


class Wide:
    def at(self, t):
        return np.zeros(3)


@pytest.mark.parametrize(
    ("profile_of", "changes", "message"),
    [
        (lambda x: [1.0] * 4, {}, r"T > 4"),
        (lambda x: np.ones((2, 5)), {}, r"\(1, T\)"),
        (lambda x: 1.0, {}, r"has shape \(\)"),
        (lambda x: Wide(), {}, "1 candidates"),
        (lambda x: [math.nan] * 5, {}, "NaN"),
        (table, {"utility": lambda x: [0.0] * (1 + x)}, "one score per candidate"),
        (table, {"utility": lambda x: math.nan}, "not finite"),
        (lambda x: np.ones((0, 5)), {"utility": lambda x: []}, "at least one candidate"),
    ],
)
def test_what_is_no_profile_or_utility_is_refused(profile_of, changes, message):
    with pytest.raises(ProofError, match=message):
        check(profile_of, **changes)


def test_parameters_outside_their_range_are_refused():
    with pytest.raises(ParameterError, match="horizon"):
        check(table, horizon=-1)
    with pytest.raises(ParameterError, match="tolerance"):
        check(table, tolerance=-1.0)
    with pytest.raises(ParameterError, match="beta"):
        check_smooth(local, PATH, along, SCORES.__getitem__, -0.5)


def smooth(x, beta):
    return max(math.exp(-beta * t) * local(x, t) for t in range(5))


@pytest.mark.parametrize("beta", [0.0, 0.3, 2.0])
def test_smooth_sensitivity_is_smooth(beta):
    verdict = check_smooth(lambda x: smooth(x, beta), PATH, along, SCORES.__getitem__, beta)
    assert verdict.holds
    assert verdict.cases == 16


def test_a_bound_may_come_as_an_object():
    class Bound:
        def __init__(self, x):
            self.x = x

        def at(self, beta):
            return smooth(self.x, beta)

    assert check_smooth(Bound, PATH, along, SCORES.__getitem__, 0.3).holds


def test_the_local_sensitivity_is_not_smooth():
    refused = check_smooth(local, PATH, along, SCORES.__getitem__, 0.3)
    assert not refused.holds
    assert "e^β" in refused.witness.condition


def test_a_smooth_bound_below_the_local_sensitivity_is_refused():
    refused = check_smooth(lambda x: 2.0, PATH, along, SCORES.__getitem__, 0.3)
    assert not refused.holds
    assert refused.worst_excess == pytest.approx(1.0)


def test_a_bound_smooth_for_a_slightly_larger_rate_is_refused():
    refused = check_smooth(lambda x: smooth(x, 0.31), PATH, along, SCORES.__getitem__, 0.3)
    assert not refused.holds


def test_zero_bounds_of_constant_values_are_smooth():
    assert check_smooth(lambda x: 0.0, PATH, along, lambda x: [1.0, 2.0], 0.1).holds


def test_a_negative_or_missing_bound_is_refused():
    with pytest.raises(ProofError, match="number >= 0"):
        check_smooth(lambda x: -1.0, PATH, along, SCORES.__getitem__, 0.1)
    with pytest.raises(ProofError, match="number >= 0"):
        check_smooth(lambda x: math.nan, PATH, along, SCORES.__getitem__, 0.1)
