"""Series of a session: totals by intervals, paid once, found again, refused where rows are not what is protected."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction

import pyarrow as pa
import pytest

import sordino as sd
from sordino.core import BudgetError, ParameterError, SuspendedError, UnsupportedError
from sordino.ledger import Ledger
from sordino.ledger.series import claim_interval

HOURS = 240
TABLE = pa.table(
    {
        "x": [hour % 11 for hour in range(HOURS)],
        "city": ["oslo" if hour % 2 else "rome" for hour in range(HOURS)],
        "ts": pa.array(
            [datetime(2024, 1, 1) + timedelta(hours=hour) for hour in range(HOURS)], pa.timestamp("us")
        ),
        "day": pa.array([(datetime(2024, 1, 1) + timedelta(hours=hour)).date() for hour in range(HOURS)]),
    }
)
POLICY = {
    "version": 1,
    "dataset": "shop",
    "protects": "row",
    "tables": {
        "orders": {
            "columns": {
                "x": {"bounds": [0, 10], "granularity": 1},
                "ts": {"fixed": True},
                "day": {"fixed": True},
            }
        }
    },
    "budgets": {"ann": {"epsilon": 2e9}, "bob": {"epsilon": 1}},
}
DAILY = {"time": "ts", "every": "1 day", "start": "2024-01-01", "horizon": 10}


@pytest.fixture
def curator(tmp_path):
    with sd.connect({"orders": TABLE}, policy=POLICY, ledger=tmp_path / "book") as opened:
        yield opened


def direct(days, condition=lambda hour: True, value=lambda hour: hour % 11):
    return sum(value(hour) for hour in range(HOURS) if hour < 24 * days and condition(hour))


@pytest.mark.parametrize("base", [2, 3, "auto"])
def test_totals_are_those_of_asking_again(curator, base):
    series = curator.session("ann").series("SELECT SUM(x) FROM orders", epsilon=1e8, base=base, **DAILY)
    assert [release.value for release in series.catch_up()] == [direct(day) for day in range(1, 11)]
    assert series.show().value.tolist() == [direct(day) for day in range(1, 11)]
    with pytest.raises(ParameterError, match="all have an answer"):
        series.next()


@pytest.mark.parametrize("time", ["day", "orders.ts"])
def test_conditions_of_the_question_stay(curator, time):
    sql = "SELECT COUNT(*) FROM orders WHERE city = 'oslo' OR city = 'paris'"
    series = curator.session("ann").series(sql, epsilon=1e8, **(DAILY | {"time": time}))
    assert [release.value for release in series.catch_up()] == [12 * day for day in range(1, 11)]


def test_intervals_of_hours(curator):
    hours = DAILY | {"every": "6 hours", "start": datetime(2024, 1, 1, 3), "horizon": 8}
    series = curator.session("ann").series("SELECT COUNT(*) FROM orders", epsilon=1e8, **hours)
    assert [release.value for release in series.catch_up()] == [6 * i for i in range(1, 9)]


def test_a_series_is_paid_once_and_found_by_everybody(curator, tmp_path):
    bob = curator.session("bob")
    series = bob.series("SELECT SUM(x) FROM orders", epsilon=0.75, name="daily", **DAILY)
    first = [series.next().value for _ in range(4)]
    again = bob.series("SELECT SUM(x) FROM orders", epsilon=0.75, name="daily", **DAILY)
    assert again.answered == 4
    assert str(bob.budget()).startswith("epsilon 0.25 left")
    curator.close()
    with sd.connect({"orders": TABLE}, policy=POLICY, ledger=tmp_path / "book") as other:
        found = other.session("bob").find_series("daily")
        assert found.show().value.tolist() == first
        found.next()
        assert found.answered == 5
        assert str(other.session("bob").budget()).startswith("epsilon 0.25 left")
        with pytest.raises(ParameterError, match="opened no series"):
            other.session("bob").find_series("weekly")
    with Ledger.open(tmp_path / "book") as ledger:
        ledger.verify()


def test_another_question_needs_another_name(curator):
    bob = curator.session("bob")
    bob.series("SELECT SUM(x) FROM orders", epsilon=0.5, name="daily", **DAILY)
    with pytest.raises(ParameterError, match="asks something else"):
        bob.series("SELECT COUNT(*) FROM orders", epsilon=0.5, name="daily", **DAILY)
    with pytest.raises(BudgetError, match=r"0\.5 is left"):
        bob.series("SELECT COUNT(*) FROM orders", epsilon=0.75, name="other", **DAILY)


def test_an_open_interval_is_refused_and_costs_nothing(curator):
    series = curator.session("bob").series("SELECT SUM(x) FROM orders", epsilon=1, **DAILY)
    with pytest.raises(ParameterError, match="is open until 2024-01-02"):
        series.next(now="2024-01-01 23:59:59")
    assert series.answered == 0
    assert isinstance(series.next(now="2024-01-02").value, int)
    assert len(list(series.catch_up(now="2024-01-05"))) == 3


def test_two_processes_do_not_draw_one_interval_twice(curator, tmp_path):
    bob = curator.session("bob")
    series = bob.series("SELECT SUM(x) FROM orders", epsilon=1, name="daily", **DAILY)
    with Ledger.open(tmp_path / "book") as other:
        claim = claim_interval(other, "shop", "bob", series.guarantee, name="daily", interval=1)
        with pytest.raises(BudgetError, match="another process"):
            series.next()
        claim.commit({"series": "daily", "block": [1, 1], "released": 7, "private": True})
    assert series.answered == 1
    series.next()
    assert series.answered == 2
    assert series.show().value[0] == 7


def test_a_failure_suspends_and_the_next_try_pays_nothing(curator, monkeypatch):
    bob = curator.session("bob")
    series = bob.series("SELECT SUM(x) FROM orders", epsilon=1, **DAILY)
    with monkeypatch.context() as patched:
        patched.setattr("sordino.curator.series.compute_answer", lambda *_: 1 / 0)
        with pytest.raises(sd.EngineError, match="could not answer"):
            series.next()
    with pytest.raises(SuspendedError):
        series.next()
    curator.resume("bob")
    assert series.next().value is not None
    assert str(bob.budget()).startswith("epsilon 0 left")


@pytest.mark.parametrize(
    ("sql", "match"),
    [
        ("SELECT city, COUNT(*) FROM orders GROUP BY city", "without GROUP BY|domain"),
        ("SELECT AVG(x) FROM orders", "one COUNT or SUM"),
        ("SELECT SUM(x) / 2 FROM orders", "one COUNT or SUM"),
        ("SELECT SUM(x), COUNT(*) FROM orders", "one COUNT or SUM"),
        ("SELECT COUNT(DISTINCT city) FROM orders", "one COUNT or SUM|domain|COUNT"),
        ("SELECT COUNT(*) FROM orders AS a JOIN orders AS b ON a.x = b.x", "ambiguous|one COUNT or SUM|ts"),
        ("SELECT COUNT(*) FROM orders LIMIT 1", "one COUNT or SUM|LIMIT"),
        ("DROP TABLE orders", "SELECT"),
    ],
)
def test_what_is_no_series_is_refused_before_anything_is_spent(curator, sql, match):
    with pytest.raises((UnsupportedError, ParameterError), match=match):
        curator.session("bob").series(sql, epsilon=1, **DAILY)
    assert str(curator.session("bob").budget()).startswith("epsilon 1 left")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"every": "1 month"}, "months differ"),
        ({"every": "0 days"}, "every"),
        ({"every": 3}, "every"),
        ({"every": "999999999 weeks"}, "at most 9999 years"),
        ({"every": "² days"}, "every"),
        ({"start": "soon"}, "start"),
        ({"start": "2024-01-01T00:00:00+01:00"}, "time zone"),
        ({"horizon": 0}, "horizon"),
        ({"horizon": 10**9}, "9999"),
        ({"time": "ts; DROP"}, "column"),
        ({"time": "nothing"}, "nothing"),
        ({"time": "city"}, "city|date|timestamp|text"),
        ({"epsilon": 0}, "epsilon"),
    ],
)
def test_bad_definitions_are_refused(curator, change, match):
    with pytest.raises((ParameterError, UnsupportedError), match=match):
        curator.session("bob").series("SELECT SUM(x) FROM orders", **({"epsilon": 1} | DAILY | change))
    assert str(curator.session("bob").budget()).startswith("epsilon 1 left")


@pytest.mark.parametrize(
    ("time", "question"),
    [
        ("seen", "SELECT COUNT(*) FROM people"),
        ("q", "SELECT COUNT(*) FROM (SELECT COALESCE(seen, came) AS q FROM people) AS z"),
        ("q", "SELECT COUNT(*) FROM (SELECT CASE WHEN x > 1 THEN came END AS q FROM people) AS z"),
        ("seen", "SELECT COUNT(*) FROM people WHERE came >= '2000-01-01' AND came < '2000-01-02'"),
    ],
)
def test_a_time_that_may_change_is_refused(time, question):
    """Who asks chooses the column: by the last login one row would be in the blocks of all intervals."""
    moments = pa.array([datetime(2024, 1, 1)], pa.timestamp("us"))
    people = pa.table({"seen": moments, "came": moments, "x": [1]})
    policy = POLICY | {"tables": {"people": {"columns": {"CAME": {"fixed": True}}}}}
    with sd.connect({"people": people}, policy=policy) as opened:
        bob = opened.session("bob")
        with pytest.raises(UnsupportedError, match=r"columns\.(seen|x)\.fixed: true"):
            bob.series(question, epsilon=1, **(DAILY | {"time": time}))
        assert str(bob.budget()).startswith("epsilon 1 left")
        later = "SELECT COUNT(*) FROM (SELECT came + INTERVAL '1' DAY AS q FROM people) AS z"
        assert bob.series(later, epsilon=1, **(DAILY | {"time": "q"})).next().value is not None
        assert bob.tables().to_dict()["tables"][0]["columns"][1]["fixed"] is True


def test_what_is_wrong_is_said_of_what_was_asked(curator):
    """Not of the condition on times, which nobody has written."""
    bob = curator.session("bob")
    with pytest.raises(ParameterError, match="line 2, column 7: nothing"):
        bob.series("SELECT SUM(x) FROM orders\nWHERE nothing = 1", epsilon=1, **DAILY)
    with pytest.raises(ParameterError, match=r"^time 'city' must be a column of dates or timestamps"):
        bob.series("SELECT SUM(x) FROM orders", epsilon=1, **(DAILY | {"time": "city"}))


def test_a_left_join_that_gives_a_row_many_partners_is_refused():
    """One row of either table would move the total by as many as there are partners, here fifty."""
    partners = pa.table({"x": [1] * 50})
    for private in (True, False):
        policy = POLICY | {"tables": POLICY["tables"] | {"notes": {"private": private}}}
        with sd.connect({"orders": TABLE, "notes": partners}, policy=policy) as opened:
            for sql in ("SELECT COUNT(*)", "SELECT SUM(orders.x)"):
                with pytest.raises(UnsupportedError, match="over one private table"):
                    opened.session("bob").series(
                        f"{sql} FROM orders LEFT JOIN notes ON orders.x = notes.x", epsilon=1, **DAILY
                    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"time": "NULL"}, "must name a column"),
        ({"start": "2024-01-01+02:00"}, "start must be a day or a moment"),  # not two hours after midnight
        ({"start": "2024-01-01 00:00+02:00"}, "start must be in UTC"),
    ],
)
def test_what_only_looks_like_a_column_or_a_moment_is_refused(curator, change, said):
    with pytest.raises(ParameterError, match=said):
        curator.session("bob").series("SELECT SUM(x) FROM orders", epsilon=1, **(DAILY | change))
    assert str(curator.session("bob").budget()).startswith("epsilon 1 left")


@pytest.mark.parametrize(
    ("lower", "named"),
    [({"budgets": {"ann": {"epsilon": 0.5}}}, "budget of 'ann'"), ({"cap": {"epsilon": 0.5}}, "cap of data")],
)
def test_a_series_waits_under_a_limit_below_what_was_spent(lower, named, tmp_path):
    policy = POLICY | {"budgets": {"ann": {"epsilon": 1}}, "cap": {"epsilon": 1}}
    question = "SELECT SUM(x) FROM orders"
    with sd.connect({"orders": TABLE}, policy=policy, ledger=tmp_path / "book") as opened:
        opened.session("ann").series(question, epsilon=1, name="daily", **DAILY).next()
    with sd.connect({"orders": TABLE}, policy=policy | lower, ledger=tmp_path / "book") as opened:
        series = opened.session("ann").find_series("daily")
        with pytest.raises(BudgetError, match=f"was paid before, and the {named}.* below what was spent"):
            series.next()
        assert len(series.show().value) == 1
    with sd.connect({"orders": TABLE}, policy=policy, ledger=tmp_path / "book") as opened:
        assert len(list(opened.session("ann").find_series("daily").catch_up())) == 9


def test_a_time_is_a_column_of_the_row_itself():
    """What it is looked up in may change, and then one row would be in the blocks of two times."""
    policy = POLICY | {"tables": POLICY["tables"] | {"cities": {"private": False, "key": "city"}}}
    cities = pa.table({"city": ["oslo"], "since": pa.array([datetime(2024, 1, 1)], pa.timestamp("us"))})
    question = "SELECT SUM(x) FROM orders JOIN cities ON orders.city = cities.city"
    with sd.connect({"orders": TABLE, "cities": cities}, policy=policy) as opened:
        ann = opened.session("ann")
        looked_up = ann.series(question, epsilon=1e8, **(DAILY | {"time": "orders.ts"}))
        assert looked_up.next().value == direct(1, lambda hour: hour % 2)
        for time, sql in [
            ("since", question),
            ("q", f"SELECT SUM(x) FROM (SELECT x, COALESCE(since, ts) AS q {question[14:]}) AS z"),
        ]:
            with pytest.raises(UnsupportedError, match="looked up in a public table"):
                ann.series(sql, epsilon=1, **(DAILY | {"time": time}))


@pytest.mark.parametrize(
    "change", [{"every": "6 hours"}, {"every": "36 hours"}, {"start": "2024-01-01 06:00:00"}]
)
def test_days_are_not_cut_into_hours(curator, change):
    with pytest.raises(ParameterError, match="'day' holds days"):
        curator.session("bob").series(
            "SELECT SUM(x) FROM orders", epsilon=1, **(DAILY | {"time": "day"} | change)
        )
    assert str(curator.session("bob").budget()).startswith("epsilon 1 left")


@pytest.mark.parametrize("base", [2, 3, "auto"])
def test_a_row_that_comes_late_counts_from_the_blocks_on_that_are_released_later(base):
    """And never twice: at the end of a block that spans all intervals every row is there once."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("CREATE TABLE r (ts TIMESTAMP)")
    tables = {"r": {"columns": {"ts": {"fixed": True}}}}
    policy = {"version": 1, "dataset": "late", "tables": tables, "budgets": {"ann": {"epsilon": 1e9}}}
    with sd.connect(connection, policy=policy) as opened:
        series = opened.session("ann").series(
            "SELECT COUNT(*) FROM r", epsilon=1e9, base=base, **(DAILY | {"horizon": 9})
        )
        told, came = [], []
        for interval in range(1, 10):
            # every time two rows come: one of this interval, and one of the first, which is late from 2 on
            for day in (interval, 1):
                connection.execute("INSERT INTO r VALUES (?)", [datetime(2024, 1, day, 12)])
                came.append((day, interval))
            told.append(series.next(now=datetime(2024, 1, interval + 1)).value)
            blocks = series._plan.tree.blocks(interval)
            assert told[-1] == sum(
                block.first <= day <= block.last and seen <= block.last
                for block in blocks
                for day, seen in came
            )
        assert series.show().value.tolist() == told
        assert told[0] == 2
        expected = {2: [2, 4, 4 + 1], 3: [2, 3, 6], "auto": [2, 3, 4]}
        assert told[:3] == expected[base]


def test_a_series_is_paid_in_rho_too():
    policy = POLICY | {
        "budgets": {"ann": {"rho": 1, "at_delta": 1e-6}, "bob": {"rho": 1e12, "at_delta": 1e-6}}
    }
    with sd.connect({"orders": TABLE}, policy=policy) as opened:
        series = opened.session("ann").series("SELECT SUM(x) FROM orders", rho=0.25, base=2, **DAILY)
        assert series.next().guarantee.loss.rho == 0.25
        assert series._plan.tree.noise.sigma_squared == 10**2 * 4 / (2 * Fraction(1, 4)), (
            "four levels, reach 10"
        )
        assert "0.75 left" in str(opened.session("ann").budget())
        assert opened.session("ann").find_series(series.name).answered == 1
        assert series.describe()["rho"] == 0.25
        exact = opened.session("bob").series("SELECT SUM(x) FROM orders", rho=1e12, **DAILY)
        assert [release.value for release in exact.catch_up()] == [direct(day) for day in range(1, 11)]
        with pytest.raises(ParameterError, match="either epsilon or rho"):
            opened.session("ann").series("SELECT SUM(x) FROM orders", rho=0.1, epsilon=0.1, **DAILY)


@pytest.mark.parametrize(("weight", "loss"), [(4, {"epsilon": 1}), (Fraction(1, 2), {"rho": 1})])
def test_a_heavier_row_may_cost_more(weight, loss):
    """ε per unit of distance is G·ε for a row of weight G, and ρ is G²·ρ."""
    policy = POLICY | {
        "tables": {"orders": POLICY["tables"]["orders"] | {"weight": float(weight)}},
        "budgets": {"bob": {"epsilon": 1} if "epsilon" in loss else {"rho": 1, "at_delta": 1e-6}},
    }
    with sd.connect({"orders": TABLE}, policy=policy) as opened:
        tree = opened.session("bob").series("SELECT COUNT(*) FROM orders", base=2, **loss, **DAILY)._plan.tree
        if "epsilon" in loss:
            assert tree.noise.rate * tree.levels == weight
        else:
            assert Fraction(tree.levels) / (2 * tree.noise.sigma_squared) == weight**2


def test_a_policy_that_says_something_else_about_rows_ends_a_series_and_budgets_do_not(tmp_path):
    path = tmp_path / "book"
    with sd.connect({"orders": TABLE}, policy=POLICY, ledger=path) as opened:
        series = opened.session("bob").series("SELECT SUM(x) FROM orders", epsilon=0.5, name="daily", **DAILY)
        first = series.next().value
    more = POLICY | {"budgets": {"bob": {"epsilon": 3}, "eve": {"epsilon": 1}}}
    with sd.connect({"orders": TABLE}, policy=more, ledger=path) as opened:
        assert opened.session("bob").find_series("daily").show().value.tolist() == [first]
    columns = POLICY["tables"]["orders"]["columns"] | {"x": {"bounds": [0, 20], "granularity": 1}}
    wider = {"orders": {"columns": columns}}
    with sd.connect({"orders": TABLE}, policy=POLICY | {"tables": wider}, ledger=path) as opened:
        bob = opened.session("bob")
        with pytest.raises(ParameterError, match="another policy"):
            bob.find_series("daily")
        with pytest.raises(ParameterError, match="another policy"):
            bob.series("SELECT SUM(x) FROM orders", epsilon=0.5, name="daily", **DAILY)
        assert str(bob.budget()).startswith("epsilon 0.5 left")


def test_a_question_of_many_lines_has_a_name_that_is_found_again(curator):
    bob = curator.session("bob")
    series = bob.series("SELECT SUM(x)\n  FROM orders\n", epsilon=0.5, **DAILY)
    assert bob.find_series(series.name).answered == 0


def test_users_are_refused():
    policy = {
        "version": 1,
        "dataset": "shop",
        "protects": "user",
        "users": "people.id",
        "tables": {
            "people": {"key": {"columns": "id", "enforced": True}},
            "orders": {
                "foreign_keys": {"city": "people.id"},
                "columns": POLICY["tables"]["orders"]["columns"],
            },
        },
        "budgets": {"bob": {"epsilon": 1}},
    }
    people = pa.table({"id": ["oslo", "rome"]})
    with (
        sd.connect({"orders": TABLE, "people": people}, policy=policy) as curator,
        pytest.raises(UnsupportedError, match="counts per row"),
    ):
        curator.session("bob").series("SELECT SUM(x) FROM orders", epsilon=1, **DAILY)


def test_weights_of_a_table_scale_the_noise(tmp_path):
    policy = POLICY | {"tables": {"orders": POLICY["tables"]["orders"] | {"weight": 4}}}
    with sd.connect({"orders": TABLE}, policy=policy) as curator:
        series = curator.session("bob").series("SELECT SUM(x) FROM orders", epsilon=1, base=2, **DAILY)
        assert series._plan.tree.noise.rate * 4 * 10 == 4
        assert series.next().guarantee.epsilon == 1
