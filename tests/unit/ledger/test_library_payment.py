"""Library calls pay into the same ledger as sessions, or not at all."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.ledger import Ledger, Limit

SURVEY = ("survey", "ann")
GRAPH = sd.graphs.Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], nodes=5)
ROWS = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])


def tree(**paid):
    model = sd.learn.DecisionTreeClassifier(
        0.5, schema={"a": [0, 1], "b": [0, 1]}, classes=[0, 1], max_rows=100, max_depth=1, **paid
    )
    return model.fit(ROWS, [0, 1, 1, 0])


def forest(**paid):
    model = sd.learn.RandomForestClassifier(
        0.5, schema={"a": [0, 1], "b": [0, 1]}, classes=[0, 1], max_rows=100, n_estimators=2, **paid
    )
    return model.fit(ROWS, [0, 1, 1, 0])


# Every call that releases something, each at ε = 1/2 for one row added or removed.
CALLS = {
    "select": lambda **paid: sd.select([1, 2, 3], profile=1, epsilon=0.5, **paid),
    "top_k": lambda **paid: sd.top_k([1, 2, 3], 2, profile=1, epsilon=0.5, **paid),
    "add_noise": lambda **paid: sd.add_noise(10, 1, epsilon=0.5, step=1, **paid),
    "quantile": lambda **paid: sd.quantile([1, 2, 3], 0.5, bounds=(0, 9), step=1, epsilon=0.5, **paid),
    "tree": tree,
    "forest": forest,
}
OF_GRAPHS = {
    "count": lambda **paid: sd.graphs.count(GRAPH, "triangles", epsilon=0.5, **paid),
    "top nodes": lambda **paid: sd.graphs.top_k(GRAPH, 1, epsilon=0.5, **paid),
}


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "ledger.sqlite"
    with Ledger.open(file) as ledger:
        ledger.grant(*SURVEY, Limit.of(epsilon=1))
    return file


@pytest.mark.parametrize("name", [*CALLS, *OF_GRAPHS])
def test_a_call_is_paid_for_and_stored_before_it_returns(path, name):
    call = (CALLS | OF_GRAPHS)[name]
    call(ledger=path, account=SURVEY)
    with Ledger.open(path) as ledger:
        assert ledger.account(*SURVEY).spent.loss == Fraction(1, 2)
        assert [event.kind for event in ledger.history()] == ["grant", "reserve", "commit"]
        call(ledger=ledger, account=SURVEY)
        with pytest.raises(sd.BudgetError, match="nothing was spent"):
            call(ledger=ledger, account=SURVEY)
        assert ledger.account(*SURVEY).left.loss == 0


def test_what_is_stored_is_what_was_returned(path):
    release = CALLS["quantile"](ledger=path, account=SURVEY)
    with Ledger.open(path) as ledger:
        assert ledger.history()[-1].release == release.to_dict()


def test_a_loss_for_an_added_row_counts_twice_where_rows_are_replaced(path):
    with Ledger.open(path) as ledger:
        ledger.grant("fixed", "ann", Limit.of(epsilon=1), distance=sd.replace_row())
        release = CALLS["quantile"](ledger=ledger, account=("fixed", "ann"))
        assert (release.guarantee.epsilon, release.guarantee.distance) == (1.0, sd.replace_row())
        assert ledger.account("fixed", "ann").left.loss == 0


@pytest.mark.parametrize("kept", [sd.add_remove_row(), sd.flip_edge()])
def test_a_loss_for_a_replaced_row_is_refused_where_rows_are_added(path, kept):
    with Ledger.open(path) as ledger:
        ledger.grant("other", "ann", Limit.of(epsilon=1), distance=kept)
        with pytest.raises(sd.ParameterError, match="losses of two distances do not add up"):
            sd.quantile(
                [1, 2], 0.5, bounds=(0, 9), step=1, epsilon=0.5, mechanism="inverse_sensitivity",
                ledger=ledger, account=("other", "ann"),
            )  # fmt: skip
        assert ledger.account("other", "ann").spent.loss == 0


@pytest.mark.parametrize(
    ("paid", "message"),
    [
        ({"ledger": "x"}, "account= .* is missing"),
        ({"account": SURVEY}, "ledger= .* is missing"),
        ({"ledger": 3, "account": SURVEY}, "ledger must be"),
        ({"ledger": "x", "account": "survey"}, "account must be"),
        ({"ledger": "x", "account": ("survey", "")}, "account must be"),
    ],
)
def test_half_an_account_is_a_slip(paid, message):
    with pytest.raises(sd.ParameterError, match=message):
        CALLS["select"](**paid)


def test_a_ledger_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(sd.LedgerError):
        CALLS["select"](ledger=tmp_path / "none.sqlite", account=SURVEY)
    assert not (tmp_path / "none.sqlite").exists()
