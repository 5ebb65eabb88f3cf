"""Questions mean the same on every engine, and none of them can raise on a value."""

from __future__ import annotations

import datetime
import math
import random
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest

from sordino.sql.answering.counted import compute_counted
from sordino.sql.answering.exact import compute_answer, compute_answers
from sordino.sql.answering.rank_counts import compute_cells
from sordino.sql.policy import Policy
from sordino.sql.reading.read import read_public_keys, read_statement
from sordino.sql.solver.limits import find_count_limits

from ..unit.sql.nasty import CONDITIONS, POLICY, STATEMENTS, SUMS, nasty_table, typed_table

POLICY_ = Policy.load(POLICY)
# Values by their rank: what comes back are counts of rows at the points of a lattice.
RANKED = [
    "SELECT MEDIAN(i), MIN(f), MAX(n), QUANTILE(n, 0.9) FROM r",
    "SELECT MEDIAN(i * 2 - f), MAX(CASE WHEN b THEN i ELSE -10 END), MIN(FLOOR(n / 7) * 7) FROM r WHERE i IS NOT NULL",
    "SELECT s, PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY f DESC), MAX(i), COUNT(*) FROM r GROUP BY s",
    "SELECT b, i, MEDIAN(n) FROM r GROUP BY b, i",
    "SELECT f > 1 AS g, QUANTILE(i, 0.5), SUM(i) FROM r GROUP BY f > 1",
]
# Rows without repeats, by one rule of what equals what.
COUNTED = [
    "SELECT COUNT(*) FROM (SELECT DISTINCT s, b FROM r)",
    "SELECT COUNT(*) FROM (SELECT DISTINCT n, i FROM r) AS x",
    "SELECT COUNT(*) FROM (SELECT i FROM r EXCEPT SELECT i FROM p)",
    "SELECT COUNT(*) FROM ((SELECT s FROM r UNION SELECT s FROM p) INTERSECT SELECT LOWER(s) AS s FROM r)",
    "SELECT COUNT(*) FROM (SELECT s, i, COUNT(*) FROM r GROUP BY s, i)",
    "SELECT COUNT(*) FROM (SELECT n FROM r INTERSECT (SELECT n FROM p EXCEPT SELECT n FROM r WHERE b))",
    "SELECT COUNT(*) FROM (SELECT i FROM p UNION SELECT i FROM r INTERSECT SELECT i FROM p WHERE b)",
    "SELECT COUNT(*) FROM (SELECT d FROM r EXCEPT SELECT d FROM p EXCEPT SELECT d FROM r WHERE b IS NULL)",
    "SELECT COUNT(*) FROM ((SELECT b FROM r UNION SELECT b FROM p) EXCEPT (SELECT b FROM r INTERSECT SELECT b FROM p))",
    "SELECT COUNT(*) FROM (SELECT DISTINCT r.s, p.n, p.d FROM r JOIN p ON r.i = p.i WHERE NOT r.d < p.d)",
    "SELECT COUNT(*) FROM (SELECT r.i, p.s FROM r, p WHERE r.b = p.b UNION SELECT i, s FROM p)",
    "SELECT COUNT(*) FROM (SELECT DISTINCT a.s, b.s FROM r a, p b WHERE a.n = b.n OR a.s = b.s)",
    "SELECT COUNT(*) FROM (SELECT CASE WHEN i > 1 THEN s END AS x FROM r EXCEPT SELECT s FROM p WHERE s <> 'a')",
]


def random_table(seed, rows):
    """Ordinary values with NULLs and ties, and a few of the nasty ones."""
    draw = random.Random(seed)

    def some(make):
        return [None if draw.random() < 0.2 else make() for _ in range(rows)]

    return typed_table(
        some(lambda: draw.randint(-4, 9)),
        some(lambda: draw.choice([draw.uniform(-5, 5), float(draw.randint(-3, 3)), math.nan, 1e300])),
        some(lambda: Decimal(draw.randint(-700, 6000)).scaleb(-2)),
        some(lambda: draw.choice(["a", "A", "12", "", "bc", "-0.5", "2024-02-29", "x%"])),
        some(lambda: draw.random() < 0.5),
        some(lambda: datetime.date(2024, 2, 27) + datetime.timedelta(days=draw.randint(0, 3))),
        some(lambda: datetime.datetime(2020, 1, 1) + datetime.timedelta(hours=draw.randint(0, 90))),
    )


def batches(items, size):
    return [items[i : i + size] for i in range(0, len(items), size)]


def texts():
    """Many questions in few statements: an engine takes its time for each."""
    counts = [f"COUNT(CASE WHEN {condition} THEN 1 END)" for condition in CONDITIONS]
    return [f"SELECT {', '.join(batch)} FROM r" for batch in (*batches(counts, 24), SUMS)] + STATEMENTS


def answers(engine):
    catalogue = engine.catalogue()
    result = {}
    with engine.snapshot() as snapshot:
        for text in texts():
            statement = read_statement(text, policy=POLICY_, catalogue=catalogue, dialect=engine.dialect)
            statement = read_public_keys(statement, snapshot)
            result[text] = compute_answers(snapshot, statement)
        for text in (*RANKED, *COUNTED):
            statement = read_statement(text, policy=POLICY_, catalogue=catalogue, dialect=engine.dialect)
            result[text] = {cell: tell(found) for cell, found in compute_cells(snapshot, statement).items()}
    return result


def tell(cell):
    """The exact value, and the number of rows at every point."""
    if cell.counts is None:
        return cell.steps
    rows = sorted(zip(cell.counts.places.tolist(), cell.counts.counts.tolist(), strict=True))
    return cell.steps, rows


def test_answers_are_equal_on_the_three_engines(duckdb_backend, postgresql_backend, spark_backend):
    tables = {"r": pa.concat_tables([nasty_table(), random_table(1, 40)]), "p": random_table(2, 5)}
    backends = (duckdb_backend, postgresql_backend, spark_backend)
    found = {backend.name: answers(backend.load(tables)) for backend in backends}
    assert found["postgresql"] == found["duckdb"]
    assert found["spark"] == found["duckdb"]


@pytest.mark.parametrize("name", ["duckdb_backend", "postgresql_backend"])
def test_a_conditions_own_question_agrees_with_the_batch(request, name):
    engine = request.getfixturevalue(name).load({"r": nasty_table(), "p": nasty_table()})
    catalogue = engine.catalogue()
    with engine.snapshot() as snapshot:
        for condition in CONDITIONS:
            alone, counted = (
                read_statement(text, policy=POLICY_, catalogue=catalogue, dialect=engine.dialect)
                for text in (
                    f"SELECT COUNT(*) FROM r WHERE {condition}",
                    f"SELECT COUNT(CASE WHEN {condition} THEN 1 END) FROM r",
                )
            )
            assert (
                compute_answer(snapshot, alone.question((), 0)) == compute_answers(snapshot, counted)[()][0]
            ), condition


def test_sums_beyond_64_bits_are_cut_and_not_raised(duckdb_backend, postgresql_backend, spark_backend):
    table = typed_table(*([value] * 30000 for value in (2**60, None, None, None, None, None, None)))
    for backend in (duckdb_backend, postgresql_backend, spark_backend):
        engine = backend.load({"r": table})
        statement = read_statement(
            f"SELECT SUM(LEAST(GREATEST(i, 0), {2**50})) FROM r",
            policy=POLICY_,
            catalogue=engine.catalogue(),
            dialect=engine.dialect,
        )
        with engine.snapshot() as snapshot:
            assert compute_answer(snapshot, statement.question((), 0)) == 2**62


def test_a_decimal_that_is_not_a_number_is_null_whatever_its_type(postgresql_backend):
    engine = postgresql_backend.load({})
    postgresql_backend.owner.execute("CREATE TABLE r (n numeric(10, 2))")
    postgresql_backend.owner.execute("INSERT INTO r VALUES ('NaN'), (7), (NULL)")
    expected = {
        "n > 3": 1,
        "n < 9": 1,
        "n = 7": 1,
        "n IN (7, 8)": 1,
        "n <> 8": 1,
        "NOT n = 8": 1,
        "n + 1 > 0": 1,
    }
    with engine.snapshot() as snapshot:
        for condition, count in expected.items():
            statement = read_statement(
                f"SELECT COUNT(*), SUM(n) FROM r WHERE {condition}",
                policy=POLICY_,
                catalogue=engine.catalogue(),
                dialect="postgres",
            )
            assert compute_answers(snapshot, statement)[()] == (count, 700 * count), condition


def test_a_decimal_that_is_not_a_number_is_not_taken_for_filled(postgresql_backend):
    """NOT NULL lets a NaN in, which is read as NULL: neither n >= 0 nor n < 0 is TRUE of it."""
    engine = postgresql_backend.load({})
    postgresql_backend.owner.execute("CREATE TABLE u (id integer NOT NULL PRIMARY KEY)")
    postgresql_backend.owner.execute(
        "CREATE TABLE v (id integer NOT NULL, k integer NOT NULL, n numeric(4, 1) NOT NULL, PRIMARY KEY (id, k))"
    )
    postgresql_backend.owner.execute("INSERT INTO v VALUES (1, 0, 'NaN'), (1, 1, 'NaN')")
    policy = Policy.load({"version": 1, "dataset": "x", "tables": {
        "u": {"key": {"columns": ["id"], "enforced": True}},
        "v": {"key": {"columns": ["id", "k"], "enforced": True}, "check": ["k >= 0", "k <= 1"]},
    }})  # fmt: skip
    joined = "SELECT v.id, v.k FROM u JOIN v ON u.id = v.id"
    statement = read_statement(
        f"SELECT COUNT(*) FROM ({joined} EXCEPT {joined} WHERE n >= 0 OR n < 0)",
        policy=policy,
        catalogue=engine.catalogue(),
        dialect="postgres",
    )
    numbers = []
    for change in ("DELETE FROM u", "INSERT INTO u VALUES (1)"):
        postgresql_backend.owner.execute(change)
        with engine.snapshot() as snapshot:
            numbers.append(compute_counted(snapshot, statement.counted))
    assert numbers == [0, 2]
    assert find_count_limits(statement.counted)["u"].at_most == 2


def test_decimals_beyond_every_double_are_null_on_an_engine_that_has_them(postgresql_backend):
    engine = postgresql_backend.load({})
    postgresql_backend.owner.execute("CREATE TABLE r (n numeric, d date, t timestamp, s char(4))")
    postgresql_backend.owner.execute(
        "INSERT INTO r VALUES ('1e400', 'infinity', 'infinity', 'a'), ('-1e400', '-infinity', '-infinity', 'b'), "
        "('1e-400', '5874897-12-31', '294276-12-31', 'ab'), ('NaN', '4713-01-01 BC', '4713-01-01 BC', 'é'), "
        "(7, NULL, NULL, NULL)"
    )
    policy = Policy.load({"version": 1, "dataset": "x", "tables": {"r": {"columns": {
        "n": {"bounds": [-5, 50], "granularity": 1}}}}})  # fmt: skip
    expected = {
        "n > 3": 1, "n < 3": 1, "n * n > 0": 1, "n / 0.5 = 14": 1, "n + n < 1": 1, "d < t": 0,
        "CAST(d AS TIMESTAMP) IS NULL": 5,
        "CAST(t AS DATE) IS NULL": 5, "EXTRACT(YEAR FROM d) > 0": 0, "EXTRACT(DAY FROM t) > 0": 0,
        "d > '2024-01-01'": 2,
        "n IS NULL": 0, "s = 'a'": 1, "LENGTH(s) = 1": 3,
    }  # fmt: skip
    with engine.snapshot() as snapshot:
        for condition, count in expected.items():
            statement = read_statement(
                f"SELECT COUNT(*), SUM(n) FROM r WHERE {condition}",
                policy=policy,
                catalogue=engine.catalogue(),
                dialect="postgres",
            )
            assert compute_answer(snapshot, statement.question((), 0)) == count, condition
            compute_answer(snapshot, statement.question((), 1))


def test_a_value_made_of_nulls_is_counted_where_it_is_analysed(postgresql_backend):
    """COUNT(c) of PostgreSQL counts a row of NULLs, and c IS NOT NULL does not hold for it."""
    engine = postgresql_backend.load({})
    postgresql_backend.owner.execute(
        "CREATE TYPE pair AS (a int, b int); CREATE TABLE r (id int, c pair);"
        "INSERT INTO r VALUES (1, ROW(NULL, NULL)), (1, ROW(1, NULL)), (1, ROW(1, 2)), (1, NULL)"
    )
    policy = Policy.load({"version": 1, "dataset": "d", "tables": {"r": {}}})
    statement = read_statement(
        "SELECT COUNT(c) FROM r", policy=policy, catalogue=engine.catalogue(), dialect="postgres"
    )
    with engine.snapshot() as snapshot:
        together = compute_answers(snapshot, statement)[()][0]
        assert together == compute_answer(snapshot, statement.question((), 0)) == 2


@pytest.mark.parametrize("granularity", ["1000", "2/3", "1e-3"])
def test_the_smallest_doubles_are_summed_in_any_step(postgresql_backend, granularity):
    engine = postgresql_backend.load({})
    postgresql_backend.owner.execute(
        "CREATE TABLE r (x float8); INSERT INTO r VALUES ('1e-322'), ('-5e-324'), ('2.3e-308'), (1000), (0)"
    )
    columns = {"x": {"bounds": [-2000, 2000], "granularity": granularity}}
    policy = Policy.load({"version": 1, "dataset": "d", "tables": {"r": {"columns": columns}}})
    statement = read_statement(
        "SELECT SUM(x) FROM r", policy=policy, catalogue=engine.catalogue(), dialect="postgres"
    )
    with engine.snapshot() as snapshot:
        assert compute_answer(snapshot, statement.question((), 0)) == 1000 / Fraction(granularity)
