"""MEDIAN, quantiles, MIN and MAX in SQL where rows are protected: the law of all tiny tables, through DuckDB."""

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
from sordino.sql.aggregates import RankedValue
from sordino.sql.answering.measured import measure_all
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.answering.rank_noise import RankNoise, choose_rank_noise
from tests.exact.sql.test_end_to_end import loss
from tests.oracles.ranks import extreme_law, quantile_law

COLUMNS = {"a": {"domain": [0, 1]}, "x": {"bounds": [-1, 2]}}
POLICY = {
    "version": 1,
    "dataset": "tiny",
    "tables": {"r": {"columns": COLUMNS}, "s": {}, "p": {"private": False}},
    "budgets": {"ann": {"epsilon": 100}},
}
HEAVY = {**POLICY, "tables": {**POLICY["tables"], "r": {"columns": COLUMNS, "weight": "1/2"}}}
# clipped at both ends, NULL, and in no group
ROWS = [(0, -7), (0, 1), (1, 0), (1, 9), (0, "NULL"), (2, 2)]
POINTS = range(-1, 3)
UNIVERSE = [rows for size in range(4) for rows in itertools.combinations_with_replacement(ROWS, size)]
MEDIAN = "SELECT MEDIAN(x) FROM r"
PER_GROUP = "SELECT a, MEDIAN(x) AS m FROM r GROUP BY a"
SHARED = "SELECT p.g, MEDIAN(r.x) AS m FROM r JOIN p ON p.id = r.a GROUP BY p.g"
MIXED = "SELECT a, COUNT(*) AS n, QUANTILE(x, [0.25, 0.9]) AS q, MAX(x) - MIN(x) AS d FROM r GROUP BY a"
QUESTIONS = {
    "the median": MEDIAN,
    "a quantile": "SELECT PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY x) FROM r WHERE a < 2",
    "the least": "SELECT MIN(x) FROM r",
    "the greatest of an expression": "SELECT MAX(CASE WHEN a = 1 THEN x ELSE -1 END) FROM r",
    "per group": PER_GROUP,
    "per group of a public table": SHARED,
    "with others": MIXED,
}


@cache
def measured(sql, *, policy="plain", epsilon=1.0):
    with duckdb.connect(config={"threads": 1}) as owner:
        owner.execute("CREATE TABLE r (a BIGINT, x BIGINT); CREATE TABLE s (a BIGINT)")
        owner.execute("CREATE TABLE p AS SELECT i AS id, i // 2 AS g FROM range(3) t(i)")
        with sd.connect(owner, policy=HEAVY if policy == "heavy" else POLICY) as curator:
            plan = curator.plan(sql, AnswerOptions.checked(epsilon, 0))
            found = {}
            for rows in UNIVERSE:
                owner.execute("DELETE FROM r")
                for row in rows:
                    owner.execute(f"INSERT INTO r VALUES ({', '.join(map(str, row))})")
                with curator.data.engine.snapshot() as snapshot:
                    found[rows] = measure_all(snapshot, plan)
    return plan, found


def cell_loss(noise, one, other):
    """sup |ln(P/Q)| of one cell of two tables."""
    left, right = (noise.law(cell.exact, cell.follows) for cell in (one, other))
    if isinstance(noise, RankNoise):
        return float(np.abs(left.log_probabilities - right.log_probabilities).max())
    return loss(left, right)


def worst_loss(plan, found):
    return max(
        sum(cell_loss(plan.noises[p.measure], p, q) for p, q in zip(found[x], found[y], strict=True))
        for x, y in itertools.combinations(UNIVERSE, 2)
        if len(y) == len(x) + 1 and not Counter(x) - Counter(y)
    )


@pytest.mark.parametrize("question", QUESTIONS)
def test_values_by_rank_have_the_claimed_loss(question):
    plan, found = measured(QUESTIONS[question])
    assert plan.guarantee.epsilon == 1.0
    assert 0.4 < worst_loss(plan, found) <= 1 + 1e-9


def test_the_loss_is_that_of_the_weight_of_a_row():
    plan, found = measured(MEDIAN, policy="heavy")
    assert 0.3 < worst_loss(plan, found) <= 0.5 + 1e-9


def points_of(rows, group=None):
    """By the definition: clipped to the bounds, NULL left out."""
    kept = [min(max(x, -1), 2) for a, x in rows if x != "NULL" and group in (None, a)]
    return [(x + 1, Fraction(1)) for x in kept]


@pytest.mark.parametrize(
    ("sql", "q"), [(MEDIAN, Fraction(1, 2)), ("SELECT QUANTILE(x, 0.25) FROM r", Fraction(1, 4))]
)
def test_the_law_is_that_of_the_definition(sql, q):
    plan, found = measured(sql)
    for rows, (cell,) in found.items():
        law = np.exp(plan.noises[0].law(cell.exact, cell.follows).log_probabilities)
        assert law == pytest.approx(quantile_law(points_of(rows), q, 4, epsilon=1.0), abs=1e-11)


@pytest.mark.parametrize("largest", [True, False])
def test_the_law_of_an_extreme_is_that_of_the_definition(largest):
    plan, found = measured(f"SELECT {'MAX' if largest else 'MIN'}(x) FROM r")
    rank = plan.noises[0].choice.rank
    assert rank >= 1
    for rows, (cell,) in found.items():
        law = np.exp(plan.noises[0].law(cell.exact, cell.follows).log_probabilities)
        wanted = extreme_law(points_of(rows), rank, 4, largest=largest, epsilon=1.0)
        assert law == pytest.approx(wanted, abs=1e-11)


@pytest.mark.parametrize("q", [0.5, 0.9])
def test_the_law_is_that_of_quantile_on_the_same_column(q):
    plan, found = measured(f"SELECT QUANTILE(x, {q}) FROM r", epsilon=0.7)
    for rows, (cell,) in found.items():
        law = np.exp(plan.noises[0].law(cell.exact, cell.follows).log_probabilities)
        column = [point - 1 for point, _ in points_of(rows)]
        points, wanted = sd.quantile_law(column, q, bounds=(-1, 2), step=1, epsilon=0.7)
        assert list(points) == list(POINTS)
        assert law == pytest.approx(wanted, abs=1e-11)


def test_each_group_is_chosen_for_by_its_own_rows():
    plan, found = measured(PER_GROUP)
    assert plan.shares == 1
    for rows, cells in found.items():
        for cell in cells:
            law = np.exp(plan.noises[0].law(cell.exact, cell.follows).log_probabilities)
            held = points_of(rows, cell.group[0])
            assert law == pytest.approx(quantile_law(held, Fraction(1, 2), 4, epsilon=1.0), abs=1e-11)


def test_the_exact_value_is_the_one_at_the_rank():
    _, found = measured("SELECT MIN(x), MAX(x), QUANTILE(x, 0.25) FROM r")
    for rows, (least, greatest, quarter) in found.items():
        held = sorted(point - 1 for point, _ in points_of(rows))
        if held:
            assert (least.exact, greatest.exact) == (held[0], held[-1])
            assert quarter.exact == held[-(-len(held) // 4) - 1]
        else:
            assert least.exact == greatest.exact == quarter.exact == -1


def with_epsilon(plan, factor):
    """The mutant: every choice at a multiple of its share of the budget."""
    noises = tuple(
        choose_rank_noise(noise.measure, noise.choice.epsilon * factor, {"r": Fraction(1)})
        if isinstance(noise, RankNoise)
        else noise
        for noise in plan.noises
    )
    return replace(plan, noises=noises)


def test_half_the_noise_is_refused():
    for sql in (MEDIAN, PER_GROUP, MIXED):
        plan, found = measured(sql)
        assert worst_loss(with_epsilon(plan, 2), found) > 1 + 1e-9, sql


def test_aggregates_that_do_not_share_the_budget_are_refused():
    plan, found = measured("SELECT MEDIAN(x), QUANTILE(x, 0.25) FROM r")
    assert worst_loss(plan, found) <= 1 + 1e-9
    assert worst_loss(with_epsilon(plan, 2), found) > 1 + 1e-9


def test_a_target_that_forgets_how_the_number_of_rows_moves_it_is_refused():
    """The mutant: noise for ranks that move by ½ or q alone, as if the number of rows were public."""
    plan, found = measured("SELECT QUANTILE(x, 0.9) FROM r")
    (noise,) = plan.noises
    forgetful = replace(noise, choice=replace(noise.choice, epsilon=noise.choice.epsilon * Fraction(9, 5)))
    assert worst_loss(replace(plan, noises=(forgetful,)), found) > 1 + 1e-9


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT MEDIAN(x) FROM r JOIN s ON r.a = s.a", "over a join is refused.*protect users"),
        ("SELECT MAX(x) FROM r, p", "over a join is refused"),
        ("SELECT MEDIAN(a / x) FROM r WHERE a < 1", "needs public bounds"),
        ("SELECT MEDIAN(x * 1000000) FROM r", None),
        ("SELECT MEDIAN(LEAST(GREATEST(a, 0), 2000000)) FROM r", "2000001 points"),
        ("SELECT FLOOR(LEAST(GREATEST(a, 0), 99)) AS g, MEDIAN(LEAST(GREATEST(a, 0), 500000)) FROM r GROUP BY g",
         "in each of 101 groups"),
    ],
)  # fmt: skip
def test_what_has_no_bound_is_refused(sql, said):
    with duckdb.connect() as owner:
        owner.execute(
            "CREATE TABLE r (a BIGINT, x BIGINT); CREATE TABLE s (a BIGINT); CREATE TABLE p (id BIGINT)"
        )
        with sd.connect(owner, policy=POLICY) as curator:
            if said is None:
                (measure,) = curator.plan(sql, AnswerOptions.checked(1, 0)).statement.measures
                assert isinstance(measure, RankedValue)
                assert (measure.lattice.points, measure.step) == (4, 1000000)
                return
            with pytest.raises(sd.SordinoError, match=said):
                curator.plan(sql, AnswerOptions.checked(1, 0))
