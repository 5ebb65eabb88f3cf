"""VAR and STDDEV, of a sample and of all rows: from the released count, sum and sum of squares of x minus a centre.

The centre is the middle of the public bounds of x, so the squares, and with them the noise, are as small as they can
be, and the squares of clipped values are the clipped squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from sordino.sql.aggregates.aggregate import Aggregate, Part
from sordino.sql.aggregates.count import count_where_there
from sordino.sql.aggregates.measure import Measure
from sordino.sql.aggregates.sum import read_sum
from sordino.sql.expressions import Expressions
from sordino.sql.known import Known, absolute, add, clip, divide, multiply, root, subtract

_MOST_PLACES = 15


def _read(node: exp.Expr, expressions: Expressions) -> tuple[Measure, ...]:
    plain = read_sum(node, expressions)
    centred = exp.Paren(this=node.this.copy())
    centre = (plain.low + plain.high) / 2
    if 10**_MOST_PLACES % centre.denominator:
        expressions.text.wrong(node, f"the middle of the bounds, {centre}, needs a decimal of {_MOST_PLACES} places; "
                               "declare bounds with fewer digits")  # fmt: skip
    if centre:
        centred = exp.Paren(this=exp.Sub(this=centred, expression=_literal(centre)))
    total = read_sum(exp.Sum(this=centred), expressions)
    squares = read_sum(exp.Sum(this=exp.Mul(this=centred.copy(), expression=centred.copy())), expressions)
    return (
        count_where_there(plain.value, f"COUNT({node.this.sql()})", expressions),
        replace(total, inner=True),
        replace(squares, low=Fraction(0), text=f"SUM of squares of {centred.this.sql()}", inner=True),
    )


def _literal(centre: Fraction) -> exp.Expr:
    places = next(n for n in range(_MOST_PLACES + 1) if 10**n % centre.denominator == 0)
    digits = str(abs(centre.numerator) * 10**places // centre.denominator).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    literal = exp.Literal.number(text)
    return exp.Paren(this=exp.Neg(this=literal)) if centre < 0 else literal


def _combine(parts: Sequence[Part], *, sample: bool) -> Known:
    """mean of squares - square of mean, times n/(n - 1) for a sample, moved to what a variance can be.

    NULL where the noisy count is not positive, or for a sample not above 1. All three radii hold at once with
    probability 95 %.
    """
    count, total, squares = parts
    low, high = total.measure.low, total.measure.high
    if count.number <= (1 if sample else 0):
        found = Known(None)
    else:
        mean = absolute(clip(divide(total.known, count.known), low, high))
        of_squares = clip(divide(squares.known, count.known), 0, squares.measure.high)
        found = subtract(of_squares, multiply(mean, mean))
    # Half of the rows at each end; for a sample of two rows that is doubled.
    largest = (high - low) ** 2 / 4
    found = clip(found, 0, largest)
    if sample:
        one = Known.exact(1)
        found = clip(multiply(found, add(one, divide(one, subtract(count.known, one)))), 0, 2 * largest)
    known = all(part.radius is not None for part in parts)
    return found if known else replace(found, span=None)


def _aggregate(name: str, node: type[exp.Expr], *, sample: bool, deviation: bool) -> Aggregate:
    def combine(parts: Sequence[Part]) -> Known:
        variance = _combine(parts, sample=sample)
        return root(variance) if deviation else variance

    return Aggregate(name, (node,), _read, combine=combine)


VARIANCES = (
    _aggregate("variance", exp.Variance, sample=True, deviation=False),
    _aggregate("var_pop", exp.VariancePop, sample=False, deviation=False),
    _aggregate("stddev", exp.Stddev, sample=True, deviation=True),
    _aggregate("stddev_samp", exp.StddevSamp, sample=True, deviation=True),
    _aggregate("stddev_pop", exp.StddevPop, sample=False, deviation=True),
)
