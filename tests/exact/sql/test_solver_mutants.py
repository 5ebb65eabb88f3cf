"""Formulas that lack one of their parts: the same comparison with all databases tells them from the right ones."""

from __future__ import annotations

import pytest

from sordino.sql.solver import search
from sordino.sql.solver.parsing import read_query
from sordino.sql.solver.query import JoinLeaf, SetTree, list_tables
from sordino.sql.solver.schema import read_schema
from sordino.sql.solver.script import RowNames, Script
from sordino.sql.solver.search import search_sensitivity
from sordino.sql.solver.tuples import TuplesThroughRow

from .test_solver_random import CASES, VALUES, databases, truth

KEYS = Script.obey_keys
# Two positions with equal keys hold the same row.
SAME_ROW = ("rows", "SELECT p0.id FROM t p0, t p1 WHERE p0.id = p1.id AND p0.x <> p1.x")


def _without_keys(self, row, *, where=None):
    """(3) dropped."""


def _keys_per_position(self, row, *, where=None):
    """Functions of a position in place of functions of a table."""
    position = next(iter(row.names.values())).strip("|").rpartition(".")[0].partition(".")[2]
    own = RowNames(f"{row.table}@{position}", row.names)
    self.shapes = {**self.shapes, own.table: self.shapes[row.table]}
    KEYS(self, own, where=where)


def _without_order(self, tuples):
    """(4) dropped."""


def _any_derivation(members, cap, clock):
    """Ψ of a leaf in which the table stands twice: derivations without the row are not excluded."""
    (leaf,) = members.query.leaves()
    tuples = TuplesThroughRow(leaf, members.table, members.shapes, True, members.values)
    return search._search_tuples(tuples, cap, clock)


def is_wrong(case) -> bool:
    """Whether the number is not that of all databases, or there is none."""
    shapes = read_schema(databases().schema)
    shape, sql = case
    query = read_query(sql, shapes)
    table = list_tables(query)[0]
    found = search_sensitivity(query, shapes, table, cap=8, seconds=300, values=VALUES)
    right = truth(shape, sql, table)
    return found.at_least != min(right, 8)


def chosen(shape: str, *, most: int, twice: bool = False):
    """Some cases in which a table stands twice, or not necessarily."""
    found = [
        (kind, sql)
        for kind, sql in CASES
        if kind == shape and (not twice or any(sql.count(f" {name} p") > 1 for name in ("t", "u", "w")))
    ]
    return found[:most]


@pytest.mark.parametrize("shape", ["rows", "distinct"])
def test_the_right_formulas_are_right(shape):
    assert not any(map(is_wrong, [SAME_ROW, *chosen(shape, most=6)]))


def test_without_keys_it_is_caught(monkeypatch):
    monkeypatch.setattr(Script, "obey_keys", _without_keys)
    assert any(map(is_wrong, chosen("rows", most=25)))


def test_keys_of_positions_are_caught(monkeypatch):
    monkeypatch.setattr(Script, "obey_keys", _keys_per_position)
    assert is_wrong(SAME_ROW)


def test_tuples_that_may_be_equal_are_caught(monkeypatch):
    monkeypatch.setattr(Script, "order", _without_order)
    assert any(map(is_wrong, chosen("rows", most=3)))


def test_derivations_that_are_not_excluded_are_caught(monkeypatch):
    monkeypatch.setattr(search, "_search_members", _any_derivation)
    assert any(map(is_wrong, chosen("distinct", most=30, twice=True)))


def test_a_union_that_is_read_as_a_sum_is_caught():
    """The parts of a set operation changed by themselves are an upper bound and not the number."""
    shapes = read_schema(databases().schema)
    larger = 0
    for shape, sql in chosen("tree", most=10):
        query = read_query(sql, shapes)
        assert isinstance(query, SetTree)
        table = list_tables(query)[0]
        parts = 0
        for leaf in query.leaves():
            assert isinstance(leaf, JoinLeaf)
            if table in leaf.tables:
                parts += search_sensitivity(leaf, shapes, table, cap=64, seconds=300, values=VALUES).value
        number = truth(shape, sql, table)
        assert parts >= number, sql
        larger += parts > number
    assert larger > 0
