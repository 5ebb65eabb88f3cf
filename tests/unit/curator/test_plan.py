"""What a question costs and which noise it gets: public parameters only."""

from __future__ import annotations

import json
from fractions import Fraction

import duckdb
import pytest

import sordino as sd
from sordino.core.loss import round_down
from sordino.sql.answering.cell_noise import ConstantNoise, choose_constant_noise, choose_smooth_noise
from sordino.sql.answering.plan import AnswerOptions

ONE = {"r": Fraction(1)}


@pytest.fixture(scope="module")
def curator():
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE r (a BIGINT, x BIGINT, day DATE); CREATE TABLE s (a BIGINT); CREATE TABLE p (a BIGINT)"
    )
    policy = {
        "version": 1,
        "dataset": "d",
        "tables": {
            "r": {
                "columns": {
                    "a": {"domain": [0, 1, 2]},
                    "x": {"bounds": [-3, 9]},
                    "day": {"domain": ["2024-01-31"]},
                }
            },
            "s": {"columns": {"a": {"domain": [0, 1, 2]}}},
            "p": {"private": False},
        },
        "budgets": {"ann": {"epsilon": 10}},
    }
    with sd.connect(connection, policy=policy) as opened:
        yield opened


def plan(curator, sql, epsilon=1.0, delta=0.0, **options):
    return curator.plan(sql, AnswerOptions.checked(epsilon, delta, **options))


def test_one_number_takes_the_whole_budget(curator):
    made = plan(curator, "SELECT COUNT(*) FROM r JOIN s ON r.a = s.a")
    assert made.shares == 1
    assert made.composition() == "one number takes the whole budget"


def test_average_is_two_releases(curator):
    assert plan(curator, "SELECT AVG(x) FROM r").shares == 2


def test_groups_of_one_table_take_the_budget_side_by_side(curator):
    made = plan(curator, "SELECT a, COUNT(*), SUM(x) FROM r GROUP BY a")
    assert made.shares == 2
    assert len(made.cells()) == 6
    assert "partition" in made.composition()


def test_groups_that_a_row_may_share_divide_the_budget(curator):
    made = plan(curator, "SELECT r.a, COUNT(*) FROM r JOIN s ON r.a < s.a GROUP BY r.a", 0.9)
    assert made.shares == 3
    assert made.noises[0].grid.epsilon <= 0.3
    assert "a row may be in several" in made.guarantee.theorem


def test_shares_of_the_budget_never_add_up_to_more(curator):
    for epsilon in (0.1, 1.0, 0.7, 1e-2):
        made = plan(
            curator, "SELECT COUNT(*) AS n, SUM(x) AS t, AVG(x) AS m FROM r JOIN s ON r.a = s.a", epsilon
        )
        spent = sum(Fraction(noise.grid.epsilon) for noise in made.noises)
        assert spent <= Fraction(str(epsilon))
        barred = plan(curator, "SELECT COUNT(*) FROM r JOIN s ON r.a = s.a", epsilon, error_share=0.3).noises[
            0
        ]
        assert Fraction(barred.grid.epsilon) + barred.bar.epsilon <= Fraction(str(epsilon))


def test_delta_is_divided_too(curator):
    made = plan(
        curator, "SELECT COUNT(*) AS n, SUM(x) AS t FROM r JOIN s ON r.a = s.a", 1.0, 1e-6, noise="laplace"
    )
    assert all(Fraction(noise.grid.delta) * 2 <= Fraction(1, 10**6) for noise in made.noises)
    assert made.guarantee.delta == 1e-6


def test_a_delta_that_buys_nothing_is_not_spent(curator):
    sql = "SELECT COUNT(*) AS n FROM r JOIN s ON r.a = s.a"
    with_delta, without = plan(curator, sql, 1.0, 1e-6), plan(curator, sql, 1.0)
    assert with_delta.noises == without.noises
    assert with_delta.guarantee.delta == 0


def test_an_error_bar_keeps_beta_small_enough_to_be_useful(curator):
    noise = plan(curator, "SELECT COUNT(*) FROM r JOIN s ON r.a = s.a", 1.0, error_share=0.1).noises[0]
    assert noise.grid.largest_beta <= 0.1 / 2
    # in the median, the bar beside the radius that a public scale would have
    shape = noise.grid.noise.shape
    radius = noise.bar.radius(noise.bar.centre(Fraction(100)), shape, step=Fraction(1, 1000))
    assert 1.4 < radius / (100 * shape.radius(0.95)) < 1.8


def test_a_fraction_of_epsilon_is_stated_upwards(curator):
    made = plan(curator, "SELECT COUNT(*) FROM r", Fraction(1, 3))
    assert Fraction(repr(made.guarantee.epsilon)) >= Fraction(1, 3)


def test_public_tables_alone_are_no_question(curator):
    with pytest.raises(sd.UnsupportedError, match="public tables only"):
        plan(curator, "SELECT COUNT(*) FROM p")


def test_a_public_table_in_a_join_is_not_protected(curator):
    made = plan(curator, "SELECT COUNT(*) FROM r JOIN p ON r.a >= p.a")
    assert made.mechanism == "flared_laplace noise"


def test_a_public_table_that_is_joined_by_its_key_only_adds_columns(curator):
    made = plan(curator, "SELECT COUNT(*) FROM r JOIN p ON r.a = p.a")
    assert made.mechanism == "discrete_laplace noise"
    assert [occurrence.table for occurrence in made.statement.join.occurrences] == ["r"]


def test_dates_of_groups_are_texts_in_an_answer(curator):
    release = curator.session("ann").query("SELECT day, COUNT(*) AS n FROM r GROUP BY day", 1.0)
    assert release.value[0]["day"] == "2024-01-31"
    json.dumps(release.to_dict())


def test_small_betas_that_cannot_be_followed_are_left_out(curator):
    sql = "SELECT COUNT(*) FROM r JOIN s ON r.a = s.a"
    many, few = plan(curator, sql, 1.0), plan(curator, sql, 0.0005)
    assert len(few.noises[0].betas) < len(many.noises[0].betas)
    with pytest.raises(sd.UnsupportedError, match="larger epsilon"):
        plan(curator, sql, 1e-5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": True},
        {"epsilon": float("inf")},
        {"delta": -1},
        {"noise": "cauchi"},
        {"error_share": -0.1},
        {"error_share": "half"},
        {"non_negative": 1},
        {"analyses": [3]},
    ],
)
def test_options_are_checked(wrong):
    with pytest.raises(sd.ParameterError):
        AnswerOptions.checked(**({"epsilon": 1.0, "delta": 0.0} | wrong))


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(7)])
def test_public_radius_is_the_least_that_holds(confidence, epsilon):
    noise = ConstantNoise(Fraction(3), epsilon)
    law = noise.law(0, None)
    radius = noise.find_radius(confidence)

    def inside(r):
        import numpy as np

        return float(np.exp(law.log_masses(-r, r)).sum())

    assert inside(radius) >= confidence - 1e-12
    assert radius == 0 or inside(radius - 1) < confidence + 1e-12


def test_constant_noise_counts_weight_by_unit_of_distance():
    assert choose_constant_noise(4, Fraction(1), {"r": Fraction(2)}, 0.95).sensitivity == 2
    assert choose_constant_noise(4, Fraction(1), {"r": Fraction(1, 2)}, 0.95).sensitivity == 8


def test_noise_says_that_it_needs_a_bound():
    with pytest.raises(TypeError, match="smooth bound"):
        choose_smooth_noise("cauchy", Fraction(1), Fraction(0), Fraction(0), ONE, 0.95).law(3, None)


def test_budgets_round_down():
    third = round_down(Fraction(1, 3))
    assert Fraction(third) <= Fraction(1, 3)
    assert round_down(Fraction(1, 2)) == 0.5


def test_a_delta_that_is_not_needed_is_not_spent_and_the_release_says_so(curator):
    sql = "SELECT COUNT(*) FROM r JOIN s ON r.a = s.a"
    pure, given = plan(curator, sql), plan(curator, sql, delta=1e-6)
    assert given.noises == pure.noises
    assert given.guarantee.loss.delta == 0
    assert not pure.list_notes()
    assert "no δ is spent" in given.list_notes()[-1]
    spent = plan(curator, sql, delta=1e-6, noise="laplace")
    assert spent.guarantee.loss.delta == 1e-6
    assert not spent.list_notes()
