"""Series: shares of a budget that forget a level, and a revealed scale that forgets how far a derivative reaches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.specimen import Specimen

Floats = NDArray[np.float64]
Stream = tuple[int, ...]

_EPSILON = 1.0
_HORIZON = 4  # 2²: three levels of blocks, log₂ 4 = 2


def _below_zero(rate: float, centre: int) -> float:
    """P(centre + discrete Laplace noise < 0) for a centre ≥ 0: where two such laws differ most."""
    return math.exp(-rate * (centre + 1)) / (1 + math.exp(-rate))


def _tree(levels: int) -> Proof:
    """The signs of the noisy sums of a binary tree over four times, each with a share of 1/levels."""
    blocks = [(1, 1), (3, 3), (1, 2), (1, 4)]

    def law(stream: Stream) -> Floats:
        joint = np.ones(1)
        for first, last in blocks:
            chance = _below_zero(_EPSILON / levels, sum(stream[first - 1 : last]))
            joint = np.concatenate([joint * chance, joint * (1 - chance)])
        return joint

    def change_one(stream: Stream) -> Iterator[Stream]:
        for place in range(_HORIZON):
            yield (*stream[:place], 1 - stream[place], *stream[place + 1 :])

    return prove(law, list(product((0, 1), repeat=_HORIZON)), change_one, _EPSILON)


LOGARITHM_OF_LEVELS = Specimen(
    name="tree with log₂ n levels",
    claim="a binary tree over n = 2ˢ changes releases blocks with ε/s each and is ε-DP",
    flaw="the first change is in s + 1 released blocks: lengths 1, 2, …, 2ˢ; shares must be ε/(s + 1)",
    source="NAPLES report, Section 3.3.12.3; also wherever log₂ n is printed for the levels of a tree",
    refute=lambda: _tree(2),
    repaired=lambda: _tree(3),
)

# ---- a revealed scale and a derivative bound -----------------------------------------------------------------

_BETA, _SLACK = 5.0, 1.0
_GRID = 64  # points of ln λ per β


def _revealed(*, stretched: bool) -> Proof:
    """Two databases at distance 1 whose derivative bound grows by e^β, so that the value moves by (e^β − 1)/β.

    Outcomes: the scale, and whether the number lies beyond the point where the two densities have the ratio that is
    still allowed; that point is a public function of the scale.
    """
    cost = _SLACK * _BETA
    share = -cost / 2 + math.sqrt(cost * cost / 4 + _EPSILON * cost)
    left = _EPSILON - share
    stretch = math.expm1(_BETA) / _BETA
    reach = 40 * _GRID
    rate = share / _GRID
    places = np.arange(-reach, reach + _GRID + 1)
    lift = math.ceil(_SLACK / rate)
    factor = stretch if stretched else 1.0
    scales = factor / left * np.exp((places + lift) * _BETA / _GRID)
    moved = stretch  # of the value, from 0 to this

    def mass(database: int) -> Floats:
        law: Floats = np.exp(-rate * np.abs(places - database * _GRID)) * np.tanh(rate / 2)
        law[0] += 1 - law.sum() if law.sum() < 1 else 0.0
        return law

    ratio = np.log(mass(1)) - np.log(mass(0)) - _EPSILON
    threshold = (moved + scales * np.clip(-ratio, -moved / scales, moved / scales)) / 2

    def law(database: int) -> Floats:
        apart = (threshold - database * moved) / scales
        beyond = np.where(apart > 0, np.exp(-np.abs(apart)) / 2, 1 - np.exp(-np.abs(apart)) / 2)
        here = mass(database)
        return np.concatenate([here * beyond, here * (1 - beyond)])

    return prove(law, (0, 1), lambda database: (1 - database,), _EPSILON, math.exp(-_SLACK) / 2)


DERIVATIVE_SCALE_REVEALED = Specimen(
    name="revealed scale of a derivative bound",
    claim="λ = (c/b)·e^{nk + Lap(k)} and then Laplace noise of scale λ are (ε, e⁻ⁿ/2)-DP for derivative bounds c too",
    flaw="between neighbours a derivative bound lets the value move by c·(e^β − 1)/β, not by c: at β = 5 δ is exceeded",
    source="NAPLES report, Section 3.3.12.1, the mechanism that reveals the noise level",
    refute=lambda: _revealed(stretched=False),
    repaired=lambda: _revealed(stretched=True),
)
