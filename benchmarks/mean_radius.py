"""How far a noise is off on average."""

from __future__ import annotations

import math

from scipy import integrate

from sordino.sampling.shapes import Shape


def mean_radius(shape: Shape) -> float:
    """E|Z| = ∫ P(|Z| > z) dz of a symmetric shape."""

    def tail(z: float) -> float:
        return 2 * math.exp(float(shape.log_tail(z)))

    return float(integrate.quad(tail, 0, math.inf, limit=400)[0])
