"""Every error has a code of its own, a message and, where there is one, a place; and one JSON form without secrets."""

import importlib
import json
import pickle
import pkgutil

import pytest

import sordino
from sordino.core import EngineError, ParameterError, Place, SordinoError, UnsupportedError, errors
from sordino.core.json_form import error_form, json_text


def every_kind():
    for module in pkgutil.walk_packages(sordino.__path__, "sordino."):
        if module.name.split(".")[1] in ("core", "ledger", "curator", "sql", "engines"):
            importlib.import_module(module.name)
    waiting, found = [SordinoError], []
    while waiting:
        kind = waiting.pop()
        found.append(kind)
        waiting += kind.__subclasses__()
    return [kind for kind in found if kind.__module__.startswith("sordino.")]


def test_codes_are_distinct_and_drawn_in_the_tree():
    kinds = [kind for kind in every_kind() if kind.__module__.startswith("sordino.core.")]
    codes = [kind.code for kind in kinds]
    assert len(set(codes)) == len(codes) >= 11
    for kind in kinds:
        line = next(line for line in errors.__doc__.splitlines() if kind.__name__ in line.split())
        assert kind.code in line.split()


def test_a_kind_that_is_defined_elsewhere_has_the_code_of_one_in_the_tree():
    known = {
        kind.code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, SordinoError)
    }
    assert {kind.code for kind in every_kind()} <= known


def test_an_error_at_a_place_says_it_in_words_and_as_data():
    error = UnsupportedError.at(Place(2, 8), "DISTINCT is refused")
    assert str(error) == "line 2, column 8: DISTINCT is refused"
    assert error.place == Place(2, 8)
    assert error_form(error) == {
        "error": {
            "code": "unsupported",
            "message": "line 2, column 8: DISTINCT is refused",
            "place": {"line": 2, "column": 8},
        }
    }


@pytest.mark.parametrize("kind", every_kind(), ids=lambda kind: kind.__name__)
def test_every_kind_keeps_message_and_place_through_pickle(kind):
    error = kind("what is wrong", place=Place(3, 1))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.place) == (kind, "what is wrong", Place(3, 1))
    assert error_form(again)["error"] == {
        "code": kind.code,
        "message": "what is wrong",
        "place": {"line": 3, "column": 1},
    }
    assert error_form(kind("no place"))["error"]["place"] is None


def test_what_an_engine_said_is_not_in_the_form():
    error = EngineError("the database could not answer", "row 7 holds secret123")
    assert error.details.reveal() == "row 7 holds secret123"
    assert "secret123" not in json_text(error_form(error))


def test_a_defect_tells_its_kind_and_place_only():
    try:
        {}["secret123"]
    except KeyError as error:
        form = error_form(error)
    assert form["error"]["code"] == "defect"
    assert "KeyError in test_a_defect_tells_its_kind_and_place_only" in form["error"]["message"]
    assert "secret123" not in json_text(form)


def test_half_of_a_surrogate_pair_is_escaped():
    text = json_text(error_form(ParameterError("no text: \udcff and é")))
    assert text.encode("utf-8")
    assert json.loads(text)["error"]["message"] == "no text: \udcff and é"
