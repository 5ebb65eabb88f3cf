"""Trees and forests through a session: the policy's schema, any rows, one budget, and what the ledger hands out."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sordino as sd
from sordino.curator.questions.tree import TreeQuestion
from sordino.learn import DecisionTreeClassifier, RandomForestClassifier
from sordino.learn.contingency import CutCounter, MemoryRows
from sordino.testing import seeded

POLICY = {
    "version": 1,
    "dataset": "clinic",
    "tables": {
        "patients": {
            "columns": {
                "age": {"bounds": [20, 80]},
                "sex": {"domain": ["f", "m"]},
                "seen": {"domain": [date(2024, 1, 1), date(2024, 1, 2)]},
                "ill": {"domain": ["yes", "no", None]},
                "secret": {"hidden": True, "domain": [1, 2]},
                "plain": {"type": "integer"},
            }
        },
        "heavy": {"weight": 2, "columns": {"x": {"domain": [0, 1]}, "y": {"domain": [0, 1]}}},
        "single": {"columns": {"y": {"domain": [0, 1]}, "one": {"domain": ["only"]}}},
        "open": {"private": False, "columns": {"x": {"domain": [0, 1]}, "y": {"domain": [0, 1]}}},
    },
    "budgets": {"ann": {"epsilon": 10}},
}
NEW = pa.table(
    {
        "age": [25.0, 75.0, 1e9, None],
        "sex": ["f", "m", None, None],
        "seen": [date(2024, 1, 1), date(2024, 1, 2), None, None],
    }
)


@pytest.fixture
def connection():
    made = duckdb.connect()
    made.execute(
        """
        CREATE TABLE patients (age DOUBLE, sex VARCHAR, seen DATE, ill VARCHAR, secret INTEGER, plain INTEGER);
        INSERT INTO patients SELECT 20 + i % 60, CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END, DATE '2024-01-01',
          CASE WHEN i % 60 > 30 THEN 'yes' ELSE 'no' END, 1, 1 FROM range(600) AS t(i);
        CREATE TABLE heavy AS SELECT i % 2 AS x, i % 2 AS y FROM range(40) AS t(i);
        CREATE TABLE single AS SELECT i % 2 AS y, 'only' AS one FROM range(40) AS t(i);
        CREATE TABLE open AS SELECT * FROM heavy;
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


def test_a_tree_is_a_fitted_classifier(curator, session, tmp_path):
    tree = session.tree("Patients", target="ILL", epsilon=8, max_depth=1, max_rows=1000)
    assert isinstance(tree, DecisionTreeClassifier)
    assert tree.feature_names_in_.tolist() == ["age", "sex", "seen"]
    assert tree.classes_.tolist() == ["no", "yes"]
    assert tree.predict(NEW[:3]).tolist() == ["no", "yes", "yes"]
    assert "age in [20, 26)" in tree.export_text()
    tree.plot(tmp_path / "tree.png")
    assert tree.guarantee_.epsilon == 8
    assert tree.guarantee_.distance == curator.distance
    assert tree.private_


def test_a_forest_is_a_fitted_classifier(session):
    forest = session.forest(
        "patients", target="ill", epsilon=8, features=["age"], n_estimators=4, max_depth=6
    )
    assert isinstance(forest, RandomForestClassifier)
    assert forest.predict(NEW.select(["age"])[:2]).tolist() == ["no", "yes"]
    assert forest.guarantee_.epsilon == 8


def test_all_is_paid_from_one_account(session):
    session.tree("patients", "ill", epsilon=2)
    session.forest("patients", "ill", epsilon=2, max_depth=2)
    session.query("SELECT COUNT(*) FROM patients", 1)
    assert session.budget().left.loss == 5
    for ask in (session.tree, session.forest):
        with pytest.raises(sd.BudgetError):
            ask("patients", "ill", epsilon=6)
    assert session.budget().left.loss == 5


@pytest.mark.parametrize("kind", ["tree", "forest"])
def test_what_was_paid_for_is_handed_out_again_by_another_curator(connection, tmp_path, kind):
    asked = {"epsilon": 1, "max_depth": 2, "where": "age >= 21"}

    def opened():
        return sd.connect(connection, policy=POLICY, ledger=tmp_path / "ledger.db")

    with opened() as curator:
        first = getattr(curator.session("ann"), kind)("patients", "ill", **asked)
    connection.execute("DELETE FROM patients")
    with opened() as curator:
        session = curator.session("ann")
        again = getattr(session, kind)("patients", "ill", reuse=True, **asked)
        assert session.budget().spent.loss == 1
        getattr(session, kind)("patients", "ill", reuse=True, **asked | {"where": "age > 21"})
        assert session.budget().spent.loss == 2
    assert np.array_equal(first.predict_proba(NEW), again.predict_proba(NEW))
    assert first.guarantee_ == again.guarantee_


def test_a_row_of_weight_two_may_cost_twice_as_much(curator, session):
    tree = session.tree("heavy", "y", epsilon=0.25, max_depth=1)
    assert tree.guarantee_.epsilon == 0.25
    assert ("heavy", 2.0) in tree.guarantee_.distance.weights
    assert set(tree.tree_.epsilon[tree.tree_.attribute < 0].tolist()) == {0.5}


REFUSED = {
    "no such table": (lambda s: s.tree("patient", "ill", epsilon=1), "did you mean 'patients'"),
    "no such target": (lambda s: s.tree("patients", "il", epsilon=1), "did you mean 'ill'"),
    "a hidden target": (lambda s: s.tree("patients", "secret", epsilon=1), "no column 'secret'"),
    "a hidden feature": (
        lambda s: s.forest("patients", "ill", features=["secret"], epsilon=1),
        "no column 'secret'",
    ),
    "a hidden condition": (
        lambda s: s.tree("patients", "ill", where="secret = 1", epsilon=1),
        "keeps this column",
    ),
    "target without domain": (
        lambda s: s.tree("patients", "age", epsilon=1),
        r"declare tables\.patients\.columns\.age\.domain",
    ),
    "feature without domain": (
        lambda s: s.tree("patients", "ill", features=["plain"], epsilon=1),
        r"declare tables\.patients\.columns\.plain\.domain in the policy, or .*\.bounds",
    ),
    "one class": (lambda s: s.tree("single", "one", epsilon=1), "at least two labels"),
    "the target itself": (lambda s: s.tree("patients", "ill", features=["ill"], epsilon=1), "other columns"),
    "twice": (lambda s: s.tree("patients", "ill", features=["age", "AGE"], epsilon=1), "each once"),
    "none": (lambda s: s.tree("patients", "ill", features=[], epsilon=1), "there is no feature"),
    "a text": (lambda s: s.tree("patients", "ill", features="age", epsilon=1), "list of column names"),
    "a number": (lambda s: s.tree("patients", "ill", features=[1], epsilon=1), "named by columns"),
    "public": (lambda s: s.tree("open", "y", epsilon=1), "one private table"),
    "another clause": (
        lambda s: s.forest("patients", "ill", where="1 = 1 GROUP BY sex", epsilon=1),
        "one private table",
    ),
    "depth": (lambda s: s.tree("patients", "ill", max_depth=40, epsilon=1), "max_depth must be at most 16"),
    "bins": (lambda s: s.tree("patients", "ill", bins=1, epsilon=1), "bins must be >= 2"),
    "criterion": (lambda s: s.tree("patients", "ill", criterion="ginni", epsilon=1), "gini"),
    "selection": (lambda s: s.tree("patients", "ill", selection="best", epsilon=1), "selection"),
    "rows of information gain": (
        lambda s: s.tree("patients", "ill", criterion="information_gain", epsilon=1),
        "max_rows is missing",
    ),
    "rows of a profile": (
        lambda s: s.tree("patients", "ill", criterion="gini", selection="shifted_dampening", epsilon=1),
        "max_rows is missing",
    ),
    "too many rows": (
        lambda s: s.tree("patients", "ill", criterion="information_gain", max_rows=10**7, epsilon=1),
        "max_rows = 10000000 is too large",
    ),
    "too many leaves": (
        lambda s: s.forest("patients", "ill", max_depth=16, epsilon=1),
        "4194304 leaves times classes",
    ),
    "voting": (lambda s: s.forest("patients", "ill", voting="loud", epsilon=1), "voting"),
    "too little": (lambda s: s.tree("patients", "ill", epsilon=1e-9), "least_epsilon"),
    "no epsilon": (lambda s: s.forest("patients", "ill", epsilon=0), "epsilon must be > 0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_said_and_costs_nothing(session, case):
    ask, message = REFUSED[case]
    with pytest.raises((sd.ParameterError, sd.UnsupportedError), match=message):
        ask(session)
    assert session.budget().spent.loss == 0


@pytest.mark.parametrize(
    "asked",
    [
        {"criterion": "gini"},
        {"criterion": "max_operator", "selection": "smooth_noisy_max"},
        {"criterion": "information_gain", "max_rows": 5, "selection": "local_dampening"},
        {"criterion": "information_gain", "max_rows": 1, "leaves": "permute_and_flip"},
        {"criterion": "gini", "max_rows": 3, "selection": "inverse_sensitivity"},
        {"criterion": "gini", "max_rows": 3, "selection": "smooth_noisy_max"},
    ],
)
def test_more_rows_than_max_rows_are_answered(session, asked):
    """600 rows are there; what is refused in memory, for the owner's eyes, is cut here."""
    tree = session.tree("patients", "ill", epsilon=1, **asked)
    assert tree.tree_.leaves >= 2
    assert not session.budget().suspended


def test_counts_are_cut_cell_by_cell():
    codes = np.repeat([[0, 0], [0, 1], [1, 2]], [7, 2, 9], axis=0).astype(np.int32)
    labels = np.repeat([0, 1, 1], [7, 2, 9]).astype(np.int32)
    source = CutCounter(MemoryRows(codes, labels, (2, 3), 2), (2, 3), 2, 12)
    assert source.tables(1)[0].tolist() == [3, 2, 0, 3, 2, 0, 0, 2, 0, 2]
    assert source.histograms(1)[0].tolist() == [6, 6]


def test_nothing_is_cut_while_max_rows_holds(curator):
    quote = TreeQuestion("patients", "ill", 1, max_rows=600, criterion="information_gain").quote(curator.data)
    told = quote.parameters["rows"]
    assert told == 600 * 11 * 2
    with curator.data.engine.snapshot() as snapshot:
        source = quote.measure(snapshot)
        exact = source.tables(1)
        cut = CutCounter(quote.measure(snapshot), source.sizes, 2, told).tables(1)
    assert exact.sum() == 3 * 600
    assert np.array_equal(exact, cut)


def test_one_statement_per_level_in_one_snapshot(curator, session, monkeypatch):
    asked = []
    with curator.data.engine.snapshot() as snapshot:
        kind = type(snapshot)
    aggregate = kind.aggregate
    monkeypatch.setattr(
        kind, "aggregate", lambda self, query: asked.append(id(self)) or aggregate(self, query)
    )
    tree = session.tree("patients", "ill", epsilon=9, max_rows=1000)
    assert len(asked) == tree.tree_.depth + 1 > 2
    assert len(set(asked)) == 1


def test_what_the_ledger_has_counted_is_not_counted_again_by_fits_elsewhere(session):
    tree = session.tree("patients", "ill", epsilon=Fraction(1, 2), max_depth=1)
    assert not hasattr(tree, "spent_")
    tree.fit(NEW, ["no", "yes", "yes", "no"])
    assert tree.spent_ == tree.guarantee_
    assert tree.guarantee_.distance == sd.add_remove_row()


def test_numbers_of_numpy_are_numbers(session):
    session.tree("patients", "ill", epsilon=np.float64(1), max_depth=np.int64(1), bins=np.int32(3))
    asked = {"n_estimators": np.int64(2), "max_depth": np.int64(1), "max_rows": np.int64(99)}
    session.forest("patients", "ill", epsilon=1, **asked)
    assert session.budget().spent.loss == 2


def test_a_tree_drawn_from_a_seed_says_so(session):
    with seeded(1):
        tree = session.tree("patients", "ill", epsilon=1, max_depth=1)
    assert not tree.private_
    assert not tree.guarantee_.private
    assert "NOT PRIVATE" in tree.export_text().upper()
