"""Questions that are paid in ρ, from SQL to the law of the released numbers: D_α ≤ αρ for all neighbours."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import duckdb
import numpy as np
import pytest

import sordino as sd
from sordino.sql.answering.measured import measure_all
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.units import plan as planning
from sordino.units import GaussianPerLimit
from tests.backends.row_suite import law_of, measure_rows
from tests.exact.concentrated import rho_of

RHO = Fraction(1, 2)
ROWS = [(0, 3), (1, 0), (1, 2)]
UNIVERSE = [
    rows for size in range(4) for rows in itertools.combinations_with_replacement(ROWS, size)
]  # of r(a, x); s(a) has a fixed public content or two rows of its own
QUESTIONS = {
    "SELECT COUNT(*) FROM r": 1,
    "SELECT SUM(x) FROM r": 1,
    "SELECT a, COUNT(*) FROM r GROUP BY a": 1,
    "SELECT COUNT(*), SUM(x) FROM r": 2,
}


def policy(weight="1"):
    tables = {"r": {"weight": weight, "columns": {"a": {"domain": [0, 1]}, "x": {"bounds": [0, 3]}}}, "s": {}}
    return {"version": 1, "dataset": "tiny", "protects": "row", "tables": tables}


def measured(sql, measure, *, weight="1", **options):
    """The plan, and what ``measure`` makes of every database."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE TABLE r (a BIGINT, x BIGINT); CREATE TABLE s AS SELECT unnest([0, 1, 1]) AS a")
    with pytest.MonkeyPatch.context() as patch, sd.connect(connection, policy=policy(weight)) as curator:
        patch.setattr(planning, "MOST_ROWS", 4)
        plan = curator.plan(sql, AnswerOptions.checked(rho=RHO, **options))
        found = {}
        for database in UNIVERSE:
            connection.execute("DELETE FROM r")
            if database:
                connection.execute(f"INSERT INTO r VALUES {', '.join(map(str, database))}")
            with curator.data.engine.snapshot() as snapshot:
                found[database] = measure(snapshot, plan)
    return plan, found


def worst_rho(law):
    """Over all pairs of databases that differ by one row, both ways. ``law`` gives a list of independent laws."""
    laws = {database: law(database) for database in UNIVERSE}
    pairs = [
        (laws[more], laws[tuple(row for i, row in enumerate(more) if i != gone)])
        for more in UNIVERSE
        for gone in range(len(more))
    ]
    both = [*pairs, *((q, p) for p, q in pairs)]
    return max(sum(rho_of(a, b) for a, b in zip(p, q, strict=True)) for p, q in both)


@pytest.mark.parametrize("sql", QUESTIONS)
@pytest.mark.parametrize("weight", ["1", "2"])
def test_numbers_of_one_table_cost_rho(sql, weight):
    plan, found = measured(sql, measure_all, weight=weight)
    assert plan.guarantee.rho == 0.5
    assert plan.guarantee.epsilon is None

    def law(waste):
        noises = [replace(noise, rho=noise.rho * waste) for noise in plan.noises]
        return lambda database: [
            noises[cell.measure].law(cell.exact, None).log_masses(-60, 80) for cell in found[database]
        ]

    allowed = RHO * Fraction(weight) ** 2  # a row of weight 2 is two units of distance
    assert 0.9 * allowed < worst_rho(law(1)) <= allowed * (1 + 1e-6)
    assert worst_rho(law(Fraction(6, 5))) > allowed


def test_limit_and_number_of_truncated_rows_cost_rho():
    sql = "SELECT COUNT(*) FROM r JOIN s ON r.a = s.a"
    plan, found = measured(sql, lambda snapshot, plan: measure_rows(plan, snapshot), mechanism="truncation")
    assert plan.guarantee.rho == 0.5
    assert plan.mechanism == "truncation and discrete_gaussian noise"

    def law(plan):
        return lambda database: [law_of(plan, *found[database])[1].log_probabilities]

    assert 0.5 * RHO < worst_rho(law(plan)) <= RHO * (1 + 1e-6)
    (part,) = plan.parts
    noise = GaussianPerLimit(part.flow.truncation.noise.rho * 3)
    wasteful = replace(part, flow=replace(part.flow, truncation=replace(part.flow.truncation, noise=noise)))
    assert worst_rho(law(replace(plan, parts=(wasteful,)))) > RHO


def test_a_radius_of_rho_holds():
    """P(|noise| > radius) by the law itself."""
    plan, _ = measured("SELECT SUM(x) FROM r", lambda *_: None)
    (noise,) = plan.noises
    for confidence in (0.5, 0.8, 0.95, 0.999):
        radius = noise.find_radius(confidence)
        inside = float(np.exp(noise.law(0, None).log_masses(-radius, radius)).sum())
        assert inside >= confidence - 1e-12
        assert float(np.exp(noise.law(0, None).log_masses(-radius // 2, radius // 2)).sum()) < confidence
