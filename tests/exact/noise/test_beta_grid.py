"""Noise with β chosen by the data from a public grid: every neighbouring pair, exact laws, and mutants that must fail.

Two universes. *Lines*: a database is a number of rows, f is any function of it, and the smooth bound is brute force
over the whole line. *Pairs*: a database is (f, S_1, S_2), and two are neighbours whenever smoothness allows it, so that
every limit is reached at once.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.audit import prove
from sordino.core import CalibrationError, UnsupportedError
from sordino.mechanisms.noise import CauchyNoise, FlaredLaplaceNoise, LaplaceNoise, RoundedLaw
from sordino.mechanisms.noise.beta_grid import BetaGrid
from sordino.sensitivity import SmoothBound

NOISES = [
    ("flared_laplace", 1.0, 0.0),
    ("flared_laplace", 0.3, 0.0),
    ("student_t", 1.0, 0.0),
    ("cauchy", 1.0, 0.0),
    ("cauchy", 0.3, 0.0),
    ("laplace", 1.0, 1e-3),
    ("laplace", 0.5, 0.01),
]


def line_bound(values):
    """Per position, β -> max over all positions of e^{-β·distance}·(local sensitivity there): from the definition."""
    last = len(values) - 1
    local = [
        max(abs(values[i] - values[j]) for j in (i - 1, i + 1) if 0 <= j <= last) for i in range(last + 1)
    ]

    def at(position):
        return SmoothBound(
            lambda beta: max(math.exp(-beta * abs(position - i)) * local[i] for i in range(last + 1))
        )

    return at


def line_neighbours(values):
    return lambda i: [j for j in (i - 1, i + 1) if 0 <= j < len(values)]


LINES = {
    "squares": [i * i for i in range(14)],
    "steps of growing height": [0, 0, 0, 1, 1, 3, 7, 15, 31, 63, 64, 64],
    "one cliff": [0] * 10 + [40] + [40] * 8,
    "doubling": [2**i for i in range(9)],
}


@pytest.mark.parametrize(("noise", "epsilon", "delta"), NOISES)
@pytest.mark.parametrize("line", LINES)
def test_least_scale_of_the_grid_is_private_on_lines(line, noise, epsilon, delta):
    values, grid = LINES[line], BetaGrid.of(noise, epsilon=epsilon, delta=delta)
    bound = line_bound(values)
    proof = prove(
        lambda i: grid.law(values[i], bound(i), step=Fraction(1)),
        range(len(values)),
        line_neighbours(values),
        epsilon,
        delta,
    )
    assert proof.holds, str(proof)


def test_the_grid_really_takes_different_betas_on_one_line():
    values = LINES["steps of growing height"]
    grid, bound = BetaGrid.of("cauchy", epsilon=1.0), line_bound(values)
    assert len({grid.best(bound(i))[1].beta for i in range(len(values))}) > 1


def test_a_grid_is_never_noisier_than_the_default_beta():
    for noise, epsilon, delta in NOISES:
        grid = BetaGrid.of(noise, epsilon=epsilon, delta=delta)
        beta = grid.noise.default_beta(epsilon, delta)
        for values in LINES.values():
            for i in range(len(values)):
                alone = line_bound(values)(i).at(beta) / grid.noise.alpha(epsilon, delta, beta)
                assert grid.scale(line_bound(values)(i)) <= Fraction(alone) * (1 + Fraction(1, 10**12))


def pair_universe(grid):
    first, second = grid.points[0].beta, grid.points[-1].beta
    # the scales S_1/α_1 and S_2/α_2 cross inside the universe, so that the minimum changes its index
    sizes = [math.exp(first * j) * grid.points[0].alpha for j in (-2, -1, 0, 1, 2)]
    others = [math.exp(second * j) * grid.points[-1].alpha for j in (-1, 0, 1)]
    bounds = list(itertools.product(sizes, others))
    shifts = sorted({0.0} | {min(pair) for pair in bounds})
    return [(value, *pair) for value in shifts for pair in bounds]


def pair_neighbours(grid, databases):
    betas = (grid.points[0].beta, grid.points[-1].beta)

    def close(x, y):
        return abs(x[0] - y[0]) <= min(*x[1:], *y[1:]) and all(
            abs(math.log(a / b)) <= beta * (1 + 1e-12) for a, b, beta in zip(x[1:], y[1:], betas, strict=True)
        )

    return lambda x: [y for y in databases if y != x and close(x, y)]


def pair_bound(grid, x):
    sizes = dict(zip((grid.points[0].beta, grid.points[-1].beta), x[1:], strict=True))
    return SmoothBound(lambda beta: sizes[beta])


AT_THE_LIMIT = [(FlaredLaplaceNoise(), 1.0, 0.0), (CauchyNoise(), 1.0, 0.0), (LaplaceNoise(), 1.0, 1e-3)]


def two_point_grid(noise, epsilon, delta, parts=(0.1, 0.6)):
    top = noise.largest_beta(epsilon, delta)
    return BetaGrid.at(noise, [part * top for part in parts], epsilon=epsilon, delta=delta)


@pytest.mark.parametrize(("noise", "epsilon", "delta"), AT_THE_LIMIT)
def test_least_scale_is_private_where_every_limit_is_reached(noise, epsilon, delta):
    grid = two_point_grid(noise, epsilon, delta)
    databases = pair_universe(grid)
    proof = prove(
        lambda x: grid.law(Fraction(x[0]), pair_bound(grid, x), step=Fraction(1, 4)),
        databases,
        pair_neighbours(grid, databases),
        epsilon,
        delta,
    )
    assert proof.holds, str(proof)
    assert proof.slack < 0.1 * epsilon  # the universe comes near the claim, so less noise would fail


def mutant_law(grid, choose):
    def law(x):
        bound = pair_bound(grid, x)
        return RoundedLaw(grid.noise.shape, Fraction(x[0]), choose(grid, bound), Fraction(1, 4))

    return law


def least_bound_over_largest_alpha(grid, bound):
    """β chosen freely: the smallest bound of the grid, with the α that belongs to another β."""
    return Fraction(min(bound.at(p.beta) for p in grid.points)) / Fraction(max(p.alpha for p in grid.points))


def a_fifth_less_noise(grid, bound):
    return grid.scale(bound) * Fraction(4, 5)


@pytest.mark.parametrize("choose", [least_bound_over_largest_alpha, a_fifth_less_noise])
@pytest.mark.parametrize(("noise", "epsilon", "delta"), AT_THE_LIMIT)
def test_mutants_of_the_grid_are_refused(noise, epsilon, delta, choose):
    grid = two_point_grid(noise, epsilon, delta)
    databases = pair_universe(grid)
    proof = prove(mutant_law(grid, choose), databases, pair_neighbours(grid, databases), epsilon, delta)
    assert not proof.holds, str(proof)


@pytest.mark.parametrize("noise", ["cauchy", "flared_laplace"])
@pytest.mark.parametrize("weight", [Fraction(1, 3), Fraction(1, 2), Fraction(2), Fraction(5, 2)])
def test_a_change_of_weight_g_costs_g_times_epsilon(weight, noise):
    epsilon = 0.8
    grid = BetaGrid.of(noise, epsilon=epsilon, weights=[weight])
    # the worst that a change of this weight may do: sensitivity per unit times G, growth e^{βG}
    values = LINES["doubling"]

    def bound(position):
        local = [abs(b - a) for a, b in itertools.pairwise(values)]
        return SmoothBound(
            lambda beta: (
                max(
                    math.exp(-beta * float(weight) * min(abs(position - i), abs(position - i - 1))) * size
                    for i, size in enumerate(local)
                )
                / float(weight)
            )
        )

    proof = prove(
        lambda i: grid.law(values[i], bound(i), step=Fraction(1)),
        range(len(values)),
        line_neighbours(values),
        epsilon * float(weight),
    )
    assert proof.holds, str(proof)


def test_scale_changes_by_at_most_the_largest_beta_of_the_grid():
    for noise, epsilon, delta in NOISES:
        grid = BetaGrid.of(noise, epsilon=epsilon, delta=delta)
        for values in LINES.values():
            scales = [math.log(grid.scale(line_bound(values)(i))) for i in range(len(values))]
            assert np.abs(np.diff(scales)).max() <= grid.largest_beta * (1 + 1e-9)


def test_points_below_the_least_beta_of_a_bound_are_left_out():
    grid = BetaGrid.of("cauchy", epsilon=1.0)
    late = SmoothBound(lambda beta: 1.0, beta_min=grid.points[3].beta)
    assert grid.best(late)[1].beta >= grid.points[3].beta
    with pytest.raises(CalibrationError, match="larger epsilon"):
        grid.scale(SmoothBound(lambda beta: 1.0, beta_min=10.0))


def test_a_largest_beta_is_kept():
    assert BetaGrid.of("cauchy", epsilon=1.0, largest_beta=0.01).largest_beta == 0.01


def test_pure_laplace_has_no_grid_and_derivative_bounds_need_a_noise_that_takes_them():
    with pytest.raises(CalibrationError, match="delta"):
        BetaGrid.of("laplace", epsilon=1.0)
    slope = SmoothBound(lambda beta: 1.0, kind="derivative")
    assert BetaGrid.of("cauchy", epsilon=1.0).scale(slope) > 0
    with pytest.raises(UnsupportedError, match="local"):
        BetaGrid.of("laplace", epsilon=1.0, delta=1e-6).scale(slope)
