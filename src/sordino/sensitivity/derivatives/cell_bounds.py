"""CellBounds: an expression of the cells of one row, or of several that meet, with its smooth bounds in their norms."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sordino.core import ParameterError
from sordino.sensitivity.derivatives.algebra import Algebra, Term, largest_of
from sordino.sensitivity.derivatives.constant import Number
from sordino.sensitivity.derivatives.indicator import Category, Indicator
from sordino.sensitivity.derivatives.node import CellFunction, Cells, Rates, largest_slopes
from sordino.sensitivity.derivatives.norm_lengths import measure_lengths
from sordino.sensitivity.derivatives.rebuild import exchange, walk
from sordino.sensitivity.interval import Interval
from sordino.sensitivity.norms import Norm

_MOST_CASES = 1000
# Unit rates are computed in doubles; so much less makes sure that their dual is at most 1.
_DOWN = 1 - 2.0**-48

# The categories of the `is` columns, in their order.
Case = tuple[Category, ...]


@dataclass(frozen=True, slots=True)
class CellBounds:
    """f of the cells of rows that are measured by ``norms``, and for given rates ρ the bounds hᵢ on its slopes.

    ``cases``: f for every choice of the categories of ``domains``. A category jumps; all other entries are the
    largest over all categories, so nothing else moves when it does, and its own entry bounds the jump.

    **Guarantee**: with ρ of dual at most β in the norm of a row, the dual of that row's entries is β-smooth and bounds
    the derivative of f (`node.py`), and the jump of a category of factor a is at most a times it.
    """

    cases: Mapping[Case, CellFunction]
    domains: Mapping[str, tuple[Category, ...]]
    norms: Mapping[str, Norm]

    @classmethod
    def of(
        cls, root: CellFunction, norms: Mapping[str, Norm], domains: Mapping[str, tuple[Category, ...]]
    ) -> CellBounds:
        """Lengths that the norms measure are found, and categories fixed."""
        root, measured = measure_lengths(root, norms)
        used = {node.name for node in walk(root) if isinstance(node, Indicator)}
        named = {name: domain for name, domain in domains.items() if name in used}
        size = 1
        for domain in named.values():
            size *= len(domain)
        if size > _MOST_CASES:
            raise ParameterError(
                f"the expression depends on {size} combinations of categories; {_MOST_CASES} are bounded"
            )
        cases = {
            case: _fix(root, dict(zip(named, case, strict=True)))
            for case in itertools.product(*named.values())
        }
        return cls(cases, named, measured)

    @property
    def range(self) -> Interval:
        """All values."""
        first, *others = [root.range for root in self.cases.values()]
        for other in others:
            first = first.hull(other)
        return first

    def unit_rates(self) -> dict[str, float]:
        """Rates of all columns whose dual in the norm of each row is (just below) 1."""
        return {
            name: rate * _DOWN for norm in self.norms.values() for name, rate in norm.unit_rates().items()
        }

    def value(self, algebra: Algebra, cells: Cells) -> Term:
        """f."""
        last, *others = reversed(list(self.cases.items()))
        found = last[1].value(algebra, cells)
        for case, root in others:
            holds: Any = None
            for name, category in zip(self.domains, case, strict=True):
                equal = cells[name] == category
                holds = equal if holds is None else holds & equal
            found = algebra.where(holds, root.value(algebra, cells), found)
        return found

    def slopes(self, algebra: Algebra, cells: Cells, rates: Rates) -> dict[str, Term]:
        """The entries of all columns; those of `is` columns are bounds on the jump."""
        total = largest_slopes(algebra, [root.slopes(algebra, cells, rates) for root in self.cases.values()])
        sizes = (
            {case: root.size(algebra, cells, rates) for case, root in self.cases.items()}
            if self.domains
            else {}
        )
        for place, name in enumerate(self.domains):
            total[name] = largest_of(algebra, self._jumps(algebra, place, sizes))
        return total

    def steepest(self) -> dict[str, float]:
        """The same everywhere."""
        total: dict[str, float] = {}
        for root in self.cases.values():
            for name, bound in root.steepest.items():
                total[name] = max(total.get(name, 0.0), bound)
        for name in self.domains:
            total[name] = self.range.width
        return total

    def largest_slope(self) -> float:
        """What one unit of a row's norm can do whatever the cells are: the largest over the rows."""
        steepest = self.steepest()
        return max(
            (
                float(norm.dual({name: slope for name, slope in steepest.items() if name in norm.columns}))
                for norm in self.norms.values()
            ),
            default=0.0,
        )

    def _jumps(self, algebra: Algebra, place: int, sizes: Mapping[Case, Term]) -> list[Term]:
        """How far f moves if one category changes: |f_v − f_w| is at most the larger size if the signs agree, and at
        most the sum of both if they do not."""
        groups: dict[Case, list[Case]] = {}
        for case in self.cases:
            groups.setdefault(case[:place] + case[place + 1 :], []).append(case)
        found = []
        for group in groups.values():
            ranges = [self.cases[case].range for case in group]
            if len({self.cases[case] for case in group}) == 1:
                found.append(0.0)
                continue
            first, *rest = [sizes[case] for case in group]
            largest, second = first, 0.0
            for size in rest:
                second = algebra.maximum(second, algebra.minimum(largest, size))
                largest = algebra.maximum(largest, size)
            signed = all(one.low >= 0 for one in ranges) or all(one.high <= 0 for one in ranges)
            width = max(one.high for one in ranges) - min(one.low for one in ranges)
            found.append(algebra.minimum(largest if signed else largest + second, width))
        return found


def _fix(root: CellFunction, categories: Mapping[str, Category]) -> CellFunction:
    def known(node: CellFunction) -> CellFunction | None:
        return Number(float(categories[node.name] in node.values)) if isinstance(node, Indicator) else None

    return exchange(root, known)
