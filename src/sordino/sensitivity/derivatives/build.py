"""Building expressions: the same value in the form with the best bounds.

x·x becomes x², √(f² + g²) a length, sums are flattened and equal terms collected, powers of one `log` column are one
power. What has no smooth bound is refused here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from sordino.core import ParameterError
from sordino.sensitivity.derivatives.algebra import Arrays
from sordino.sensitivity.derivatives.column import LogColumn, LogPower
from sordino.sensitivity.derivatives.composition import Composition
from sordino.sensitivity.derivatives.constant import Number
from sordino.sensitivity.derivatives.extremes import Extreme
from sordino.sensitivity.derivatives.functions import Elementary, NaturalLogarithm, Power, Ramp
from sordino.sensitivity.derivatives.lengths import Length
from sordino.sensitivity.derivatives.node import CellFunction
from sordino.sensitivity.derivatives.product import Product
from sordino.sensitivity.derivatives.sum import WeightedSum

_SMALLEST_EXPONENT, _LARGEST_EXPONENT = 1e-3, 1e3


def add_terms(terms: Iterable[tuple[float, CellFunction]], constant: float = 0.0) -> CellFunction:
    """Σ k·f + constant."""
    collected: dict[CellFunction, float] = {}
    for factor, part in terms:
        if isinstance(part, Number):
            constant += factor * part.number
        elif isinstance(part, WeightedSum):
            constant += factor * part.constant
            for inner, below in part.terms:
                collected[below] = collected.get(below, 0.0) + factor * inner
        else:
            collected[part] = collected.get(part, 0.0) + factor
    found = tuple((factor, part) for part, factor in collected.items() if factor != 0)
    if not math.isfinite(constant) or not all(math.isfinite(factor) for factor, _ in found):
        raise ParameterError("a number in the expression is too large")
    if not found:
        return Number(constant)
    if len(found) == 1 and found[0][0] == 1 and constant == 0:
        return found[0][1]
    return WeightedSum(found, constant)


def multiply_factors(factors: Sequence[CellFunction]) -> CellFunction:
    """f₁·…·f_k."""
    constant, powers = 1.0, dict[CellFunction, float]()
    ahead = list(factors)
    while ahead:
        part = ahead.pop(0)
        if isinstance(part, Number):
            constant *= part.number
        elif isinstance(part, Product):
            ahead = [*part.factors, *ahead]
        elif isinstance(part, WeightedSum) and len(part.terms) == 1 and part.constant == 0:
            constant *= part.terms[0][0]
            ahead = [part.terms[0][1], *ahead]
        elif isinstance(part, LogPower):
            base = LogPower(part.name, part.bounds, 1.0)
            powers[base] = powers.get(base, 0.0) + part.exponent
        elif isinstance(part, Composition) and isinstance(part.function, Power):
            powers[part.inner] = powers.get(part.inner, 0.0) + part.function.exponent
        else:
            powers[part] = powers.get(part, 0.0) + 1.0
    if constant == 0:
        return Number(0.0)
    found = [
        part for base, exponent in powers.items() if not isinstance(part := raise_to(base, exponent), Number)
    ]
    if not found:
        return Number(constant)
    product = found[0] if len(found) == 1 else Product(tuple(found))
    return product if constant == 1 else add_terms([(constant, product)])


def raise_to(base: CellFunction, exponent: float) -> CellFunction:
    """f^s for a number s."""
    if exponent == 0:
        return Number(1.0)
    if exponent == 1:
        return base
    if not _SMALLEST_EXPONENT <= abs(exponent) <= _LARGEST_EXPONENT:
        raise ParameterError(f"an exponent must be between 0.001 and 1000 in size, got {exponent:g}")
    if isinstance(base, LogPower):
        return LogPower(base.name, base.bounds, base.exponent * exponent)
    if isinstance(base, WeightedSum) and len(base.terms) == 1 and base.constant == 0 and base.terms[0][0] > 0:
        factor, part = base.terms[0]
        return add_terms([(factor**exponent, raise_to(part, exponent))])
    if exponent == 0.5 and (parts := _squares(base)):
        return take_length(parts, 2.0)
    if isinstance(base, Product) and all(part.range.low > 0 for part in base.factors):
        return multiply_factors([raise_to(part, exponent) for part in base.factors])
    if isinstance(base, Composition) and isinstance(base.function, Power) and base.inner.range.low >= 0:
        return raise_to(base.inner, base.function.exponent * exponent)
    return apply(Power(exponent), base)


def apply(function: Elementary, inner: CellFunction) -> CellFunction:
    """φ(f), refused where φ has no smooth bounds on the range of f."""
    problem = function.refuse(inner.range)
    if problem is not None:
        shown = inner.range
        raise ParameterError(f"{problem}; here the range is [{shown.low:g}, {shown.high:g}]")
    if isinstance(inner, Number):
        return Number(float(function.value(Arrays(), inner.number)))
    if isinstance(function, Ramp) and (inner.range.high <= 0 or inner.range.low >= 1):
        return Number(0.0 if inner.range.high <= 0 else 1.0)
    if isinstance(function, NaturalLogarithm) and isinstance(inner, LogPower):
        return add_terms([(inner.exponent, LogColumn(inner.name, inner.bounds))])
    return Composition(function, inner)


def take_extreme(parts: Sequence[CellFunction], *, largest: bool) -> CellFunction:
    """min or max, without parts that can never be it."""
    choose = max if largest else min
    numbers = [part.number for part in parts if isinstance(part, Number)]
    found: list[CellFunction] = [part for part in dict.fromkeys(parts) if not isinstance(part, Number)]
    if numbers:
        found.append(Number(choose(numbers)))
    for part in list(found):
        others = [other.range for other in found if other is not part]
        if any(one.low >= part.range.high if largest else one.high <= part.range.low for one in others):
            found.remove(part)
    return found[0] if len(found) == 1 else Extreme(tuple(found), largest)


def take_length(parts: Sequence[CellFunction], exponent: float) -> CellFunction:
    """ℓ_p of functions; of one function its absolute value."""
    if len(parts) == 1:
        return take_absolute(parts[0])
    return Length(exponent, tuple(parts))


def take_absolute(part: CellFunction) -> CellFunction:
    """|f|."""
    if part.range.low >= 0:
        return part
    return add_terms([(-1.0, part)]) if part.range.high <= 0 else Length(1.0, (part,))


def _squares(base: CellFunction) -> list[CellFunction]:
    """f, g, … if the expression is f² + g² + …, else nothing."""
    terms = base.terms if isinstance(base, WeightedSum) else ((1.0, base),)
    if isinstance(base, WeightedSum) and base.constant != 0:
        return []
    roots = []
    for factor, part in terms:
        if factor <= 0 or not (isinstance(part, Composition) and part.function == Power(2.0)):
            return []
        roots.append(add_terms([(math.sqrt(factor), part.inner)]))
    return roots
