"""From SQL to the released integer: the exact law of every answer of the real code, over all tiny databases.

A database is a pair of tables r(a, x) and s(a) with few rows. Everything runs as in a session (reading, DuckDB,
analyses, calibration); only the draw is replaced by the law that it draws from. Neighbours differ by one row of one
table. Several numbers of one answer are independent given the data, so the loss of a pair is the sum of the losses of
its numbers.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache

import duckdb
import numpy as np
import pytest

import sordino as sd
from sordino.audit import prove
from sordino.sql.analysis import ANALYSES
from sordino.sql.answering.measured import measure_all
from sordino.sql.answering.plan import AnswerOptions

POLICY = {
    "version": 1,
    "dataset": "tiny",
    "tables": {
        "r": {"columns": {"a": {"domain": [0, 1]}, "x": {"bounds": [-2, 3]}}},
        "s": {"columns": {"a": {"domain": [0, 1]}}},
    },
    "budgets": {"ann": {"epsilon": 100, "delta": 0.1}},
}
JOIN = "SELECT COUNT(*) FROM r JOIN s ON r.a = s.a"


def tables(rows, most):
    return [
        tuple(chosen)
        for size in range(most + 1)
        for chosen in itertools.combinations_with_replacement(rows, size)
    ]


UNIVERSE = list(itertools.product(tables([(0, 3), (1, -2)], 2), tables([(0,), (1,)], 2)))


@cache
def neighbours(database):
    """All databases of the universe with one row more or less in one table."""
    found = []
    for other in UNIVERSE:
        gaps = [
            sum(((Counter(mine) - Counter(theirs)) + (Counter(theirs) - Counter(mine))).values())
            for mine, theirs in zip(database, other, strict=True)
        ]
        if sum(gaps) == 1:
            found.append(other)
    return found


def fill(connection, database):
    connection.execute("DELETE FROM r; DELETE FROM s")
    for name, rows in zip(("r", "s"), database, strict=True):
        for row in rows:
            connection.execute(f"INSERT INTO {name} VALUES ({', '.join(map(str, row))})")


@cache
def measured(sql, policy_of="plain", **options):
    """Plan, and per database what the rows say: (exact, analysis) of every cell."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE r (a BIGINT, x BIGINT); CREATE TABLE s (a BIGINT)")
    policy = POLICIES[policy_of]
    with sd.connect(connection, policy=policy) as curator:
        plan = curator.plan(sql, AnswerOptions.checked(**options))
        found = {}
        for database in UNIVERSE:
            fill(connection, database)
            with curator.data.engine.snapshot() as snapshot:
                found[database] = measure_all(snapshot, plan)
    return plan, found


def with_weights(r, s):
    policy = {**POLICY, "tables": {name: dict(table) for name, table in POLICY["tables"].items()}}
    policy["tables"]["r"]["weight"], policy["tables"]["s"]["weight"] = r, s
    return policy


POLICIES = {"plain": POLICY, "weighted": with_weights("1/2", 2)}


def law_of(plan, cell):
    return plan.noises[cell.measure].law(cell.exact, cell.follows)


def loss(left, right):
    """sup |ln(P/Q)| of two lattice laws: point by point inside, by analysis outside."""
    first = min(left.window()[0], right.window()[0])
    last = max(left.window()[1], right.window()[1])
    inside = np.abs(left.log_masses(first, last) - right.log_masses(first, last)).max()
    return max(float(inside), left.tail_loss(right, first, last))


def pair_losses(laws):
    """The largest total loss over all neighbouring pairs; ``laws`` gives the list of laws of a database."""
    known = {database: laws(database) for database in UNIVERSE}
    return {
        (x, y): sum(loss(p, q) for p, q in zip(known[x], known[y], strict=True))
        for x in UNIVERSE
        for y in neighbours(x)
        if x < y  # |ln(P/Q)| is the same both ways
    }


QUESTIONS = {
    "count of a join": JOIN,
    "count of a self-join": "SELECT COUNT(*) FROM r AS one, r AS two WHERE one.a = two.a",
    "count with an inequality": "SELECT COUNT(*) FROM r JOIN s ON r.a <= s.a",
    "sum over a join": "SELECT SUM(r.x) FROM r JOIN s ON r.a = s.a",
    "count of one table": "SELECT COUNT(*) FROM r WHERE a = 1",
    "sum of one table": "SELECT SUM(x) FROM r",
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("epsilon", "delta", "noise"), [(1.0, 0.0, None), (1.0, 0.01, "laplace")])
def test_answer_to_sql_has_the_claimed_loss(question, epsilon, delta, noise):
    plan, found = measured(QUESTIONS[question], epsilon=epsilon, delta=delta, noise=noise)
    proof = prove(
        lambda database: law_of(plan, found[database][0]),
        UNIVERSE,
        neighbours,
        plan.guarantee.epsilon,
        plan.guarantee.delta,
    )
    assert proof.holds, str(proof)
    assert plan.guarantee.epsilon == epsilon


@pytest.mark.parametrize("question", ["count of a join", "count of a self-join"])
@pytest.mark.parametrize("analyses", [*((name,) for name in ANALYSES), tuple(ANALYSES)])
def test_every_analysis_and_the_smallest_of_all_give_the_claimed_loss(question, analyses):
    plan, found = measured(QUESTIONS[question], epsilon=1.0, delta=0.0, analyses=analyses)
    proof = prove(lambda database: law_of(plan, found[database][0]), UNIVERSE, neighbours, 1.0)
    assert proof.holds, str(proof)


def test_less_noise_than_the_smooth_bound_asks_for_is_refused():
    """The mutant: noise by the change that is possible at the database itself, k = 0."""
    plan, found = measured(JOIN, epsilon=1.0, delta=0.0)

    def local(database):
        cell = found[database][0]
        return plan.noises[0].law(
            cell.exact, sd.SmoothBound(lambda beta: max(float(cell.analysis.bounds[0]), 0.01))
        )

    assert not prove(local, UNIVERSE, neighbours, 1.0).holds


def test_the_exact_answers_are_those_of_the_rows():
    _, found = measured(JOIN, epsilon=1.0, delta=0.0)
    for (r, s), cells in found.items():
        assert cells[0].exact == sum(a == b for a, _ in r for (b,) in s)


@pytest.mark.parametrize(("share", "noise"), [("0.1", None), ("0.5", None)])
def test_answer_and_error_bar_cost_epsilon_together(share, noise):
    plan, found = measured(JOIN, epsilon=1.0, delta=0.0, noise=noise, error_share=float(share))
    noise = plan.noises[0]

    def laws(database):
        answer = law_of(plan, found[database][0])
        return [answer, noise.bar.law(answer.scale)]

    assert max(pair_losses(laws).values()) <= 1.0 + 1e-9


def test_weighted_rows_cost_their_weight():
    plan, found = measured(JOIN, "weighted", epsilon=1.0, delta=0.0)
    losses = pair_losses(lambda database: [law_of(plan, found[database][0])])
    for ((r, s), (other_r, other_s)), spent in losses.items():
        assert spent <= (0.5 if r != other_r else 2.0) + 1e-9, (r, s, other_r, other_s)
    assert max(losses.values()) > 0.5


GROUPS = "SELECT r.a, COUNT(*) AS n FROM r JOIN s ON r.a = s.a GROUP BY r.a"
SHARED = "SELECT r.a, COUNT(*) AS n FROM r JOIN s ON r.a <= s.a GROUP BY r.a"


def cell_laws(plan, found):
    return lambda database: [law_of(plan, cell) for cell in found[database]]


def test_groups_that_partition_the_rows_each_take_the_whole_budget():
    plan, found = measured(GROUPS, epsilon=1.0, delta=0.0)
    assert plan.statement.partitions
    assert plan.shares == 1
    assert max(pair_losses(cell_laws(plan, found)).values()) <= 1.0 + 1e-9


def test_groups_that_share_rows_share_the_budget():
    plan, found = measured(SHARED, epsilon=1.0, delta=0.0)
    assert not plan.statement.partitions
    assert plan.shares == 2
    assert max(pair_losses(cell_laws(plan, found)).values()) <= 1.0 + 1e-9


def test_groups_that_share_rows_may_not_each_take_the_whole_budget():
    plan, found = measured(SHARED, epsilon=1.0, delta=0.0)
    whole, _ = measured(JOIN, epsilon=1.0, delta=0.0)
    mutant = replace(plan, noises=whole.noises)
    assert max(pair_losses(cell_laws(mutant, found)).values()) > 1.0 + 1e-9


def test_a_bound_shared_by_groups_breaks_parallel_composition():
    """The specimen: every group gets the largest of the groups' bounds, so one row moves the scale of all groups."""
    plan, found = measured(GROUPS, epsilon=1.0, delta=0.0)

    def laws(database):
        cells = found[database]
        bounds = [cell.follows for cell in cells]
        shared = sd.SmoothBound(
            lambda beta: max(bound.at(beta) for bound in bounds), beta_min=max(b.beta_min for b in bounds)
        )
        return [plan.noises[0].law(cell.exact, shared) for cell in cells]

    assert max(pair_losses(laws).values()) > 1.0 + 1e-9


def test_several_aggregates_share_the_budget():
    plan, found = measured(
        "SELECT COUNT(*) AS n, SUM(r.x) AS total FROM r JOIN s ON r.a = s.a", epsilon=1.0, delta=0.0
    )
    assert plan.shares == 2
    assert max(pair_losses(cell_laws(plan, found)).values()) <= 1.0 + 1e-9


def test_a_draw_has_the_law_that_was_proved():
    """The seam between law and draw: the same index comes out of both from the same randomness."""
    from sordino.testing import seeded

    plan, found = measured(JOIN, epsilon=1.0, delta=0.0)
    cell = found[UNIVERSE[-1]][0]
    with seeded(7):
        by_law = [law_of(plan, cell).draw() for _ in range(20)]
    with seeded(7):
        by_noise = [plan.noises[0].draw(cell.exact, cell.follows).steps for _ in range(20)]
    assert by_law == by_noise
    assert Fraction(cell.exact).denominator == 1
