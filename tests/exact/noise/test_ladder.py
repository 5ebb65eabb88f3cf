"""Ladders on the pair that costs most: a value that moves by its sensitivity while all rungs widen by e^β."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.audit import prove
from sordino.mechanisms.noise import ladder_law
from sordino.mechanisms.noise.rungs import LadderLaw, Rungs
from sordino.sensitivity import Profile

WIDTH, STEEP = 400, 60


def law_of(epsilon):
    """x has the widths W·e^(βt), and its neighbour those of x one rung further out."""
    growth = epsilon / 8 * (1 - 1e-9)

    def law(nearer):
        def widths(t):
            return np.ceil(WIDTH * np.exp(growth * np.minimum(t + nearer, STEEP)))

        profile = Profile.from_function(widths, bound=float(widths(STEEP)))
        return ladder_law(WIDTH * nearer, profile, epsilon=epsilon)

    return law


def with_less_noise(law, part):
    """The mutant: the same rungs at a rate that is larger by a part of itself."""

    def mutant(x):
        right = law(x)
        rungs = right.rungs
        rate = rungs.rate * (1 + Fraction(part))
        faster = Rungs(np.diff(rungs.ends).tolist(), rungs.top, rate, cells=rungs.cells)
        return LadderLaw(right.value, faster, right.multiple)

    return mutant


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_smooth_ladder_spends_all_of_epsilon_and_a_hundredth_less_noise_is_refused(epsilon):
    law = law_of(epsilon)

    def neighbours(x):
        return [1 - x]

    proof = prove(law, [0, 1], neighbours, epsilon)
    assert proof.holds
    assert proof.worst_epsilon > 0.995 * epsilon
    assert not prove(with_less_noise(law, 0.01), [0, 1], neighbours, epsilon).holds
    assert math.isclose(float(law(0).rungs.rate), 7 / 8 * epsilon)
