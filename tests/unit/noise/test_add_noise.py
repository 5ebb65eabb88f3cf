"""add_noise: what is released, what is refused, and that nothing is drawn before the checks are done."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.core import (
    CalibrationError,
    ParameterError,
    PrivateDataError,
    UnsupportedError,
    flip_edge,
    replace_row,
)
from sordino.mechanisms.noise import (
    LaplaceNoise,
    StudentTNoise,
    add_noise,
    advise,
    noise_law,
    noise_radius,
)
from sordino.sampling import source
from sordino.sensitivity import Profile, SmoothBound
from sordino.testing import seeded

PROFILE = Profile.from_table([1.0, 2.0, 4.0], bound=10.0)
NAMES = ["student_t", "cauchy", "laplace", "lln", "gaussian", "discrete_laplace", "discrete_gaussian"]


@pytest.mark.parametrize("noise", NAMES)
def test_a_constant_bound_takes_every_noise(noise):
    with seeded(5):
        release = add_noise(1000, 2, epsilon=1.0, delta=1e-6, noise=noise, step=1)
    assert isinstance(release.value, int)
    assert abs(release.value - 1000) < 1000
    assert not release.private
    assert release.guarantee.epsilon == 1.0
    pure = noise in ("student_t", "cauchy", "laplace", "discrete_laplace")
    assert release.guarantee.delta == (0.0 if pure else 1e-6)
    details = release.details.reveal()
    assert details["exact"] == 1000
    assert details["realised_error"] == release.value - 1000
    assert "1000" not in json.dumps(release.to_dict() | {"value": None, "details": release.details})


@pytest.mark.parametrize(
    ("noise", "delta"), [("student_t", 0), ("cauchy", 0), ("laplace", 1e-6), ("lln", 1e-6)]
)
def test_a_profile_takes_every_noise_that_has_a_smooth_calibration(noise, delta):
    release = add_noise(50.5, PROFILE, epsilon=2.0, delta=delta, noise=noise, step=0.25)
    assert isinstance(release.value, float)
    assert release.value * 4 == round(release.value * 4)
    assert release.private
    beta = release.details.reveal()["beta"]
    assert release.details.reveal()["sensitivity"] == pytest.approx(PROFILE.smooth(beta))
    assert release.details.reveal()["noise_scale"] < 10 * PROFILE.smooth(beta) / 2 * 8


@pytest.mark.parametrize("noise", ["gaussian", "discrete_laplace", "discrete_gaussian"])
def test_a_smooth_bound_is_refused_where_only_a_constant_one_is_sound(noise):
    with pytest.raises(UnsupportedError, match="student_t"):
        add_noise(5, PROFILE, epsilon=1.0, delta=1e-6, noise=noise, step=1)


@pytest.mark.slow
def test_the_law_is_that_of_the_draw():
    with seeded(3):
        draws = [add_noise(7, PROFILE, epsilon=1.0, step=1).value for _ in range(4000)]
    law = noise_law(7, PROFILE, epsilon=1.0, step=1)
    masses = np.exp(law.log_masses(7 - 30, 7 + 30))
    inside = np.array([sum(d == k for d in draws) for k in range(7 - 30, 7 + 31)])
    # Hoeffding over the 61 cells: P(any off by more than 0.05) < 122·e^{-2·4000·0.05²} < 1e-6
    assert np.abs(inside / 4000 - masses).max() < 0.05
    wrong = noise_law(7, PROFILE, epsilon=8.0, step=1)
    assert np.abs(inside / 4000 - np.exp(wrong.log_masses(7 - 30, 7 + 30))).max() > 0.05


def test_a_slope_costs_more_than_a_difference_where_the_theorem_needs_it():
    beta = 0.02
    local = SmoothBound(lambda b: 3.0, kind="local")
    slope = SmoothBound(lambda b: 3.0, kind="derivative")
    for noise, delta, more in (
        ("laplace", 1e-6, True),
        ("lln", 1e-6, True),
        ("student_t", 0, False),
        ("cauchy", 0, False),
    ):
        scales = [
            noise_law(0, bound, epsilon=1.0, delta=delta, noise=noise, step=1, beta=beta).scale
            for bound in (local, slope)
        ]
        ratio = float(scales[1] / scales[0])
        assert ratio == pytest.approx(math.expm1(beta) / beta if more else 1.0, rel=1e-12)


def test_the_distance_is_the_bound_s_own():
    bound = SmoothBound(lambda beta: 3.0, distance=flip_edge())
    assert add_noise(5, bound, epsilon=1, step=1).guarantee.distance == flip_edge()
    assert add_noise(5, 2.0, epsilon=1, step=1, distance=replace_row()).guarantee.distance == replace_row()
    with pytest.raises(ParameterError, match="smooth for"):
        add_noise(5, bound, epsilon=1, step=1, distance=replace_row())


def test_beta_min_is_respected():
    bound = SmoothBound(lambda beta: 1.0, beta_min=0.2)
    assert add_noise(0, bound, epsilon=1.0, step=1).details.reveal()["beta"] == 0.2
    with pytest.raises(CalibrationError, match=r"0\.2"):
        add_noise(0, bound, epsilon=1.0, step=1, beta=0.1)
    with pytest.raises(CalibrationError, match="beta < "):
        add_noise(0, bound, epsilon=0.1, step=1)


def test_a_vanishing_bound_is_neither_an_error_nor_a_division_by_zero():
    bound = SmoothBound(lambda beta: 0.0)
    assert add_noise(5, bound, epsilon=1.0, step=1).value == 5


def test_a_noise_object_may_take_the_place_of_a_name():
    law = noise_law(0, PROFILE, epsilon=1.0, noise=StudentTNoise(2.0), step=1)
    assert law.shape.nu == 2.0
    law = noise_law(0, PROFILE, epsilon=1.0, delta=1e-6, noise=LaplaceNoise("nissim"), step=1)
    assert float(law.scale) == pytest.approx(PROFILE.smooth(1 / (2 * math.log(2e6))) / 0.5, rel=1e-6)


def test_rational_sensitivities_and_steps_are_exact_or_rounded_up():
    law = noise_law(Fraction(1, 3), Fraction(1, 3), epsilon=0.5, noise="laplace", step=Fraction(1, 10))
    assert law.centre == Fraction(1, 3)
    assert law.scale >= Fraction(2, 3)
    assert law.step == Fraction(1, 10)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"epsilon": 0}, ParameterError),
        ({"epsilon": -1.0}, ParameterError),
        ({"epsilon": math.nan}, ParameterError),
        ({"epsilon": math.inf}, ParameterError),
        ({"epsilon": "1"}, ParameterError),
        ({"delta": 1.0}, ParameterError),
        ({"delta": -0.1}, ParameterError),
        ({"delta": math.nan}, ParameterError),
        ({"step": 0}, ParameterError),
        ({"step": -1}, ParameterError),
        ({"step": "1"}, ParameterError),
        ({"noise": "student-t"}, ParameterError),
        ({"noise": 3}, ParameterError),
        ({"calibration": "printed"}, ParameterError),
        ({"noise": "lln", "delta": 0.1, "calibration": "report"}, ParameterError),
        ({"beta": 5.0}, CalibrationError),
        ({"beta": 0.0}, ParameterError),
        ({"beta": math.nan}, ParameterError),
        ({"bound": 0}, ParameterError),
        ({"bound": -3}, ParameterError),
        ({"bound": math.inf}, ParameterError),
        ({"bound": "3"}, ParameterError),
        ({"noise": "laplace", "delta": 0.0}, CalibrationError),
        ({"value": math.nan}, PrivateDataError),
        ({"value": "secret"}, ParameterError),
        ({"bound": 1, "noise": "discrete_gaussian", "delta": 0.0}, CalibrationError),
        ({"bound": 1.5, "noise": "discrete_gaussian", "delta": 0.1}, ParameterError),
        ({"bound": 1.5, "noise": "discrete_laplace", "value": 0.5}, PrivateDataError),
        ({"bound": 1, "noise": "discrete_laplace", "beta": 0.5}, ParameterError),
    ],
    ids=str,
)
def test_bad_input_is_refused_before_any_randomness(changes, problem):
    given = {"value": 5, "bound": PROFILE, "epsilon": 1.0, "delta": 0.0, "step": 1} | changes
    value, bound = given.pop("value"), given.pop("bound")

    def forbidden(count):
        raise AssertionError("randomness was used")

    with source.overridden(forbidden), pytest.raises(problem) as caught:
        add_noise(value, bound, **given)
    assert "secret" not in str(caught.value)


def test_near_miss_names_the_noise():
    with pytest.raises(ParameterError, match="did you mean 'student_t'"):
        add_noise(1, 1, epsilon=1, noise="student", step=1)


def test_radius_holds_the_stated_share_of_the_noise():
    for noise, delta, beta in (
        ("student_t", 0, 0.1),
        ("cauchy", 0, 0.0),
        ("laplace", 1e-6, 0.01),
        ("gaussian", 1e-6, 0.0),
    ):
        radius = noise_radius(3.0, epsilon=1.0, delta=delta, noise=noise, confidence=0.9, beta=beta)
        bound = 3.0 if beta == 0 else SmoothBound(lambda b: 3.0)
        law = noise_law(
            0, bound, epsilon=1.0, delta=delta, noise=noise, step=Fraction(1, 100), beta=beta or None
        )
        k = round(radius * 100)
        assert law.tail_mass(-k, k) == pytest.approx(0.1, abs=1e-3)
    with pytest.raises(UnsupportedError, match="no continuous shape"):
        noise_radius(1.0, epsilon=1.0, noise="discrete_laplace")
    with pytest.raises(ParameterError):
        noise_radius(1.0, epsilon=1.0, confidence=1.0)


def test_advice_ranks_by_radius_and_says_why_not():
    rows = advise(1.0, 1e-6, beta=0.05)
    radii = [row.radius for row in rows if row.radius is not None]
    assert radii == sorted(radii)
    assert [row.noise for row in rows if row.radius is None] == [
        "gaussian",
        "discrete_laplace",
        "discrete_gaussian",
    ]
    assert "constant" in rows[-1].reason
    assert advise(1.0, 0.0)[0].noise == "flared_laplace"
    missing = {row.noise: row.reason for row in advise(1.0) if row.radius is None}
    assert set(missing) == {"laplace", "lln", "gaussian", "discrete_laplace", "discrete_gaussian"}
    assert all("delta > 0" in missing[name] for name in ("laplace", "lln"))
    assert advise(1.0, beta=0.0)[0].noise == "laplace"


def test_a_delta_that_is_not_spent_is_told():
    profile = Profile.from_table([2, 3, 5], bound=100)
    for noise, told in (("auto", True), ("flared_laplace", True), ("laplace", False)):
        release = add_noise(10, profile, epsilon=1.0, delta=1e-6, noise=noise, step=1)
        assert (release.guarantee.loss.delta == 0) == told == bool(release.notes)
    assert not add_noise(10, profile, epsilon=1.0, step=1).notes
