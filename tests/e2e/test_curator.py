"""Curator and sessions: budgets, reuse, errors that tell nothing, one snapshot, and the order of paying and telling."""

from __future__ import annotations

import re
import traceback

import duckdb
import pytest

import sordino as sd
from sordino.engines import connect as connect_engine
from sordino.ledger import Ledger, Limit
from sordino.testing import seeded

JOIN = "SELECT COUNT(*) FROM orders JOIN items ON orders.id = items.order_id"
SENTINEL = 987654321


def policy(**changes):
    content = {
        "version": 1,
        "dataset": "shop",
        "tables": {
            "orders": {
                "columns": {
                    "city": {"domain": ["Rome", "Oslo", "Lima"]},
                    "amount": {"bounds": [0, 100], "granularity": "0.5"},
                }
            },
            "items": {"columns": {"price": {"bounds": [0, 20]}}},
            "places": {"private": False},
        },
        "budgets": {"ann": {"epsilon": 2, "delta": 1e-6}, "bob": {"epsilon": 1}},
    }
    return content | changes


@pytest.fixture
def shop():
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE orders (id BIGINT, city VARCHAR, amount DOUBLE);"
        "CREATE TABLE items (order_id BIGINT, price BIGINT);"
        "CREATE TABLE places (city VARCHAR, continent VARCHAR);"
        "INSERT INTO orders SELECT i, CASE i % 2 WHEN 0 THEN 'Rome' ELSE 'Oslo' END, i FROM range(60) t(i);"
        "INSERT INTO items SELECT i % 60, i % 7 FROM range(300) t(i);"
        "INSERT INTO places VALUES ('Rome', 'Europe'), ('Oslo', 'Europe'), ('Lima', 'America')"
    )
    yield connection
    connection.close()


@pytest.fixture
def curator(shop):
    with sd.connect(shop, policy=policy()) as opened:
        yield opened


def test_a_join_is_counted_near_its_exact_answer(curator):
    with seeded(1):
        release = curator.session("ann").query(JOIN, 1.0)
    assert abs(release.value - 300) < 200
    assert isinstance(release.value, int)
    assert release.guarantee.epsilon == 1.0
    assert release.guarantee.delta == 0
    assert str(release.guarantee.distance) == "one row added or removed"
    assert "patterns" in release.guarantee.theorem
    assert release.mechanism == "flared_laplace noise"
    assert release.error is None


def test_a_delta_is_spent_by_who_names_a_noise_that_needs_it(curator):
    release = curator.session("ann").query(JOIN, 1.0, 1e-6, noise="laplace")
    assert release.mechanism == "laplace noise"
    assert release.guarantee.delta == 1e-6
    assert curator.session("ann").query(JOIN, 0.5, 1e-6).guarantee.delta == 0


def test_cauchy_noise_and_single_tables_leave_the_delta_unspent(curator):
    session = curator.session("ann")
    assert session.query(JOIN, 0.5, 1e-6, noise="cauchy").guarantee.delta == 0
    assert session.query("SELECT COUNT(*) FROM orders", 0.5, 1e-6).guarantee.delta == 0
    assert session.budget().left.delta == session.budget().limit.amount.delta


def test_one_table_gets_discrete_laplace_noise_and_a_public_error(curator):
    release = curator.session("ann").query("SELECT COUNT(*) FROM orders", 1.0)
    assert release.mechanism == "discrete_laplace noise"
    assert release.error == 3


def test_an_error_bar_is_paid_from_the_same_epsilon(curator):
    session = curator.session("ann")
    release = session.query(JOIN, 1.0, error_share=0.2)
    assert release.error > 0
    assert session.budget().spent.loss == 1


def test_sums_come_in_whole_steps_of_the_policy(curator):
    value = curator.session("ann").query("SELECT SUM(amount) FROM orders", 1.0).value
    assert isinstance(value, float)
    assert value * 2 == int(value * 2)
    assert isinstance(curator.session("ann").query("SELECT SUM(price) FROM items", 1.0).value, int)


def test_groups_come_as_rows_and_empty_ones_too(curator):
    release = curator.session("ann").query("SELECT city, COUNT(*) AS n FROM orders GROUP BY city", 1.0)
    assert [row["city"] for row in release.value] == ["Rome", "Oslo", "Lima"]
    assert all(isinstance(row["n"], int) for row in release.value)
    assert "partition" in release.guarantee.theorem
    assert release.errors == {"n": 3}  # the radius of one count at this epsilon, which is public
    assert "95 % of draws of n lie within ±3 of the exact value" in release._repr_html_()
    assert [bar.get_width() for bar in release.plot().axes[0].patches] == [row["n"] for row in release.value]


def test_groups_of_a_public_table_are_its_values(curator):
    release = curator.session("ann").query(
        "SELECT places.continent, COUNT(*) AS n FROM orders JOIN places ON orders.city = places.city "
        "GROUP BY places.continent",
        1.0,
    )
    assert [row["continent"] for row in release.value] == ["America", "Europe"]


def test_average_is_a_quotient_within_the_bounds(curator):
    with seeded(3):
        release = curator.session("ann").query("SELECT AVG(amount) AS mean FROM orders", 2.0)
    assert 0 <= release.value <= 100
    assert 0 < release.error <= 100


def test_several_aggregates_come_as_one_row_with_their_errors(curator):
    release = curator.session("ann").query(
        "SELECT COUNT(*) AS n, SUM(price) AS total FROM items", 1.0, error_share=0.1
    )
    assert list(release.value[0]) == ["n", "n_error", "total", "total_error"]
    errors = {name: release.value[0][f"{name}_error"] for name in ("n", "total")}
    assert release.errors == errors
    assert release.error == max(errors.values())


def test_non_negative_moves_counts_and_not_signed_sums(curator):
    sql = "SELECT COUNT(*) FROM orders WHERE city = 'Lima'"
    with seeded(5):
        values = [curator.session("ann").query(sql, 0.01, non_negative=True).value for _ in range(20)]
    assert min(values) == 0 < max(values)


# --- budgets


def test_exhaustion_of_one_analyst_leaves_the_other(curator):
    ann, bob = curator.session("ann"), curator.session("bob")
    ann.query(JOIN, 2.0)
    with pytest.raises(sd.BudgetError, match="epsilon 0, delta"):
        ann.query(JOIN, 0.1)
    assert bob.query(JOIN, 1.0).value is not None
    with pytest.raises(sd.BudgetError):
        bob.query(JOIN, 0.1)


def test_the_cap_holds_over_all_analysts(shop):
    with sd.connect(shop, policy=policy(cap={"epsilon": 1.5})) as curator:
        curator.session("ann").query(JOIN, 1.0)
        with pytest.raises(sd.BudgetError, match="cap"):
            curator.session("bob").query(JOIN, 1.0)
        assert curator.session("bob").query(JOIN, 0.5).guarantee.epsilon == 0.5


def test_somebody_without_a_budget_is_refused(curator):
    with pytest.raises(sd.BudgetError, match="no budget was granted to 'eve'"):
        curator.session("eve").query(JOIN, 0.1)
    with pytest.raises(sd.ParameterError, match="analyst"):
        curator.session(" ")


def test_the_owner_needs_a_budget_to_publish(shop):
    with sd.connect(shop, policy=policy()) as curator, pytest.raises(sd.BudgetError, match="'owner'"):
        curator.query(JOIN, 0.1)
    with sd.connect(shop, policy=policy(budgets={"owner": {"epsilon": 1}})) as curator:
        assert curator.query(JOIN, 0.4).private
        assert str(curator.session("owner").budget()) == "epsilon 0.6 left of epsilon 1"


def test_budgets_of_the_policy_outlive_the_process(shop, tmp_path):
    path = tmp_path / "shop.ledger"
    for left in ("1.5", "1", "0.5"):
        with sd.connect(shop, policy=policy(), ledger=path) as curator:
            curator.session("ann").query(JOIN, 0.5)
            assert str(curator.session("ann").budget()).startswith(f"epsilon {left},")
    with Ledger.open(path, create=False) as ledger:
        ledger.verify()
        grants = [event for event in ledger.history() if event.kind == "grant"]
    assert len(grants) == 2  # said three times, written once


def test_a_given_ledger_is_shared_and_left_open(shop):
    ledger = Ledger.in_memory()
    ledger.grant("shop", "zoe", Limit.of(epsilon=1))
    with sd.connect(shop, policy=policy(), ledger=ledger) as curator:
        curator.session("zoe").query(JOIN, 1.0)
    assert ledger.account("shop", "zoe").left.loss == 0


def told_to(shop, ledger, analyst, epsilon=0.125, **changes):
    """What one analyst hears, in a process of its own: the budget after the answer, or the refusal."""
    with sd.connect(shop, policy=policy(**changes), ledger=ledger) as curator:
        session = curator.session(analyst)
        try:
            session.query(JOIN, epsilon)
            return str(session.budget())
        except sd.BudgetError as refused:
            return str(refused)


@pytest.mark.parametrize("limit", ["0.75", "5"])
def test_what_the_owner_granted_is_not_undone_by_the_next_question(shop, tmp_path, limit):
    path = tmp_path / "shop.ledger"
    told_to(shop, path, "bob", cap={"epsilon": 3})
    with Ledger.open(path) as ledger:
        ledger.grant("shop", "bob", Limit.of(epsilon=float(limit)))
        ledger.set_cap("shop", Limit.of(epsilon=4))
    for _ in range(2):
        assert told_to(shop, path, "bob", cap={"epsilon": 3}).endswith(f"left of epsilon {limit}")
    with Ledger.open(path) as ledger:
        assert ledger.cap("shop").limit == Limit.of(epsilon=4)
    assert told_to(shop, path, "bob", budgets={"bob": {"epsilon": 2}}) == "epsilon 1.5 left of epsilon 2"


def test_who_is_taken_out_of_the_policy_is_refused_and_who_was_granted_by_hand_is_not(shop, tmp_path):
    path = tmp_path / "shop.ledger"
    told_to(shop, path, "bob")
    with Ledger.open(path) as ledger:
        ledger.grant("shop", "zoe", Limit.of(epsilon=1))
    without = policy(budgets={"ann": {"epsilon": 1}})
    refusal = told_to(shop, path, "bob", budgets=without["budgets"])
    assert "no budget was granted to 'bob' on data set 'shop', neither by this policy nor" in refusal
    assert refusal.replace("bob", "eve") == told_to(shop, path, "eve", budgets=without["budgets"])
    assert told_to(shop, path, "zoe", budgets=without["budgets"]) == "epsilon 0.875 left of epsilon 1"
    with sd.connect(shop, policy=without, ledger=path) as curator:
        for ask in (
            curator.session("bob").budget,
            lambda: curator.session("bob").query(JOIN, 0.125, reuse=True),
        ):
            with pytest.raises(sd.BudgetError, match="no budget"):
                ask()


def test_lower_limits_stop_nobody_else_and_tell_nobody_else(shop, tmp_path):
    path = tmp_path / "shop.ledger"
    told_to(shop, path, "ann", 0.875)
    lower = {"ann": {"epsilon": "0.5"}, "bob": {"epsilon": 1}}
    assert told_to(shop, path, "bob", budgets=lower) == "epsilon 0.875 left of epsilon 1"
    assert "epsilon 0 is left of the budget of 'ann'" in told_to(shop, path, "ann", budgets=lower)
    refused = told_to(shop, path, "bob", 0.25, budgets=lower, cap={"epsilon": "0.3"})
    assert refused == (
        "epsilon 0.25 was asked and the cap of data set 'shop' over all analysts does not allow it; nothing was "
        "spent; ask the owner of the data"
    )
    with sd.connect(shop, policy=policy(budgets=lower), ledger=path) as curator:
        assert curator.session("bob").budget().left.loss == 0.875
        assert curator.session("ann").budget().left.loss == 0


def test_a_budget_without_a_delta_is_told_from_one_that_is_used_up(shop):
    budgets = {"ann": {"rho": "0.5", "at_delta": "1e-6"}}
    with sd.connect(shop, policy=policy(budgets=budgets)) as curator:
        with pytest.raises(sd.BudgetError, match="has no delta to spend, rho alone"):
            curator.session("ann").query(JOIN, 0.5, 1e-7, noise="laplace")
        curator.session("ann").query(JOIN, 0.5, 1e-7)  # the default spends none


def test_rho_budgets_of_a_policy_pay_for_pure_answers(shop):
    budgets = {"ann": {"rho": "0.5", "at_delta": "1e-6"}}
    with sd.connect(shop, policy=policy(budgets=budgets)) as curator:
        curator.session("ann").query(JOIN, 1.0)
        with pytest.raises(sd.BudgetError):
            curator.session("ann").query(JOIN, 0.1)


def test_weights_are_part_of_the_printed_guarantee(shop):
    content = policy()
    content["tables"]["items"]["weight"] = "0.5"
    with sd.connect(shop, policy=content) as curator:
        release = curator.session("ann").query(JOIN, 1.0)
        assert "weights: items 0.5" in str(release.guarantee)
        unnamed = curator.session("ann").query(JOIN, 0.5, 1e-6)
        assert unnamed.guarantee.delta == 0  # a noise that takes weights
        with pytest.raises(sd.UnsupportedError, match="weight 1"):
            curator.session("ann").query(JOIN, 0.5, 1e-6, noise="laplace")


def test_identical_questions_are_answered_from_the_ledger_when_asked_for(curator):
    session = curator.session("ann")
    first = session.query(JOIN, 1.0)
    again = session.query(f"  {JOIN.replace(' ', '   ')} ; ", 1.0, reuse=True)
    assert again == first
    assert session.budget().spent.loss == 1
    assert session.query(JOIN, 0.5, reuse=True) != first  # another ε is another question
    assert session.budget().spent.loss == 1.5
    assert curator.session("bob").query(JOIN, 1.0, reuse=True).private  # bob pays for himself
    assert curator.session("bob").budget().left.loss == 0


def test_columns_of_an_answer_come_in_the_order_of_select(curator):
    rows = curator.session("ann").query(
        "SELECT COUNT(*) AS z, city, COUNT(id) AS a FROM orders GROUP BY city", 1.0
    )
    assert list(rows.value[0])[:3] == ["z", "city", "a"]


GROUPED = "SELECT city, COUNT(*) AS n, SUM(amount) AS total FROM orders GROUP BY city"
# The same numbers, named, ordered, kept, cut and calculated with otherwise.
SHOWN_OTHERWISE = (
    "SELECT SUM(o.amount) AS x, COUNT(*) AS y, o.city AS place FROM orders AS o GROUP BY o.city ORDER BY y DESC",
    "SELECT city, ROUND(SUM(amount) / COUNT(*), 1) AS mean FROM orders GROUP BY city HAVING COUNT(*) > 0 LIMIT 2",
)


def test_the_same_numbers_are_paid_for_once_however_they_are_shown(curator):
    session = curator.session("ann")
    first = {row["city"]: row for row in session.query(GROUPED, 1.0).value}
    renamed, means = (session.query(sql, 1.0, reuse=True) for sql in SHOWN_OTHERWISE)
    assert session.budget().spent.loss == 1
    assert {row["place"]: (row["y"], row["x"]) for row in renamed.value} == {
        city: (row["n"], row["total"]) for city, row in first.items()
    }
    assert [row["y"] for row in renamed.value] == sorted((row["n"] for row in first.values()), reverse=True)
    kept = [row for row in first.values() if row["n"] > 0][:2]
    assert [row["city"] for row in means.value] == [row["city"] for row in kept]
    for row, released in zip(means.value, kept, strict=True):
        assert abs(row["mean"] - released["total"] / released["n"]) <= 0.05 + 1e-9
    assert means.notes == ("LIMIT without ORDER BY cuts released rows in the policy's order of groups",)
    assert means.notes[0] in str(means)
    session.query(GROUPED.replace("SUM(amount)", "COUNT(amount)"), 0.5, reuse=True)
    assert session.budget().spent.loss == 1.5  # other numbers


def test_a_bought_error_bar_serves_other_columns_too(curator):
    session = curator.session("ann")
    plain = session.query(
        f"{JOIN.replace('COUNT(*)', 'SUM(price) AS s, COUNT(price) AS n')}", 1.0, error_share=0.2
    )
    mean = session.query(JOIN.replace("COUNT(*)", "AVG(price)"), 1.0, error_share=0.2, reuse=True)
    assert session.budget().spent.loss == 1
    assert plain.value[0]["s_error"] > 0
    assert mean.error is not None


def test_rows_of_one_number_with_having_are_a_table(curator):
    kept = curator.session("ann").query("SELECT COUNT(*) AS n FROM orders HAVING COUNT(*) > -1000000", 1.0)
    assert [list(row) for row in kept.value] == [["n"]]
    dropped = curator.session("ann").query(
        "SELECT COUNT(*) AS n FROM orders HAVING n > 1000000", 1.0, reuse=True
    )
    assert dropped.value == []
    assert curator.session("ann").budget().spent.loss == 1


def test_spaces_inside_a_literal_make_another_question(curator):
    session = curator.session("ann")
    session.query("SELECT COUNT(*) FROM orders WHERE city = 'New  York'", 0.5)
    session.query("SELECT COUNT(*) FROM orders WHERE city = 'New York'", 0.5, reuse=True)
    assert session.budget().spent.loss == 1


def test_reuse_of_what_was_not_asked_pays(curator):
    session = curator.session("bob")
    session.query(JOIN, 0.5, reuse=True)
    assert session.budget().left.loss == 0.5


# --- refusals cost nothing and write nothing

REFUSED = {
    "not SQL": ("SELEC COUNT(*)", {}),
    "unknown table": ("SELECT COUNT(*) FROM order", {}),
    "unknown column": ("SELECT COUNT(*) FROM orders WHERE town = 'Rome'", {}),
    "no bounds": ("SELECT SUM(id) FROM orders", {}),
    "outer join": ("SELECT COUNT(*) FROM orders FULL JOIN items ON id = order_id", {}),
    "rows": ("SELECT id FROM orders", {}),
    "public only": ("SELECT COUNT(*) FROM places", {}),
    "epsilon 0": (JOIN, {"epsilon": 0}),
    "epsilon negative": (JOIN, {"epsilon": -1}),
    "epsilon text": (JOIN, {"epsilon": "much"}),
    "epsilon nan": (JOIN, {"epsilon": float("nan")}),
    "delta 1": (JOIN, {"delta": 1}),
    "noise": (JOIN, {"noise": "gauss"}),
    "laplace without delta": (JOIN, {"noise": "laplace"}),
    "error share": (JOIN, {"error_share": 1}),
    "reuse": (JOIN, {"reuse": "yes"}),
    "analysis": (JOIN, {"analyses": ["magic"]}),
    "no text": (None, {}),
    "tiny epsilon": (JOIN, {"epsilon": 1e-7}),
    "epsilon next to nothing": (JOIN, {"epsilon": 1e-300}),
    "more than the budget": (JOIN, {"epsilon": 50}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_questions_spend_and_write_nothing(shop, tmp_path, case):
    sql, arguments = REFUSED[case]
    path = tmp_path / "shop.ledger"
    with sd.connect(shop, policy=policy(), ledger=path) as curator:
        session = curator.session("ann")
        with pytest.raises(sd.SordinoError):
            session.query(sql, **({"epsilon": 0.1} | arguments))
        assert session.budget().spent.loss == 0
    assert list(tmp_path.iterdir()) == []


def test_a_policy_that_does_not_fit_is_refused_at_connect(shop):
    content = policy()
    content["tables"]["orders"]["columns"]["town"] = {}
    with pytest.raises(sd.ParameterError, match="town"):
        sd.connect(shop, policy=content)
    with pytest.raises(sd.ParameterError, match="unknown"):
        sd.connect(shop, policy=policy(bugdets={}))


@pytest.mark.parametrize("ledger", [7, b"x"])
def test_a_ledger_that_is_none_is_refused(shop, ledger):
    with pytest.raises(sd.ParameterError, match="ledger"):
        sd.connect(shop, policy=policy(), ledger=ledger)


def test_a_ledger_file_that_is_none_is_refused(shop, tmp_path):
    (tmp_path / "notes.txt").write_text("not a ledger, " * 100)
    with pytest.raises(sd.LedgerError):
        sd.connect(shop, policy=policy(), ledger=tmp_path / "notes.txt")
    with pytest.raises(sd.LedgerError, match="folder"):
        sd.connect(shop, policy=policy(), ledger=tmp_path / "nowhere" / "shop.ledger")


# --- what an analyst sees does not depend on rows


class Raising:
    """An engine whose statements fail with rows in the text, as databases do."""

    name, dialect = "raising", "duckdb"

    def __init__(self, engine, when):
        self.engine, self.when, self.asked = engine, when, 0

    def catalogue(self):
        return self.engine.catalogue()

    def close(self):
        self.engine.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def snapshot(self):
        from contextlib import contextmanager

        @contextmanager
        def opened():
            with self.engine.snapshot() as inner:
                yield _RaisingSnapshot(inner, self)

        return opened()


class _RaisingSnapshot:
    def __init__(self, inner, owner):
        self.inner, self.owner = inner, owner

    def aggregate(self, expression):
        self.owner.asked += 1
        if self.owner.asked == self.owner.when:
            kinds = [
                sd.EngineError("no", f"row {SENTINEL}"),
                OverflowError(f"{SENTINEL}"),
                KeyError(SENTINEL),
            ]
            raise kinds[self.owner.when % 3]
        return self.inner.aggregate(expression)


@pytest.mark.parametrize("when", [1, 2])
def test_engine_failures_have_one_text_and_stay_paid(shop, when):
    engine = Raising(connect_engine(shop), when)
    with sd.connect(engine, policy=policy()) as curator:
        session = curator.session("ann")
        with pytest.raises(sd.EngineError) as caught:
            session.query(JOIN, 0.5)
        assert session.budget().spent.loss == 0.5
        assert session.budget().suspended
        asked = engine.asked
        with pytest.raises(sd.SuspendedError):
            session.query(JOIN, 0.5)
        assert engine.asked == asked
        curator.resume("ann")
        session.query(JOIN, 0.5)
    error = caught.value
    assert error.__context__ is None
    assert error.__cause__ is None
    shown = "".join(traceback.format_exception(error)) + repr(error) + str(error.args)
    assert str(SENTINEL) not in shown
    assert "could not answer" in str(error)
    assert str(SENTINEL) in error.details.reveal()


def test_a_database_that_is_gone_costs_nothing(shop):
    with sd.connect(shop, policy=policy()) as curator:
        session = curator.session("ann")
        shop.execute("DROP TABLE items")
        with pytest.raises(sd.EngineError, match="connect again"):
            session.query(JOIN, 0.5)
        assert session.budget().spent.loss == 0
        assert not session.budget().suspended


NASTY = [
    "SELECT COUNT(*) FROM orders WHERE 1 / (id - id) > 0",
    "SELECT COUNT(*) FROM orders WHERE CAST(city AS INTEGER) = 1",
    "SELECT SUM(amount) FROM orders WHERE amount / 0 IS NULL",
    "SELECT COUNT(*) FROM orders WHERE sqrt(-id) > 1",
    "SELECT COUNT(*) FROM orders WHERE id * 9223372036854775807 > 0",
    "SELECT COUNT(*) FROM orders WHERE error(city)",
    "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
    "SELECT COUNT(*) FROM orders; DROP TABLE orders",
    "SELECT COUNT(*) FROM orders WHERE city = (SELECT max(city) FROM orders)",
    "SELECT city, COUNT(*) FROM orders GROUP BY id",
]


@pytest.mark.parametrize("sql", NASTY)
def test_sentinels_of_the_rows_appear_in_no_message(shop, sql):
    shop.execute(f"UPDATE orders SET city = 'sentinel{SENTINEL}', amount = {SENTINEL} WHERE id = 7")
    shop.execute(f"INSERT INTO items VALUES ({SENTINEL}, {SENTINEL})")
    with sd.connect(shop, policy=policy(budgets={"ann": {"epsilon": 1000}})) as curator:
        try:
            told = repr(curator.session("ann").query(sql, 100.0))
        except sd.SordinoError as error:
            told = "".join(traceback.format_exception(error)) + repr(vars(error))
    assert str(SENTINEL) not in told


def test_refusals_are_the_same_whatever_the_rows(shop):
    messages = []
    for rows in ("DELETE FROM orders", "INSERT INTO orders SELECT i, NULL, -1e300 FROM range(5) t(i)"):
        shop.execute(rows)
        with sd.connect(shop, policy=policy()) as curator:
            for sql in NASTY + [sql for sql, _ in REFUSED.values() if sql]:
                try:
                    curator.session("bob").query(sql, 1e-4)
                    messages.append("answered")
                except sd.SordinoError as error:
                    messages.append(f"{type(error).__name__}: {error}")
    half = len(messages) // 2
    assert messages[:half] == messages[half:]


# --- one question, one snapshot


def test_all_statements_of_a_question_see_one_snapshot(shop):
    """A writer between any two statements changes neither the answer nor the bounds."""
    facts = []
    for writes in (False, True):
        engine = Writing(connect_engine(shop), shop if writes else None)
        with sd.connect(engine, policy=policy()) as curator:
            found = curator.explain(JOIN, 1.0).reveal()
        facts.append((found["exact"], [number["bounds"] for number in found["numbers"]]))
    assert facts[0] == facts[1]
    assert shop.execute("SELECT COUNT(*) FROM items").fetchone()[0] > 300


class Writing(Raising):
    """Rows are added before every statement by somebody else."""

    def __init__(self, engine, writer):
        super().__init__(engine, when=0)
        self.writer = writer

    def snapshot(self):
        from contextlib import contextmanager

        @contextmanager
        def opened():
            with self.engine.snapshot() as inner:
                yield _WritingSnapshot(inner, self.writer)

        return opened()


class _WritingSnapshot:
    def __init__(self, inner, writer):
        self.inner, self.writer = inner, writer

    def aggregate(self, expression):
        if self.writer is not None:
            self.writer.execute("INSERT INTO items SELECT 3, 1 FROM range(50)")
        return self.inner.aggregate(expression)


# --- explain


def test_explain_tells_the_owner_everything_and_spends_nothing(curator):
    secret = curator.explain(JOIN, 1.0)
    assert str(secret) == "<secret>"
    facts = secret.reveal()
    assert facts["exact"] == 300
    assert "NOT PRIVATE" in facts["warning"]
    (number,) = facts["numbers"]
    assert number["global_sensitivity"] == "unbounded"
    assert {row["table"] for row in number["bounds"]} == {"orders", "items"}
    assert number["error"]["50%"] < number["error"]["80%"] < number["error"]["95%"]
    errors = [row["error"]["95%"] for row in facts["error_against_epsilon"]]
    assert errors == sorted(errors, reverse=True)
    assert facts["statements"]
    assert all(re.match(r"\s*(SELECT|WITH)", statement["sql"]) for statement in facts["statements"])
    assert curator.session("ann").budget().spent.loss == 0


def test_explained_scale_is_the_scale_that_is_drawn(curator, monkeypatch):
    from sordino.mechanisms.noise import RoundedLaw

    scales = []
    monkeypatch.setattr(RoundedLaw, "draw", lambda law: scales.append(float(law.scale)) or 0)
    facts = curator.explain(JOIN, 1.0).reveal()
    curator.session("ann").query(JOIN, 1.0)
    assert scales == [facts["numbers"][0]["noise_scale"]]


def test_explain_of_one_table_knows_the_global_sensitivity(curator):
    facts = curator.explain("SELECT city, SUM(amount) AS total FROM orders GROUP BY city", 1.0).reveal()
    assert [number["global_sensitivity"] for number in facts["numbers"]] == [100.0] * 3
    assert facts["exact"][0] == {"city": "Rome", "total": 870.0}


# --- files


def test_types_of_csv_columns_come_from_the_policy(tmp_path):
    (tmp_path / "orders.csv").write_text("id,city,amount\n1,Rome,3\nodd,Oslo,x\n")
    (tmp_path / "items.csv").write_text("order_id,price\n1,2\n1,3\n")
    content = {
        "version": 1,
        "dataset": "shop",
        "tables": {
            "orders": {"columns": {"id": "integer", "amount": {"type": "integer", "bounds": [0, 9]}}},
            "items": {"columns": {"order_id": "integer"}},
        },
        "budgets": {"ann": {"epsilon": 1}},
    }
    with sd.connect(tmp_path, policy=content) as curator:
        facts = curator.explain(JOIN, 1.0).reveal()
        assert facts["exact"] == 2
        assert [file["lines"] - file["rows"] for file in facts["files"]] == [0, 0]
        assert facts["numbers"][0]["aggregate"] == "COUNT(*)"
        assert curator.explain("SELECT SUM(amount) FROM orders", 1.0).reveal()["exact"] == 3


def test_frames_and_engines_are_targets_too():
    import pyarrow as pa

    frames = {"r": pa.table({"a": [1, 2]}), "s": pa.table({"a": [1, 1]})}
    content = {"version": 1, "dataset": "d", "tables": {"r": {}, "s": {}}, "budgets": {"ann": {"epsilon": 1}}}
    with sd.connect(frames, policy=content) as curator:
        assert curator.explain("SELECT COUNT(*) FROM r JOIN s USING (a)", 1.0).reveal()["exact"] == 2


def test_views_are_protected_only_where_the_owner_says_so():
    """One row of t is 1 000 rows of big: noise for one row would hide nothing."""
    content = {"version": 1, "dataset": "d", "tables": {"big": {}}, "budgets": {"ann": {"epsilon": 1}}}
    with duckdb.connect() as owner:
        owner.execute("CREATE TABLE t AS SELECT range AS id FROM range(10)")
        owner.execute("CREATE VIEW big AS SELECT t.* FROM t, range(1000)")
        with pytest.raises(sd.ParameterError, match="big is a view"):
            sd.connect(owner, policy=content)
        with sd.connect(owner, policy=content | {"tables": {"big": {"view": True}}}) as curator:
            assert curator.explain("SELECT COUNT(*) FROM big", 1.0).reveal()["exact"] == 10_000
