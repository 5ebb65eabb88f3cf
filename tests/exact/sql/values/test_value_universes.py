"""Bounds on derivatives over all databases of small universes, on DuckDB; exact laws; and mutants that are refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sordino.audit import prove
from sordino.core import UnsupportedError
from sordino.sensitivity import SmoothBound
from sordino.sensitivity.derivatives.lengths import length_of
from sordino.sensitivity.norms.leaf import NormLeaf
from sordino.sensitivity.norms.scaled import ScaledNorm
from sordino.sql.values import bounds, measure
from tests.backends.value_suite import CASES, ONE, SHIPS, PrivateTable, Universe, ask, count_pairs


def run(name, **changes):
    universe, lengths, sql, filters = CASES[name]
    found = ask(universe.arrow(), universe.policy(), sql, filters=filters, **changes)
    return found, universe.distances(lengths)


@pytest.mark.parametrize("name", CASES)
def test_all_pairs_of_databases_keep_both_inequalities(name):
    found, distance = run(name)
    pairs, fast, far = count_pairs(found, distance)
    assert pairs > 10_000
    assert (fast, far) == (0, 0)


def test_exact_filters_change_no_answer():
    universe, _, _, _ = CASES["product"]
    sql = "SELECT db, COUNT(*) AS n FROM t WHERE x > y OR x BETWEEN 1 AND 2 GROUP BY db"
    found = ask(universe.arrow(), universe.policy(), sql)
    wanted = [sum(x > y or 1 <= x <= 2 for x, y in database["t"]) for database in universe.databases()]
    assert np.allclose(found.values, wanted, atol=1e-9)


def refused(name, monkeypatch, owner, attribute, wrong):
    monkeypatch.setattr(owner, attribute, wrong)
    found, distance = run(name)
    return sum(count_pairs(found, distance)[1:])


def test_a_tenth_too_much_beta_is_refused(monkeypatch):
    rates = bounds._rates

    def wrong(measured, *, beta_list, sharing):
        return rates(measured, beta_list=[1.1 * beta for beta in beta_list], sharing=sharing)

    assert refused("sum with sigmoids", monkeypatch, bounds, "_rates", wrong) > 0


def test_the_norm_in_the_place_of_its_dual_is_refused(monkeypatch):
    def wrong(part, algebra, slopes):
        if isinstance(part, NormLeaf):
            return slopes.get(part.column)
        if isinstance(part, ScaledNorm):
            return wrong(part.inner, algebra, slopes) * float(part.factor)
        return length_of(algebra, [wrong(child, algebra, slopes) for child in part.children], part.exponent)

    assert refused("product", monkeypatch, bounds, "dual_of_terms", wrong) > 0


def test_a_hundredth_less_of_the_dual_is_refused(monkeypatch):
    """What is linear moves by all that its bound allows."""
    dual = bounds.dual_of_terms
    monkeypatch.setattr(bounds, "dual_of_terms", lambda *given: dual(*given) * 0.99)
    sql = "SELECT db, SUM(x + 2*y) AS s FROM t GROUP BY db"
    found = ask(ONE.arrow(), ONE.policy(), sql)
    assert count_pairs(found, ONE.distances(CASES["product"][1]))[2] > 0


def test_rows_that_play_two_parts_share_the_rates(monkeypatch):
    """A row that meets itself moves both of its parts: with whole rates for each, c moves twice as fast."""
    rates = bounds._rates

    def wrong(measured, *, beta_list, sharing):
        return rates(measured, beta_list=beta_list, sharing=dict.fromkeys(sharing, 1.0))

    assert refused("self-join with itself", monkeypatch, bounds, "_rates", wrong) > 0


@pytest.mark.parametrize("exponent", ["1", "2", "inf"])
def test_rows_that_share_a_key_are_still_moved_apart(exponent):
    """Nothing keeps an owner from a key that two rows have: what both can do together is in the bound all the same."""
    universe = Universe(
        {
            "t": PrivateTable("l1(x, y)", {"id": (1, 1), "side": (0, 1)}, {"x": (0, 1, 2), "y": (0, 1, 2)}, exponent),
            "s": PrivateTable("w", {"nr": (1, 2), "id": (1, 1)}, {"w": (0, 1)}),
        }
    )  # fmt: skip
    policy = universe.policy()
    policy["tables"]["t"]["key"] = ["db", "id"]
    sql = (
        "SELECT t.db, SUM(CASE WHEN t.side = 1 THEN t.x ELSE t.y END) AS s FROM t JOIN s ON t.id = s.id "
        "AND t.db = s.db GROUP BY t.db"
    )
    found = ask(universe.arrow(), policy, sql)
    distance = universe.distances({"t": lambda moves, _: moves[0] + moves[1], "s": lambda moves, _: moves[0]})
    assert count_pairs(found, distance)[1:] == (0, 0)


def test_a_width_of_the_rows_in_a_minimum_is_refused(monkeypatch):
    """MIN(x) WHERE y > 1 with Δ the largest x less the least of this database: the bound jumps with Δ."""
    sql = "SELECT db, MIN(x) AS s FROM t WHERE y > 1 GROUP BY db"
    distance = ONE.distances(CASES["product"][1])
    held = ask(ONE.arrow(), ONE.policy(), sql)
    assert count_pairs(held, distance)[1:] == (0, 0)
    cells = [[x for x, _ in database["t"]] for database in ONE.databases()]
    widths = np.array([float(max(found) - min(found)) for found in cells])
    values, limits = held.values.copy(), held.bounds.copy()
    for width in set(widths):
        monkeypatch.setattr(measure, "find_width", lambda function, width=width: width)
        wrong = ask(ONE.arrow(), ONE.policy(), sql)
        values[widths == width] = wrong.values[widths == width]
        limits[widths == width] = wrong.bounds[widths == width]
    _, fast, far = count_pairs(replace(held, values=values, bounds=limits), distance)
    assert fast + far > 0


def test_a_sum_of_too_many_terms_is_refused_or_does_without(monkeypatch):
    """Where rows are public the refusal is; the limit is lowered here."""
    universe, _, sql, _ = CASES["join"]
    monkeypatch.setattr(bounds, "MOST_TERMS", 0)
    with pytest.raises(UnsupportedError, match="joined rows are added up"):
        ask(universe.arrow(), universe.policy(), sql)


def test_coarse_steps_need_the_rounding_term(monkeypatch):
    """Steps of an eighth of the range: with the term the inequalities hold, without it they do not."""
    monkeypatch.setattr(measure, "_PLACES", 2)
    sql = "SELECT db, SUM(0.3*x) AS s FROM t GROUP BY db"
    lengths = CASES["product"][1]
    found = ask(ONE.arrow(), ONE.policy(), sql)
    assert count_pairs(found, ONE.distances(lengths))[1:] == (0, 0)
    monkeypatch.setattr(bounds, "find_rounding", lambda measured, table: 0.0)
    wrong = ask(ONE.arrow(), ONE.policy(), sql)
    assert count_pairs(wrong, ONE.distances(lengths))[2] > 0


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_law_of_the_answer_loses_epsilon_per_unit(epsilon):
    """Exact laws of the released number, on a lattice of step 1, for all pairs one granule apart."""
    name = "product"
    found, distance = run(name, epsilon=epsilon)
    grid = found.plan.noises[0].grid

    def law(database):
        known = dict(zip(found.betas, found.bounds[database], strict=True))
        bound = SmoothBound(known.__getitem__, kind="derivative")
        return grid.law(Fraction(found.values[database]), bound, step=Fraction(1))

    some = range(84, 96)  # all contents of one row, beside one of the other
    for length in (0.5, 1.0):
        near = {i: [j for j in some if abs(distance[i, j] - length) < 1e-9] for i in some}
        proof = prove(law, some, near.__getitem__, epsilon * length)
        assert proof.holds, str(proof)


def test_a_scale_a_fifth_below_the_bound_is_refused():
    found, distance = run("product", epsilon=2.0)
    grid = found.plan.noises[0].grid

    def law(database):
        known = dict(zip(found.betas, 0.8 * found.bounds[database], strict=True))
        return grid.law(
            Fraction(found.values[database]),
            SmoothBound(known.__getitem__, kind="derivative"),
            step=Fraction(1),
        )

    some = range(84, 96)  # all contents of one row, beside one of the other
    near = {i: [j for j in some if abs(distance[i, j] - 1.0) < 1e-9] for i in some}
    assert not prove(law, some, near.__getitem__, 2.0).holds


def test_ships_that_the_norm_measures_have_sensitivity_one():
    found, _ = run("distance of ships")
    # a.id < b.id: no ship plays both parts, and a unit moves one of them, or two by halves
    assert np.allclose(found.bounds, 1.0, rtol=1e-6)
    assert len(SHIPS.databases()) == len(found.values)
