"""The law of the argmax of scores with independent continuous noise, by quadrature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.core import SordinoError
from sordino.sampling.shapes import Shape

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_MASS_TOLERANCE = 1e-9
_MOST_KINKS = 512
_CHUNK_CELLS = 1 << 22


def log_law(shape: Shape, offsets: Floats) -> Floats:
    """ln P(r wins) for scores ``offsets`` in units of the noise scale.

    P(r) = ∫ f(t − c_r) Π_{s≠r} F(t − c_s) dt. Candidates with equal scores share one integral; panels end at the
    scores, where a density may have a kink, and grow geometrically away from them. Every P(r) is integrated by
    itself, so that their sum checks the quadrature; panels are halved until it is 1 within 10⁻⁹.
    """
    distinct, inverse, counts = np.unique(offsets - offsets.max(), return_inverse=True, return_counts=True)
    for halvings in range(4):
        shares = _integrated(shape, distinct, counts, _panels(shape, distinct, len(offsets), halvings))
        mass = float(counts @ np.exp(shares))
        if abs(mass - 1) <= _MASS_TOLERANCE:
            break
    else:
        raise SordinoError(f"the law could not be integrated: its mass is {mass!r} after refinement")
    result: Floats = (shares - np.log(mass))[inverse]
    return result


def _panels(shape: Shape, distinct: Floats, candidates: int, halvings: int) -> Floats:
    """Edges from where the maximum cannot be lower to where nothing matters any more."""
    reach = float(shape.tail_quantile(1e-18 / candidates))
    # the maximum lies below the top's own noise with probability 1e-18 at most
    lowest = -reach if shape.symmetric else 0.0
    kinks = distinct[distinct > lowest][-_MOST_KINKS:]
    growth = np.concatenate([[0.0], 2.0 ** np.arange(-5, max(-4, np.ceil(np.log2(reach)) + 1))])
    edges = [kinks, growth]
    if shape.symmetric:
        edges += [-growth, distinct[-1] + np.linspace(-8, 8, 65)]
    merged = np.unique(np.concatenate(edges))
    merged = np.append(merged[(merged >= lowest) & (merged < reach)], reach)
    for _ in range(halvings):
        merged = np.unique(np.concatenate([merged, (merged[1:] + merged[:-1]) / 2]))
    return merged


def _integrated(shape: Shape, distinct: Floats, counts: NDArray[np.intp], edges: Floats) -> Floats:
    """ln P of one candidate of each distinct score."""
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    nodes = (middle[:, None] + half[:, None] * _NODES).ravel()
    log_weights = np.log((half[:, None] * _WEIGHTS).ravel())
    total = np.full(len(distinct), -np.inf)
    chunk = max(1, _CHUNK_CELLS // len(distinct))
    for start in range(0, len(nodes), chunk):
        t = nodes[start : start + chunk]
        gaps = t[None, :] - distinct[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            log_cdf = np.log1p(-np.exp(shape.log_tail(gaps)))
            product = counts @ np.where(np.isneginf(log_cdf), -1e300, log_cdf)
            others = product[None, :] - np.maximum(log_cdf, -1e300)
            terms = shape.log_pdf(gaps) + others + log_weights[start : start + chunk]
            terms = np.where(np.isnan(terms), -np.inf, terms)
            peak = np.maximum(terms.max(axis=1), -1e300)
            part = peak + np.log(np.exp(terms - peak[:, None]).sum(axis=1))
        total = np.logaddexp(total, part)
    return total
