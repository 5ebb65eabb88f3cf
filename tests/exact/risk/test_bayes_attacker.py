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


@pytest.mark.parametrize(("goal", "order"), [("l2(x, y) within 4", 2), ("l1(x, y) within 4", 1)])
def test_nobody_gains_more_about_two_numbers_together(goal, order):
    """A square of points of weight 1/n each stands for two uniform priors; noise of density e^{-ε|·|} in the plane."""
    side = np.arange(0.25, 20, 0.5)
    prior = {"x": RangePrior.of([0, 20]), "y": RangePrior.of([0, 20])}
    # every point is within 0.25·2^(1/order) of all of its cell: a guess within 4 of a point is one within 5 of the cell
    found = advise_epsilon(goal.replace("4", "5"), prior, 0.2, norm=f"l{order}(x, y)").epsilon

    def gain(epsilon):
        points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        apart = np.linalg.norm(points[:, None] - points[None], ord=order, axis=-1)
        posterior = np.exp(-epsilon * apart)  # outputs at the points themselves
        posterior /= posterior.sum(axis=1, keepdims=True)
        near = (apart <= 4).astype(float)
        return float((posterior @ near.T - near.mean(axis=1)).max())

    assert gain(found) <= 0.2
    assert gain(12 * found) > 0.2  # the control: a bound by regions is not tight, so it takes much more


@pytest.mark.parametrize("prior", [RangePrior.of([0, 100]), RangePrior.of([0, 10, 50, 100], [0.2, 0.5, 0.3])])
def test_the_worst_release_of_all_gains_no_more_than_was_promised(prior):
    """Of all releases that are ε-private per unit of |x|, none raises the belief in an interval more than an output c
    of Laplace noise in it: inside no likelihood rises faster towards c, and outside none falls faster.
    Its integrals are elementary, so nothing is discretised but targets and outputs.
    """
    edges, weights = np.array(prior.edges), np.array(prior.weights)
    density = weights / np.diff(edges)

    def mass(low, high, c, epsilon):
        """∫ density·e^{-ε|z-c|} over [low, high]."""

        def primitive(z):
            return np.sign(z - c) * -np.expm1(-epsilon * np.abs(z - c)) / epsilon

        starts, ends = (np.clip(edges[part], low, high) for part in (slice(None, -1), slice(1, None)))
        return float(density @ (primitive(ends) - primitive(starts)))

    def gain(epsilon):
        return max(
            mass(x - 5, x + 5, c, epsilon) / mass(0, 100, c, epsilon) - prior.weight(x - 5, x + 5).item()
            for x in np.arange(0, 100.5, 1)
            for c in np.clip(np.arange(x - 5, x + 5.5, 1), 0, 100)
        )

    for advantage in (0.05, 0.3):
        found = advise_epsilon("x within 5", {"x": prior}, advantage, norm="x").epsilon
        assert gain(2 * found) <= advantage  # regions are not tight: there is room
        assert gain(8 * found) > advantage  # the control
