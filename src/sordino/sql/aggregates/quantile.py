"""MIN, MAX, MEDIAN and quantiles in all their spellings: values of a public lattice near a rank.

PERCENTILE_CONT, PERCENTILE_DISC and the like are one question here: a point of the lattice whose rank is near q times
the number of rows. The lattice is as fine as the policy says, and nothing is interpolated between its points.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NoReturn

from sqlglot import exp

from sordino.sql.aggregates.aggregate import Aggregate, Part, read_argument, take_first
from sordino.sql.aggregates.lattice import read_lattice
from sordino.sql.aggregates.ranked import RankedValue
from sordino.sql.expressions import Expressions
from sordino.sql.known import Known
from sordino.sql.text import check_parts

# More points would take long to draw among, for little: the error of a rank grows with their logarithm.
MOST_POINTS = 1_000_001  # 0 to a million: what a number of a sub-select is clipped to
MOST_QUANTILES = 100
_TAKES = (
    "write MEDIAN(x), QUANTILE(x, 0.9) or PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x), with a literal from 0 to 1, "
    "or several: QUANTILE(x, [0.25, 0.75])"
)
# Functions of some engines that the parser has no node for in the others: any of them may be asked anywhere.
_SPELLINGS = ("QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC", "PERCENTILE", "PERCENTILE_CONT", "PERCENTILE_DISC",
              "PERCENTILE_APPROX", "APPROX_PERCENTILE", "APPROX_QUANTILE")  # fmt: skip
_PERCENTILES = (exp.PercentileCont, exp.PercentileDisc)


def _read_extreme(node: exp.Min | exp.Max | exp.Median, expressions: Expressions) -> tuple[RankedValue]:
    inner = read_argument(node, expressions)
    q = {exp.Min: Fraction(0), exp.Max: Fraction(1)}.get(type(node), Fraction(1, 2))
    return (_rank(node, inner, q, expressions),)


def _read_quantiles(node: exp.Expr, expressions: Expressions) -> tuple[RankedValue, ...]:
    inner, said, falling = _find_parts(node, expressions)
    listed = _find_list(said)
    if listed is not None and not 1 <= len(listed) <= MOST_QUANTILES:
        expressions.text.refuse(node, f"from 1 to {MOST_QUANTILES} quantiles are asked for at once")
    found = []
    for item in [said] if listed is None else listed:
        q = expressions.value(item).constant
        if isinstance(q, bool) or not isinstance(q, int | Fraction) or not 0 <= q <= 1:
            expressions.text.refuse(node, _TAKES)
        found.append(_rank(node, inner, 1 - Fraction(q) if falling else Fraction(q), expressions))
    return tuple(found)


def _rank(node: exp.Expr, inner: exp.Expr, q: Fraction, expressions: Expressions) -> RankedValue:
    text = expressions.text
    lattice = read_lattice(node, inner, expressions, "a quantile")
    if lattice.points > MOST_POINTS:
        text.wrong(node, f"the bounds hold {lattice.points} points of step {lattice.step}, and at most {MOST_POINTS} "
                   "are chosen among: declare narrower bounds or a coarser granularity, or ask about fewer points, "
                   "such as those of FLOOR(x / 100) * 100")  # fmt: skip
    if isinstance(node, exp.Min | exp.Max | exp.Median):
        said = node.sql(comments=False)
    else:
        said = f"QUANTILE({inner.sql(comments=False)}, {float(q):g})"
    return RankedValue(lattice, q, said)


def _find_parts(node: exp.Expr, expressions: Expressions) -> tuple[exp.Expr, exp.Expr, bool]:
    """What is ranked, at which q, and whether ranks are counted from the top."""
    text = expressions.text
    if isinstance(node, exp.WithinGroup):
        check_parts(text, node, ("this", "expression"), _TAKES)
        check_parts(text, node.this, ("this",), _TAKES)
        order = node.expression
        if not isinstance(order, exp.Order) or len(order.expressions) != 1:
            text.refuse(node, _TAKES)
        check_parts(text, order, ("expressions",), _TAKES)
        (item,) = order.expressions
        if not isinstance(item, exp.Ordered):
            text.refuse(node, _TAKES)
        check_parts(text, item, ("this", "desc", "nulls_first"), _TAKES)
        return item.this, node.this.this, bool(item.args.get("desc"))
    if isinstance(node, exp.Anonymous):
        check_parts(text, node, ("this", "expressions"), _TAKES)
        if len(node.expressions) != 2:
            text.refuse(node, _TAKES)
        inner, said = node.expressions
    else:
        check_parts(text, node, ("this", "expression", "quantile"), _TAKES)
        inner, said = node.this, node.args.get("quantile") or node.args.get("expression")
    if inner is None or said is None:
        text.refuse(node, _TAKES)
    if isinstance(inner, exp.Distinct):
        _refuse_distinct(node, expressions)
    return inner, said, False


def _refuse_distinct(node: exp.Expr, expressions: Expressions) -> NoReturn:
    expressions.text.refuse(
        node, "ranks count rows; different values can be counted, COUNT(DISTINCT x)", keyword="DISTINCT"
    )


def _find_list(said: exp.Expr) -> list[exp.Expr] | None:
    """The items of a list of literals."""
    return list(said.expressions) if isinstance(said, exp.Array | exp.Tuple) else None


def _is_quantile(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return node.name.upper() in _SPELLINGS
    return not isinstance(node, exp.WithinGroup) or isinstance(node.this, _PERCENTILES)


def _is_several(node: exp.Expr) -> bool:
    if not _is_quantile(node):
        return False
    if isinstance(node, exp.WithinGroup):
        said = node.this.this
    elif isinstance(node, exp.Anonymous):
        said = node.expressions[-1] if node.expressions else None
    else:
        said = node.args.get("quantile") or node.args.get("expression")
    return said is not None and _find_list(said) is not None


def _list_in_order(parts: Sequence[Part]) -> Known:
    """All of them; a quantile of more is nowhere below one of less, which draws by themselves do not see to."""
    numbers = sorted(part.known.value for part in parts)  # type: ignore[type-var]
    by_rank = sorted(range(len(parts)), key=lambda i: _find_q(parts[i]))
    found = [numbers[0]] * len(parts)
    for place, number in zip(by_rank, numbers, strict=True):
        found[place] = number
    return Known(tuple(found), nullable=False)  # type: ignore[arg-type]


def _find_q(part: Part) -> Fraction:
    if not isinstance(part.measure, RankedValue):
        raise TypeError("a quantile is made of ranks")
    return part.measure.q


_NODES = (exp.Quantile, exp.ApproxQuantile, *_PERCENTILES, exp.WithinGroup, exp.Anonymous)
QUANTILES = (
    Aggregate("min", (exp.Min,), _read_extreme, combine=take_first),
    Aggregate("max", (exp.Max,), _read_extreme, combine=take_first),
    Aggregate("median", (exp.Median,), _read_extreme, combine=take_first),
    Aggregate("quantiles", _NODES, _read_quantiles, combine=_list_in_order, accepts=_is_several, kind="list"),
    Aggregate("quantile", _NODES, _read_quantiles, combine=take_first, accepts=_is_quantile),
)
