"""Bounds read with the help of whole tables are those read without, on random questions and databases."""

from __future__ import annotations

import numpy as np
import pytest

from sordino.sql.analysis import plan_analysis, shortcuts, wholes
from tests.exact.sql.test_analyses import BETA, EVERY, private_queries
from tests.oracles.join_questions import question_of
from tests.oracles.sql_cases import random_walk
from tests.oracles.sqlite_engine import SQLiteSnapshot


class KeptSnapshot(SQLiteSnapshot):
    """Keeps numbers of the state that it was filled with last."""

    kept: dict

    def fill(self, database):
        self.kept = {}
        return super().fill(database)


def count_differences(seed: int, queries: int) -> tuple[int, int]:
    rng = np.random.default_rng(seed)
    compared = different = 0
    for query in private_queries(rng, queries, most_occurrences=3):
        known, plain = KeptSnapshot(query), SQLiteSnapshot(query)
        prepared = plan_analysis(question_of(query), analyses=EVERY, most_joined=8)
        for _, database in random_walk(rng, query, 1):
            expected = prepared.read(plain.fill(database), beta=BETA).per_table
            filled = known.fill(database)
            # The second time everything about the tables is known.
            for _ in range(2):
                compared += 1
                different += prepared.read(filled, beta=BETA).per_table != expected
        known.close(), plain.close()
    return compared, different


@pytest.mark.parametrize("many_rows", [0, 10**6], ids=["in parts", "at once"])
def test_whole_tables_change_no_bound(monkeypatch, many_rows):
    # Two parts make the few groups of a tiny table meet their bounds among some of them, or not.
    monkeypatch.setattr(shortcuts, "_SAMPLE", 2)
    for module in (shortcuts, wholes):
        monkeypatch.setattr(module, "_MANY_ROWS", many_rows)
    compared, different = count_differences(171, 60)
    assert compared > 200
    assert different == 0


def _never_more_than_one(self, table, columns):
    return 1


class EqualToAll(tuple):
    """Found among any rows."""

    def __eq__(self, other):
        return True

    __hash__ = tuple.__hash__


def _met_by_any(asked, known, right=shortcuts._find_bounds):
    bounds = right(asked, known)
    return bounds and EqualToAll(bounds)


def _first_part(counted):
    return wholes.keep_part(counted, 0, 2, 0) if counted.keys else counted


MUTANTS = {
    "every column is a key": lambda patch: patch.setattr(wholes.Wholes, "most", _never_more_than_one),
    "a bound is met by whatever some groups have": lambda patch: (
        patch.setattr(shortcuts, "_SAMPLE", 2),
        patch.setattr(shortcuts, "_find_bounds", _met_by_any),
    ),
    "only one part is looked at": lambda patch: patch.setattr(
        wholes.Wholes, "list_parts", lambda self, counted, rows: [_first_part(counted)]
    ),
    "a bound is the number": lambda patch: patch.setattr(
        wholes.Wholes, "decide", lambda self, counted: self.bound(counted)
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_shortcut_is_noticed(monkeypatch, name):
    MUTANTS[name](monkeypatch)
    assert count_differences(172, 20)[1] > 0
