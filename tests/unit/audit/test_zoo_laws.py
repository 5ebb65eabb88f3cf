"""The zoo's own closed forms against numbers from elsewhere: a wrong specimen would prove nothing."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace, t

import sordino.audit
from sordino.audit.zoo import lattice_laws, local_dampening, selection, smooth_noisy_max, specimens


@pytest.mark.parametrize("centre", [0.0, 0.3, 2.0])
def test_rounded_laws_are_differences_of_distribution_functions(centre):
    step = Fraction(1, 4)
    edges = (np.arange(-40, 42) - 0.5) * 0.25
    for law, reference in (
        (lattice_laws.RoundedLaplace(centre, 0.7, step), laplace(centre, 0.7)),
        (lattice_laws.RoundedStudent(centre, 0.7, step), t(3, centre, 0.7)),
    ):
        np.testing.assert_allclose(np.exp(law.log_masses(-40, 40)), np.diff(reference.cdf(edges)), atol=1e-14)
        outside = reference.cdf(edges[0]) + reference.sf(edges[-1])
        assert outside * (1 - 1e-9) <= law.tail_mass(-40, 40)


def test_the_student_tail_bound_dominates_the_loss_outside():
    one = lattice_laws.RoundedStudent(0.0, 1.0, Fraction(1, 4))
    two = lattice_laws.RoundedStudent(1.0, 1.3, Fraction(1, 4))
    bound = one.tail_loss(two, -400, 400)
    for first, last in ((-4000, -401), (401, 4000)):
        loss = np.abs(one.log_masses(first, last) - two.log_masses(first, last))
        assert loss.max() <= bound
    assert bound < 3 * math.log(1.3) + 0.2
    assert one.tail_loss(two, 0, 2) == math.inf


@pytest.mark.parametrize("centre", [-7, -5, 0, 5, 9])
def test_clamped_discrete_laplace_has_mass_one_and_the_right_ends(centre):
    clamped = lattice_laws.tabulate_discrete_laplace(1.5, centre, -5, 5)
    wide = lattice_laws.DiscreteLaplace(centre, 1.5)
    masses = np.exp(wide.log_masses(-200, 200))
    assert clamped.sum() == pytest.approx(1, abs=1e-12)
    assert clamped[0] == pytest.approx(masses[: 200 - 4].sum(), rel=1e-9)
    assert clamped[-1] == pytest.approx(masses[200 + 5 :].sum(), rel=1e-9)


def test_the_election_has_the_probabilities_of_the_thesis():
    witness = selection.EXPONENTIAL_WITH_SMOOTH_SENSITIVITY.refute().witness
    assert round(witness.right_probability, 2) == 0.04
    assert round(witness.left_probability, 2) == 0.10


def test_the_six_candidates_fall_short_where_the_specification_says():
    printed = local_dampening._percentile_algorithm(1, (2, 4, 4))
    exact = local_dampening._percentile_exact(1, (2, 4, 4))
    assert (printed[2], exact[2]) == (4.0, 5.0)


@pytest.mark.slow
def test_student_selection_probabilities_match_a_convolution():
    for theta in (0.8, 30.0):
        density = lambda z, theta=theta: t.pdf(z, 3) * t.cdf(z - theta, 3) * t.cdf(z, 3)  # noqa: E731
        pieces = [(-np.inf, 0), (0, theta), (theta, np.inf)]
        loser = sum(quad(density, *piece, epsabs=1e-13)[0] for piece in pieces)
        assert smooth_noisy_max._loser(theta) == pytest.approx(loser, rel=1e-8)


def test_specimens_are_named_once_and_told_in_one_line():
    names = [specimen.name for specimen in specimens()]
    assert len(set(names)) == len(names) >= 12
    assert all("\n" not in str(specimen) for specimen in specimens())


def test_the_zoo_is_reached_through_the_package():
    assert sordino.audit.zoo.specimens is specimens
    with pytest.raises(AttributeError, match="aquarium"):
        _ = sordino.audit.aquarium
