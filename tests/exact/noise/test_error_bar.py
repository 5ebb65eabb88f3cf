"""The error bar: its loss together with the answer's on every neighbouring pair, and how often the radius holds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.audit import prove
from sordino.audit.comparison import LogLaw
from sordino.mechanisms.noise import DiscreteLaplaceNoise
from sordino.mechanisms.noise.beta_grid import BetaGrid
from sordino.mechanisms.noise.error_bar import ErrorBar
from tests.exact.noise.test_beta_grid import LINES, line_bound, line_neighbours

ONE = Fraction(1)


def plan(epsilon, delta, noise, share):
    paid = Fraction(str(epsilon)) * share
    grid = BetaGrid.of(noise, epsilon=float(Fraction(str(epsilon)) - paid), delta=delta)
    return grid, ErrorBar.of(epsilon=paid, beta=grid.largest_beta)


@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(1, 2)])
@pytest.mark.parametrize("line", LINES)
def test_bound_on_the_scale_costs_its_share(line, share):
    values, (grid, bar) = LINES[line], plan(1.0, 0.0, "cauchy", share)
    scale = [grid.scale(line_bound(values)(i)) for i in range(len(values))]
    proof = prove(lambda i: bar.law(scale[i]), range(len(values)), line_neighbours(values), float(share))
    assert proof.holds, str(proof)


@pytest.mark.parametrize("line", ["doubling", "one cliff"])
def test_answer_and_error_bar_together_cost_the_whole_epsilon(line):
    """The joint law of (answer, K), each point of the product of two windows an outcome of its own."""
    values, (grid, bar) = LINES[line], plan(1.0, 0.0, "cauchy", Fraction(1, 5))
    scale = [grid.scale(line_bound(values)(i)) for i in range(len(values))]
    answers = [grid.law(values[i], line_bound(values)(i), step=ONE) for i in range(len(values))]
    bars = [bar.law(size) for size in scale]
    ks = min(law.centre for law in bars) - 60, max(law.centre for law in bars) + 60
    window = min(values) - 60, max(values) + 60

    def with_outside(law, first, last):
        inside = law.log_masses(first, last)
        return np.append(inside, np.log1p(-np.exp(inside).sum()))

    def joint(i):
        answer, error = with_outside(answers[i], *window), with_outside(bars[i], *ks)
        return LogLaw((answer[:, None] + error[None, :]).ravel())

    proof = prove(joint, range(len(values)), line_neighbours(values), 1.0)
    assert proof.holds, str(proof)


def test_a_bar_that_pays_for_the_smallest_beta_only_is_refused():
    values = LINES["doubling"]
    grid = BetaGrid.of("cauchy", epsilon=1.0)
    scale = [grid.scale(line_bound(values)(i)) for i in range(len(values))]
    cheap = ErrorBar.of(epsilon=Fraction(1, 10), beta=grid.points[0].beta)
    assert not prove(lambda i: cheap.law(scale[i]), range(len(values)), line_neighbours(values), 0.1).holds


def test_a_scale_on_its_own_lattice_is_refused():
    """The mutant: ⌈ln(scale)/τ⌉ with noise as for a sensitivity of one point less than it has."""
    bar = ErrorBar.of(epsilon=ONE, beta=0.25)
    apart = [Fraction(math.exp(0.25 * j)) for j in range(4)]

    def mutant(i):
        width = Fraction(bar.parts - 1) / bar.epsilon
        return DiscreteLaplaceNoise().law(bar.centre(apart[i]), width, ONE)

    assert prove(lambda i: bar.law(apart[i]), range(4), line_neighbours(apart), 1.0).holds
    assert not prove(mutant, range(4), line_neighbours(apart), 1.0).holds


@pytest.mark.parametrize("weight", [Fraction(1, 3), Fraction(3, 7), Fraction(5, 2)])
def test_a_change_of_weight_g_costs_g_times_the_share(weight):
    bar = ErrorBar.of(epsilon=Fraction(1, 2), beta=0.1, weights=[weight, Fraction(1, 2)])
    apart = [Fraction(math.exp(0.1 * float(weight) * j)) * Fraction(7, 3) for j in range(30)]
    proof = prove(lambda i: bar.law(apart[i]), range(30), line_neighbours(apart), 0.5 * float(weight))
    assert proof.holds, str(proof)


@pytest.mark.parametrize("noise", [("cauchy", 0.0), ("laplace", 1e-6)])
@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(3, 10), Fraction(7), Fraction(12345)])
@pytest.mark.parametrize("step", [ONE, Fraction(1, 100), Fraction(50)])
def test_radius_holds_with_the_stated_probability(noise, scale, step):
    """Exact: over all K of the bar's law, the mass of the answers within R(K), the mass within."""
    grid, bar = plan(1.0, noise[1], noise[0], Fraction(1, 10))
    law = bar.law(scale)
    first, last = law.window()
    exact = 40 * step
    answer = grid.noise.shape
    held = 0.0
    for k, mass in zip(range(first, last + 1), np.exp(law.log_masses(first, last)), strict=True):
        radius = bar.radius(k, answer, step=step)
        # released = the lattice point nearest to exact + scale·Z: within the radius iff |Z| is below half a step more
        reach = (radius + float(step) / 2) / float(scale)
        held += mass * (1 - 2 * math.exp(float(answer.log_tail(reach))))
    assert held >= 0.95 - 1e-9
    assert exact == 40 * step


@pytest.mark.parametrize("share", [Fraction(1, 20), Fraction(1, 10), Fraction(1, 2)])
def test_a_radius_two_per_cent_smaller_fails_too_often(share):
    """On a fine lattice, where rounding adds nothing, the stated probability is met closely from above."""
    grid, bar = plan(1.0, 0.0, "cauchy", share)
    shape, scale = grid.noise.shape, Fraction(5)
    law = bar.law(scale)
    first, last = law.window()
    masses = np.exp(law.log_masses(first, last))

    def held(factor):
        radii = np.array([bar.radius(k, shape, step=Fraction(1, 10**6)) for k in range(first, last + 1)])
        return masses @ (1 - 2 * np.exp(shape.log_tail(factor * radii / float(scale))))

    rounding_up = math.exp(-float(bar.spacing))  # of ln(scale) to its lattice
    assert held(1.0) >= 0.95 > held(0.98 * rounding_up)


@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(1, 3)])
def test_reach_is_what_independent_draws_give(share):
    """False-alarm rate below 1e-6 (five standard deviations); a reach a seventh smaller is found."""
    grid, bar = plan(1.0, 0.0, "cauchy", share)
    rng = np.random.default_rng(7)
    runs, rate = 400_000, float(1 / bar.width)
    noise = rng.geometric(1 - math.exp(-rate), runs) - rng.geometric(1 - math.exp(-rate), runs)
    size = grid.noise.shape.tail_quantile(rng.random(runs))
    allowed = 5 * math.sqrt(0.05 * 0.95 / runs)
    reach = bar.reach(grid.noise.shape)
    assert abs((size > reach * np.exp(float(bar.spacing) * noise)).mean() - 0.05) < allowed
    assert (size > 6 / 7 * reach * np.exp(float(bar.spacing) * noise)).mean() - 0.05 > allowed
