"""P_Y, P_C and P_P of a noisy count, by adaptive quadrature of their definitions."""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad


def laplace(y, z, epsilon):
    return epsilon / 2 * np.exp(-epsilon * np.abs(y - z))


def given_output(belief, membership, y, epsilon):
    z = np.arange(len(belief))
    likelihood = laplace(y, z, epsilon) * belief
    return float(likelihood @ membership / likelihood.sum())


def given_count(belief, membership, c, epsilon):
    """Between the counts the integrand is smooth; beyond them the posterior is constant."""
    last = len(belief) - 1
    total = 0.0
    for k in range(last):
        total += quad(
            lambda y: given_output(belief, membership, y, epsilon) * laplace(y, c, epsilon),
            k,
            k + 1,
            epsabs=1e-13,
        )[0]
    below, above = np.exp(-epsilon * c) / 2, np.exp(-epsilon * (last - c)) / 2
    return (
        total
        + below * given_output(belief, membership, -1, epsilon)
        + above * given_output(belief, membership, last + 1, epsilon)
    )


def expected(belief, reality, membership, epsilon):
    prior = float(membership @ reality)
    return sum(
        given_count(belief, membership, c, epsilon) * membership[c] * reality[c] / prior
        for c in range(len(belief))
    )
