"""From the text of an expression to its tree, or to an error with its place.

The text is a Python expression of columns, numbers, + − * / **, == and != with categories, and the functions of
`FUNCTIONS`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from sordino.core import ParameterError, Place
from sordino.core.parameters import did_you_mean
from sordino.sensitivity.derivatives.build import (
    add_terms,
    apply,
    multiply_factors,
    raise_to,
    take_absolute,
    take_extreme,
    take_length,
)
from sordino.sensitivity.derivatives.constant import Number
from sordino.sensitivity.derivatives.functions import (
    NaturalExponential,
    NaturalLogarithm,
    Ramp,
    Sigmoid,
    Tauoid,
)
from sordino.sensitivity.derivatives.indicator import Indicator
from sordino.sensitivity.derivatives.node import CellFunction

_LONGEST = 10_000
Domains = Mapping[str, tuple[Any, ...]]


def _steep(name: str) -> Callable[..., CellFunction]:
    function = Sigmoid() if name == "sigmoid" else Tauoid()

    def build(inner: CellFunction, steepness: CellFunction) -> CellFunction:
        return apply(function, add_terms([(_positive(steepness, f"{name}(x, alpha)"), inner)]))

    return build


def _ramp(inner: CellFunction, width: CellFunction) -> CellFunction:
    return apply(Ramp(), add_terms([(1 / _positive(width, "ramp(x, width)"), inner)], 0.5))


def _positive(node: CellFunction, what: str) -> float:
    if not isinstance(node, Number) or node.number <= 0:
        raise ParameterError(f"{what}: the second argument is a number > 0")
    return node.number


# Each function and how many arguments it takes; None for one or more.
FUNCTIONS: dict[str, tuple[Callable[..., CellFunction], int | None]] = {
    "abs": (take_absolute, 1),
    "exp": (lambda inner: apply(NaturalExponential(), inner), 1),
    "ln": (lambda inner: apply(NaturalLogarithm(), inner), 1),
    "sqrt": (lambda inner: raise_to(inner, 0.5), 1),
    "min": (lambda *parts: take_extreme(parts, largest=False), None),
    "max": (lambda *parts: take_extreme(parts, largest=True), None),
    "l1": (lambda *parts: take_length(parts, 1.0), None),
    "l2": (lambda *parts: take_length(parts, 2.0), None),
    "linf": (lambda *parts: take_length(parts, math.inf), None),
    "ramp": (_ramp, 2),
    "sigmoid": (_steep("sigmoid"), 2),
    "tauoid": (_steep("tauoid"), 2),
}


def parse_expression(text: str, columns: Mapping[str, CellFunction], domains: Domains) -> CellFunction:
    """The tree of an expression of these columns."""
    if not isinstance(text, str) or not text.strip():
        raise ParameterError("an expression is a text such as 'salary * sigmoid(hours - 40, 1)'")
    if len(text) > _LONGEST:
        raise ParameterError(f"the expression is {len(text)} characters long: {_LONGEST} are read")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        place = Place(error.lineno or 1, error.offset or 1)
        raise ParameterError.at(place, f"the expression cannot be read: {error.msg}") from None
    except (RecursionError, MemoryError, ValueError):
        raise ParameterError("the expression cannot be read: write it simpler") from None
    return _Reader(columns, domains).read(tree)


class _Reader:
    def __init__(self, columns: Mapping[str, CellFunction], domains: Domains) -> None:
        self._columns, self._domains = columns, domains

    def read(self, node: ast.expr) -> CellFunction:
        try:
            return self._read(node)
        except ParameterError as error:
            if error.place is not None:
                raise
            self._wrong(node, str(error))
        except OverflowError:
            self._wrong(node, "a number here is too large")

    def _read(self, node: ast.expr) -> CellFunction:
        match node:
            case ast.Constant(value=bool()) | ast.Constant(value=str()):
                self._wrong(node, "a category is compared: flag == 'EE'")
            case ast.Constant(value=int() | float() as value) if math.isfinite(value):
                return Number(float(value))
            case ast.Name(id=name):
                return self._column(node, name)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return add_terms([(-1.0, self.read(inner))])
            case ast.UnaryOp(op=ast.UAdd(), operand=inner):
                return self.read(inner)
            case ast.BinOp(left=left, op=operator, right=right):
                return self._operation(node, operator, self.read(left), self.read(right))
            case ast.Compare(
                left=ast.Name(id=name), ops=[ast.Eq() | ast.NotEq() as sign], comparators=[other]
            ):
                return self._category(node, name, other, equal=isinstance(sign, ast.Eq))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self._call(node, name, arguments)
        self._wrong(node, "not understood: write columns, numbers, + - * / ** and functions")

    def _column(self, node: ast.expr, name: str) -> CellFunction:
        if name in self._domains:
            self._wrong(node, f"{name} is a category: compare it, as in {name} == 'EE'")
        if name not in self._columns:
            known = [*self._columns, *self._domains]
            self._wrong(
                node, f"there is no column {name!r}: {did_you_mean(name, known, otherwise=_list(known))}"
            )
        return self._columns[name]

    def _operation(
        self, node: ast.expr, operator: ast.operator, left: CellFunction, right: CellFunction
    ) -> CellFunction:
        match operator:
            case ast.Add():
                return add_terms([(1.0, left), (1.0, right)])
            case ast.Sub():
                return add_terms([(1.0, left), (-1.0, right)])
            case ast.Mult():
                return multiply_factors([left, right])
            case ast.Div():
                return multiply_factors([left, raise_to(right, -1.0)])
            case ast.Pow() if isinstance(right, Number):
                return raise_to(left, right.number)
        self._wrong(node, "an exponent is a number, and the operators are + - * / **")

    def _category(self, node: ast.expr, name: str, other: ast.expr, *, equal: bool) -> CellFunction:
        domain = self._domains.get(name)
        if domain is None:
            self._wrong(node, f"{name} is no category: write ramp({name} - 3, 1) for a comparison of numbers")
        value = other.value if isinstance(other, ast.Constant) else None
        if value not in domain or not isinstance(value, str | int):
            self._wrong(node, f"the categories of {name} are {_list([repr(item) for item in domain])}")
        found = Indicator(name, frozenset((value,)))
        return found if equal else add_terms([(-1.0, found)], 1.0)

    def _call(self, node: ast.expr, name: str, arguments: list[ast.expr]) -> CellFunction:
        if name not in FUNCTIONS:
            hint = did_you_mean(name, FUNCTIONS, otherwise=f"there are {_list(list(FUNCTIONS))}")
            self._wrong(node, f"there is no function {name!r}: {hint}")
        build, count = FUNCTIONS[name]
        if len(arguments) != count if count is not None else not arguments:
            self._wrong(node, f"{name} takes {count or 'one or more'} arguments, got {len(arguments)}")
        return build(*(self.read(argument) for argument in arguments))

    def _wrong(self, node: ast.expr, problem: str) -> NoReturn:
        raise ParameterError.at(Place(node.lineno, node.col_offset + 1), problem)


def _list(names: list[str]) -> str:
    return ", ".join(names[:20]) or "none"
