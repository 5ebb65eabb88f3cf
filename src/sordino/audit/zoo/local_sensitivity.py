"""Noise scaled to the local sensitivity: the scale itself tells databases apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.lattice_laws import DiscreteLaplace
from sordino.audit.zoo.specimen import Specimen

_TOP = 6
_ROWS = 3
_EPSILON = 1.0

_Values = tuple[int, ...]


def _replace(values: _Values) -> Iterator[_Values]:
    for row in range(_ROWS):
        for new in range(_TOP + 1):
            yield tuple(sorted((*values[:row], new, *values[row + 1 :])))


def _local_scale(values: _Values) -> float:
    low, middle, high = values
    return max(middle - low, high - middle) / _EPSILON


def _check(scale: object) -> Proof:
    universe = combinations_with_replacement(range(_TOP + 1), _ROWS)
    if scale == "local":
        return prove(lambda x: DiscreteLaplace(x[1], _local_scale(x)), universe, _replace, _EPSILON)
    return prove(lambda x: DiscreteLaplace(x[1], _TOP / _EPSILON), universe, _replace, _EPSILON)


LOCAL_SENSITIVITY_MEDIAN = Specimen(
    name="median with local-sensitivity noise",
    claim="discrete Laplace noise of scale LS(x)/ε on the median is ε-DP under replace",
    flaw="neighbours have different scales, down to no noise at all",
    source="Nissim, Raskhodnikova, Smith 2007, Section 1",
    refute=lambda: _check("local"),
    repaired=lambda: _check("global"),
)
