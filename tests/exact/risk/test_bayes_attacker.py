"""An attacker who knows the law of the release and computes exact posteriors gains no more than was promised."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from sordino.risk import NormalPrior, RangePrior, SetPrior, advise_epsilon

RELEASED = np.linspace(-400, 500, 1801)


def largest_gain(prior, points, radius, epsilon):
    """Over all targets and outputs: posterior minus prior of "within radius of the target", Laplace noise, exactly.

    The prior's weight of the cell around each point stands at the point.
    """
    half = (points[1] - points[0]) / 2
    weights = prior.weight(points - half, points + half)
    joint = np.log(weights) - epsilon * np.abs(RELEASED[:, None] - points)
    posterior = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    sums = np.concatenate([np.zeros((len(RELEASED), 1)), posterior.cumsum(axis=1)], axis=1)
    before = np.concatenate([[0.0], np.cumsum(weights)])
    first = np.searchsorted(points, points - radius - 1e-9)
    last = np.searchsorted(points, points + radius + 1e-9)
    return float(((sums[:, last] - sums[:, first]) - (before[last] - before[first])).max())


@pytest.mark.parametrize(
    "prior",
    [RangePrior.of([0, 100]), RangePrior.of([0, 10, 50, 100], [0.2, 0.5, 0.3]), NormalPrior.of(50, 144)],
)
@pytest.mark.parametrize("advantage", [0.05, 0.3])
def test_nobody_gains_more_than_was_promised(prior, advantage):
    found = advise_epsilon("x within 5", {"x": prior}, advantage, norm="x")
    # cells of 0.2 around the points: within 5 of a point is within 5.1 of everything in its cell
    points = np.arange(prior.low + 0.1, prior.high, 0.2)
    wide = advise_epsilon("x within 5.1", {"x": prior}, advantage, norm="x").epsilon
    assert largest_gain(prior, points, 5.0, min(found.epsilon, wide)) <= advantage + 0.005
    # the control: seven times the epsilon gains more than was promised
    assert largest_gain(prior, points, 5.0, 7 * found.epsilon) > advantage + 0.005


@pytest.mark.parametrize(("p", "advantage"), [(0.1, 0.3), (0.5, 0.2), (0.9, 0.05)])
def test_two_points_are_told_apart_exactly_as_far_as_was_promised(p, advantage):
    """Randomized response at the ε that was advised: the posterior of the target is its prior plus the advantage."""
    prior = {"flag": SetPrior.of(["yes", "no"], [p, 1 - p])}
    epsilon = advise_epsilon("is(flag)", prior, advantage, where={"flag": "yes"}).epsilon
    truth = np.exp(epsilon) / (1 + np.exp(epsilon))
    believed = p * truth / (p * truth + (1 - p) * (1 - truth))
    denied = (1 - p) * truth / ((1 - p) * truth + p * (1 - truth))
    gains = believed - p, denied - (1 - p)
    assert max(gains) == pytest.approx(advantage, abs=1e-9)
