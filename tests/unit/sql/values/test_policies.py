"""Policies of values: constraints of columns, and rows that come and go."""

from __future__ import annotations

import math
from fractions import Fraction

import pyarrow as pa
import pytest

import sordino as sd
from sordino.sql.policy import find_least_move


def load(column, *, protects="values", **table):
    columns = {"x": column, "y": {"type": "integer", "bounds": [0, 9]}}
    norm = "x" if "public" not in column and column.get("constraint") != "exact" else "y"
    columns = columns if norm == "y" else {"x": column}
    fields = {"version": 1, "dataset": "d", "protects": protects, "budgets": {"ann": {"epsilon": 10}}}
    return sd.Policy.load(fields | {"tables": {"t": {"norm": norm, "columns": columns} | table}})


@pytest.mark.parametrize(
    ("column", "bounds"),
    [
        ({"type": "float", "granularity": 0.1, "constraint": "range -3 3.5"}, (-3, Fraction(7, 2))),
        ({"type": "integer", "constraint": "rangeUnif 0.5 3.5"}, (0, 4)),
        ({"type": "integer", "constraint": "rangePrior 0 (5, .5) (9, .5)"}, (0, 9)),
        ({"type": "integer", "constraint": "normal 10 4"}, (-5, 25)),
    ],
)
def test_a_range_is_bounds_outwards(column, bounds):
    assert load(column).tables["t"].columns["x"].bounds == bounds


def test_a_set_is_a_domain_and_exact_is_public():
    assert load({"type": "text", "constraint": "exact"}).tables["t"].columns["x"].public
    policy = {
        "version": 1,
        "dataset": "d",
        "tables": {"t": {"columns": {"k": {"constraint": "set 'a' 'b'"}}}},
    }
    assert sd.Policy.load(policy).tables["t"].columns["k"].domain == ("a", "b")


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ({"type": "integer", "constraint": "rang 0 3"}, "columns.x.constraint: there is no kind 'rang'"),
        ({"type": "integer", "constraint": "range 3 1"}, "low > high"),
        ({"type": "integer", "constraint": "range 0 3", "bounds": [0, 3]}, "leave one of them out"),
        ({"type": "integer", "constraint": 3}, "is a text"),
        ({"type": "text", "constraint": "range 0 3"}, "is for numbers"),
    ],
)
def test_a_constraint_that_does_not_fit_is_refused(column, said):
    with pytest.raises(sd.ParameterError, match=said):
        load(column)


@pytest.mark.parametrize(
    ("table", "said"),
    [({"rows": 2}, "added up"), ({"check": ["x > 3"]}, "leave it out"), ({"norm": None}, "needs a norm")],
)
def test_rows_and_values_want_added_up_rows(table, said):
    with pytest.raises(sd.ParameterError, match=said):
        load({"type": "integer", "bounds": [0, 9]}, protects="row+values", **table)


def test_the_number_of_rows_is_protected_too():
    policy = load({"type": "integer", "bounds": [0, 9]}, protects="row+values", weight=4)
    with sd.connect({"t": pa.table({"x": [1, 2, 3]})}, policy=policy) as curator:
        release = curator.session("ann").query("SELECT COUNT(*) FROM t", epsilon=1)
        facts = curator.explain("SELECT COUNT(*) FROM t", 1).reveal()
    assert "4 for a row more or less of t" in str(release.guarantee)
    # one row of weight 4 changes a count by 1
    assert facts["numbers"][0]["smooth_bound"] == pytest.approx(1 / 4)


def test_a_norm_whose_moves_are_tiny_says_which_epsilon_it_needs():
    column = {"type": "integer", "bounds": [0, 9]}
    policy = load(column, norm="1e-20*x")
    with sd.connect({"t": pa.table({"x": [1]})}, policy=policy) as curator:
        session = curator.session("ann")
        with pytest.raises(sd.CalibrationError, match="needs an epsilon of about"):
            session.query("SELECT SUM(x) FROM t", epsilon=1)
        assert str(session.budget()) == "epsilon 10 left of epsilon 10"


def test_the_owner_is_told_of_cells_that_the_guarantee_does_not_know():
    column = {"type": "float", "granularity": 0.1, "bounds": [0, 9]}
    rows = pa.table({"x": [0.1, 0.30000000000000004, 0.25, None, float("nan"), 12.0, 7.0]})
    with sd.connect({"t": rows}, policy=load(column)) as curator:
        check = curator.check_rows().reveal()
    found = {finding["kind"]: finding for finding in check.to_dict()["findings"]}
    assert (found["null"]["rows"], found["null"]["broken"]) == (1, True)
    assert (found["granularity"]["rows"], found["granularity"]["broken"]) == (1, True)
    assert not check.holds


@pytest.mark.parametrize("top", [4, 4.01, 4.99])
def test_no_move_that_changes_an_answer_is_shorter_than_the_least_one(top):
    """By definition, over the lattice: two cells whose clipped values differ are at least so far apart."""
    column = {"type": "decimal(4, 0)", "bounds": [1, top]}
    table = {"norm": "0.5*log(x)", "columns": {"x": column}}
    policy = sd.Policy.load({"version": 1, "dataset": "d", "protects": "values", "tables": {"t": table}})
    least = find_least_move(policy.tables["t"])
    clipped = {x: min(max(x, 1), top) for x in range(1, 12)}
    moves = [0.5 * abs(math.log(a / b)) for a in clipped for b in clipped if clipped[a] != clipped[b]]
    assert 0.5 * min(moves) < least <= min(moves)
