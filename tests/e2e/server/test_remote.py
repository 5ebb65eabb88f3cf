"""A remote session is a session: same answers, same losses, same errors with the same place."""

from __future__ import annotations

import pytest

import sordino as sd
from sordino.core import BudgetError, EngineError, ParameterError, UnsupportedError
from sordino.core.errors import OwnerOnlyError, UnknownTokenError
from tests.e2e.server.serving import serving
from tests.e2e.server.test_http import COUNT, DAILY

GRAPH = {"nodes": 9, "epsilon": 1}


@pytest.fixture
def ann(server):
    with server.remote("ann") as remote:
        yield remote.session()


@pytest.fixture
def here(server):
    """The same analyst in the owner's process."""
    return server.service.session_of("ann")


QUESTIONS = {
    "query": lambda s, **more: s.query(COUNT, 0.5, **more),
    "query by groups": lambda s, **more: s.query(
        "SELECT city, SUM(amount) AS s FROM orders GROUP BY city", 0.5, **more
    ),
    "query with errors": lambda s, **more: s.query(COUNT, 0.5, error_share=0.1, **more),
    "query by rho": lambda s, **more: s.query(
        "SELECT SUM(amount) FROM orders", delta=1e-7, epsilon=0.5, **more
    ),
    "quantile": lambda s, **more: s.quantile("orders.amount", 0.5, epsilon=0.5, **more),
    "select": lambda s, **more: s.select(
        "SELECT city, COUNT(*) FROM orders GROUP BY city", epsilon=0.5, **more
    ),
    "count": lambda s, **more: s.count("knows", "edges", **GRAPH, **more),
    "top_k": lambda s, **more: s.top_k("knows", 2, **GRAPH, **more),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_release_is_what_the_session_would_give(ann, here, name):
    there = QUESTIONS[name](ann)
    same = QUESTIONS[name](here, reuse=True)  # found, if the question was the same to the last parameter
    assert isinstance(there, sd.Release)
    assert there.value == same.value
    assert there.guarantee == same.guarantee
    assert there.to_dict() == same.to_dict()
    assert str(there) == str(same)


def test_trees_and_forests_classify(ann, here):
    tree = ann.tree("patients", "ill", epsilon=5, max_depth=1)
    same = here.tree("patients", "ill", epsilon=5, max_depth=1, reuse=True)
    new = {"age": [25.0, 75.0]}
    import pyarrow as pa

    assert list(tree.predict(pa.table(new))) == list(same.predict(pa.table(new)))
    forest = ann.forest("patients", "ill", epsilon=5, n_estimators=2)
    again = here.forest("patients", "ill", epsilon=5, n_estimators=2, reuse=True)
    assert list(forest.predict(pa.table(new))) == list(again.predict(pa.table(new)))


def test_a_series_is_the_same_series(ann, here):
    series = ann.series(COUNT, **DAILY)
    first = series.next()
    assert here.find_series("daily").total(1).value == first.value
    assert series.answered == 1
    assert [total.value for total in ann.find_series("daily").totals()] == [first.value]


def test_what_is_public_is_the_same(ann, here):
    from sordino.core.json_form import json_text

    assert json_text(ann.tables()) == json_text(here.tables().to_dict())
    assert json_text(ann.describe("orders")) == json_text(here.describe("orders").to_dict())
    assert json_text(ann.budget()) == json_text(here.budget().to_dict())
    assert json_text(ann.preview(COUNT, 0.5)) == json_text(here.preview(COUNT, 0.5).to_dict())
    ann.query(COUNT, 0.5)
    assert ann.history(1)[0]["question"] == COUNT


WRONG = {
    "table": lambda s: s.query("SELECT COUNT(*)\nFROM nothing", 0.5),
    "hidden": lambda s: s.query("SELECT SUM(card) FROM orders", 0.5),
    "syntax": lambda s: s.query("SELECT COUNT(* FROM orders", 0.5),
    "not supported": lambda s: s.query("SELECT COUNT(*) OVER () FROM orders", 0.5),
    "epsilon": lambda s: s.query(COUNT, -1),
    "budget": lambda s: s.query(COUNT, 1e7),
    "preview": lambda s: s.preview("SELECT COUNT(*) FROM nothing", 0.5),
    "column": lambda s: s.quantile("orders.nothing", 0.5, epsilon=0.5),
    "select": lambda s: s.select("SELECT 1", epsilon=0.5),
    "graph": lambda s: s.count("knows", "wheels", **GRAPH),
    "top_k": lambda s: s.top_k("knows", 0, **GRAPH),
    "tree": lambda s: s.tree("patients", "nothing", epsilon=1),
    "series": lambda s: s.find_series("nothing"),
    "describe": lambda s: s.describe("nothing"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_is_what_the_session_would_raise(ann, here, name):
    caught = []
    for session in (ann, here):
        with pytest.raises((ParameterError, BudgetError, UnsupportedError)) as error:
            WRONG[name](session)
        caught.append(error.value)
    there, same = caught
    assert type(there) is type(same)
    assert str(there) == str(same)
    assert there.place == same.place


def test_the_owner_grants_resumes_and_explains(tmp_path):
    with serving(tmp_path) as running, running.remote("boss") as remote, running.remote("eve") as other:
        boss, eve = remote.session(), other.session()
        with pytest.raises(BudgetError):
            eve.query(COUNT, 2)
        boss.grant("eve", epsilon=3)
        eve.query(COUNT, 2)
        names = {account["analyst"] for account in boss.accounts()}
        assert {"eve", "ann"} <= names
        boss.revoke("eve")
        with pytest.raises(BudgetError):
            eve.query(COUNT, 0.5)
        assert boss.explain(COUNT, 1)
        assert boss.policy()["distance"]
        for act in (
            eve.accounts,
            eve.policy,
            lambda: eve.grant("eve", epsilon=9),
            lambda: eve.explain(COUNT, 1),
        ):
            with pytest.raises(OwnerOnlyError):
                act()


def test_a_server_that_is_not_there_or_not_ours(server):
    with sd.Remote("http://127.0.0.1:1", "x") as nobody, pytest.raises(EngineError, match="does not answer"):
        nobody.session().budget()
    with sd.Remote(server.http, "sdt_wrong") as stranger, pytest.raises(UnknownTokenError):
        stranger.session().budget()
    with pytest.raises(ParameterError, match="must begin with"):
        sd.Remote("shop", "x")
