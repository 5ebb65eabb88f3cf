"""Decimals: exact where their digits are known, in literals, comparisons and arithmetic; else their doubles."""

from __future__ import annotations

import operator
import random
from decimal import Decimal
from fractions import Fraction

import duckdb
import pytest

from sordino.core import ParameterError, UnsupportedError
from sordino.engines import Column, Table, connect
from sordino.sql.answering.exact import compute_answer, compute_answers
from sordino.sql.policy import Policy
from sordino.sql.reading.read import read_statement

POLICY = Policy.load(
    {
        "version": 1,
        "dataset": "x",
        "tables": {"t": {"columns": {"n": {"bounds": [-5, 50], "granularity": 0.5}}}},
    }
)
OPERATORS = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip


def condition(text, digits, scale=3):
    scale = None if digits is None else scale
    columns = (
        Column("n", "decimal", digits=digits, scale=scale),
        Column("i", "integer"),
        Column("f", "float"),
    )
    catalogue = {"t": Table("t", columns)}
    statement = read_statement(
        f"SELECT COUNT(*) FROM t WHERE {text}", policy=POLICY, catalogue=catalogue, dialect="duckdb"
    )
    return " AND ".join(part.sql() for part in statement.join.conditions)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("n > 0", '"t"."n" > 0.'),
        ("n = 24.50", '"t"."n" = 24.5'),
        ("-0.005 <= n", '(-.005) <= "t"."n"'),
        ("n BETWEEN 0.05 AND 1e3", '"t"."n" >= .05 AND "t"."n" <= 1000.'),
        ("n IN (1, 2.50, -3, NULL)", '"t"."n" IN (1., 2.5, -3., NULL)'),
    ],
)
def test_a_decimal_is_compared_with_a_literal_as_it_is(text, read):
    assert condition(text, 15) == condition(text, 34) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("n BETWEEN 0.09 - 0.01 AND 0.09 + 0.01", '"t"."n" >= .08 AND "t"."n" <= .1'),
        ("n = 3 * 0.1 - -1", '"t"."n" = 1.3'),
        ("n = 1 / 8", '"t"."n" = .125'),
        ("i = 2 + 3", '"t"."i" = 5'),
        ("i = 2 * -3", '"t"."i" = (-6)'),
        ("n + 0.1 = 0.3", '("t"."n" + .1) = .3'),
        ("-n * 2.5 > n - 1", '((-("t"."n")) * 2.5) > ("t"."n" - 1.)'),
        ("ABS(n) = 0.10", 'ABS("t"."n") = .1'),
        ("COALESCE(n, 0) + 0.1 = 0.3", '(COALESCE("t"."n", 0.) + .1) = .3'),
    ],
)
def test_arithmetic_of_literals_and_short_decimals_is_exact(text, read):
    assert condition(text, 9) == read


@pytest.mark.parametrize(
    "text", ["n > 1e-39", "n > 12345678901", "n * n > 0", "n > 1 / 3", "n > i", "n > f", "n / 2 > 1"]
)
def test_what_might_not_fit_is_compared_in_doubles_without_a_guard_where_digits_are_bounded(text):
    assert 'CAST("t"."n" AS DOUBLE' in condition(text, 38, scale=35)
    assert 'CASE WHEN "t"."n"' not in condition(text, 38, scale=35)


@pytest.mark.parametrize("text", ["-n > 0", "ABS(n) > 0", "-(-n) = 1"])
def test_the_sign_of_a_long_decimal_is_turned_in_doubles(text):
    """Spark does it in 34 digits: 0.99…9 becomes 1, which DECIMAL(38, 38) does not hold, and it raises."""
    assert "DOUBLE" not in condition(text, 34, scale=34)
    assert 'CAST("t"."n" AS DOUBLE' in condition(text, 35, scale=34)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (f"n = -{'1' * 38}", f"-{'1' * 38}."),
        (f"n = -{'1' * 30}.25", f"-{'1' * 30}.25"),
        (f"n = -0.{'0' * 20}7", f"-.{'0' * 20}7"),
        (f"n = -0.{'1' * 38}", f"-.{'1' * 38}"),
    ],
)
def test_a_negative_literal_keeps_all_its_digits_and_has_no_exponent(text, read):
    scale = len(read.partition(".")[2])
    assert condition(text, 38, scale=scale) == f'"t"."n" = ({read})'


def test_a_zero_has_no_digit_before_the_point_beside_decimals_that_have_none():
    """Else Spark rounds 1e-38 to a zero."""
    assert (
        condition("n > 0 AND COALESCE(n, 0) = 0", 38, scale=38)
        == '"t"."n" > .0 AND COALESCE("t"."n", .0) = .0'
    )
    assert condition("n > 0", 38, scale=37) == '"t"."n" > 0.'


def test_literals_that_cannot_be_calculated_are_refused_or_null():
    assert condition("n = 1 / 0", 9) == condition("n = CAST(NULL AS DOUBLE PRECISION)", 9)
    with pytest.raises(UnsupportedError, match="leave the range of numbers"):
        condition("n > 1e99 * 1e99 * 1e99", 9)


def test_a_decimal_of_any_digits_is_guarded():
    assert condition("n > 0", None).startswith('CASE WHEN "t"."n" > -1E-39')


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0, 2, 7, 15])
def test_decimals_compare_like_fractions(scale):
    draw = random.Random(scale)
    values = [draw.choice((-1, 1)) * draw.randrange(10 ** draw.randint(1, 15)) for _ in range(60)]
    values += [0, 1, 10**15 - 1, 1 - 10**15, 123456789012345, 123456789012346]
    rows = [Decimal(value).scaleb(-scale) for value in values]
    literals = [f"{Decimal(value).scaleb(-draw.randint(0, 15)):f}" for value in values[:20]]
    literals += [f"{row:f}" for row in rows[-20:]]
    with duckdb.connect() as owner:
        owner.execute(f"CREATE TABLE t (n DECIMAL(15, {scale}))")
        owner.executemany("INSERT INTO t VALUES (?)", [(row,) for row in rows])
        engine = connect(owner)
        asked = [(sign, literal) for literal in literals for sign in OPERATORS]
        counts = ", ".join(f"COUNT(CASE WHEN n {sign} {literal} THEN 1 END)" for sign, literal in asked)
        statement = read_statement(
            f"SELECT {counts} FROM t", policy=POLICY, catalogue=engine.catalogue(), dialect="duckdb"
        )
        with engine.snapshot() as snapshot:
            found = compute_answers(snapshot, statement)[()]
    for (sign, literal), place in zip(
        asked, (output.measures[0] for output in statement.outputs), strict=True
    ):
        expected = sum(OPERATORS[sign](Fraction(row), Fraction(literal)) for row in rows)
        assert found[place] == expected, (sign, literal)


def test_the_longest_decimals_are_doubles_and_nothing_is_lost():
    with duckdb.connect() as owner:
        owner.execute("CREATE TABLE t (n DECIMAL(38, 38), i DECIMAL(38, 0))")
        owner.execute("INSERT INTO t VALUES (1e-38, 99999999999999999999999999999999999999), (0, NULL)")
        engine = connect(owner)
        for text, count in {"n > 0": 1, "n = 0": 1, "i > 1e37": 1, "n * n > 0": 1, "n / i > 0": 1}.items():
            statement = read_statement(
                f"SELECT COUNT(*) FROM t WHERE {text}",
                policy=POLICY,
                catalogue=engine.catalogue(),
                dialect="duckdb",
            )
            with engine.snapshot() as snapshot:
                assert compute_answer(snapshot, statement.question((), 0)) == count, text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("n < 0.5", 1),
        ("n = 0.5", 1),
        ("COALESCE(n, 0.5) = 0.5", 2),
        ("LEAST(n, 0.5) < 0.5", 1),
        ("n IN (0.5, 0.25)", 1),
    ],
)
def test_a_literal_below_one_leaves_all_digits_to_the_decimal_beside_it(text, count):
    """DuckDB takes 0.5 for DECIMAL(2, 1), and would round DECIMAL(38, 38) beside it to 37 places."""
    with duckdb.connect() as owner:
        owner.execute("CREATE TABLE t (n DECIMAL(38, 38))")
        owner.execute(f"INSERT INTO t VALUES (0.5), (0.4{'9' * 37}), (NULL)")
        engine = connect(owner)
        statement = read_statement(
            f"SELECT COUNT(*) FROM t WHERE {text}",
            policy=POLICY,
            catalogue=engine.catalogue(),
            dialect="duckdb",
        )
        with engine.snapshot() as snapshot:
            assert compute_answer(snapshot, statement.question((), 0)) == count


def test_a_type_with_digits_behind_the_point_gives_the_granularity_that_the_policy_leaves_out():
    policy = Policy.load(
        {"version": 1, "dataset": "x", "tables": {"t": {"columns": {"n": {"bounds": [0, "7.495"]}}}}}
    )

    def step(scale):
        catalogue = {"t": Table("t", (Column("n", "decimal", digits=10, scale=scale),))}
        statement = read_statement(
            "SELECT SUM(n) FROM t", policy=policy, catalogue=catalogue, dialect="duckdb"
        )
        return statement.measures[0]

    assert (step(2).step, step(2).low, step(2).high) == (Fraction(1, 100), 0, Fraction("7.5"))
    assert step(0).step == 1
    with pytest.raises(ParameterError, match=r"declare tables\.t\.columns\.n\.granularity"):
        step(None)
    with pytest.raises(ParameterError, match=r"more than 2\^50 steps"):
        step(30)


def test_a_sum_of_decimals_is_exact_to_their_last_digit():
    policy = Policy.load(
        {"version": 1, "dataset": "x", "tables": {"t": {"columns": {"n": {"bounds": [0, 9]}}}}}
    )
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT UNNEST([0.01, 1.07, 12.5, -3, NULL])::DECIMAL(9, 2) AS n")
    engine = connect(connection)
    statement = read_statement(
        "SELECT SUM(n) FROM t", policy=policy, catalogue=engine.catalogue(), dialect="duckdb"
    )
    with engine.snapshot() as snapshot:
        assert compute_answer(snapshot, statement.question((), 0)) == 1 + 107 + 900
