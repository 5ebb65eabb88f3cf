"""Smooth bounds of derivatives on random expressions, norms and rows, and mutants that the same check refuses."""

from __future__ import annotations

import numpy as np
import pytest

from sordino.sensitivity import expression
from sordino.sensitivity.derivatives.cell_bounds import CellBounds
from sordino.sensitivity.derivatives.composition import Composition
from sordino.sensitivity.derivatives.extremes import Extreme
from sordino.sensitivity.derivatives.product import Product
from sordino.sensitivity.norms import Norm
from tests.oracles.cell_functions import BOUNDS, KINDS, Case, count_violations, random_case


def check(seed: int, cases: int, pairs: int) -> tuple[int, int, int]:
    random = np.random.default_rng(seed)
    total = np.zeros(3, dtype=int)
    for _ in range(cases):
        case = random_case(random)
        total += count_violations(random, case, float(10 ** random.uniform(-2, 0.7)), pairs)
    return tuple(int(part) for part in total)


@pytest.mark.parametrize(("seed", "cases"), [(0, 40), pytest.param(1, 400, marks=pytest.mark.slow)])
def test_bounds_of_random_expressions_keep_both_inequalities(seed, cases):
    checked, too_fast, too_far = check(seed, cases, 200)
    assert checked == 200 * cases
    assert (too_fast, too_far) == (0, 0)


def _whole_rates(self, rates):
    """Shared columns treated as separate."""
    return [dict(rates) for _ in self.factors]


def _full_chain(self, algebra, cells, rates):
    """φ' and the slopes of f each with the whole rate."""
    rate = min(rates[name] / bound for name, bound in self.inner.steepest.items() if bound > 0)
    term = self.inner.value(algebra, cells)
    outer = self.function.slope(algebra, term, rate, self.inner.range)
    return {name: outer * slope for name, slope in self.inner.slopes(algebra, cells, rates).items()}


def _smallest_size(self, algebra, cells, rates):
    """The rule of Figure 41 for a minimum of functions that may be negative."""
    sizes = [part.size(algebra, cells, rates) for part in self.parts]
    return self._choose(algebra, sizes, self.largest)


def _without_jumps(self, algebra, place, sizes):
    return [0.0]


MUTANTS = {
    "a tenth too much beta": (
        CellBounds,
        "unit_rates",
        lambda self: {
            name: 1.1 * rate for norm in self.norms.values() for name, rate in norm.unit_rates().items()
        },
        "sigmoid(x, 3)",
    ),
    "the norm in the place of its dual": (
        Norm,
        "dual",
        lambda self, slopes: self.root.measure(slopes),
        "x*(kind == 'EE')",
    ),
    "shared columns as separate": (Product, "_shares", _whole_rates, "sigmoid(x, 3)*sigmoid(x + y, 3)"),
    "the whole rate twice in a chain": (Composition, "slopes", _full_chain, "sigmoid(x*y - 30, 1)"),
    "the size of a signed minimum": (Extreme, "size", _smallest_size, "min(x - 2, 1)*sigmoid(y - 1, 4)"),
    "no entry for a category": (CellBounds, "_jumps", _without_jumps, "x*(kind == 'EE')"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_refused(name, monkeypatch):
    kind, method, wrong, text = MUTANTS[name]
    tree = ("lp", 1.0, [("col", "x"), ("col", "y"), ("col", "z"), ("col", "v")])
    norm = "l1(x, y, z, log(v), 0.5*is(kind))"
    random = np.random.default_rng(2)
    made = expression(text, norm=norm, bounds=BOUNDS, domains={"kind": KINDS})
    assert count_violations(random, Case(made, tree, 0.5), 0.3, 2000)[1:] == (0, 0)
    monkeypatch.setattr(kind, method, wrong)
    made = expression(text, norm=norm, bounds=BOUNDS, domains={"kind": KINDS})
    assert sum(count_violations(random, Case(made, tree, 0.5), 0.3, 2000)[1:]) > 0


def test_lengths_of_columns_that_the_norm_measures():
    """√(x² + y²) under l2(x, y): one entry, sensitivity 1; with unequal weights and shifts the inequalities hold."""
    plain = expression("sqrt(x**2 + y**2)", norm="l2(x, y)")
    assert plain.bound({"x": 3.0, "y": 4.0}, 0.5) == pytest.approx(1.0)
    random = np.random.default_rng(4)
    for text, norm, tree in (
        (
            "sqrt((x - 1)**2 + 2*y**2)/v",
            "l1(0.7*l2(x, y), log(v), z)",
            ("lp", 2.0, [("col", "x"), ("col", "y")]),
        ),
        (
            "linf(x, 3*y)**2*z",
            "l1(l1(x, 0.7*y), log(v), z)",
            ("lp", 1.0, [("col", "x"), ("scale", 0.7, ("col", "y"))]),
        ),
    ):
        factor = 0.7 if "0.7*l2" in norm else 1.0
        whole = ("lp", 1.0, [("scale", factor, tree), ("col", "v"), ("col", "z")])
        made = expression(
            text, norm=norm.replace("z)", "z, is(kind))"), bounds=BOUNDS, domains={"kind": KINDS}
        )
        assert any("length" in column for column in made.cells.norms["row"].columns)
        for beta in (0.05, 0.5, 2.0):
            assert count_violations(random, Case(made, whole, 1.0), beta, 2000)[1:] == (0, 0)


def test_a_length_whose_columns_occur_elsewhere_has_entries_of_its_columns():
    made = expression("sqrt(x**2 + y**2) + x", norm="l2(x, y)")
    assert set(made.cells.norms["row"].columns) == {"x", "y"}


def test_a_length_with_too_small_a_factor_is_refused():
    """The control: half of κ makes the length twice as steep as the norm allows."""
    random = np.random.default_rng(5)
    made = expression("sqrt(x**2 + y**2)*z", norm="l1(l2(x, y), log(v), z, is(kind))", bounds=BOUNDS,
                      domains={"kind": KINDS})  # fmt: skip
    tree = (
        "lp",
        1.0,
        [("scale", 0.5, ("lp", 2.0, [("col", "x"), ("col", "y")])), ("col", "v"), ("col", "z")],
    )
    assert count_violations(random, Case(made, tree, 1.0), 0.5, 2000)[2] > 0
