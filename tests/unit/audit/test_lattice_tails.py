"""prove outside the window: what a lattice law states of its tails is looked at, and the law's own error is counted."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.audit import prove
from sordino.core.errors import ProofError


def other_bit(x):
    return [1 - x]


class Stated:
    """A law by a function of k, with a window and whatever it states of its tails."""

    step = Fraction(1)

    def __init__(self, log_mass, window, tail_mass, tail_loss=0.0):
        self.log_mass, self.ends, self.mass, self.loss = log_mass, window, tail_mass, tail_loss

    def window(self):
        return self.ends

    def log_masses(self, first, last):
        return self.log_mass(np.arange(first, last + 1))

    def tail_mass(self, first, last):
        return self.mass(first, last) if callable(self.mass) else self.mass

    def tail_loss(self, other, first, last):
        return self.loss


def atoms(masses):
    """ln of a law that lives on a few points."""

    def log_mass(k):
        found = np.full(k.shape, -np.inf)
        for place, mass in masses.items():
            found[k == place] = math.log(mass)
        return found

    return log_mass


def laplace(scale, centre=0):
    return lambda k: math.log(math.tanh(0.5 / scale)) - np.abs(k - centre) / scale


def laplace_tail(scale):
    return lambda first, last: 2 * math.exp(-min(last, -first) / scale)


def zipf(k):
    """P(k) = c/(1 + |k|)(2 + |k|): a telescoping sum, whose tail beyond n is c/(n + 2) on either side."""
    return math.log(1 / 1.5) - np.log1p(np.abs(k)) - np.log(2 + np.abs(k)) + np.where(k == 0, 0.0, 0.0)


def zipf_tail(first, last):
    return (1 / 1.5) * (1 / (last + 2) + 1 / (2 - first))


@pytest.mark.parametrize("place", [7, 100, 1000, 10**6, 10**15, 1 << 62])
@pytest.mark.parametrize("hidden", [1.0, 0.25, 1e-6])
def test_mass_that_is_hidden_outside_the_window_is_refused(place, hidden):
    shared = {} if hidden == 1 else {0: 1 - hidden}

    def law(x):
        return Stated(atoms(shared | {place + x: hidden}), (0, 5), hidden)

    proof = prove(law, [0, 1], other_bit, 5.0)
    assert not proof.holds
    assert proof.worst_epsilon == math.inf


def test_delta_may_still_pay_for_mass_that_is_not_found():
    law = lambda x: Stated(atoms({0: 0.99, 1000 + x: 0.01}), (0, 5), 0.01)  # noqa: E731
    assert prove(law, [0, 1], other_bit, 0.0, 0.011).holds
    assert not prove(law, [0, 1], other_bit, 0.0, 0.009).holds


@pytest.mark.parametrize("reach", [10, 200])
def test_a_loss_beyond_the_stated_one_is_found_near_the_window_or_far_away(reach):
    scales = (50.0, 55.0)
    law = lambda x, loss: Stated(laplace(scales[x]), (-reach, reach), laplace_tail(scales[x]), loss)  # noqa: E731
    proof = prove(lambda x: law(x, 0.5), [0, 1], other_bit, 2.0)
    assert not proof.holds
    assert abs(proof.witness.outcome) > reach
    ratio = math.log(proof.witness.left_probability / proof.witness.right_probability)
    assert abs(ratio) > 0.5
    assert prove(
        lambda x: Stated(laplace(50.0, x), (-reach, reach), laplace_tail(45.0), 0.02), [0, 1], other_bit, 0.02
    )


def test_an_impossible_outcome_outside_contradicts_any_finite_loss():
    even = lambda k: np.where((k % 2 == 0) | (np.abs(k) <= 20), laplace(5.0)(k), -np.inf)  # noqa: E731
    law = lambda x: Stated((laplace(5.0), even)[x], (-20, 20), laplace_tail(5.0), 3.0)  # noqa: E731
    with pytest.raises(ProofError, match="has mass"):  # the odd tail is missing from the second law
        prove(lambda x: Stated((laplace(5.0), even)[x], (-20, 20), 0.0), [0, 1], other_bit, 4.0)
    assert prove(law, [0, 1], other_bit, 4.0).worst_epsilon == math.inf


def test_more_mass_outside_than_stated_is_refused():
    law = lambda x: Stated(laplace(20.0), (-60, 60), lambda first, last: 1e-3, 0.0)  # noqa: E731
    with pytest.raises(ProofError, match="has mass"):
        prove(law, [0, 1], other_bit, 1.0)
    twice = lambda k: np.where(np.abs(k) <= 60, math.log(1 / 121), laplace(20.0)(k))  # noqa: E731
    with pytest.raises(ProofError, match="was found there"):
        prove(lambda x: Stated(twice, (-60, 60), 1e-3), [0, 1], other_bit, 1.0)


def test_masses_outside_must_be_numbers():
    torn = lambda k: np.where(np.abs(k) <= 500, laplace(5.0)(k), math.nan)  # noqa: E731
    with pytest.raises(ProofError, match="outside the window too"):
        prove(lambda x: Stated(torn, (-20, 20), laplace_tail(5.0), 0.0), [0, 1], other_bit, 1.0)


@pytest.mark.parametrize(
    "reach", [3, 50, 5000, 40_000]
)  # the last is looked at beyond 2^53, where floats skip numbers
def test_honest_heavy_tails_are_believed(reach):
    law = lambda x: Stated(zipf, (-reach, reach), zipf_tail)  # noqa: E731
    total = sum(math.exp(zipf(np.array(k))) for k in range(-2000, 2001)) + zipf_tail(-2000, 2000)
    assert total == pytest.approx(1, abs=1e-9)
    proof = prove(law, [0, 1], other_bit, 0.0)
    assert proof.holds
    assert proof.unseen == pytest.approx(zipf_tail(-reach, reach))
    assert "spot-checked" in str(proof)


def test_windows_far_apart_are_checked_between_them_too():
    centres = (0, 10**5)

    def law(x, loss=math.inf):
        return Stated(laplace(10.0, centres[x]), (centres[x] - 400, centres[x] + 400), 1e-14, loss)

    wide = prove(law, [0, 1], other_bit, 10.0)
    assert wide.worst_epsilon >= 10**4 - 1


# ---- the law's own error ---------------------------------------------------------------------------------------


class Rounded(Stated):
    def __init__(self, *given, log_error):
        super().__init__(*given)
        self.log_error = log_error


def test_the_error_of_lattice_laws_is_added_to_the_loss():
    """Every ln P may be off by e·(1 + |ln P|): the sum of both at the worst outcome of the window is added."""
    error = 1e-6
    law = lambda x: Rounded(laplace(2.0, x), (-80, 80), laplace_tail(2.2), 0.5, log_error=error)  # noqa: E731
    inside = np.arange(-80, 81)
    zero, one = laplace(2.0, 0)(inside), laplace(2.0, 1)(inside)
    expected = (np.abs(zero - one) + error * (2 + np.abs(zero) + np.abs(one))).max()
    proof = prove(law, [0, 1], other_bit, expected)
    assert proof.worst_epsilon == pytest.approx(expected, abs=1e-12)
    assert proof.worst_epsilon > 0.5 + 2e-6
    assert proof.holds
    assert not prove(law, [0, 1], other_bit, 0.5).holds
    p, q = np.exp(zero + error * (1 - zero)), np.exp(one - error * (1 - one))
    assert proof.curve(0.1) == pytest.approx(np.maximum(p - math.exp(0.1) * q, 0).sum(), rel=1e-9)


@pytest.mark.parametrize("error", [-1.0, math.nan, math.inf])
def test_an_error_that_is_none_is_refused(error):
    with pytest.raises(ProofError, match="log_error"):
        prove(
            lambda x: Rounded(laplace(2.0, x), (-80, 80), 1e-15, 0.5, log_error=error), [0, 1], other_bit, 1.0
        )


def test_windows_beyond_all_machine_numbers_are_refused():
    with pytest.raises(ProofError, match="larger step"):
        prove(lambda x: Stated(laplace(2.0), (1 << 70, (1 << 70) + 5), 1.0), [0, 1], other_bit, 1.0)
