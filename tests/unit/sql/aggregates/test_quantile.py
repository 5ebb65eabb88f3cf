"""MIN, MAX, MEDIAN and quantiles: how they are spelled, what is made of them, and what is said of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

import sordino as sd
from sordino.mechanisms.selection.rank_choice import RankChoice
from sordino.sql.aggregates import Lattice, Part, RankedValue, find_aggregate
from sordino.sql.policy import Policy
from sordino.sql.reading.read import read_statement
from sordino.testing import seeded
from tests.oracles.ranks import quantile_utilities

POLICY = {
    "version": 1,
    "dataset": "people",
    "protects": "row",
    "tables": {
        "people": {
            "columns": {
                "age": {"bounds": [0, 120]},
                "pay": {"bounds": [0, 9], "granularity": "0.5"},
                "city": {"domain": ["Rome", "Oslo"]},
                "wild": {},
            }
        }
    },
    "budgets": {"ann": {"epsilon": 100}},
}
PEOPLE = pa.table(
    {
        "age": [20 + i % 60 for i in range(600)],
        "pay": [float(i % 10) for i in range(600)],
        "city": [("Rome", "Oslo")[i % 2] for i in range(600)],
        "wild": list(range(600)),
    }
)
SPELLINGS = [
    "QUANTILE(age, 0.9)",
    "QUANTILE_CONT(age, 0.9)",
    "quantile_disc(age, 0.9)",
    "PERCENTILE(age, 0.9)",
    "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age)",
    "PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY age ASC NULLS FIRST)",
    "PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY age DESC)",
    "APPROX_QUANTILE(age, 0.9)",
    "PERCENTILE_APPROX(age, 0.9)",
    "APPROX_PERCENTILE(age, 0.90)",
]


@pytest.fixture
def curator():
    with sd.connect({"people": PEOPLE}, policy=POLICY) as opened:
        yield opened


def read(curator, sql, dialect="duckdb"):
    data = curator.data
    return read_statement(sql, policy=Policy.load(POLICY), catalogue=data.catalogue, dialect=dialect)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_every_spelling_is_the_same_measure_on_every_engine(curator, dialect):
    statement = read(curator, f"SELECT {', '.join(SPELLINGS)} FROM people", dialect)
    (measure,) = statement.measures
    assert isinstance(measure, RankedValue)
    assert (measure.q, measure.low, measure.high, measure.step) == (Fraction(9, 10), 0, 120, 1)
    ends = read(
        curator, "SELECT MIN(age), QUANTILE(age, 0), MAX(age), QUANTILE(age, 1), MEDIAN(age) FROM people"
    )
    assert [measure.q for measure in ends.measures] == [0, 1, Fraction(1, 2)]


@pytest.mark.parametrize(
    ("asked", "dialect"),
    [
        ("QUANTILE_CONT(pay, [0.75, 0.25])", "duckdb"),
        ("PERCENTILE_CONT(ARRAY[0.75, 0.25]) WITHIN GROUP (ORDER BY pay)", "postgres"),
        ("PERCENTILE(pay, array(0.75, 0.25))", "spark"),
    ],
)
def test_several_at_once_are_a_list_in_the_order_asked(curator, asked, dialect):
    statement = read(curator, f"SELECT {asked} AS q FROM people", dialect)
    assert [measure.q for measure in statement.measures] == [Fraction(3, 4), Fraction(1, 4)]
    assert statement.outputs[0].expression.kind == "list"
    value = curator.session("ann").query("SELECT QUANTILE(pay, [0.75, 0.25]) AS q FROM people", 5).value
    ((upper, lower),) = (row["q"] for row in value)
    assert 0 <= lower <= upper <= 9


def test_quantiles_that_cross_are_put_in_order():
    lattice = Lattice(exp.column("x"), Fraction(0), Fraction(9))
    aggregate = find_aggregate(exp.Quantile(this=exp.column("x"), quantile=exp.Array(expressions=[])))
    parts = [
        Part(RankedValue(lattice, Fraction(q, 10)), Fraction(number))
        for q, number in ((9, 3), (1, 5), (5, 4))
    ]
    assert aggregate.combine(parts).value == (5, 3, 4)


def test_ranks_are_said_before_and_after_and_the_value_has_no_error(curator):
    ann, sql = curator.session("ann"), "SELECT MEDIAN(age), COUNT(*) FROM people"
    preview = ann.preview(sql, 1)
    assert "its rank is within" in str(preview)
    assert preview.numbers[0].error is None
    assert preview.numbers[1].error is not None
    release = ann.query(sql, 1)
    assert release.errors["median"] is None
    assert release.errors["count"] > 0
    (note,) = release.notes
    assert note == preview.numbers[0].note
    # 2 · ½ · ln(10 · 120) / ½ = 14.2 rows
    assert "within 15 rows" in note
    assert release.mechanism == "permute_and_flip and discrete_laplace noise"


def test_the_owner_sees_the_exact_value_and_how_far_draws_lie(curator):
    facts = curator.explain(
        "SELECT city, MEDIAN(age) AS m, MIN(pay) AS l FROM people GROUP BY city", 1
    ).reveal()
    ages = {"Rome": [20 + i % 60 for i in range(0, 600, 2)], "Oslo": [20 + i % 60 for i in range(1, 600, 2)]}
    assert {row["city"]: row["m"] for row in facts["exact"]} == {
        city: sorted(held)[len(held) // 2 - 1] for city, held in ages.items()
    }
    for number in facts["numbers"]:
        assert 0 <= number["error"]["50%"] <= number["error"]["95%"]


def test_what_was_paid_for_is_served_again_under_any_name(curator):
    ann = curator.session("ann")
    first = ann.query("SELECT city, MEDIAN(age) AS m FROM people GROUP BY city", 1)
    spent = ann.budget().spent
    again = ann.query(
        "SELECT p.city, 2 * PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY p.age) AS t FROM people p GROUP BY p.city "
        "HAVING MEDIAN(p.age) > 0 ORDER BY t", 1, reuse=True,
    )  # fmt: skip
    assert ann.budget().spent == spent
    assert sorted(row["t"] for row in again.value) == sorted(2 * row["m"] for row in first.value)
    ann.query("SELECT city, QUANTILE(age, 0.51) AS m FROM people GROUP BY city", 1, reuse=True)
    assert ann.budget().spent != spent


def test_a_column_without_bounds_says_what_is_missing(curator):
    with pytest.raises(
        sd.ParameterError, match=r"a quantile needs public bounds: declare tables.people.columns.wild"
    ):
        curator.session("ann").query("SELECT MEDIAN(wild) FROM people", 1)
    assert str(curator.session("ann").budget()) == "epsilon 100 left of epsilon 100"
    with pytest.raises(sd.UnsupportedError, match="one COUNT or SUM, not by MEDIAN"):
        curator.session("ann").select("SELECT city, MEDIAN(age) FROM people GROUP BY city", epsilon=1)


def test_a_draw_has_the_law_of_the_library(curator):
    ages = PEOPLE.column("age").to_pylist()
    with seeded(3):
        library = [sd.quantile(ages, 0.9, bounds=(0, 120), step=1, epsilon=0.2).value for _ in range(5)]
    with seeded(3):
        asked = [
            curator.session("ann").query("SELECT QUANTILE(age, 0.9) FROM people", 0.2).value for _ in range(5)
        ]
    assert asked == library


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(9, 10)])
def test_a_rank_is_within_its_radius(q):
    """Exact laws where all points but two are off by as much as is asked for; the control: half the radius."""
    points, choice = 40, RankChoice.quantile(float(q), epsilon=Fraction(1, 4))
    radius = choice.radius(points)

    def beyond(off):
        counts = np.zeros(points, dtype=np.int64)
        counts[:2] = [off * q / (1 - q), off]
        held = [(place, Fraction(int(count))) for place, count in enumerate(counts)]
        assert quantile_utilities(held, q, points) == [0, 0, *[-off] * (points - 2)]
        return float(np.exp(choice.law(counts).log_probabilities)[2:].sum())

    assert 0.01 < beyond(int(radius) + 1) <= 0.05
    assert beyond(int(radius / 2)) > 0.05
