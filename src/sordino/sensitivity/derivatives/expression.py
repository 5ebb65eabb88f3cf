"""Expression: a number calculated from the cells of a row, and how fast it can move per unit of a norm."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sordino.core import Distance, ParameterError, UnsupportedError
from sordino.core.parameters import number, positive
from sordino.sensitivity.derivatives.algebra import Arrays
from sordino.sensitivity.derivatives.cell_bounds import CellBounds
from sordino.sensitivity.derivatives.column import LogPower, PlainColumn
from sordino.sensitivity.derivatives.node import CellFunction
from sordino.sensitivity.derivatives.parsing import parse_expression
from sordino.sensitivity.interval import Interval
from sordino.sensitivity.norms import Norm
from sordino.sensitivity.norms.combination import combine_lengths, dual_exponent
from sordino.sensitivity.smooth_bound import SmoothBound

_ROW = "row"
_ALL = Interval(-math.inf, math.inf)
Columns = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Expression:
    """f of the cells of a row, clipped to their bounds, with β-smooth bounds on its derivative in a norm.

    Rows are mappings from column to number, or to an array with one entry per row.

    **Guarantee**: `bound` at β is an upper bound of the derivative of f per unit of the norm, and grows by at most e^β
    per unit. Clipping lengthens no distance, so cells outside their bounds are covered too.
    **Source**: NAPLES report, §3.3.8.3; rates of columns in the place of one β with a norm of its own are ours.
    **Numerics**: within a relative 2⁻⁴⁰, as a `SmoothBound` may be.
    """

    text: str
    norm: Norm
    bounds: Mapping[str, Interval]
    cells: CellBounds

    def value(self, rows: Columns) -> Any:
        """f of every row."""
        return self.cells.value(Arrays(), self._clipped(rows)) + np.zeros(self._shape(rows))

    def bound(self, rows: Columns, beta: float) -> Any:
        """c of every row: β-smooth, and at least the derivative of f per unit of the norm."""
        beta = positive("beta", beta)
        rates = {name: rate * beta for name, rate in self.cells.unit_rates().items()}
        slopes = self.cells.slopes(Arrays(), self._clipped(rows), rates)
        found = self.cells.norms[_ROW].bound_slopes(slopes) + np.zeros(self._shape(rows))
        if not np.isfinite(found).all():
            raise ParameterError(
                f"at beta = {beta:g} this expression has no finite bound: give bounds of its columns"
            )
        return found

    def global_bounds(self) -> tuple[Interval, float]:
        """The range of f, and its largest derivative per unit of the norm: infinite where bounds are missing."""
        return self.cells.range, float(self.cells.norms[_ROW].dual(self.cells.steepest()))

    def total_bound(self, rows: Columns, *, exponent: float = 1.0) -> SmoothBound:
        """Of Σ f over the rows, where the norms of the rows are put together by ℓ_p: ℓ_q of their bounds."""
        p = number("exponent", exponent) if exponent != math.inf else math.inf
        if p < 1:
            raise ParameterError(f"exponent must be at least 1, got {exponent!r}")
        if p != 1 and any(kind == "is" for kind in self.norm.kinds.values()):
            raise UnsupportedError("rows with an is(…) column are added up: exponent must be 1")
        q = dual_exponent(p)

        def at(beta: float) -> float:
            found = np.atleast_1d(self.bound(rows, beta))
            return float(combine_lengths([*found], q)) if len(found) else 0.0

        return SmoothBound(at, Distance(f"{self.norm}", "move"), kind="derivative")

    def _clipped(self, rows: Columns) -> dict[str, Any]:
        missing = [name for name in (*self.bounds, *self.cells.domains) if name not in rows]
        if missing:
            raise ParameterError(f"the rows have no column {missing[0]!r}")
        cells: dict[str, Any] = {
            name: np.clip(np.asarray(rows[name], dtype=float), bounds.low, bounds.high)
            for name, bounds in self.bounds.items()
        }
        return cells | {name: np.asarray(rows[name], dtype=object) for name in self.cells.domains}

    def _shape(self, rows: Columns) -> tuple[int, ...]:
        names = [*self.bounds, *self.cells.domains]
        return np.broadcast_shapes(*(np.shape(rows[name]) for name in names)) if names else ()


def expression(
    text: str,
    *,
    norm: Norm | str,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    domains: Mapping[str, tuple[Any, ...]] | None = None,
) -> Expression:
    """An expression of the columns of a norm: numbers, + − * / **, abs, sqrt, ln, exp, min, max, l1, l2, linf, and for
    filters ramp(x, width), sigmoid(x, alpha), tauoid(x, alpha); categories are compared by == and !=.

    ``bounds``: the public range of each column; `log` columns need one above 0. ``domains``: the categories of each
    `is` column.

    >>> from sordino.sensitivity import expression
    >>> pay = expression("salary * sigmoid(hours - 40, 1)", norm="l1(0.1*salary, hours)", bounds={"salary": (0, 100)})
    >>> row = {"salary": 50, "hours": 45}
    >>> print(f"{pay.value(row):.3f}, moving by at most {pay.bound(row, beta=0.1):.3f} per unit")
    49.665, moving by at most 9.933 per unit
    """
    norm = norm if isinstance(norm, Norm) else Norm.parse(norm)
    given = {name: _interval(name, pair) for name, pair in (bounds or {}).items()}
    listed = {name: tuple(domain) for name, domain in (domains or {}).items()}
    for name in (*given, *listed):
        if name not in norm.columns:
            raise ParameterError(
                f"column {name!r} is not in the norm {norm}: its columns are all that may move"
            )
    columns: dict[str, CellFunction] = {}
    for name, kind in norm.kinds.items():
        inside = given.get(name, _ALL)
        if kind == "is":
            if not listed.get(name):
                raise ParameterError(
                    f"is({name}) needs the categories of the column: domains={{{name!r}: (…)}}"
                )
        elif kind == "log":
            if not 0 < inside.low <= inside.high < math.inf:
                raise ParameterError(f"log({name}) needs bounds above 0: bounds={{{name!r}: (low, high)}}")
            columns[name] = LogPower(name, inside, 1.0)
        else:
            columns[name] = PlainColumn(name, inside)
    domains = {name: listed[name] for name, kind in norm.kinds.items() if kind == "is"}
    root = parse_expression(text, columns, domains)
    cells = CellBounds.of(root, {_ROW: norm}, domains)
    used = {name: given.get(name, _ALL) for name in columns if name in root.columns}
    return Expression(text, norm, used, cells)


def _interval(name: str, pair: Any) -> Interval:
    if not hasattr(pair, "__getitem__") or isinstance(pair, str) or len(pair) != 2:
        raise ParameterError(f"the bounds of {name} are a pair (low, high), got {pair!r}")
    low, high = float(pair[0]), float(pair[1])
    if not low < high:
        raise ParameterError(f"the bounds of {name} must have low < high, got ({low:g}, {high:g})")
    return Interval(low, high)
