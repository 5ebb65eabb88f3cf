"""Noise with a smooth bound on every pair of a small universe, by direct computation and by the prover.

A database is a pair (f, S). Two are neighbours when that is possible for a β-smooth bound: |f - f'| <= min(S, S') and
|ln(S/S')| <= β. The universe holds pairs at the very limit of both. The direct computation takes its masses from
the oracles' distribution functions, not from the law under test. A mutant has its noise reduced until the worst pair
just exceeds the claim, and must be refused.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.audit import prove
from sordino.mechanisms.noise import LLNNoise, RoundedLaw, noise_law
from sordino.sensitivity import SmoothBound
from tests.oracles import densities

STEP = Fraction(1, 4)


def universe(beta, sizes=(-1, 0, 1), parts=(0.5, 1.0)):
    bounds = [math.exp(beta * j) for j in sizes]
    values = sorted({0.0} | {part * s for part in parts for s in bounds})
    return list(itertools.product(values, bounds))


def neighbours_in(databases, beta):
    def neighbours(x):
        return [
            y
            for y in databases
            if y != x
            and abs(x[0] - y[0]) <= min(x[1], y[1])
            and abs(math.log(x[1] / y[1])) <= beta * (1 + 1e-12)
        ]

    return neighbours


def law_of(noise, epsilon, delta, beta, calibration="tight", step=STEP):
    def law(x):
        bound = SmoothBound(lambda b: x[1])
        return noise_law(
            x[0],
            bound,
            epsilon=epsilon,
            delta=delta,
            noise=noise,
            calibration=calibration,
            beta=beta,
            step=step,
        )

    return law


def with_less_noise(law, factor):
    """The mutant: every scale divided by ``factor``."""

    def mutant(x):
        original = law(x)
        return RoundedLaw(original.shape, original.centre, original.scale / Fraction(factor), original.step)

    return mutant


def direct_masses(family, law, first, last):
    """Bin masses from the oracle's distribution function: upper tails above the centre, lower tails below it."""
    edges = [(Fraction(2 * k - 1, 2) * law.step - law.centre) / law.scale for k in range(first, last + 2)]
    z = np.array([float(e) for e in edges])
    above, below = family.sf(z), family.cdf(z)
    return np.where(z[:-1] > 0, above[:-1] - above[1:], below[1:] - below[:-1])


def direct_losses(family, law, databases, neighbours, reach=400):
    """The largest |ln ratio| of bin masses over all pairs, from the oracle's masses."""
    masses = {x: direct_masses(family, law(x), -reach, reach) for x in databases}
    return max(float(np.abs(np.log(masses[x] / masses[y])).max()) for x in databases for y in neighbours(x))


def direct_delta(masses, outside, databases, neighbours, epsilon):
    """The largest Σ max(0, p - e^ε q) over all pairs, all of the tail counted as lost."""
    return max(
        float(np.maximum(masses[x] - math.exp(epsilon) * masses[y], 0).sum()) + outside[x]
        for x in databases
        for y in neighbours(x)
    )


def breaking_point(holds, low, high):
    """The factor between two others at which a claim stops to hold."""
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


PURE = [
    ("student_t", "tight", densities.student_t(3), 1.15),
    ("student_t", "split", densities.student_t(3), 1.6),
    ("student_t", "paper", densities.student_t(3), 2.0),
    ("cauchy", "tight", densities.generalised_cauchy(4), 1.2),
    ("cauchy", "report", densities.generalised_cauchy(4), 8.0),
]


@pytest.mark.parametrize(("noise", "calibration", "family", "spare"), PURE, ids=lambda x: str(x)[:20])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_pure_noise_keeps_epsilon_on_every_pair(noise, calibration, family, spare, epsilon):
    beta = 0.1 * epsilon
    databases = universe(beta)
    neighbours = neighbours_in(databases, beta)
    law = law_of(noise, epsilon, 0.0, beta, calibration)
    proof = prove(law, databases, neighbours, epsilon)
    assert proof.holds
    assert proof.pairs > 200
    direct = direct_losses(family, law, databases, neighbours)
    assert direct <= epsilon
    assert direct == pytest.approx(proof.worst_epsilon, rel=1e-6)
    # the mutant: find, on the worst pair, how much less noise just breaks the claim
    pair = [proof.witness.left, proof.witness.right]

    def holds(factor):
        return prove(with_less_noise(law, factor), pair, lambda x: [y for y in pair if y != x], epsilon).holds

    assert not holds(spare)
    factor = breaking_point(holds, 1.0, spare)
    assert not prove(with_less_noise(law, factor * 1.001), databases, neighbours, epsilon).holds


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (1.0, 1e-6), (3.0, 0.05)])
def test_smooth_laplace_keeps_delta_on_every_pair(epsilon, delta):
    beta = epsilon / (2 * math.log(2 / delta))
    databases = universe(beta)
    neighbours = neighbours_in(databases, beta)
    law = law_of("laplace", epsilon, delta, beta, step=Fraction(1, 8))
    proof = prove(law, databases, neighbours, epsilon, delta)
    assert proof.holds
    family = densities.laplace()
    masses = {x: direct_masses(family, law(x), -4000, 4000) for x in databases}
    spent = direct_delta(masses, dict.fromkeys(databases, 0.0), databases, neighbours, epsilon)
    assert spent <= delta
    assert spent == pytest.approx(proof.worst_delta, rel=1e-4)
    if epsilon < 3:  # at (3, 0.05) the cap α <= ε decides, and the shift alone is pure
        assert spent > 0.9 * delta
    assert not prove(with_less_noise(law, 1.05), databases, neighbours, epsilon, delta).holds


@pytest.mark.parametrize("calibration", ["nissim", "report"])
def test_the_looser_laplace_calibrations_hold_too(calibration):
    epsilon, delta, beta = 1.0, 1e-4, 0.04
    databases = universe(beta)
    neighbours = neighbours_in(databases, beta)
    law = law_of("laplace", epsilon, delta, beta, calibration)
    proof = prove(law, databases, neighbours, epsilon, delta)
    assert proof.holds
    assert proof.worst_delta < 0.3 * delta
    assert not prove(with_less_noise(law, 2.1), databases, neighbours, epsilon, delta).holds


def test_lln_keeps_delta_on_every_pair():
    epsilon, delta, beta = 1.0, 1e-2, 0.03
    databases = universe(beta, sizes=(0, 1), parts=(1.0,))
    neighbours = neighbours_in(databases, beta)
    law = law_of("lln", epsilon, delta, beta, step=Fraction(2))
    family = densities.laplace_log_normal(LLNNoise.fitted(epsilon, delta, beta).sigma)

    def spent(law):
        masses = {x: direct_masses(family, law(x), -150, 150) for x in databases}
        outside = {x: law(x).tail_mass(-150, 150) for x in databases}
        assert all(outside[x] < delta / 5 for x in databases)
        for x in databases[:1]:
            assert np.allclose(np.log(masses[x][100:200]), law(x).log_masses(-50, 49), rtol=1e-7, atol=1e-7)
        return direct_delta(masses, outside, databases, neighbours, epsilon)

    assert spent(law) <= delta
    # the route over zCDP is loose: the noise may shrink a good deal before (ε, δ) breaks, but not tenfold
    assert spent(with_less_noise(law, 10)) > delta


def test_a_step_that_follows_the_scale_is_refused_by_the_prover():
    databases = [(0.0, 1.0), (0.0, 1.1)]

    def law(x):
        plain = law_of("student_t", 1.0, 0.0, 0.1)(x)
        return RoundedLaw(plain.shape, plain.centre, plain.scale, plain.scale / 10)

    from sordino.core import ProofError

    with pytest.raises(ProofError, match="step"):
        prove(law, databases, neighbours_in(databases, 0.1), 1.0)


def test_the_plain_local_sensitivity_is_refused():
    """S = 1 next to S = 2 is not smooth at β = 0.1: noise calibrated to it breaks ε."""
    databases = [(0.0, 1.0), (0.5, 2.0)]
    law = law_of("student_t", 1.0, 0.0, 0.1)
    assert not prove(law, databases, lambda x: [y for y in databases if y != x], 1.0).holds
