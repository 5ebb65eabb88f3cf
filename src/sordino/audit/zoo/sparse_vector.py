"""The sparse vector's wrong variants: what it prints, how often it answers, and what that was charged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.lattice_laws import tabulate_discrete_laplace
from sordino.audit.zoo.specimen import Specimen

Floats = NDArray[np.float64]
Blocks = tuple[int, int]  # the answer to each question of a first block, and of a second one

_EPSILON = 1.0
_REACH = 120  # of thresholds; answers with noise reach twice as far
_LOW, _HIGH = -3, 2  # answers; the threshold is 0 before its noise
_THRESHOLDS = np.arange(-_REACH, _REACH + 1)


def _unit_changes(blocks: Blocks) -> Iterator[Blocks]:
    for first, second in product((-1, 0, 1), repeat=2):
        moved = (blocks[0] + first, blocks[1] + second)
        if all(_LOW <= answer <= _HIGH for answer in moved):
            yield moved


def _prove(law: Any) -> Proof:
    universe = product(range(_LOW, _HIGH + 1), repeat=2)
    return prove(law, universe, _unit_changes, _EPSILON, partial=True)


def _answer_noise(answer: int, rate: float) -> Floats:
    return tabulate_discrete_laplace(1 / rate, answer, -2 * _REACH, 2 * _REACH)


def _below(answer: int, rate: float) -> Floats:
    """P(answer + noise < threshold), for every threshold."""
    return np.concatenate([[0.0], np.cumsum(_answer_noise(answer, rate))])[_THRESHOLDS + 2 * _REACH]


def _compared(threshold_rate: float, query_rate: float, sizes: tuple[int, int], positives: int) -> Proof:
    """The pattern of answers below and above one noisy threshold, until so many were above."""

    def law(blocks: Blocks) -> dict[tuple[bool, ...], float]:
        answers = [blocks[0]] * sizes[0] + [blocks[1]] * sizes[1]
        below = {answer: np.minimum(_below(answer, query_rate), 1.0) for answer in set(answers)}
        patterns: dict[tuple[bool, ...], Floats] = {
            (): tabulate_discrete_laplace(1 / threshold_rate, 0, -_REACH, _REACH)
        }
        done: dict[tuple[bool, ...], float] = {}
        for answer in answers:
            further: dict[tuple[bool, ...], Floats] = {}
            for pattern, still in patterns.items():
                further[(*pattern, False)] = still * below[answer]
                above = still * (1 - below[answer])
                if sum(pattern) + 1 < positives:
                    further[(*pattern, True)] = above
                else:
                    done[(*pattern, True)] = float(above.sum())
            patterns = further
        return done | {pattern: float(still.sum()) for pattern, still in patterns.items()}

    return _prove(law)


def _printed(*, value: bool) -> Proof:
    """Where the first answer above the threshold is, and with ``value`` the noisy answer itself."""
    questions, rate = 6, _EPSILON / 4

    def law(blocks: Blocks) -> dict[tuple[int, int], float]:
        still = tabulate_discrete_laplace(2 / _EPSILON, 0, -_REACH, _REACH)
        shown: dict[tuple[int, int], float] = {}
        for place, answer in enumerate([blocks[0]] * questions + [blocks[1]]):
            noise = _answer_noise(answer, rate)
            # thresholds up to a printed value v: all of them from the reach on
            up_to = np.cumsum(still)[
                np.clip(np.arange(-2 * _REACH, 2 * _REACH + 1), -_REACH - 1, _REACH) + _REACH
            ]
            up_to[:_REACH] = 0.0
            joint = noise * up_to
            if value:
                shown |= {(place, k): float(mass) for k, mass in enumerate(joint)}
            else:
                shown[(place, 0)] = float(joint.sum())
            still = still * np.minimum(_below(answer, rate), 1.0)
        shown[(-1, 0)] = float(still.sum())
        return shown

    return _prove(law)


SPARSE_VECTOR_PRINTS_ANSWERS = Specimen(
    name="sparse vector that prints the noisy answer",
    claim="the answer that was found above the threshold may be printed with the noise it was compared with",
    flaw="a low number says that the threshold was lower still, and so speaks for every answer found below it",
    source="Lyu, Su, Li 2017, Algorithm 3",
    refute=lambda: _printed(value=True),
    repaired=lambda: _printed(value=False),
)

SPARSE_VECTOR_UNSCALED = Specimen(
    name="sparse vector with noise for one direction",
    claim="a quarter of ε for the threshold and three quarters for each answer's noise make ε",
    flaw="answers that move both ways cost twice that, and every further one above costs it again: (1 + 6c)/4 times ε",
    source="Lyu, Su, Li 2017, Algorithm 4",
    refute=lambda: _compared(_EPSILON / 4, 3 * _EPSILON / 4, (4, 1), 1),
    repaired=lambda: _compared(_EPSILON / 4, 3 * _EPSILON / 8, (4, 1), 1),
)

SPARSE_VECTOR_NEVER_STOPS = Specimen(
    name="sparse vector that never stops",
    claim="noise on the threshold and on the answers pays for any number of comparisons",
    flaw="only answers on one side of the threshold are free; each of the other side costs like a count",
    source="Lyu, Su, Li 2017, Algorithm 6",
    refute=lambda: _compared(_EPSILON / 2, _EPSILON / 2, (3, 3), 6),
    repaired=lambda: _compared(_EPSILON / 2, _EPSILON / 4, (3, 3), 1),
)
