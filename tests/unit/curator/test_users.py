"""Questions of a data set that protects users: what is answered, refused, paid and said."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest

import sordino as sd
from sordino.core import ParameterError, UnsupportedError
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.units.contributions import write_clipped_query
from sordino.units import Truncation

CUSTOMERS = pa.table({"id": range(400), "city": ["Rome" if i % 4 else "Oslo" for i in range(400)]})
ORDERS = pa.table(
    {
        "customer": [i % 400 for i in range(2000)] + [None, 9999],
        "amount": [i % 10 for i in range(2002)],
        "channel": [("web", "shop")[i % 3 == 0] for i in range(2002)],
    }
)
POLICY = {
    "version": 1,
    "dataset": "shop",
    "protects": "user",
    "users": "customers.id",
    "tables": {
        "customers": {
            "key": {"columns": "id", "enforced": True},
            "columns": {"city": {"domain": ["Rome", "Oslo", "Lima"]}},
        },
        "orders": {"foreign_keys": {"customer": "customers.id"}, "columns": {"amount": {"bounds": [0, 10]}}},
    },
    "budgets": {"ann": {"epsilon": 1000, "delta": 0.01}},
}
JOIN = "customers c JOIN orders o ON o.customer = c.id"
BIG = 100.0  # noise of such an ε moves nothing here by more than the tests allow


@pytest.fixture
def curator():
    with sd.connect({"customers": CUSTOMERS, "orders": ORDERS}, policy=POLICY) as found:
        yield found


@pytest.fixture
def ann(curator):
    return curator.session("ann")


def test_rows_of_nobody_are_left_out(ann):
    release = ann.query("SELECT COUNT(*) FROM orders", epsilon=BIG)
    assert abs(release.value - 2000) <= 10
    assert str(release.guarantee).startswith("ε = 100 for one customer with all their rows added or removed")
    assert "not protected as one" not in str(release.guarantee)
    assert "no customer counts for more than" in release.notes[0]


def test_a_key_bounds_what_is_counted(ann):
    release = ann.query("SELECT COUNT(*) FROM customers", epsilon=1)
    assert release.error == 3
    assert release.notes == ()


def test_groups_get_the_noise_of_one(ann):
    one = ann.query(f"SELECT COUNT(*) FROM {JOIN}", epsilon=BIG)
    release = ann.query(f"SELECT city, COUNT(*) AS n FROM {JOIN} GROUP BY city", epsilon=BIG)
    found = {row["city"]: row["n"] for row in release.value}
    assert {
        city: abs(found[city] - n) <= 3 for city, n in {"Rome": 1500, "Oslo": 500, "Lima": 0}.items()
    } == {
        "Rome": True,
        "Oslo": True,
        "Lima": True,
    }
    assert release.errors["n"] <= 2 * one.error + 1


def test_aggregates_are_calculated_with(ann):
    release = ann.query(
        f"SELECT city, AVG(amount) AS a, ROUND(SUM(amount) / COUNT(*), 1) AS b FROM {JOIN} GROUP BY city "
        "HAVING COUNT(*) > 100 ORDER BY city",
        epsilon=BIG,
    )
    assert [row["city"] for row in release.value] == ["Oslo", "Rome"]
    assert all(abs(row["a"] - 4.5) < 0.6 for row in release.value)
    assert all(abs(row["b"] - row["a"]) < 0.2 for row in release.value)


def test_groups_nobody_declared_need_a_delta(ann):
    question = "SELECT channel, COUNT(*) AS n FROM orders GROUP BY channel"
    with pytest.raises(ParameterError, match="groups of 'channel' are not public: ask with a delta"):
        ann.query(question, epsilon=1)
    assert ann.budget().spent.loss == 0
    release = ann.query(question, epsilon=BIG, delta=1e-6)
    assert [row["channel"] for row in release.value] == ["shop", "web"]
    assert release.guarantee.delta == 1e-6
    again = ann.query(f"{question} ORDER BY n DESC LIMIT 1", epsilon=BIG, delta=1e-6, reuse=True)
    assert [row["channel"] for row in again.value] == ["web"]


def test_a_rare_group_is_hardly_ever_shown():
    few = pa.table({"customer": [1] * 50, "amount": [1] * 50, "channel": ["rare"] * 50})
    with sd.connect({"customers": CUSTOMERS, "orders": few}, policy=POLICY) as curator:
        question = "SELECT channel, COUNT(*) FROM orders GROUP BY channel"
        assert curator.session("ann").query(question, epsilon=1, delta=1e-9).value == []


@pytest.mark.parametrize("number", [1, 5, 50, 500])
def test_limits_fit_the_groups_that_are_shown(curator, number):
    question = "SELECT channel, COUNT(*) AS n FROM orders GROUP BY channel"
    plan = curator.plan(question, AnswerOptions.checked(1, 1e-6))
    shown = plan.with_groups([(f"channel {i}",) for i in range(number)])
    (noise,) = shown.noises
    assert noise.truncation == Truncation.of(epsilon=Fraction(2, 3), most=10**6, numbers=number)
    # whatever is shown, its numbers cost what was said before
    assert noise.noise.epsilon + noise.truncation.choice.epsilon == Fraction(2, 3)
    assert shown.guarantee == plan.guarantee
    assert plan.with_groups([]).noises == plan.noises


def test_rows_with_several_owners_are_shared_out(curator, ann):
    question = "SELECT COUNT(*) FROM orders a JOIN orders b ON a.amount = b.amount"
    release = ann.query(question, epsilon=BIG)
    exact = curator.explain(question, epsilon=BIG).reveal()["numbers"][0]["exact"]
    assert abs(release.value - exact) <= 0.05 * exact
    assert "flow" in release.guarantee.theorem


def test_shared_rows_may_add_and_take_away(curator):
    """As a variance does; from 0 to 9 all as often."""
    same = "orders a JOIN orders b ON a.amount = b.amount WHERE a.customer < 40 AND b.customer < 40"
    asked = f"SELECT SUM(2 * a.amount - 9) AS s, COUNT(*) AS n, VAR_POP(a.amount) AS v FROM {same}"
    (row,) = curator.session("ann").query(asked, epsilon=900).value
    assert abs(row["n"] - 4000) <= 100
    assert abs(row["s"]) <= 500
    assert abs(row["v"] - 8.25) <= 0.5


def test_who_shares_rows_has_many_of_them():
    """A pair of owners has one row, or a customer has; a dealer has as many as customers."""
    policy = {**POLICY, "users": ["customers.id", "dealers.id"]}
    policy["tables"] = {
        "customers": {"key": {"columns": "id", "enforced": True}, "foreign_keys": {"dealer": "dealers.id"}},
        "orders": {"foreign_keys": {"customer": "customers.id"}},
        "dealers": {},
    }
    dealers = pa.table({"id": [1, 2]})
    customers = CUSTOMERS.append_column("dealer", pa.array([1 + i % 2 for i in range(400)]))
    with sd.connect({"customers": customers, "orders": ORDERS, "dealers": dealers}, policy=policy) as curator:
        ann = curator.session("ann")
        pairs = f"SELECT o.customer, c.dealer, COUNT(*) AS n FROM {JOIN} GROUP BY o.customer, c.dealer"
        assert abs(ann.query("SELECT COUNT(*) FROM customers", epsilon=BIG).value - 400) <= 60
        assert abs(ann.query(f"SELECT SUM(n) FROM ({pairs}) t", epsilon=BIG).value - 2000) <= 200


def test_groups_of_shared_rows_have_one_limit(curator, ann):
    """Everybody shares an amount with a fortieth of all orders; nobody lives in Lima."""
    question = (
        f"SELECT c.city, COUNT(*) AS n FROM {JOIN} JOIN orders b ON o.amount = b.amount GROUP BY c.city"
    )
    release = ann.query(question, epsilon=BIG)
    facts = curator.explain(question, epsilon=BIG).reveal()
    assert [row["city"] for row in release.value] == ["Rome", "Oslo", "Lima"]
    for row, exact in zip(release.value, facts["exact"], strict=True):
        assert abs(row["n"] - exact["n"]) <= 0.1 * facts["exact"][0]["n"]
    assert "3 groups have one limit" in release.guarantee.theorem
    assert len({number["smooth_bound"] for number in facts["numbers"]}) == 1


def test_owners_count_for_one(ann):
    release = ann.query("SELECT COUNT(DISTINCT customer) FROM orders", epsilon=1)
    assert release.error == 3
    assert abs(release.value - 400) <= 30
    assert ann.query(f"SELECT COUNT(DISTINCT c.id) FROM {JOIN}", epsilon=1).error == 3
    grouped = ann.query(
        f"SELECT city, COUNT(DISTINCT o.customer) AS n FROM {JOIN} GROUP BY city", epsilon=BIG
    )
    assert [(row["city"], row["n"]) for row in grouped.value] == [("Rome", 300), ("Oslo", 100), ("Lima", 0)]


def test_values_are_counted_by_who_holds_them(curator, ann):
    release = ann.query("SELECT COUNT(DISTINCT amount), COUNT(*) FROM orders", epsilon=BIG)
    assert release.value[0]["count"] == 10
    assert "COUNT(DISTINCT amount): no customer counts for more than" in release.notes[0]
    question = f"SELECT city, COUNT(DISTINCT amount) AS n FROM {JOIN} GROUP BY city"
    assert [row["n"] for row in ann.query(question, epsilon=BIG).value] == [10, 5, 0]
    assert [row["n"] for row in curator.explain(question, epsilon=1).reveal()["exact"]] == [10, 5, 0]
    with pytest.raises(UnsupportedError, match="groups of channel are not public"):
        ann.query(
            "SELECT channel, COUNT(DISTINCT amount) FROM orders GROUP BY channel", epsilon=1, delta=1e-6
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": "cauchy"}, "noise is for data sets that protect rows"),
        ({"analyses": "patterns"}, "analyses is for data sets that protect rows"),
        ({"error_share": 0.1}, "leave error_share out"),
    ],
)
def test_options_of_rows_are_refused(ann, options, message):
    with pytest.raises(UnsupportedError, match=message):
        ann.query("SELECT COUNT(*) FROM orders", epsilon=1, **options)


def test_too_many_owners_are_refused_before_anything_is_paid(ann):
    nine = ", ".join(f"orders o{i}" for i in range(9))
    equal = " AND ".join(f"o0.amount = o{i}.amount" for i in range(1, 9))
    with pytest.raises(UnsupportedError, match="a joined row has 9 owners here, and 8 are the most"):
        ann.query(f"SELECT COUNT(*) FROM {nine} WHERE {equal}", epsilon=1)
    assert ann.budget().spent.loss == 0


def test_workloads_that_count_rows_are_refused(ann):
    with pytest.raises(UnsupportedError, match="counted per row, and data set 'shop' protects a customer"):
        ann.quantile("orders.amount", 0.5, epsilon=1)
    with pytest.raises(UnsupportedError, match="counted per row"):
        ann.select("SELECT channel, COUNT(*) FROM orders GROUP BY channel", epsilon=1)


def test_explain_tells_the_owner_what_happens(curator):
    facts = curator.explain(f"SELECT city, SUM(amount) FROM {JOIN} GROUP BY city", epsilon=1).reveal()
    assert facts["exact"][0] == {"city": "Rome", "sum": 7000}
    assert facts["numbers"][0]["owners_above_limit"] >= 0
    assert "customer" in facts["guarantee"]


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("COUNT(*) FILTER (WHERE amount > 5)", "COUNT(CASE WHEN amount > 5 THEN 1 END)"),
        ("SUM(amount) FILTER (WHERE amount > 5)", "SUM(CASE WHEN amount > 5 THEN amount END)"),
        ("COUNT(DISTINCT channel) FILTER (WHERE amount > 5)", "COUNT(DISTINCT CASE WHEN amount > 5 THEN channel END)"),
        ("COUNT_IF(amount > 5)", "COUNT(CASE WHEN amount > 5 THEN 1 END)"),
        ("VAR(amount)", "VARIANCE(amount)"),
    ],
)  # fmt: skip
def test_other_spellings_ask_the_same_question(curator, written, plain):
    ann = curator.session("ann")
    first = ann.query(f"SELECT {plain} FROM orders", epsilon=1)
    left = ann.budget().left
    assert ann.query(f"SELECT {written} FROM orders", epsilon=1, reuse=True).value == first.value
    assert ann.budget().left == left


def test_a_filter_of_something_else_is_refused(ann):
    for asked in ("AVG(DISTINCT amount) FILTER (WHERE amount > 5)", "COUNT(*) FILTER (WHERE COUNT(*) > 5)"):
        with pytest.raises(UnsupportedError):
            ann.query(f"SELECT {asked} FROM orders", epsilon=1)


def test_expressions_that_nobody_declared_are_groups_too(ann):
    sql = "SELECT UPPER(SUBSTRING(channel, 1, 2)) AS c, COUNT(*) AS n FROM orders GROUP BY 1 ORDER BY c"
    with pytest.raises(ParameterError, match="ask with a delta"):
        ann.query(sql, epsilon=1)
    found = ann.query(sql, epsilon=BIG, delta=1e-6).value
    assert [row["c"] for row in found] == ["SH", "WE"]
    assert abs(sum(row["n"] for row in found) - 2000) <= 20


def test_numbers_of_customers_have_a_median(ann):
    sql = "SELECT MEDIAN(n) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) t"
    assert ann.query(sql, epsilon=BIG).value == 5


@pytest.mark.slow
def test_a_long_expression_is_not_written_once_per_group(curator):
    """A week of a day is a page of SQL; 53 of them took as many seconds as others take milliseconds."""
    week = pa.table({"id": [1], "day": pa.array([0], pa.date32())})
    policy = {
        **POLICY,
        "tables": {"customers": {"columns": {"day": {"bounds": ["2000-01-01", "2009-12-31"]}}}},
    }
    with sd.connect({"customers": week}, policy=policy) as found:
        asked = "SELECT DATE_TRUNC('week', day), COUNT(*) FROM customers GROUP BY 1"
        plan = found.plan(asked, AnswerOptions.checked(1))
        text = write_clipped_query(plan.statement, plan.owners, [1]).sql()
    # 523 weeks are written as literals four times: in SELECT, in GROUP BY, and in WHERE
    assert len(text) < 50_000 + 4 * 40 * 523


ODD_ROWS = (
    "INSERT INTO o VALUES (1, DATE 'infinity', 1, 'a')",
    "INSERT INTO o VALUES (1, DATE '-infinity', 1, 'a')",
    "INSERT INTO o VALUES (1, DATE '294000-01-01', 1, 'a')",
    "INSERT INTO o VALUES (1, DATE '2020-01-01', 170141183460469231731687303715884105727, 'a')",
    "INSERT INTO o VALUES (170141183460469231731687303715884105727, DATE '2020-01-01', 1, 'a')",
    "INSERT INTO o SELECT id, DATE '2020-01-01', 1, chr(0) || 'a' FROM u",
)


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD_ROWS)
def test_no_row_makes_a_question_fail(odd):
    """Whether an answer comes is an output: one customer's date or number must not decide it."""
    owner = duckdb.connect(config={"threads": 1})
    owner.execute("CREATE TABLE u (id HUGEINT); CREATE TABLE o (uid HUGEINT, d DATE, h HUGEINT, k VARCHAR)")
    owner.execute(
        "INSERT INTO u SELECT * FROM range(50); INSERT INTO u VALUES (170141183460469231731687303715884105727)"
    )
    owner.execute("INSERT INTO o SELECT id, DATE '2020-01-01', 1, 'a' FROM u")
    policy = {
        "version": 1,
        "dataset": "odd",
        "protects": "user",
        "users": "u.id",
        "tables": {"u": {}, "o": {"foreign_keys": {"uid": "u.id"}}},
        "budgets": {"ann": {"epsilon": 10_000, "delta": 0.1}},
    }
    owner.execute(odd)
    with sd.connect(owner, policy=policy) as curator:
        ann = curator.session("ann")
        for column, shown in (("d", "2020-01-01"), ("h", 1), ("k", "a")):
            answer = ann.query(
                f"SELECT {column}, COUNT(*) FROM o GROUP BY {column}", epsilon=100, delta=1e-2
            ).value
            assert shown in [row[column] for row in answer]
        assert ann.query("SELECT COUNT(DISTINCT h) FROM o", epsilon=100).value in (1, 2)
        assert (
            ann.query("SELECT COUNT(*) FROM o a JOIN o b ON a.h = b.h AND a.uid < b.uid", epsilon=100).value
            > 0
        )


def test_a_bound_on_totals_is_none_on_squares():
    """Nobody has more than 30 orders, and five squares of 4.5 are more than 30."""
    policy = {**POLICY, "most_per_unit": 30}
    with sd.connect({"customers": CUSTOMERS, "orders": ORDERS}, policy=policy) as curator:
        spread = curator.session("ann").query(f"SELECT VAR_POP(o.amount) AS v FROM {JOIN}", epsilon=BIG).value
    assert abs(spread - 8.25) <= 1
