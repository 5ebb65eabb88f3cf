"""Values by their rank where users are protected, as DuckDB weighs them: all small sets of users, and the mutants."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement

import duckdb
import numpy as np
import pytest

import sordino as sd
from sordino.engines import connect
from sordino.mechanisms.selection.rank_choice import RankChoice
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.answering.rank_counts import RankCounts, count_places
from sordino.sql.units.rank_weights import sum_weights
from sordino.sql.units.ranked import RankedPart
from sordino.sql.units.truncated import TruncatedPart
from sordino.units import WEIGHT_STEPS
from tests.backends.rank_suite import check_rank_loss, check_weights, find_laws, measure_loss, read_weights
from tests.backends.unit_suite import create_tables, fill_tables
from tests.oracles.ranks import extreme_law, quantile_law, weigh_extremes, weigh_rows

POLICY = {
    "version": 1,
    "dataset": "tiny",
    "protects": "user",
    "users": "u.id",
    "tables": {
        "u": {"key": {"columns": "id", "enforced": True}, "columns": {"age": {"bounds": [0, 3]}}},
        "r": {
            "foreign_keys": {"uid": "u.id"},
            "columns": {"x": {"bounds": [0, 3]}, "g": {"domain": ["a", "b"]}},
        },
        "v": {"foreign_keys": {"one": "u.id", "other": "u.id"}, "columns": {"x": {"bounds": [0, 3]}}},
    },
    "most_per_unit": 2,
    "budgets": {"ann": {"epsilon": 100, "delta": 0.1}},
}
# what one user holds: groups and values
KINDS = [
    (("a", 0),),
    (("b", 3),),
    (("a", 3), ("a", 1)),
    (("a", 0), ("b", 3)),
    (("a", 3), ("a", 3), ("b", 0), ("b", 0)),
    (("a", 2), ("b", 2), ("b", 2), ("b", 3)),
]
UNIVERSE = [users for size in range(3) for users in combinations_with_replacement(KINDS, size)]
# so many others that the place at which the greatest is looked for is among them
OTHERS = [(("a", 1), ("b", 2))] * 16
EPSILON = 1.0
MEDIAN = "SELECT MEDIAN(x) FROM r"
PER_GROUP = "SELECT g, MEDIAN(x) AS m FROM r GROUP BY g"
SEVERAL = "SELECT g, QUANTILE(x, [0.25, 0.5]) AS q FROM r GROUP BY g"
GREATEST = "SELECT MAX(x) FROM r"
GREATEST_PER_GROUP = "SELECT g, MAX(x) AS m FROM r GROUP BY g"


@pytest.fixture(scope="module")
def tiny():
    with duckdb.connect(config={"threads": 1}) as owner:
        owner.execute(
            "CREATE TABLE u (id INT, age INT); CREATE TABLE r (uid INT, g VARCHAR, x INT);"
            "CREATE TABLE v (one INT, other INT, x INT)"
        )
        with sd.connect(owner, policy=POLICY) as curator:
            yield owner, curator


def fill(owner, users):
    owned = [(number, group, value) for number, rows in enumerate(users) for group, value in rows]
    owner.execute("DELETE FROM u; DELETE FROM r")
    if users:
        ages = ", ".join(f"({number}, {len(rows) % 4})" for number, rows in enumerate(users))
        rows = ", ".join(f"({number}, '{group}', {value})" for number, group, value in owned)
        owner.execute(f"INSERT INTO u VALUES {ages}; INSERT INTO r VALUES {rows}")


def read_everywhere(tiny, sql, *, others=(), weigh=sum_weights):
    owner, curator = tiny
    plan = curator.plan(sql, AnswerOptions.checked(EPSILON, 0))
    (part,) = plan.parts
    found = {}
    for users in UNIVERSE:
        fill(owner, (*users, *others))
        with curator.data.engine.snapshot() as snapshot:
            found[users] = read_weights(snapshot, plan.statement, plan.owners, part, weigh=weigh)
    return part, found


def worst_loss(part, found):
    laws = {users: find_laws(part, weights) for users, weights in found.items()}
    return max(
        measure_loss(laws[users], laws[(*users[:i], *users[i + 1 :])])
        for users in UNIVERSE
        for i in range(len(users))
    )


def eager(part, factor):
    """The mutant: every choice at a multiple of its budget."""
    return replace(part, ranks=tuple(replace(rank, epsilon=rank.epsilon * factor) for rank in part.ranks))


@pytest.mark.parametrize("sql", [MEDIAN, SEVERAL, GREATEST, GREATEST_PER_GROUP])
def test_one_user_with_all_rows_has_the_claimed_loss(tiny, sql):
    others = OTHERS if "MAX" in sql else ()
    part, found = read_everywhere(tiny, sql, others=others)
    assert 0.5 < worst_loss(part, found) <= EPSILON + 1e-9
    assert worst_loss(eager(part, 2), found) > EPSILON + 1e-9  # half the noise


@pytest.mark.parametrize("sql", [PER_GROUP, GREATEST_PER_GROUP])
def test_the_laws_are_those_of_the_definition(tiny, sql):
    part, found = read_everywhere(tiny, sql)
    (rank,) = part.ranks
    assert part.limit.grid == (1, 2)
    for users, weights in found.items():
        rows_of, (_, laws) = dict(enumerate(users)), find_laws(part, weights)
        for limit, of_limit in zip(part.limit.grid, laws, strict=True):
            for group, law in zip("ab", of_limit, strict=True):
                epsilon = float(rank.epsilon)
                if sql == PER_GROUP:
                    held = weigh_rows(rows_of, limit).get(group, [])
                    wanted = quantile_law(held, Fraction(1, 2), 4, epsilon=epsilon, most=limit)
                else:
                    held = weigh_extremes(rows_of, limit, largest=True).get(group, [])
                    place = rank.choice(limit).rank // WEIGHT_STEPS
                    wanted = extreme_law(held, place, 4, largest=True, epsilon=epsilon, most=limit)
                assert np.exp(law) == pytest.approx(wanted, rel=1e-6)


def forget_weights(snapshot, statement, owners, measure, limit):
    """The mutant: every row counts one, whoever else's it is."""
    counted = count_places(snapshot, statement, measure.lattice)
    return {group: RankCounts(held.places, held.counts * WEIGHT_STEPS) for group, held in counted.items()}


def test_rows_that_each_count_one_are_refused(tiny):
    """A user with four rows counted as one."""
    part, found = read_everywhere(tiny, PER_GROUP, weigh=forget_weights)
    assert worst_loss(part, found) > EPSILON + 1e-9


def weigh_per_group(snapshot, statement, owners, measure, limit):
    """The mutant: a user in two groups weighs twice the limit."""
    (key,) = statement.keys
    held = {}
    for group in statement.groups():
        held |= sum_weights(
            snapshot, replace(statement, keys=(replace(key, values=group),)), owners, measure, limit
        )
    return held


@pytest.mark.parametrize("sql", [PER_GROUP, GREATEST_PER_GROUP])
def test_a_user_that_weighs_the_limit_in_every_group_is_refused(tiny, sql):
    others = OTHERS if "MAX" in sql else ()
    part, found = read_everywhere(tiny, sql, others=others, weigh=weigh_per_group)
    assert worst_loss(part, found) > EPSILON + 1e-9


def test_several_choices_and_sums_share_the_budget(tiny):
    owner, curator = tiny
    sql = "SELECT g, MEDIAN(x) AS m, QUANTILE(x, 0.9) AS q, COUNT(*) AS n, MIN(x) AS l FROM r GROUP BY g"
    plan = curator.plan(sql, AnswerOptions.checked(EPSILON, 0))
    by_kind = {type(part): part for part in plan.parts}
    quantiles = next(part for part in plan.parts if isinstance(part, RankedPart) and len(part.places) == 2)
    assert len(plan.parts) == 3
    assert set(by_kind) == {RankedPart, TruncatedPart}
    spent = [
        part.limit.truncation.choice.epsilon + sum(rank.epsilon for rank in part.ranks)
        for part in plan.parts
        if isinstance(part, RankedPart)
    ]
    assert sorted(spent) == [Fraction(1, 4), Fraction(1, 2)]
    found = {}
    for users in UNIVERSE:
        fill(owner, users)
        with curator.data.engine.snapshot() as snapshot:
            found[users] = read_weights(snapshot, plan.statement, plan.owners, quantiles)
    assert 0.2 < worst_loss(quantiles, found) <= EPSILON / 2 + 1e-9


@pytest.mark.parametrize("question", ["MEDIAN(age)", "QUANTILE(age, 0.9)"])
def test_one_row_per_user_has_the_law_of_quantile(tiny, question):
    owner, curator = tiny
    plan = curator.plan(f"SELECT {question} FROM u", AnswerOptions.checked(EPSILON, 0))
    (part,) = plan.parts
    assert part.limit.grid == (1,)
    for users in UNIVERSE[::7]:
        fill(owner, users)
        with curator.data.engine.snapshot() as snapshot:
            _, ((law,),) = find_laws(part, read_weights(snapshot, plan.statement, plan.owners, part))
        ages = [len(rows) % 4 for rows in users]
        q = float(part.measure.q)
        _, wanted = sd.quantile_law(ages, q, bounds=(0, 3), step=1, epsilon=EPSILON)
        assert np.exp(law) == pytest.approx(wanted, rel=1e-6)


def test_rows_of_two_owners_are_refused(tiny):
    _, curator = tiny
    with pytest.raises(sd.UnsupportedError, match="have 2 owners"):
        curator.plan("SELECT MEDIAN(x) FROM v", AnswerOptions.checked(EPSILON, 0))


def test_groups_that_nobody_declared_have_medians_too(tiny):
    owner, curator = tiny
    owner.execute("DELETE FROM u; DELETE FROM r; INSERT INTO u SELECT i, 1 FROM range(200) t(i)")
    owner.execute("INSERT INTO r SELECT i, 'a', i % 4 FROM range(200) t(i)")
    release = curator.session("ann").query("SELECT uid % 2 = 0 AS e, MEDIAN(x) AS m FROM r GROUP BY e", 1)
    assert {row["m"] for row in release.value} <= set(range(4))
    sql = "SELECT age, MEDIAN(x) AS m FROM u JOIN r ON r.uid = u.id GROUP BY age"
    release = curator.session("ann").query(sql, 5, delta=0.05)
    assert [row["age"] for row in release.value] == [1]
    assert 0 <= release.value[0]["m"] <= 3


@pytest.fixture
def shop():
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(create_tables())
        with connect(connection) as engine:
            yield engine, lambda database: connection.execute(fill_tables(database))


@pytest.mark.parametrize("seed", range(4))
def test_owners_weigh_what_is_defined(shop, seed):
    check_weights(*shop, seed)


@pytest.mark.parametrize("seed", range(2))
def test_one_owner_changes_the_law_within_epsilon(shop, seed):
    check_rank_loss(*shop, seed)


def test_large_units_and_fine_weights_keep_the_radius():
    """Utilities are rounded to a step there: a rank that is far off stays as unlikely as is said."""
    limit, points = 1000, 50
    choice = RankChoice.quantile(0.5, epsilon=Fraction(1, 10), most=limit * WEIGHT_STEPS, choices=7)
    counts = np.zeros(points, dtype=np.int64)
    counts[[0, 20, 40, 49]] = np.array([100_000, 900_000, 800_000, 200_000]) * WEIGHT_STEPS
    law = np.exp(choice.law(counts).log_probabilities)
    radius = choice.radius(points)
    target, upto = counts.sum() / 2, np.cumsum(counts)
    far = (upto - counts > target + radius) | (upto < target - radius)
    assert far.any()
    assert law[far].sum() <= 0.05
