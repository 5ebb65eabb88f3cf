"""Questions about values: numbers of the specification, through the statements that are sent."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from sordino.curator import connect
from sordino.curator.questions.sql import plan_sql
from sordino.mechanisms.noise.registry import fit_noise
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.values import plan as planning
from sordino.sql.values.bounds import compute_bounds
from tests.oracles.test_oracles import agrees, golden

INTEGER = {"type": "integer"}
STAFF = {
    "norm": "l1(0.1*salary, hours)",
    "columns": {"salary": INTEGER | {"bounds": [0, 100]}, "hours": INTEGER | {"bounds": [0, 80]}},
}
ROWS = pa.table({"salary": [50, 80, 30, 100], "hours": [45, 38, 41, 20]})


def policy(**tables):
    return {"version": 1, "dataset": "golden", "protects": "values", "tables": tables}


def measure(tables, declared, sql, betas, filters=None):
    """The number in its continuous version, and c of every table at every β."""
    with connect(tables, policy=policy(**declared)) as curator:
        plan = plan_sql(curator.data, sql, AnswerOptions.checked(1, 0), filters)
        with curator.data.engine.snapshot() as snapshot:
            exact = planning.compute_value_answers(snapshot, plan.statement)[()][0]
            found = plan.statement.measures[0]
            bounds = {
                table.name: compute_bounds(snapshot, plan.statement, found, table, betas, plan.sharing)[()]
                for table in plan.tables
            }
    return float(exact * found.step), bounds


def measure_all(tables, declared, sql, beta, *, protects="values", filters=None):
    """The number, and c of every table at one β, through the whole plan."""
    declared = policy(**declared) | {"protects": protects}
    with connect(tables, policy=declared) as curator:
        plan = plan_sql(curator.data, sql, AnswerOptions.checked(1, 0), filters)
        with curator.data.engine.snapshot() as snapshot:
            cell = plan.measure(snapshot, (beta,))[0]
    step = float(plan.statement.measures[0].step)
    place = cell.betas.index(beta)
    return cell.exact * step, {name: found[place] * step for name, found in cell.bounds.items()}


def test_the_staff():
    sql = "SELECT SUM(salary) FROM staff WHERE hours > 40"
    betas = (0.01, 0.02, 0.05, 0.1, 0.15)
    answer, bounds = measure({"staff": ROWS}, {"staff": STAFF}, sql, betas, "sigmoid(1)")
    assert agrees(answer, golden("values", "staff_answer_1"))
    for beta, bound in zip(betas, bounds["staff"], strict=True):
        assert agrees(bound, golden("values", f"staff_bound_{beta}"))
    answer, bounds = measure({"staff": ROWS}, {"staff": STAFF}, sql, (0.1,), "sigmoid(0.1)")
    assert agrees(answer, golden("values", "staff_answer_0.1"))
    assert agrees(bounds["staff"][0], golden("values", "staff_bound_flat"))
    noise = fit_noise("cauchy", "report", 1.0, 0.0, 0.0)
    assert bounds["staff"][0] / noise.alpha(1.0, 0.0, 0.1) == pytest.approx(
        golden("values", "staff_scale_flat")["value"], rel=1e-6
    )
    assert agrees(
        measure({"staff": ROWS}, {"staff": STAFF}, sql, (0.1,))[0], golden("values", "staff_answer_exact")
    )


@pytest.mark.parametrize("beta", ["0.02", "0.05", "0.1", "0.15"])
def test_the_scales_of_the_grid(beta):
    """c/b with the tight b at ε = 1."""
    grid = planning.make_value_grid("cauchy", 1.0, 1.0)
    alpha = grid.noise.alpha(1.0, 0.0, float(beta))
    bound = golden("values", f"staff_bound_{beta}")["value"]
    # rounding is paid for as a little more β
    assert alpha == pytest.approx(golden("values", f"tight_b_{beta}")["value"], abs=2e-6)
    assert bound / alpha == pytest.approx(golden("values", f"staff_scale_{beta}")["value"], abs=2e-4)


def test_ages():
    people = {"norm": "age", "columns": {"age": INTEGER | {"bounds": [0, 120]}}}
    sql = "SELECT COUNT(*) FROM people WHERE age >= 18"
    near = pa.table({"age": [12, 17, 18, 25, 70]})
    answer, bounds = measure({"people": near}, {"people": people}, sql, (0.01, 0.1, 1.0))
    assert agrees(answer, golden("values", "ages_exact"))
    assert np.allclose(bounds["people"], golden("values", "ages_near")["value"])
    far = pa.table({"age": [5, 40, 70]})
    _, bounds = measure({"people": far}, {"people": people}, sql, (0.1,))
    assert agrees(bounds["people"][0], golden("values", "ages_far"))
    _, bounds = measure({"people": near}, {"people": people | {"rows": "inf"}}, sql, (0.1,))
    assert agrees(bounds["people"][0], golden("values", "ages_added"))


def test_a_join():
    item = {
        "norm": "price",
        "key": "id",
        "columns": {"id": INTEGER | {"public": True}, "price": INTEGER | {"bounds": [0, 20]}},
    }
    sale = {
        "norm": "qty",
        "key": "nr",
        "columns": {
            "nr": INTEGER | {"public": True},
            "item": INTEGER | {"public": True},
            "qty": INTEGER | {"bounds": [0, 10]},
        },
    }
    tables = {
        "item": pa.table({"id": [1, 2], "price": [10, 4]}),
        "sale": pa.table({"nr": [1, 2, 3], "item": [1, 1, 2], "qty": [3, 2, 5]}),
    }
    sql = "SELECT SUM(price*qty) FROM item JOIN sale ON item.id = sale.item"
    answer, bounds = measure(tables, {"item": item, "sale": sale}, sql, (0.2, 0.05))
    assert agrees(answer, golden("values", "join_answer"))
    # the bound is of the largest slope on this database, and of more where others are near
    for table, slopes in golden("values", "join_slopes")["value"].items():
        assert bounds[table][0] >= max(slopes) * (1 - 1e-9)
    for table in ("item", "sale"):
        for beta, bound in zip(("0.2", "0.05"), bounds[table], strict=True):
            assert agrees(bound, golden("values", f"join_{table}_{beta}"))


@pytest.mark.parametrize("beta", [0.2, 0.05])
def test_every_row_of_a_join(beta):
    """spec values.md §3, example 3: with rows: inf the bound adds up what each row has."""
    item = {
        "norm": "price", "rows": "inf", "key": "id",
        "columns": {"id": INTEGER | {"public": True}, "price": INTEGER | {"bounds": [0, 20]}},
    }  # fmt: skip
    sale = {
        "norm": "qty", "rows": "inf", "key": "nr",
        "columns": {"nr": INTEGER | {"public": True}, "item": INTEGER | {"public": True},
                    "qty": INTEGER | {"bounds": [0, 10]}},
    }  # fmt: skip
    tables = {
        "item": pa.table({"id": [1, 2], "price": [10, 4]}),
        "sale": pa.table({"nr": [1, 2, 3], "item": [1, 1, 2], "qty": [3, 2, 5]}),
    }
    sql = "SELECT SUM(price*qty) FROM item JOIN sale ON item.id = sale.item"
    # which rows there are is public, so each is asked for by itself; a join has its rows of both tables
    items, sales = (golden("values", f"join_{table}_rows_{beta}")["value"] for table in ("item", "sale"))
    for place, wanted in enumerate(sales):
        _, bounds = measure(tables, {"item": item, "sale": sale}, f"{sql} WHERE nr = {place + 1}", (beta,))
        assert bounds["sale"][0] == pytest.approx(wanted, abs=1e-6)
    for place, wanted in enumerate(items):
        _, bounds = measure(tables, {"item": item, "sale": sale}, f"{sql} WHERE id = {place + 1}", (beta,))
        assert bounds["item"][0] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("place", [1, 2, 3])
def test_every_term_of_a_minimum(place):
    """spec values.md §3, example 4."""
    points = {
        "norm": "l1(x, y)",
        "columns": {
            "id": INTEGER | {"public": True},
            "x": INTEGER | {"bounds": [0, 10]},
            "y": INTEGER | {"bounds": [-1000, 1000]},
        },
    }
    rows = {"p": pa.table({"id": [1, 2, 3], "x": [3, 1, 7], "y": [2, -1, 5]})}
    sql = f"SELECT MIN(x) FROM p WHERE y > 0 AND id = {place}"
    wanted = golden("values", "least_terms")["value"][place - 1]
    assert measure(rows, {"p": points}, sql, (2.0,), "sigmoid(2)")[0] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("beta", [0.01, 0.02, 0.05, 0.1, 0.15])
def test_the_scales_of_the_report(beta):
    """spec values.md §4: c/b with b = ε/5 − β at ε = 1, γ = 4."""
    noise = fit_noise("cauchy", "report", 1.0, 0.0, 0.0)
    bound = golden("values", f"staff_bound_{beta}")["value"]
    wanted = golden("values", f"staff_report_scale_{beta}")["value"]
    assert bound / noise.alpha(1.0, 0.0, beta) == pytest.approx(wanted, rel=1e-6)


def test_least_and_largest():
    points = {
        "norm": "l1(x, y)",
        "columns": {"x": INTEGER | {"bounds": [0, 10]}, "y": INTEGER | {"bounds": [-1000, 1000]}},
    }
    rows = {"p": pa.table({"x": [3, 1, 7], "y": [2, -1, 5]})}
    sql = "SELECT MIN(x) FROM p WHERE y > 0"
    answer, bounds = measure(rows, {"p": points}, sql, (2.0, 0.1), "sigmoid(2)")
    assert agrees(answer, golden("values", "least"))
    assert agrees(bounds["p"][0], golden("values", "least_bound_2"))
    assert agrees(bounds["p"][1], golden("values", "least_bound_0.1"))
    answer, _ = measure(rows, {"p": points}, "SELECT MAX(x) FROM p WHERE y > 0", (2.0,), "sigmoid(2)")
    assert agrees(answer, golden("values", "largest"))


def test_sigmoids_come_near_the_exact_answer():
    sql = "SELECT SUM(salary) FROM staff WHERE hours > 40"
    errors = [
        abs(measure({"staff": ROWS}, {"staff": STAFF}, sql, (0.1,), f"sigmoid({alpha})")[0] - 80)
        for alpha in (0.1, 1, 10, 100)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-9
    assert math.isfinite(errors[0])
