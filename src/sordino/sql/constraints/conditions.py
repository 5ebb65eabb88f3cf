"""Conditions over known cells: always, never or maybe, and what is left of the cells where they hold."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from sordino.sensitivity.interval import Interval, round_towards
from sordino.sql.constraint_files.constraint import Item, ValueSet
from sordino.sql.constraints.cells import CellName, KnownCell, KnownCells
from sordino.sql.constraints.evaluate import CellReader, subtract_estimates

Verdict = Literal["always", "never", "maybe"]
_OPPOSITE: dict[Verdict, Verdict] = {"always": "never", "never": "always", "maybe": "maybe"}
_NEGATED: dict[type, type[exp.Expr]] = {
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
}
_ACCEPTED = "comparisons, AND, OR, NOT, BETWEEN and IN (literals) are understood"
# How often linear relations are used to narrow one another.
_PASSES = 2


def judge(reader: CellReader, node: exp.Expr, cells: KnownCells) -> Verdict:
    """Whether a condition holds for all, no or some values of the cells."""
    match node:
        case exp.Paren():
            return judge(reader, node.this, cells)
        case exp.Not():
            return _OPPOSITE[judge(reader, node.this, cells)]
        case exp.And() | exp.Or():
            one, two = judge(reader, node.this, cells), judge(reader, node.expression, cells)
            ends: Verdict = "never" if isinstance(node, exp.And) else "always"
            if ends in (one, two):
                return ends
            return one if one == two else "maybe"
        case exp.Boolean():
            return "always" if node.this else "never"
        case exp.Between() | exp.In():
            return judge(reader, _written_out(reader, node), cells)
        case exp.EQ() | exp.NEQ():
            found = _judge_equal(reader, node, cells)
            return found if isinstance(node, exp.EQ) else _OPPOSITE[found]
        case exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            return _judge_order(reader, node, cells)
    reader.text.refuse(node, _ACCEPTED)


def narrow(reader: CellReader, node: exp.Expr, cells: KnownCells) -> KnownCells | None:
    """The cells where a condition may hold; None if it never does. More than can be is kept, never less."""
    if judge(reader, node, cells) == "never":
        return None
    match node:
        case exp.Paren():
            return narrow(reader, node.this, cells)
        case exp.Not():
            turned = _pushed_in(reader, node.this)
            return cells if turned is None else narrow(reader, turned, cells)
        case exp.And():
            left: KnownCells | None = cells
            for _ in range(_PASSES):
                for part in (node.this, node.expression):
                    left = None if left is None else narrow(reader, part, left)
            return left
        case exp.Or():
            one, two = (narrow(reader, part, cells) for part in (node.this, node.expression))
            if one is None or two is None:
                return one or two
            return {name: one[name].joined(two[name]) for name in cells}
        case exp.Between() | exp.In():
            listed = _listed(reader, node)
            if listed is None:
                return narrow(reader, _written_out(reader, node), cells)
            return _put(cells, listed[0], cells[listed[0]].among(listed[1]))
        case exp.EQ():
            return _narrow_equal(reader, node, cells)
        case exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            return _narrow_linear(reader, node, cells)
    return cells


def choose_cells(reader: CellReader, node: exp.Expr, cells: KnownCells) -> list[KnownCells]:
    """The cells where a condition may hold, as a list of none or one."""
    found = narrow(reader, node, cells)
    return [] if found is None else [found]


# --- comparisons


def _judge_equal(reader: CellReader, node: exp.Expr, cells: KnownCells) -> Verdict:
    one, two = reader.possible(node.this, cells), reader.possible(node.expression, cells)
    if isinstance(one, ValueSet) and isinstance(two, ValueSet):
        if one.values is None or two.values is None:
            return "maybe"
        if not one.values & two.values:
            return "never"
        same = len(one.values) == len(two.values) == 1
        return "always" if same or _same_cell(reader, node) else "maybe"
    if any(isinstance(side, ValueSet) and not side.is_number for side in (one, two)):
        return "maybe"
    difference = _difference(reader, node, cells)
    if not difference.holds(0.0):
        return "never"
    return "always" if difference.low == difference.high == 0 else "maybe"


def _same_cell(reader: CellReader, node: exp.Expr) -> bool:
    sides = (node.this, node.expression)
    return (
        all(isinstance(side, exp.Column) for side in sides)
        and len({reader.resolve(side) for side in sides}) == 1
    )


def _judge_order(reader: CellReader, node: exp.Expr, cells: KnownCells) -> Verdict:
    difference = _difference(reader, node, cells)
    if isinstance(node, exp.GT | exp.GTE):
        difference = -difference
    strict = isinstance(node, exp.LT | exp.GT)
    if difference.high < 0 or (difference.high == 0 and not strict):
        return "always"
    if difference.low > 0 or (difference.low == 0 and strict):
        return "never"
    return "maybe"


def _difference(reader: CellReader, node: exp.Expr, cells: KnownCells) -> Interval:
    one, two = reader.number(node.this, cells), reader.number(node.expression, cells)
    return subtract_estimates(one, two).interval


# --- narrowing


def _narrow_equal(reader: CellReader, node: exp.Expr, cells: KnownCells) -> KnownCells | None:
    sides = (node.this, node.expression)
    known = [reader.possible(side, cells) for side in sides]
    left: KnownCells | None = cells
    for side, other in ((sides[0], known[1]), (sides[1], known[0])):
        if isinstance(side, exp.Column) and left is not None:
            name = reader.resolve(side)
            if isinstance(other, ValueSet) and other.values is not None:
                left = _put(left, name, left[name].among(other.values))
            elif isinstance(other, Interval):
                left = _put(left, name, left[name].within(other))
    if left is None or any(isinstance(side, ValueSet) and not side.is_number for side in known):
        return left
    return _narrow_linear(reader, node, left)


def _narrow_linear(reader: CellReader, node: exp.Expr, cells: KnownCells) -> KnownCells | None:
    """Σ kᵢxᵢ + c ≤ 0 leaves kᵢxᵢ ≤ −c − Σ least kⱼxⱼ of the others; an equation is two of these."""
    left, right = _read_linear(reader, node.this), _read_linear(reader, node.expression)
    if left is None or right is None:
        return cells
    factors, constant = _minus(left, right)
    signs = (1, -1) if isinstance(node, exp.EQ) else (-1,) if isinstance(node, exp.GT | exp.GTE) else (1,)
    found: KnownCells | None = cells
    for sign in signs:
        for name, factor in factors.items():
            found = None if found is None else _contract(found, name, sign, factor, factors, constant)
    return found


def _contract(
    cells: KnownCells,
    name: CellName,
    sign: int,
    factor: Fraction,
    factors: dict[CellName, Fraction],
    constant: Fraction,
) -> KnownCells | None:
    room = -sign * constant
    for other, weight in factors.items():
        if other != name:
            inside = cells[other].interval
            if inside is None:
                return cells
            end = inside.low if sign * weight > 0 else inside.high
            if math.isinf(end):
                return cells
            room -= sign * weight * Fraction(end)
    if sign * factor > 0:
        bound = Interval(-math.inf, round_towards(room / (sign * factor), math.inf))
    else:
        bound = Interval(round_towards(room / (sign * factor), -math.inf), math.inf)
    if cells[name].interval is None:
        return cells
    return _put(cells, name, cells[name].within(bound))


def _read_linear(reader: CellReader, node: exp.Expr) -> tuple[dict[CellName, Fraction], Fraction] | None:
    """The factors of the columns and the constant of a linear expression; None for others."""
    match node:
        case exp.Paren():
            return _read_linear(reader, node.this)
        case exp.Column():
            return {reader.resolve(node): Fraction(1)}, Fraction(0)
        case exp.Literal() if not node.is_string:
            return {}, reader.text.number(node)
        case exp.Neg():
            inner = _read_linear(reader, node.this)
            return None if inner is None else _minus(({}, Fraction(0)), inner)
        case exp.Add() | exp.Sub():
            one, two = _read_linear(reader, node.this), _read_linear(reader, node.expression)
            if one is None or two is None:
                return None
            return _minus(one, two if isinstance(node, exp.Sub) else _minus(({}, Fraction(0)), two))
        case exp.Mul():
            one, two = _read_linear(reader, node.this), _read_linear(reader, node.expression)
            if one is None or two is None or (one[0] and two[0]):
                return None
            scale, (factors, constant) = (one[1], two) if not one[0] else (two[1], one)
            return {name: scale * factor for name, factor in factors.items() if scale}, scale * constant
    return None


def _minus(
    one: tuple[dict[CellName, Fraction], Fraction], two: tuple[dict[CellName, Fraction], Fraction]
) -> tuple[dict[CellName, Fraction], Fraction]:
    factors = dict(one[0])
    for name, factor in two[0].items():
        factors[name] = factors.get(name, Fraction(0)) - factor
    return {name: factor for name, factor in factors.items() if factor}, one[1] - two[1]


def _put(cells: KnownCells, name: CellName, cell: KnownCell | None) -> KnownCells | None:
    return None if cell is None else {**cells, name: cell}


# --- the same condition in other words


def _listed(reader: CellReader, node: exp.Expr) -> tuple[CellName, frozenset[Item]] | None:
    if not isinstance(node, exp.In) or not isinstance(node.this, exp.Column):
        return None
    if not all(isinstance(item, exp.Literal) for item in node.expressions):
        return None
    values = frozenset(item.name if item.is_string else float(item.name) for item in node.expressions)
    return reader.resolve(node.this), values


def _written_out(reader: CellReader, node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Between):
        low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
        return exp.and_(low, exp.LTE(this=node.this.copy(), expression=node.args["high"].copy()))
    if node.args.get("query") is not None or not node.expressions:
        reader.text.refuse(node, _ACCEPTED)
    return exp.or_(*(exp.EQ(this=node.this.copy(), expression=item.copy()) for item in node.expressions))


def _pushed_in(reader: CellReader, node: exp.Expr) -> exp.Expr | None:
    """NOT of a condition without NOT in front, where there is one."""
    if isinstance(node, exp.Paren):
        return _pushed_in(reader, node.this)
    if isinstance(node, exp.Not):
        inner: exp.Expr = node.this
        return inner
    if isinstance(node, exp.And | exp.Or):
        joined = exp.or_ if isinstance(node, exp.And) else exp.and_
        return joined(exp.not_(node.this), exp.not_(node.expression))
    if type(node) in _NEGATED:
        return _NEGATED[type(node)](this=node.this.copy(), expression=node.expression.copy())
    if isinstance(node, exp.Between | exp.In):
        return exp.not_(_written_out(reader, node))
    return None
