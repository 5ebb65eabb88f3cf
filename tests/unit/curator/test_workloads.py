"""Quantiles, selections and graphs through a session: same budget, same rules, the library's own laws."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sordino as sd
from sordino.curator.questions.graph import _build, count_question, top_k_question
from sordino.curator.questions.quantile import QuantileQuestion
from sordino.curator.questions.selection import LargestGroupQuestion
from sordino.testing import seeded

POLICY = {
    "version": 1,
    "dataset": "town",
    "tables": {
        "orders": {
            "columns": {
                "amount": {"bounds": [0, 50], "granularity": 0.5},
                "city": {"domain": ["Oslo", "Rome", None]},
                "secret": {"hidden": True},
            }
        },
        "heavy": {"weight": 2, "columns": {"x": {"bounds": [0, 9]}}},
        "light": {"weight": "1/3", "columns": {"x": {"bounds": [0, 9]}}},
        "knows": {},
        "people": {"private": False},
    },
    "budgets": {"ann": {"epsilon": 10, "delta": 1e-6}},
}


@pytest.fixture
def connection():
    made = duckdb.connect()
    made.execute(
        """
        CREATE TABLE orders (amount DOUBLE, city VARCHAR, secret INTEGER);
        INSERT INTO orders VALUES (-3, 'Rome', 1), (4.26, 'Rome', 2), (4.2, 'Oslo', 3), (NULL, 'Rome', 4),
          (99, NULL, 5), ('nan', 'Rome', 6), (12, 'Atlantis', 7), (0.25, 'Rome', 8);
        CREATE TABLE heavy AS SELECT unnest([1, 1, 2, 7]) AS x;
        CREATE TABLE light AS SELECT * FROM heavy;
        CREATE TABLE people AS SELECT unnest([10, 20, 30, 40, 50, 50, NULL]) AS id;
        CREATE TABLE knows (a INTEGER, b INTEGER);
        INSERT INTO knows VALUES (10, 20), (20, 10), (20, 30), (10, 30), (30, 30), (10, 99), (NULL, 10), (10, NULL);
        """
    )
    return made


@pytest.fixture
def curator(connection):
    with sd.connect(connection, policy=POLICY) as made:
        yield made


@pytest.fixture
def session(curator):
    return curator.session("ann")


def drawn(ask):
    """What is drawn from one seed: equal laws of equal data draw alike."""
    with seeded(7):
        return [ask().value for _ in range(40)]


def drawn_by(curator, question):
    """The same of a question, once it was quoted and measured."""
    quote = question.quote(curator.data)
    with curator.data.engine.snapshot() as snapshot:
        measured = quote.measure(snapshot)
    return drawn(lambda: quote.present(quote.draw(measured)))


# NaN and what lies above the upper bound: the rule is that of SUM, which tests/backends holds on every engine.
CLIPPED = [0.0, 4.5, 4.0, 50.0, 12.0, 0.5]


@pytest.mark.parametrize("q", [0.1, 0.5, 0.93])
def test_a_quantile_is_that_of_the_clipped_column(curator, connection, q):
    connection.execute("DELETE FROM orders WHERE isnan(amount)")
    expected = drawn(
        lambda: sd.quantile(CLIPPED, q, bounds=(0, 50), step=0.5, epsilon=0.25, distance=sd.add_remove_row())
    )
    assert drawn_by(curator, QuantileQuestion("orders.amount", q, 0.25)) == expected


def test_a_condition_and_a_coarser_lattice_are_asked_for(curator):
    expected = drawn(
        lambda: sd.quantile(
            [0.0, 5.0, 0.0], 0.5, bounds=(0, 50), step=5, epsilon=0.25, distance=sd.add_remove_row()
        )
    )
    question = QuantileQuestion("Orders.Amount", 0.5, 0.25, 5, "city = 'Rome' AND amount < 5")
    assert drawn_by(curator, question) == expected


def test_a_row_of_weight_two_may_cost_twice_as_much(curator, session):
    for table, times in (("heavy", 2), ("light", Fraction(1, 3))):
        expected = drawn(
            lambda times=times: sd.quantile(
                [1, 1, 2, 7],
                0.5,
                bounds=(0, 9),
                step=1,
                epsilon=times * Fraction(1, 4),
                distance=sd.add_remove_row(),
            )
        )
        assert drawn_by(curator, QuantileQuestion(f"{table}.x", 0.5, 0.25)) == expected
    release = session.quantile("heavy.x", 0.5, epsilon=0.25)
    assert release.guarantee.epsilon == 0.25
    assert ("heavy", 2.0) in release.guarantee.distance.weights


def test_a_loss_that_no_float_holds_is_asked_for(session):
    # 2/9 lies above the nearest float and 5/18 below it
    for epsilon in (Fraction(1, 9), Fraction(5, 36)):
        session.quantile("heavy.x", 0.5, epsilon=epsilon)
    assert Fraction(1, 4) <= session.budget().spent.loss < Fraction(1, 4) + Fraction(1, 10**15)


def test_three_tenths_cost_three_tenths(session):
    # the float 0.3 lies below 3/10, and a ledger reads its decimal
    session.quantile("orders.amount", 0.5, epsilon=0.3)
    session.count("knows", "edges", nodes=9, epsilon=0.3)
    session.query("SELECT COUNT(*) FROM orders", 0.3)
    assert session.budget().spent.loss == Fraction(9, 10)


def test_the_largest_group_is_chosen_by_the_librarys_law(curator):
    expected = drawn(
        lambda: sd.select([1, 5, 1], mechanism="permute_and_flip", profile=1, epsilon=0.25, monotone=True)
    )
    question = LargestGroupQuestion("SELECT city, COUNT(*) FROM orders GROUP BY city", 0.25)
    assert drawn_by(curator, question) == [("Oslo", "Rome", None)[place] for place in expected]


def test_a_sum_that_may_fall_is_no_monotone_score(curator, connection):
    connection.execute("DELETE FROM orders WHERE isnan(amount)")
    expected = drawn(
        lambda: sd.select(
            [-42, -140, 50], mechanism="permute_and_flip", profile=50, epsilon=0.25
        )  # half steps
    )
    question = LargestGroupQuestion("SELECT city, SUM(amount - 25) FROM orders GROUP BY city", 0.25)
    assert drawn_by(curator, question) == [("Oslo", "Rome", None)[place] for place in expected]


@pytest.mark.slow
def test_edges_are_the_rows_between_two_known_nodes(curator):
    graph = sd.graphs.Graph.from_edges([(10, 20), (20, 30), (10, 30)], nodes=[10, 20, 30, 40, 50])
    asked = {"epsilon": 0.25, "nodes": "people.id", "columns": None}
    for what in ("edges", "triangles"):
        expected = drawn(lambda what=what: sd.graphs.count(graph, what, epsilon=0.25))
        assert drawn_by(curator, count_question("knows", what, options={}, **asked)) == expected
    expected = drawn(lambda: sd.graphs.top_k(graph, 2, epsilon=0.25, metric="degree"))
    question = top_k_question("knows", 2, options={"metric": "degree"}, **asked)
    assert drawn_by(curator, question) == expected


def test_nodes_may_be_a_number_and_a_degree_bound_is_kept_by_projection(session, connection):
    connection.execute("INSERT INTO knows SELECT 0, i FROM range(1, 9) AS t(i)")
    release = session.top_k("knows", 2, nodes=10, epsilon=1, metric="degree", max_degree=3)
    assert "of a projection" in release.guarantee.theorem
    assert all(0 <= node < 10 for node in release.value)


def test_all_is_paid_from_one_account(curator, session):
    session.quantile("orders.amount", 0.5, epsilon=1)
    session.select("SELECT city, COUNT(*) FROM orders GROUP BY city", epsilon=1)
    session.count("knows", "triangles", nodes=9, epsilon=1)
    session.top_k("knows", 1, nodes=9, epsilon=1)
    session.query("SELECT COUNT(*) FROM orders", 1)
    assert session.budget().left.loss == 5
    with pytest.raises(sd.BudgetError):
        session.count("knows", "edges", nodes=9, epsilon=6)
    assert session.budget().left.loss == 5


def test_the_same_question_is_answered_from_the_ledger(session):
    asked = {"nodes": 9, "epsilon": 0.5}
    first = session.count("knows", "edges", **asked)
    assert session.count("knows", "edges", reuse=True, **asked).value == first.value
    assert session.budget().spent.loss == Fraction(1, 2)
    session.count("knows", "edges", reuse=True, **asked | {"nodes": 10})
    assert session.budget().spent.loss == 1


REFUSED = {
    "no such table": (lambda s: s.quantile("order.amount", 0.5, epsilon=1), "did you mean 'orders'"),
    "no column": (lambda s: s.quantile("orders", 0.5, epsilon=1), "table.column"),
    "hidden": (lambda s: s.quantile("orders.secret", 0.5, epsilon=1), "no column 'secret'"),
    "hidden in a condition": (
        lambda s: s.quantile("orders.amount", 0.5, epsilon=1, where="secret = 1"),
        "keeps this column",
    ),
    "text": (lambda s: s.quantile("orders.city", 0.5, epsilon=1), "a number is needed"),
    "q": (lambda s: s.quantile("orders.amount", 1.5, epsilon=1), "q must be in"),
    "step": (lambda s: s.quantile("orders.amount", 0.5, epsilon=1, step=0.7), "whole multiple"),
    "another clause": (
        lambda s: s.quantile("orders.amount", 0.5, epsilon=1, where="1 = 1 GROUP BY city"),
        "one private table",
    ),
    "public": (lambda s: s.count("people", "edges", nodes=3, epsilon=1), "public|columns"),
    "private nodes": (
        lambda s: s.count("knows", "edges", nodes="orders.amount", epsilon=1),
        "must be public",
    ),
    "three columns": (
        lambda s: s.count("orders", "edges", nodes=3, epsilon=1),
        "columns of integers|may be asked",
    ),
    "a metric": (lambda s: s.top_k("knows", 1, nodes=3, epsilon=1, metric="degre"), "degree"),
    "k": (lambda s: s.top_k("knows", 4, nodes=3, epsilon=1), "at most the number of nodes"),
    "a join": (
        lambda s: s.select(
            "SELECT k.a, COUNT(*) FROM knows k JOIN people p ON k.a = p.id GROUP BY k.a", epsilon=1
        ),
        "domain|without joins",
    ),
    "two aggregates": (
        lambda s: s.select("SELECT city, COUNT(*), SUM(amount) FROM orders GROUP BY city", epsilon=1),
        "one COUNT or SUM",
    ),
    "no number": (lambda s: s.quantile("orders.amount", 0.5, epsilon=None), "epsilon must be a number"),
    "too large": (lambda s: s.count("knows", "edges", nodes=3, epsilon=10**400), "epsilon must be below"),
    "no name": (
        lambda s: s.count("knows", "edges", nodes=3, epsilon=1, columns=("a", 3)),
        "no column 3|must be named",
    ),
    "too little": (lambda s: s.quantile("orders.amount", 0.5, epsilon=1e-9), "least_epsilon"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_said_and_costs_nothing(session, case):
    ask, message = REFUSED[case]
    with pytest.raises((sd.ParameterError, sd.UnsupportedError), match=message):
        ask(session)
    assert session.budget().spent.loss == 0


@pytest.mark.parametrize("statement", ["DELETE FROM orders", "DELETE FROM knows"])
def test_the_empty_table_is_a_table(session, connection, statement):
    connection.execute(statement)
    assert 0 <= session.quantile("orders.amount", 0.5, epsilon=1).value <= 50
    assert session.select("SELECT city, COUNT(*) FROM orders GROUP BY city", epsilon=1).value in (
        "Oslo",
        "Rome",
        None,
    )
    assert isinstance(session.count("knows", "triangles", nodes=9, epsilon=1).value, int)
    assert len(session.top_k("knows", 2, nodes=9, epsilon=1).value) == 2


def connect_table(*statements, table):
    made = duckdb.connect()
    for statement in statements:
        made.execute(statement)
    policy = {"version": 1, "dataset": "one", "tables": {"t": table}, "budgets": {"ann": {"epsilon": 200}}}
    return sd.connect(made, policy=policy)


@pytest.mark.parametrize("rows", [2**30 + 1, 2**52])
def test_more_rows_than_a_fine_grid_holds_are_compared_like_any_others(curator, rows):
    # a failure would tell that there are so many
    quote = LargestGroupQuestion("SELECT city, COUNT(*) FROM orders GROUP BY city", 1).quote(curator.data)
    assert quote.draw(np.array([0.0, rows, 0.0]))["value"] == "Rome"


@pytest.mark.parametrize("kind", ["UBIGINT", "HUGEINT"])
def test_ids_that_do_not_fit_64_bits_are_no_nodes(kind):
    rows = (f"CREATE TABLE t (a {kind}, b {kind})", "INSERT INTO t VALUES (1, 2), (18446744073709551615, 1)")
    with connect_table(*rows, table={}) as curator:
        assert curator.session("ann").count("t", "edges", nodes=3, epsilon=100).value == 1


@pytest.mark.slow
def test_a_graph_may_be_the_first_thing_that_a_process_asks_for():
    # what is imported on demand elsewhere hides what is not imported here
    script = """
import duckdb, sordino as sd
made = duckdb.connect()
made.execute("CREATE TABLE t (a BIGINT, b BIGINT); CREATE TABLE n AS SELECT unnest([-9223372036854775808, 7]) AS id")
made.execute("INSERT INTO t VALUES (-9223372036854775808, 7)")
tables = {"t": {}, "n": {"private": False}}
policy = {"version": 1, "dataset": "one", "tables": tables, "budgets": {"ann": {"epsilon": 200}}}
print(sd.connect(made, policy=policy).session("ann").count("t", "edges", nodes="n.id", epsilon=100).value)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.stdout == "1\n", ran.stderr


def test_a_column_hidden_in_another_case_holds_no_ids():
    rows = "CREATE TABLE t (a INTEGER, b INTEGER)"
    curator = connect_table(rows, table={"columns": {"B": {"hidden": True}}})
    with curator, pytest.raises(sd.ParameterError, match="1 columns that may be asked about"):
        curator.session("ann").count("t", "edges", nodes=3, epsilon=1)


@pytest.mark.slow
def test_one_row_of_an_edge_table_is_at_most_one_edge():

    ids = pa.array([1, 2, 3])
    rows = [(a, b) for a in (1, 2, 3, 4, None) for b in (1, 2, 3, 4, None)]

    def edges(chosen):
        table = pa.table(
            {
                "a": pa.array([a for a, _ in chosen], pa.int64()),
                "b": pa.array([b for _, b in chosen], pa.int64()),
            }
        )
        return {tuple(edge) for edge in _build(table, ids).edge_list().tolist()}

    draw = np.random.default_rng(5)
    for _ in range(300):
        chosen = [rows[i] for i in draw.integers(0, len(rows), size=draw.integers(0, 5))]
        before = edges(chosen)
        for row in rows:
            assert len(edges([*chosen, row]) ^ before) <= 1
