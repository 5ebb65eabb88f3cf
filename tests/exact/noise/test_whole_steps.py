"""Values between lattice points with noise in whole steps: rounding costs nothing, if the bound is of whole steps."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.mechanisms.noise import noise_law
from sordino.mechanisms.noise.beta_grid import BetaGrid
from sordino.testing import check_noise, prove_noise

# all multiples of an eighth between 0 and 4; neighbours differ by at most the bound
VALUES = [Fraction(place, 8) for place in range(33)]


def neighbours(bound):
    return lambda x: [y for y in VALUES if y != x and abs(x - y) <= bound]


@pytest.mark.parametrize("bound", [1, 2])
@pytest.mark.parametrize(
    ("noise", "delta"), [("auto", 0.0), ("discrete_laplace", 0.0), ("discrete_gaussian", 0.01)]
)
def test_rounding_to_whole_steps_is_free(noise, delta, bound):
    asked = {"epsilon": 0.7, "delta": delta}
    proof = check_noise(noise, VALUES, neighbours(bound), lambda x: (x, bound), **asked)
    assert proof.worst_epsilon > 0.69  # nothing is wasted either
    mutant = prove_noise(noise, VALUES, neighbours(bound), lambda x: (x, bound), spent=0.75, **asked)
    assert not mutant.holds


def test_a_bound_of_less_than_a_step_would_not_be_enough():
    """The mutant: ½ in place of the whole step that two values half a step apart can be rounded apart by."""

    def law(x):
        return noise_law(round(x), Fraction(1, 2), epsilon=0.7, noise="discrete_laplace", step=1)

    assert not sd.audit.prove(law, VALUES, neighbours(Fraction(1, 2)), 0.7).holds
    with pytest.raises(sd.PrivateDataError, match="multiples of the step"):
        noise_law(Fraction(1, 4), Fraction(1, 2), epsilon=0.7, noise="discrete_laplace", step=1)


def test_the_default_is_laplace_noise_for_a_constant_bound_and_the_best_pure_one_for_a_smooth_bound():
    def taken(bound, **options):
        return sd.add_noise(3, bound, epsilon=1.0, step=1, **options).mechanism

    assert taken(1) == taken(sd.Profile.constant(2)) == taken(1, delta=1e-6) == "discrete_laplace noise"
    assert taken(1.5) == taken(Fraction(1, 3)) == "laplace noise"
    smooth = sd.Profile.from_table([1, 2], bound=5)
    assert taken(smooth) == taken(smooth, delta=1e-6) == taken(smooth, beta=0.05) == "flared_laplace noise"
    empty = sd.Profile.from_table([], bound=5)  # how long a table is may follow the data: not a constant
    assert taken(empty) == "flared_laplace noise"
    assert sd.add_noise(3, smooth, epsilon=1.0, step=1, delta=1e-6).guarantee.delta == 0


@pytest.mark.parametrize(
    ("epsilon", "beta"),
    [(0.01, 0.001), (1.0, 0.001), (1.0, 0.1), (20.0, 0.1)],
)
def test_the_default_at_a_beta_has_the_smallest_radius_of_the_pure_noises(epsilon, beta):
    pure = [row for row in sd.advise(epsilon, beta=beta) if row.radius is not None]
    smooth = sd.Profile.from_table([1, 2], bound=5)
    release = sd.add_noise(3, smooth, epsilon=epsilon, step=1, beta=beta)
    assert release.mechanism == f"{pure[0].noise} noise"


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 20.0])
def test_the_default_has_the_smallest_radii_for_bounds_that_grow(epsilon):
    """The product of the radii over bounds (1 + k/b)^d, each noise with the best β of its own grid."""
    steps = np.arange(200_000)
    radii = {}
    for name in ("flared_laplace", "student_t", "cauchy"):
        grid = BetaGrid.of(name, epsilon=epsilon)
        scales = [
            min(
                float((np.exp(-point.beta * steps) * (1 + steps / b) ** d).max()) / point.alpha
                for point in grid.points
            )
            for b, d in ((10, 1), (100, 1), (30, 2), (300, 2))
        ]
        radii[name] = math.prod(scales) * grid.noise.shape.radius(0.95) ** len(scales)
    best = min(radii, key=radii.__getitem__)
    smooth = sd.Profile.from_table([1, 2], bound=5)
    assert sd.add_noise(3, smooth, epsilon=epsilon, step=1).mechanism == f"{best} noise"
