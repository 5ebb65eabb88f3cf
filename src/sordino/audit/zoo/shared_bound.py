"""Groups that share one bound while each of them is charged nothing for it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.lattice_laws import RoundedStudent
from sordino.audit.zoo.specimen import Specimen
from sordino.audit.zoo.universes import Counts

Floats = NDArray[np.float64]

_EPSILON = 1.0
_DEGREES = 3  # ν of the Student-t noise
_BETA = _EPSILON / 8
_GROUPS, _MOST = 3, 2  # databases: up to two rows in each of three groups
_STEP = Fraction(4)
_LAST = 12  # outcomes beyond are reported by their sign alone


def _add_or_remove(rows: Counts) -> Iterator[Counts]:
    for place, change in product(range(len(rows)), (-1, 1)):
        moved = rows[place] + change
        if 0 <= moved <= _MOST:
            yield (*rows[:place], moved, *rows[place + 1 :])


def _grouped(*, shared: bool) -> Proof:
    """Each group's number is its rows, its smooth bound e^{β·rows}; noise that is ε-DP for one group by itself."""
    half = (2 * _EPSILON - _BETA * (_DEGREES - 1)) / (_DEGREES + 1)
    alpha = math.sqrt(_DEGREES * (half**2 - _BETA**2))

    def one(rows: int, widest: int) -> Floats:
        scale = math.exp(_BETA * (widest if shared else rows)) / alpha
        inside = np.exp(RoundedStudent(float(rows), scale, _STEP).log_masses(-_LAST, _LAST))
        edge = (_LAST + 0.5) * float(_STEP)
        return np.array(
            [stdtr(_DEGREES, (-edge - rows) / scale), *inside, stdtr(_DEGREES, (rows - edge) / scale)]
        )

    def law(rows: Counts) -> Floats:
        joint = np.ones(1)
        for group in rows:
            joint = np.outer(joint, one(group, max(rows))).ravel()
        return joint

    return prove(law, product(range(_MOST + 1), repeat=_GROUPS), _add_or_remove, _EPSILON)


BOUND_SHARED_BY_GROUPS = Specimen(
    name="a bound shared by groups",
    claim="numbers of disjoint groups, each with noise by the largest smooth bound of all groups, are ε-DP together",
    flaw="one row changes one group's number but every group's scale: parallel composition needs a bound per group",
    source="GROUP BY answered with one analysis for all groups",
    refute=lambda: _grouped(shared=True),
    repaired=lambda: _grouped(shared=False),
)
