"""Laplace noise in floating point: the sum's last bits show the true value."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.audit.attack import Attack, attack
from sordino.audit.prove import Proof, prove
from sordino.audit.zoo.lattice_laws import DiscreteLaplace
from sordino.audit.zoo.specimen import Specimen
from sordino.sampling.source import random_words

Floats = NDArray[np.float64]

_EPSILON = 1.0
_BITS = 11


def _half_precision(value: int) -> dict[float, float]:
    """The exact law of value ± ln u in half precision, over every uniform u of 11 bits."""
    uniform = np.arange(1, (1 << _BITS) + 1, dtype=np.float64) / (1 << _BITS)
    noise = -np.log(uniform).astype(np.float16)
    sums = np.concatenate([np.float16(value) + noise, np.float16(value) - noise])
    outputs, counts = np.unique(sums.astype(np.float64), return_counts=True)
    return dict(zip(outputs.tolist(), (counts / len(sums)).tolist(), strict=True))


def _enumerated(law: Callable[[int], Any]) -> Proof:
    return prove(law, (0, 1), lambda value: (1 - value,), _EPSILON)


FLOATING_POINT_SUPPORT = Specimen(
    name="floating-point Laplace, enumerated",
    claim="value ± ln u computed in (half-precision) floating point is ε-DP",
    flaw="the sums reachable from one value are full of holes, and the holes of two values differ",
    source="Mironov 2012, Section 4",
    refute=lambda: _enumerated(_half_precision),
    repaired=lambda: _enumerated(lambda value: DiscreteLaplace(64 * value, 64 / _EPSILON, Fraction(1, 64))),
)


def _uniform(size: int) -> Floats:
    """Uniform in (0, 1], 53 bits."""
    words = random_words(size, np.uint64) >> np.uint64(11)
    uniform: Floats = (words.astype(np.float64) + 1) * 2.0**-53
    return uniform


def _naive(value: float, size: int) -> Floats:
    sign = 1.0 - 2.0 * (random_words(size, np.uint8) & 1).astype(np.float64)
    noisy: Floats = value - sign * np.log(_uniform(size)) / _EPSILON
    return noisy


def _on_lattice(value: float, size: int) -> Floats:
    """Discrete Laplace noise on multiples of 1/64, as the difference of two geometric draws."""
    rate = _EPSILON / 64
    up, down = (np.floor(-np.log(_uniform(size)) / rate) for _ in range(2))
    noisy: Floats = value + (up - down) / 64
    return noisy


def _attacked(mechanism: Callable[[float, int], Floats]) -> Attack:
    return attack(mechanism, 0.0, 1.0, runs=20_000, epsilon=_EPSILON, vectorised=True)


FLOATING_POINT_ATTACK = Specimen(
    name="floating-point Laplace, attacked",
    claim="value + Laplace noise in double precision is ε-DP",
    flaw="0 + noise keeps bits that 1 + noise must round away: the lowest set bit gives the value away",
    source="Mironov 2012",
    refute=lambda: _attacked(_naive),
    repaired=lambda: _attacked(_on_lattice),
)
