"""Constraint files: every kind reads back, and what is wrong is said with its place."""

from __future__ import annotations

import math

import pytest

import sordino as sd
from sordino.sensitivity.interval import Interval
from sordino.sql.constraint_files.constraint import normal_reach
from sordino.sql.constraints import ValueSet, parse_constraints, write_constraints
from tests.oracles.test_oracles import agrees, golden

ALL = """
-- ships and where they are
ship.id exact;
ship.x range -300 300;  ship.y rangeUnif -300 300;
ship.flag set 'EE' 'it''s';
ship.kind setUnif 1 2 3;
ship.port setPrior ('a', .2) ('b', .8);
ship.speed normal 10 4;
ship.load rangePrior 0 (10, .5) (30, .5);
ship.name total 7;
ship.crew totalUnif 12;
"""


def test_every_kind_reads_back():
    found = parse_constraints(ALL)
    assert len(found) == 10
    assert parse_constraints(write_constraints(found)) == found


def test_what_is_possible():
    found = parse_constraints(ALL)
    assert found["ship", "x"].possible == Interval(-300, 300)
    assert found["ship", "load"].possible == Interval(0, 30)
    assert found["ship", "flag"].possible == ValueSet(frozenset(("EE", "it's")))
    assert found["ship", "kind"].possible.hull() == Interval(1, 3)
    assert found["ship", "name"].possible == ValueSet(None)
    around = found["ship", "speed"].possible
    assert agrees((around.high - around.low) / 2, golden("values", "normal_reach"))


def test_the_reach_of_a_normal_law():
    assert agrees(normal_reach(4.0), golden("values", "normal_reach"))
    assert agrees(normal_reach(4.0, None), golden("values", "normal_reach_report"))


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ("t.x range 3 1;", 1, 5, "low > high"),
        ("t.x range 3;", 1, 5, "low and high"),
        ("t.x range 1 2 3;", 1, 5, "two numbers"),
        ("t.x setPrior ('a', .5) ('b', .6);", 1, 5, "add up to 1.1"),
        ("t.x setPrior ('a', -.5) ('b', 1.5);", 1, 5, "below 0"),
        ("t.x setPrior 'a' .5;", 1, 15, "(value, weight)"),
        ("t.x normal 1 -2;", 1, 5, "variance below 0"),
        ("t.x set 'a' 2;", 1, 5, "mixes"),
        ("t.x set 'a' 'a';", 1, 5, "twice"),
        ("t.x set;", 1, 5, "at least one"),
        ("t.x total 0;", 1, 5, "n >= 1"),
        ("t.x total 1.5;", 1, 5, "n >= 1"),
        ("t.x exact 3;", 1, 5, "no arguments"),
        ("t.x rangePrior 0 (5, .5) (3, .5);", 1, 5, "do not increase"),
        ("\n t.x rnge 1 2;", 2, 6, "did you mean 'range'"),
        ("x range 1 2;", 1, 1, "table.column"),
        ("t.x range 1 2", 1, 1, "does not end"),
        ("t.x range 1 2; t.x exact;", 1, 16, "twice"),
        ("t.x range a 2;", 1, 11, "number or a text"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text, line, column, said):
    with pytest.raises(sd.ParameterError) as caught:
        parse_constraints(text)
    assert said in str(caught.value)
    assert (caught.value.place.line, caught.value.place.column) == (line, column)


def test_a_text_is_needed():
    with pytest.raises(sd.ParameterError, match="a text or a mapping"):
        parse_constraints(math.pi)
