"""One guarantee for a batch: against the exact Gaussian, against sums, and against an optimal composition."""

import math
import subprocess
import sys
from fractions import Fraction

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import sordino as sd
from sordino.ledger import GaussianPart, LaplacePart, compose_batch
from tests.unit.ledger.conftest import pure

ROW = sd.add_remove_row()


def gaussian_epsilon(ratio, delta):
    """δ(ε) = Φ(r/2 − ε/r) − e^ε Φ(−r/2 − ε/r) for sensitivity over deviation r (Balle and Wang 2018)."""

    def excess(epsilon):
        return (
            norm.cdf(ratio / 2 - epsilon / ratio)
            - math.exp(epsilon) * norm.cdf(-ratio / 2 - epsilon / ratio)
            - delta
        )

    return brentq(excess, 1e-9, 50)


def randomized_response_epsilon(epsilon, count, delta):
    """The optimal composition of ``count`` copies, summed over all numbers of heads (Kairouz, Oh, Viswanath 2015)."""
    heads = math.exp(epsilon) / (1 + math.exp(epsilon))

    def excess(total):
        mass = 0.0
        for k in range(count + 1):
            ways = math.comb(count, k)
            p = ways * heads**k * (1 - heads) ** (count - k)
            q = ways * heads ** (count - k) * (1 - heads) ** k
            mass += max(0.0, p - math.exp(total) * q)
        return mass - delta

    return brentq(excess, 0, count * epsilon)


@pytest.mark.parametrize(
    ("count", "deviation", "delta"), [(1, 2.0, 1e-6), (16, 10.0, 1e-6), (100, 40.0, 1e-5)]
)
def test_gaussians_compose_to_one_gaussian(count, deviation, delta):
    bound = compose_batch([GaussianPart(ROW, deviation)] * count, delta)
    exact = gaussian_epsilon(math.sqrt(count) / deviation, delta)
    assert exact <= bound.epsilon <= exact * 1.01 + 1e-3
    assert bound.delta == delta
    assert bound.distance == ROW


@pytest.mark.parametrize(("epsilon", "count"), [(0.1, 30), (0.5, 10)])
def test_pure_guarantees_compose_like_randomized_response(epsilon, count):
    bound = compose_batch([pure(epsilon)] * count, 1e-5)
    exact = randomized_response_epsilon(epsilon, count, 1e-5)
    assert exact <= bound.epsilon <= exact + 2**-13 * count + 1e-3
    assert bound.epsilon < count * epsilon


def test_the_exponential_mechanism_and_permute_and_flip_get_the_same():
    parts = [[pure(0.2, theorem=name)] * 12 for name in ("exponential mechanism", "permute-and-flip")]
    assert compose_batch(parts[0], 1e-5).epsilon == compose_batch(parts[1], 1e-5).epsilon


def test_a_batch_never_costs_more_than_the_sum():
    assert compose_batch([pure(0.1), pure(0.2)], 1e-9).epsilon == pytest.approx(0.3, abs=1e-12)
    assert compose_batch([pure(0.1)] * 3, 1e-30).epsilon >= 0.3
    assert compose_batch([LaplacePart(ROW, 2.0, 1.0)], 1e-30).epsilon == 0.5


def test_laplace_noise_is_at_most_its_worst_case():
    noise = compose_batch([LaplacePart(ROW, 5.0)] * 40, 1e-6)
    assert noise.epsilon < compose_batch([pure(0.2)] * 40, 1e-6).epsilon < 8


def test_a_mixed_batch_counts_every_part():
    mixed = [LaplacePart(ROW, 4.0), GaussianPart(ROW, 5.0), pure(0.3, 1e-7)]
    whole = compose_batch(mixed, 1e-5).epsilon
    assert all(compose_batch(mixed[:k], 1e-5).epsilon < whole for k in (1, 2))
    assert "3 releases" in compose_batch(mixed, 1e-5).theorem


@pytest.mark.parametrize(
    ("parts", "delta", "error"),
    [
        ([], 1e-6, sd.ParameterError),
        ([pure(0.1)], 0, sd.ParameterError),
        (["laplace"], 1e-6, sd.ParameterError),
        ([pure(0.1), pure(0.1, distance=sd.replace_row())], 1e-6, sd.ParameterError),
        ([sd.Guarantee(sd.Loss(rho=0.1), ROW, "t")], 1e-6, sd.UnsupportedError),
        ([pure(0.1, 1e-6)] * 3, 1e-6, sd.UnsupportedError),
        ([GaussianPart(ROW, 1.0)], 1e-30, sd.UnsupportedError),
    ],
)
def test_a_batch_without_a_sound_answer_is_refused(parts, delta, error):
    with pytest.raises(error):
        compose_batch(parts, delta)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
def test_noise_needs_a_positive_scale(bad):
    with pytest.raises(sd.ParameterError):
        LaplacePart(ROW, bad)
    with pytest.raises(sd.ParameterError):
        GaussianPart(ROW, 1.0, bad)


def test_the_accountant_is_loaded_only_when_asked():
    code = "import sys, sordino.ledger; sys.exit('dp_accounting' in sys.modules or 'scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


HUGE = 10.0**300


@pytest.mark.parametrize(
    ("part", "exact"),
    [
        (pure(1e4), 2 * 10**4),
        (pure(1e9), 2 * 10**9),
        (pure(1e-300), Fraction(2, 10**300)),
        (LaplacePart(sd.add_remove_row(), 1e-6), 2 * 10**6),
        (LaplacePart(sd.add_remove_row(), HUGE, 1 / HUGE), Fraction(2, 10**600)),
    ],
    ids=["1e4", "1e9", "1e-300", "Laplace 1e6", "Laplace 1e-600"],
)
def test_what_no_grid_can_follow_is_the_plain_sum_and_never_less(part, exact):
    found = compose_batch([part, part], delta=1e-6)
    assert exact <= Fraction(repr(found.epsilon)) <= exact * (1 + Fraction(1, 10**15)) + Fraction(1, 10**323)


@pytest.mark.parametrize(
    "part",
    [
        pure(1e308),
        LaplacePart(sd.add_remove_row(), 1 / HUGE, HUGE),
        GaussianPart(sd.add_remove_row(), 1e-3),
        GaussianPart(sd.add_remove_row(), 1 / HUGE, HUGE),
        GaussianPart(sd.add_remove_row(), HUGE),
    ],
    ids=["sum", "Laplace", "Gaussian", "huge ratio", "tiny ratio"],
)
def test_what_neither_sum_nor_grid_can_state_is_refused_in_words(part):
    with pytest.raises(sd.UnsupportedError, match="no finite epsilon"):
        compose_batch([part, part], delta=1e-6)
