"""What policies say of tables, and the changes that would make an earlier guarantee false."""

from __future__ import annotations

from itertools import product

import pytest

import sordino as sd
from sordino.ledger import TABLE_KINDS, Ledger, Limit
from tests.unit.ledger.conftest import pure

ONE = Limit.of(epsilon=1)
CHANGES = [(old, new) for old, new in product(TABLE_KINDS, repeat=2) if old != new]


@pytest.fixture
def book(path):
    with Ledger.open(path) as opened:
        yield opened


def declare(book, dataset="shop", distance=None, **tables):
    book.declare(dataset, {"ann": ONE}, distance=distance or sd.add_remove_row(), tables=tables)


def ask(book, dataset="shop"):
    book.spend(dataset, "ann", pure(0.1), "q", lambda: {"value": 1})


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_what_earlier_answers_assumed_cannot_be_declared_away(book, path, old, new):
    declare(book, orders=old, places="public")
    ask(book)
    before = book.history(), book.accounts()
    book.close()
    with Ledger.open(path) as later:
        with pytest.raises(sd.ParameterError, match="guarantees given so far would not hold") as refused:
            declare(later, orders=new, places="public")
        assert f"--as {new}" in str(refused.value)
        assert (later.history(), later.accounts()) == before
        declare(later, orders=old)
        later.verify()


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_before_the_first_question_the_owner_may_change_the_mind(book, old, new):
    declare(book, orders=old)
    declare(book, orders=new)
    ask(book)
    assert book.tables("shop") == {"orders": new}
    with pytest.raises(sd.ParameterError, match="redeclare"):
        declare(book, orders=old)


def test_a_table_that_was_left_out_is_remembered(book):
    declare(book, orders="private", items="private")
    ask(book)
    declare(book, items="private")
    with pytest.raises(sd.ParameterError, match=r"tables\.orders"):
        declare(book, items="private", orders="public")
    with pytest.raises(sd.ParameterError, match=r"tables\.orders"):
        declare(book, items="private", Orders="public")  # the same name, as in questions


def test_new_tables_may_come_at_any_time_and_what_is_repeated_is_written_once(book):
    declare(book, orders="private")
    ask(book)
    declare(book, orders="private", places="public", items="private")
    before = book.history()
    declare(book, ORDERS="private", places="public")
    declare(book)
    assert book.history() == before
    assert book.tables("shop") == {"orders": "private", "places": "public", "items": "private"}
    said = [event.parameters["tables"] for event in before if event.kind == "declare"]
    assert said == [{"orders": "private"}, {"places": "public", "items": "private"}]
    assert [event.analyst for event in before if event.kind == "declare"] == [None, None]


def test_a_question_under_way_counts_as_asked(book):
    declare(book, orders="private")
    book.reserve("shop", "ann", pure(0.1), question="q")  # whether anything left is not known
    with pytest.raises(sd.ParameterError, match=r"tables\.orders"):
        declare(book, orders="public")


def test_data_sets_do_not_know_of_one_another(book):
    declare(book, orders="private")
    ask(book)
    declare(book, dataset="web", orders="public")
    assert (book.tables("shop"), book.tables("web")) == ({"orders": "private"}, {"orders": "public"})


def test_the_owner_records_a_change_and_then_it_counts(book):
    declare(book, orders="private")
    ask(book)
    book.redeclare("shop", "Orders", "public")
    events = book.history()
    assert (events[-1].kind, events[-1].parameters) == ("redeclare", {"tables": {"orders": "public"}})
    book.redeclare("shop", "orders", "public")
    declare(book, orders="public")
    assert book.history() == events
    with pytest.raises(sd.ParameterError, match="now it is private"):
        declare(book, orders="private")
    book.verify()


def test_slips_are_told(book):
    declare(book, orders="private")
    with pytest.raises(sd.ParameterError, match="did you mean 'orders'"):
        book.redeclare("shop", "order", "public")
    with pytest.raises(sd.ParameterError, match="must be one of private, view, public"):
        book.redeclare("shop", "orders", "secret")
    with pytest.raises(sd.ParameterError, match="known: none"):
        book.redeclare("web", "x", "public")
    for tables in (["orders"], {"": "private"}, {1: "private"}, {"orders": None}):
        with pytest.raises(sd.ParameterError):
            book.declare("shop", {}, distance=sd.add_remove_row(), tables=tables)
    assert book.tables("shop") == {"orders": "private"}


def test_a_policy_is_declared_whole_or_not_at_all(book):
    declare(book, orders="private")
    ask(book)
    before = book.history(), book.accounts()
    with pytest.raises(sd.ParameterError):
        book.declare(
            "shop", {"bob": ONE}, distance=sd.add_remove_row(), tables={"new": "private", "orders": "public"}
        )
    assert (book.history(), book.accounts()) == before


@pytest.mark.parametrize(
    "other",
    [
        sd.Distance("row", "add_remove", (("orders", 2.0),)),
        sd.Distance("user", "add_remove"),
        sd.replace_row(),
    ],
)
def test_weights_and_the_protected_unit_are_in_the_distance_and_stay(book, other):
    declare(book, orders="private")
    ask(book)
    with pytest.raises(sd.ParameterError, match="losses of two distances do not add up"):
        declare(book, orders="private", distance=other)
    book.redeclare("shop", "orders", "public")
    with pytest.raises(sd.ParameterError, match="losses of two distances do not add up"):
        declare(book, orders="public", distance=other)
