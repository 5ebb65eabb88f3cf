"""Joins by protected conditions alone: every combination of rows is a joined row, and how many there are is public.

An equality of public columns lets an engine find the partners of a row. Without one between two parts of a join, a
condition on protected columns is a number between 0 and 1 for every pair, so that all pairs are looked at, as often as
there are bounds. Where contents alone are protected, numbers of rows are public: the size is asked for before anything
is paid, and refused beyond a limit of the owner's.
"""

from __future__ import annotations

import math

from sqlglot import exp

from sordino.engines import Snapshot
from sordino.sql.answering.exact import write_join
from sordino.sql.question import JoinQuestion, Statement
from sordino.sql.text import Text


def find_parts(join: JoinQuestion) -> list[frozenset[str]]:
    """The aliases that equalities of public columns connect, part by part."""
    parts = [frozenset((occurrence.alias,)) for occurrence in join.occurrences]
    for condition in join.conditions:
        if not isinstance(condition, exp.EQ):
            continue
        sides = [_aliases(side) for side in (condition.this, condition.expression)]
        if any(len(side) != 1 for side in sides):
            continue
        met = frozenset.union(*sides)
        parts = [
            *(part for part in parts if not part & met),
            frozenset().union(*(part for part in parts if part & met)),
        ]
    return parts


def count_pairs(snapshot: Snapshot, join: JoinQuestion) -> int:
    """How many combinations of rows the parts of a join make; conditions between two parts are not looked at.

    **Requires**: rows are public, whichever they are.
    """
    sizes = []
    for part in find_parts(join):
        occurrences = [occurrence for occurrence in join.occurrences if occurrence.alias in part]
        conditions = [condition for condition in join.conditions if _aliases(condition) <= part]
        count = exp.alias_(exp.Count(this=exp.Star()), "rows", quoted=True)
        sizes.append(
            int(snapshot.aggregate(write_join([count], occurrences, conditions)).column(0)[0].as_py())
        )
    return math.prod(sizes)


def check_pairs(snapshot: Snapshot, statement: Statement, most: int, *, dialect: str) -> None:
    """Refuse a join of more combinations than the owner lets an engine look at."""
    join, text = statement.join, Text(statement.text, dialect)
    found = count_pairs(snapshot, join)
    if found > most:
        names = " and ".join(sorted(", ".join(sorted(part)) for part in find_parts(join)))
        text.refuse(
            "JOIN",
            f"no equality of public columns joins {names}, so each of {found} combinations of rows is a joined row, a "
            f"public number, and at most {most} are looked at. Join by a public column too (a.k = b.k), ask about "
            "fewer rows by conditions on public columns, or let the owner raise most_pairs in the policy",
            keyword="JOIN",
        )


def _aliases(tree: exp.Expr) -> frozenset[str]:
    return frozenset(column.table for column in tree.find_all(exp.Column))
