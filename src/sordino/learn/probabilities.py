"""Class probabilities of every node, from released counts alone (post-processing: it costs nothing)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# What a parent's distribution weighs at least, in rows: where ε is so large that there is no noise left, a leaf
# without rows still says what its parent says, and one that is pure is not quite certain.
LEAST_WEIGHT = 0.5


def from_counts(parents: NDArray[np.int32], counts: Floats, variances: Floats, prior: Floats) -> Floats:
    """A distribution over classes for every node; nodes come after their parents, the root has parent −1.

    The counts of an inner node are the sum of its children's, and so is the variance of their noise. From the root
    down, every node then mixes its own counts with its parent's distribution, which weighs as much as one standard
    deviation of the noise: where the noise drowns a node, it says what its parent says, and the root the prior.
    """
    totals, noise = counts.copy(), variances.copy()
    for node in range(len(parents) - 1, 0, -1):
        totals[parents[node]] += totals[node]
        noise[parents[node]] += noise[node]
    totals = np.maximum(totals, 0.0)
    weights = np.maximum(np.sqrt(noise), LEAST_WEIGHT)
    result = np.empty_like(totals)
    for node in range(len(parents)):
        above = prior if node == 0 else result[parents[node]]
        result[node] = (totals[node] + weights[node] * above) / (totals[node].sum() + weights[node])
    return result


def from_labels(parents: NDArray[np.int32], labels: NDArray[np.int32], classes: int) -> Floats:
    """The released label of every leaf as a certainty; an inner node is the mean of its children."""
    result = np.zeros((len(parents), classes))
    leaves = np.flatnonzero(labels >= 0)
    result[leaves, labels[leaves]] = 1.0
    for node in range(len(parents) - 1, 0, -1):
        result[parents[node]] += result[node]
    result /= result.sum(axis=1, keepdims=True)
    return result
