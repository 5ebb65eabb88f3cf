"""Flared Laplace noise: its loss by brute force over pairs of laws, and a hundredth less noise refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.audit import prove
from sordino.mechanisms.noise import FlaredLaplaceNoise, RoundedLaw, add_noise
from sordino.mechanisms.noise.registry import fit_noise
from sordino.sensitivity import SmoothBound
from tests.oracles import densities

FAR = np.geomspace(1e-4, 1e9, 3000)


def loss(core, power, shift, stretch):
    """max |ln of the ratio| of the law about 0 with scale 1 to that about ``shift`` with scale e^``stretch``."""
    law = densities.flared_laplace(core, power)
    edges = [0.0, shift, core, -core, shift + core * math.exp(stretch), shift - core * math.exp(stretch)]
    # where the narrow law is in its core and the wide one beyond it, the ratio peaks inside
    near = np.linspace(-4 * core - 4 * shift, 4 * core + 4 * shift, 20_001)
    places = np.concatenate([edges, near, FAR, -FAR, shift + FAR, shift - FAR])
    narrow = law.log_pdf(places)
    wide = law.log_pdf((places - shift) * math.exp(-stretch)) - stretch
    return float(np.abs(narrow - wide).max())


def worst(noise, shift, beta):
    return max(
        loss(noise.core, noise.power, part * shift, share * beta)
        for part in (0, 0.5, 1)
        for share in (0, 0.3, 0.6, 0.9, 1)
    )


@given(st.floats(0.01, 12), st.floats(0, 0.999), st.floats(0, 4), st.floats(0.5, 12))
@settings(max_examples=60, deadline=None)
def test_the_closed_form_is_the_supremum_over_all_pairs(epsilon, share, wider, flare):
    core = max(2.0, epsilon) + wider
    noise = FlaredLaplaceNoise(core, core + flare)
    beta = share * noise.largest_beta(epsilon, 0)
    alpha = noise.alpha(epsilon, 0, beta)
    assert worst(noise, alpha, beta) <= epsilon * (1 + 1e-9)
    if beta * (noise.power - 1) < 0.99 * epsilon:  # else the tails alone take all of ε, whatever α is
        assert worst(noise, 1.01 * alpha, beta) > epsilon


@given(st.floats(0.01, 12), st.floats(0, 0.999))
@settings(max_examples=60, deadline=None)
def test_the_path_calibration_bounds_the_rate(epsilon, share):
    noise = fit_noise("flared_laplace", "path", epsilon, 0.0, 0.0)
    beta = share * noise.largest_beta(epsilon, 0)
    alpha = noise.alpha(epsilon, 0, beta)
    z = np.concatenate([np.linspace(0, 3 * noise.core, 5001), FAR, [noise.core]])
    slope = np.where(z <= noise.core, 1.0, noise.power / (z + noise.power - noise.core))

    def rate(alpha):
        return float((alpha * slope + beta * np.abs(z * slope - 1)).max())

    assert rate(alpha) <= epsilon * (1 + 1e-12)
    assert rate(1.01 * alpha) > epsilon or (noise.power - 1) * beta > 0.99 * epsilon


def pairs(alpha, beta):
    """Two databases at the limits: the second's value is as far away, and its bound as much larger, as is allowed."""
    return {"narrow": (0, 1.0), "wide": (1, math.exp(beta)), "far": (1, 1.0)}


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("part", [0.3, 0.75, 0.99])
def test_drawn_laws_are_private_and_a_hundredth_less_noise_is_not(epsilon, part):
    noise = fit_noise("flared_laplace", "tight", epsilon, 0.0, 0.0)
    beta = part * noise.largest_beta(epsilon, 0)
    alpha = noise.alpha(epsilon, 0, beta)
    databases = pairs(alpha, beta)
    step = Fraction(1, 64)

    def law(less):
        def of(name):
            value, size = databases[name]
            return RoundedLaw(
                noise.shape, Fraction(value), Fraction(size * (1 - less)) / Fraction(alpha), step
            )

        return of

    def neighbours(name):
        return [other for other in databases if other != name]

    assert prove(law(0.0), list(databases), neighbours, epsilon).holds
    assert not prove(law(0.01), list(databases), neighbours, epsilon).holds


def test_the_mean_size_is_that_of_the_density():
    for core, power in ((2.0, 6.0), (5.0, 9.0)):
        law = densities.flared_laplace(core, power)
        grid = np.concatenate([np.linspace(0, 50, 500_001), np.geomspace(50, 1e7, 500_001)[1:]])
        mean = 2 * np.trapezoid(law.pdf(grid) * grid, grid)
        assert FlaredLaplaceNoise(core, power).shape.mean_size == pytest.approx(mean, rel=1e-6)


def test_slopes_and_differences_are_told_apart():
    local = SmoothBound(lambda beta: 1.0)
    slope = SmoothBound(lambda beta: 1.0, kind="derivative")
    asked = {"epsilon": 1.0, "noise": "flared_laplace", "beta": 0.15, "step": 1}
    narrow = add_noise(0, local, **asked).details.reveal()["noise_scale"]
    assert add_noise(0, slope, **asked).details.reveal()["noise_scale"] > narrow
