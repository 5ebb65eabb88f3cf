"""Bounds read with the help of whole tables are those read without, on random questions and databases."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import numpy as np
import pytest

import sordino as sd
from sordino.engines import connect
from sordino.sql.analysis import plan_analysis, shortcuts, wholes
from sordino.sql.answering.measured import measure_all
from sordino.sql.answering.plan import AnswerOptions
from tests.exact.sql.test_analyses import BETA, EVERY, private_queries
from tests.oracles.join_questions import question_of
from tests.oracles.sql_cases import random_walk
from tests.oracles.sqlite_engine import SQLiteSnapshot


class KeptSnapshot(SQLiteSnapshot):
    """Keeps numbers of the state that it was filled with last."""

    numbers: dict

    def fill(self, database):
        self.numbers = {}
        return super().fill(database)

    def kept(self, tables):
        return self.numbers


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


@pytest.mark.parametrize("few_rows", [0, 10**6], ids=["stretches", "last bits"])
@pytest.mark.parametrize("many_rows", [0, 10**6], ids=["in parts", "at once"])
def test_whole_tables_change_no_bound(monkeypatch, many_rows, few_rows):
    # Two parts make the few groups of a tiny table meet their bounds among some of them, or not.
    monkeypatch.setattr(wholes, "_SAMPLE", 2)
    monkeypatch.setattr(wholes, "_STRETCHES", 1)
    monkeypatch.setattr(wholes, "_FEW_ROWS", few_rows)
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


def _keep_all_that_meet_nothing(asked, values, right=shortcuts._keep_group):
    group = right(asked, values)
    return replace(group, counts=(replace(group.counts[0], links=()),))


def _first_part(counted):
    return wholes.keep_groups(counted, 0, wholes.have_last_bits(2, 0)) if counted.keys else counted


MUTANTS = {
    "every column is a key": lambda patch: patch.setattr(wholes.Wholes, "most", _never_more_than_one),
    "a bound is met by whatever some groups have": lambda patch: (
        patch.setattr(wholes, "_SAMPLE", 2),
        patch.setattr(shortcuts, "_find_bounds", _met_by_any),
    ),
    "only one part is looked at": lambda patch: patch.setattr(
        wholes.Wholes, "list_parts", lambda self, counted, rows: [_first_part(counted)]
    ),
    "rows that must meet others are as many": lambda patch: patch.setattr(
        shortcuts, "_keep_group", _keep_all_that_meet_nothing
    ),
    "a bound is the number": lambda patch: patch.setattr(
        wholes.Wholes, "decide", lambda self, counted: self.bound(counted)
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_shortcut_is_noticed(monkeypatch, name):
    MUTANTS[name](monkeypatch)
    assert count_differences(172, 20)[1] > 0


def _read_bounds(engine):
    curator = sd.connect(
        engine, policy={"version": 1, "dataset": "d", "tables": {name: {} for name in "rsu"}}
    )
    sql = "SELECT COUNT(*) FROM r JOIN s ON r.a = s.a JOIN u ON r.x = u.b WHERE r.x < 2"
    plan = curator.plan(sql, AnswerOptions.checked(1.0, 0.0, analyses=EVERY))
    with engine.snapshot() as snapshot:
        found = [measure_all(snapshot, plan)[0].analysis.per_table for _ in range(2)]
    return found


@pytest.mark.parametrize("kind", ["TINYINT", "BIGINT", "UBIGINT", "HUGEINT"])
@pytest.mark.parametrize("values", ["ends", "one far away", "none", "one"])
@pytest.mark.parametrize("small", [16, 0], ids=["some groups", "largest group"])
def test_the_ends_of_a_type_change_no_bound(monkeypatch, tmp_path, kind, values, small):
    monkeypatch.setattr(shortcuts, "_SMALL", small)
    for name, value in (("_FEW_ROWS", 0), ("_MANY_ROWS", 0), ("_SAMPLE", 2), ("_STRETCHES", 2)):
        monkeypatch.setattr(wholes, name, value)
    bits = {"TINYINT": 7, "BIGINT": 63, "UBIGINT": 64, "HUGEINT": 127}[kind]
    least, most = (0 if kind == "UBIGINT" else -(2**bits)), 2**bits - 1
    listed = {
        "ends": [least, least, most, most, most, 0],
        "one far away": [1, 1, 2, 2, 3, most],
        "none": [None, None],
        "one": [5, 5, 5],
    }[values]
    rows = ", ".join(f"({'NULL' if value is None else value}, {i % 3})" for i, value in enumerate(listed))
    file = tmp_path / "d.duckdb"
    with duckdb.connect(file) as made:
        made.execute(f"CREATE TABLE r (a {kind}, x INTEGER); INSERT INTO r VALUES {rows}")
        made.execute("CREATE TABLE s AS SELECT a FROM r; CREATE TABLE u AS SELECT b FROM range(3) AS t(b)")
    looked = []
    find = shortcuts._find_largest_group
    monkeypatch.setattr(shortcuts, "_find_largest_group", lambda *given: looked.append(1) or find(*given))
    with connect(file) as engine:
        kept = _read_bounds(engine)
    with duckdb.connect(file, read_only=True) as opened, connect(opened) as engine:
        plain = _read_bounds(engine)
    assert kept == plain
    assert looked or small or values == "none"
