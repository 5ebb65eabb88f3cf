"""Exact draws of continuous noise rounded to a public lattice.

The index k of the multiple of ``step`` nearest to X = centre + scale·Z is drawn with exactly the probability
that X has of lying in [(k - ½)·step, (k + ½)·step). |Z| is the z with P(|Z| > z) = V for a uniform V
of which only some bits are known; a floating-point guess of k is accepted only when ball arithmetic proves
that every V with those bits lies between the tails at the two edges of the bin. Otherwise more bits of V and
more precision are taken. So rounding errors cost time and never change the law.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from sordino.core.errors import ParameterError
from sordino.core.parameters import whole
from sordino.sampling.refined_uniform import FIRST_BITS, RefinedUniform, precision
from sordino.sampling.shapes.laplace_log_normal import LaplaceLogNormal
from sordino.sampling.shapes.shape import Shape
from sordino.sampling.source import random_bytes, random_words

_GUARD_BITS = 64
_SAFE_GUESS = 2.0**62


def draw_on_lattice(shape: Shape, centre: Fraction, scale: Fraction, step: Fraction) -> int:
    """The index of the lattice point nearest to centre + scale·Z, one draw, exact in law."""
    return int(_draw(shape, centre, scale, step, 1)[0])


def draw_many_on_lattice(
    shape: Shape, centre: Fraction, scale: Fraction, step: Fraction, size: int
) -> NDArray[np.int64] | list[int]:
    """``size`` independent draws; an int64 array, or a list of Python integers where one does not fit into it."""
    indices = _draw(shape, centre, scale, step, whole("size", size, least=0))
    try:
        return np.array(indices, dtype=np.int64)
    except OverflowError:
        return indices


def _draw(shape: Shape, centre: Fraction, scale: Fraction, step: Fraction, size: int) -> list[int]:
    if scale <= 0:
        raise ParameterError(f"scale must be > 0, got {scale}")
    if step <= 0:
        raise ParameterError(f"step must be > 0, got {step}")
    if isinstance(shape, LaplaceLogNormal):
        return [_composed_draw(shape, centre / step, scale / step) for _ in range(size)]
    negative = _signs(size) if shape.symmetric else np.zeros(size, dtype=bool)
    words = random_words(size, np.uint64)
    up, down = _Grid(shape, centre / step, scale / step), _Grid(shape, -centre / step, scale / step)
    offset = shape.tail_quantile((words + 0.5) * 2.0**-64)
    indices = []
    for word, minus, z in zip(words.tolist(), negative.tolist(), offset.tolist(), strict=True):
        grid = down if minus else up
        index = grid.locate(RefinedUniform(word, FIRST_BITS), z)
        indices.append(-index if minus else index)
    return indices


def _signs(size: int) -> NDArray[Any]:
    packed = np.frombuffer(random_bytes((size + 7) // 8), dtype=np.uint8)
    return np.unpackbits(packed)[:size].astype(bool)


class _Grid:
    """The bins of c + r|Z| on the integers, c = centre/step and r = scale/step, and the tails at their edges."""

    __slots__ = (
        "centre_denominator",
        "centre_numerator",
        "fraction",
        "nearest",
        "ratio",
        "shape",
        "tails",
        "unit",
    )

    def __init__(self, shape: Shape, centre: Fraction, ratio: Fraction) -> None:
        self.shape = shape
        self.ratio = _float(ratio)
        self.nearest = round(centre)
        self.fraction = float(centre - self.nearest)
        # the edge k - ½ lies at z = ((2k - 1)·cd - 2·cn)·rd / (2·cd·rn), with c = cn/cd and r = rn/rd
        self.centre_numerator = 2 * centre.numerator * ratio.denominator
        self.centre_denominator = centre.denominator * ratio.denominator
        self.unit = 2 * centre.denominator * ratio.numerator
        self.tails: dict[int, arb] = {}

    def locate(self, uniform: RefinedUniform, z: float) -> int:
        """The bin of the z with tail V, starting from a float near that z."""
        offset = self.fraction + self.ratio * z
        guess = self.nearest + (round(offset) if offset < _SAFE_GUESS else _large(offset))
        known = self._compare(uniform, guess)
        if known == 0:
            return guess
        while known is None:
            uniform.refine()
            known = self._compare(uniform, guess)
        if known == 0:
            return guess
        return self._search(uniform, guess, known)

    def _search(self, uniform: RefinedUniform, guess: int, direction: int) -> int:
        """Doubling steps away from a guess that is proved wrong, then bisection."""
        inner, stride = guess, 1
        while True:
            outer = guess + direction * stride
            known = self._settle(uniform, outer)
            if known == 0:
                return outer
            if known != direction:
                break
            inner, stride = outer, 2 * stride
        while True:
            middle = (inner + outer) // 2
            known = self._settle(uniform, middle)
            if known == 0:
                return middle
            if known == direction:
                inner = middle
            else:
                outer = middle

    def _settle(self, uniform: RefinedUniform, index: int) -> int:
        known = self._compare(uniform, index)
        while known is None:
            uniform.refine()
            known = self._compare(uniform, index)
        return known

    def _compare(self, uniform: RefinedUniform, index: int) -> int | None:
        """0: V certainly in the bin; 1: in a bin above; -1: below; None: not yet decided."""
        bits, numerator = uniform.bits, uniform.numerator
        with precision(bits + _GUARD_BITS):
            denominator = arb(1 << bits)
            lower_edge = self._tail(index, bits) * denominator
            if lower_edge < numerator:
                return -1
            upper_edge = self._tail(index + 1, bits) * denominator
            if upper_edge > numerator + 1:
                return 1
            return 0 if lower_edge > numerator + 1 and upper_edge < numerator else None

    def _tail(self, index: int, bits: int) -> arb:
        """P(|Z| > z) at the lower edge of bin ``index``; 2 where that edge is at or below z = 0."""
        position = (2 * index - 1) * self.centre_denominator - self.centre_numerator
        if position <= 0:
            return arb(2)
        if bits > FIRST_BITS:
            return self.shape.ball_tail(arb(position) / self.unit)
        tail = self.tails.get(index)
        if tail is None:
            tail = self.tails[index] = self.shape.ball_tail(arb(position) / self.unit)
        return tail


def _float(ratio: Fraction) -> float:
    try:
        return float(ratio)
    except OverflowError:
        return float("inf")


def _large(offset: float) -> int:
    return int(offset) if offset < float("inf") else 1 << 1024


def _composed_draw(shape: LaplaceLogNormal, centre: Fraction, ratio: Fraction) -> int:
    """Round c ± r·E·e^{σN} with E = -ln V₁ and N = ±√2·erfc⁻¹(V₂): refine V₁ and V₂ until one integer is left."""
    signs = random_bytes(1)[0]
    exponential, normal = RefinedUniform(), RefinedUniform()
    while True:
        with precision(exponential.bits + _GUARD_BITS):
            magnitude = -_ball(exponential).log()
            deviate = arb(2).sqrt() * _ball(normal).erfcinv()
            if signs & 1:
                deviate = -deviate
            distance = _rational(ratio) * magnitude * (arb(shape.sigma) * deviate).exp()
            place = _rational(centre) + (-distance if signs & 2 else distance)
            index = (place + arb(0.5)).floor().unique_fmpz()
        if index is not None:
            return int(index)
        exponential.refine()
        normal.refine()


def _ball(uniform: RefinedUniform) -> arb:
    """All values that the uniform may still take, as one ball."""
    unit = arb(1) / (1 << (uniform.bits + 1))
    return arb(2 * uniform.numerator + 1) * unit + arb(0, unit)


def _rational(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
