"""Small joins that the tests of sensitivity share."""

from __future__ import annotations

from collections import Counter

from tests.oracles.joins import And, Column, Compare, JoinQuery, Table

VALUES = (0, 1, 2)


def equal(left, right):
    (a, x), (b, y) = left.split("."), right.split(".")
    return Compare("=", Column(a, x), Column(b, y))


TRIANGLE = JoinQuery(
    (Table("R", ("a", "b"), VALUES), Table("S", ("a", "c"), VALUES), Table("U", ("b", "c"), VALUES)),
    (("r", "R"), ("s", "S"), ("u", "U")),
    And((equal("r.a", "s.a"), equal("r.b", "u.b"), equal("s.c", "u.c"))),
)
NO_TRIANGLE = {"R": Counter(), "S": Counter({(1, 0): 20}), "U": Counter({(1, 1): 20})}
T = Table("T", ("a",), (0, 1))
CUBE = JoinQuery((T,), (("x", "T"), ("y", "T"), ("z", "T")))
E = Table("E", ("a", "b"), VALUES)
PATH = JoinQuery((E,), (("e", "E"), ("f", "E")), And((equal("e.b", "f.a"),)))
