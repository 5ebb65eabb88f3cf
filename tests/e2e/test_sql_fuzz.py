"""Any text is either refused in words that show no data, or answered without the engine raising on a value."""

from __future__ import annotations

import random

import duckdb
import pytest

from sordino.core import EngineError, ParameterError, SordinoError, UnsupportedError
from sordino.engines import connect
from sordino.sql.answering.exact import compute_answer, compute_answers
from sordino.sql.policy import Policy
from sordino.sql.reading.read import read_public_keys, read_statement

from ..unit.sql.nasty import CONDITIONS, POLICY, STATEMENTS, SUMS, nasty_table
from ..unit.sql.outcomes import check_refusal
from ..unit.sql.writer import Columns, Writer

# Stands in the rows only: a message that holds it came from data.
MARK = "zqxj"
ROUNDS = 800

# Types that the catalogue calls by one name and the engine by many.
WIDE = f"""
    CREATE TYPE colour AS ENUM ('red', '{MARK}');
    CREATE TABLE w (
        i1 TINYINT, i2 SMALLINT, i4 INTEGER, i8 BIGINT, i16 HUGEINT, u8 UBIGINT, f4 FLOAT, f8 DOUBLE,
        n1 DECIMAL(4, 1), n2 DECIMAL(38, 0), n3 DECIMAL(38, 38), s VARCHAR, e colour, b BOOLEAN, d DATE,
        t TIMESTAMP, ts TIMESTAMP_S, tn TIMESTAMP_NS, l INTEGER[], j STRUCT(a INTEGER)
    );
    INSERT INTO w VALUES ('-128', '-32768', '-2147483648', '-9223372036854775808',
        '-170141183460469231731687303715884105728', '0', '-inf', '-inf', '-999.9',
        '-99999999999999999999999999999999999999', '-0.99999999999999999999999999999999999999', '{MARK}', '{MARK}',
        true, '5877642-06-25 (BC)', '290309-12-22 (BC) 00:00:00', '1970-01-01', '1678-01-01', [1], {{'a': 1}});
    INSERT INTO w VALUES ('127', '32767', '2147483647', '9223372036854775807',
        '170141183460469231731687303715884105727', '18446744073709551615',
        'nan', 'nan', '999.9', '99999999999999999999999999999999999999', '0.99999999999999999999999999999999999999', '',
        'red', false, '5881580-07-10', '294247-01-10 04:00:54.775806', '290000-01-01', '2262-01-01', [], NULL);
    INSERT INTO w VALUES ('0', '0', '0', '0', '0', '0', '0', '5e-324', '0', '0',
        '0.00000000000000000000000000000000000001', '٣', NULL, NULL, 'infinity', 'infinity', NULL, NULL, NULL, NULL);
    INSERT INTO w (f4, f8, d, t, s) VALUES ('3e38', '1.7e308', '-infinity', '-infinity', '12');
"""
COLUMNS = Columns(
    numbers=("i1", "i2", "i4", "i8", "i16", "u8", "f4", "f8", "n1", "n2", "n3"),
    whole=("i1", "i2", "i4", "i8", "i16", "u8"),
    texts=("s", "e"),
    days=("d", "t", "ts", "tn"),
    flags=("b",),
    odd=("l", "j"),
)
HOSTILE = [
    "SELECT COUNT(*) FROM w; DROP TABLE w",
    "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
    "SELECT COUNT(*) FROM '/etc/passwd'",
    "SELECT COUNT(*) FROM duckdb_settings()",
    "SELECT COUNT(*) FROM information_schema.tables",
    "COPY w TO '/tmp/x.csv'",
    "ATTACH 'x.db'",
    "PRAGMA database_list",
    "SET memory_limit = '1GB'",
    "INSTALL httpfs",
    "INSERT INTO w SELECT * FROM w",
    "WITH x AS (DELETE FROM w RETURNING *) SELECT COUNT(*) FROM x",
    "SELECT COUNT(*) FROM w WHERE getenv('HOME') = 'x'",
    "SELECT COUNT(*) FROM w WHERE error(s) = 'x'",
    "SELECT COUNT(*) FROM w WHERE CAST(s AS INTEGER[])[1] = 1",
    "SELECT COUNT(*) FROM w WHERE s::JSON->>'a' = 'x'",
    "SELECT COUNT(*) FROM w WHERE query('SELECT 1') = 1",
    "SELECT COUNT(*) FROM w WHERE regexp_matches(s, '(a+)+$')",
    "SELECT COUNT(*) FROM w WHERE repeat(s, 1000000000) = 'x'",
    "SELECT COUNT(*) FROM w /* ; */ -- x\n WHERE s = '--' OR s = '/*'",
    "SELECT COUNT(*) FROM w WHERE s = 'x' UNION SELECT COUNT(*) FROM w",
    "SELECT COUNT(*) FROM w WHERE 1 = " + "9" * 5000,
    "SELECT COUNT(*) FROM w WHERE 1 = 1e" + "9" * 50,
    "SELECT COUNT(*) FROM w WHERE 1 = 0." + "0" * 5000 + "1",
    "SELECT COUNT(*) FROM w WHERE " + "(" * 3000 + "b" + ")" * 3000,
    "SELECT COUNT(*) FROM w WHERE " + "NOT " * 4000 + "b",
    "SELECT COUNT(*) FROM w WHERE " + "-" + " -" * 4000 + "i1 > 0",
    "SELECT COUNT(*) FROM w WHERE i1 " + "+ 1 " * 4000 + "> 0",
    "SELECT COUNT(*) FROM w WHERE b" + " AND b" * 2900,
    "SELECT COUNT(*) FROM w WHERE b" + " OR b" * 2900,
    "SELECT COUNT(*) FROM w WHERE s" + " || s" * 2900 + " = 'x'",
    "SELECT COUNT(*) FROM w WHERE " + "CASE WHEN b THEN " * 500 + "b" + " END" * 500,
    "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 400 + "w" + ")" * 400,
    "WITH a AS (SELECT * FROM w, w AS x), b AS (SELECT * FROM a, a AS y), c AS (SELECT * FROM b, b AS z) "
    "SELECT COUNT(*) FROM c",
    "WITH a0 AS (SELECT s AS x FROM w), " + ", ".join(f"a{i + 1} AS (SELECT x || x AS x FROM a{i})" for i in range(40))
    + " SELECT COUNT(*) FROM a40 WHERE x = 'y'",
    "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r) SELECT COUNT(*) FROM r",
    "WITH w AS (SELECT * FROM w) SELECT COUNT(*) FROM w",
    "SELECT COUNT(*) FROM w WHERE s = '\u202e\U0001f4a9\ufeff'",
    "SELECT COUNT(*) FROM ｗ WHERE ｓ = 'x'",
    "ＳＥＬＥＣＴ COUNT(*) FROM w",
    "SELECT COUNT(*) FROM w WHERE s = '\ud800'",
    "SELECT COUNT(*) AS \"a\"\"; DROP TABLE w\" FROM w",
    "SELECT COUNT(*) FROM w AS \"a\"\"b\" WHERE \"a\"\"b\".s = 'x'",
    "SELECT COUNT(*) FROM w WHERE $1 = i1",
    "SELECT COUNT(*) FROM w WHERE i1 = ?",
    "SELECT COUNT(*) FROM w WHERE @",
    "SELECT COUNT(*) FROM w " + "LEFT JOIN w " * 60,
    "SELECT COUNT(*) FROM w WHERE COLUMNS('i.*') > 0",
    "SELECT COUNT(COLUMNS(*)) FROM w",
    "FROM w",
    "SUMMARIZE w",
    "DESCRIBE w",
    "EXPLAIN ANALYZE SELECT COUNT(*) FROM w",
    "SHOW TABLES",
    "CALL pragma_version()",
    "VALUES (1)",
    "TABLE w",
    "",
    ";",
    "\0",
    "SELECT",
    "'",
    '"',
    "/*",
    "$$",
]  # fmt: skip


@pytest.fixture(scope="module")
def engine():
    with duckdb.connect() as owner:
        for name in ("r", "p"):
            owner.register("given", nasty_table())
            owner.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
            owner.unregister("given")
        owner.execute(WIDE)
        yield connect(owner)


@pytest.fixture(scope="module")
def policy():
    columns = {name: {"bounds": [-50, 100], "granularity": 1} for name in COLUMNS.numbers}
    columns |= {"s": {"domain": ["", "a"]}, "b": {"domain": [True, False]}}
    return Policy.load(POLICY | {"tables": POLICY["tables"] | {"w": {"columns": columns}}})


def ask(engine, policy, text):
    """True if the text was answered. A refusal is fine; an engine's error or anything unexpected is not."""
    try:
        statement = read_statement(text, policy=policy, catalogue=engine.catalogue(), dialect="duckdb")
    except EngineError:
        raise
    except (ParameterError, UnsupportedError) as refusal:
        if MARK in str(refusal):
            pytest.fail(f"a refusal shows too much: {refusal}")
        check_refusal(text, refusal)
        return False
    with engine.snapshot() as snapshot:
        statement = read_public_keys(statement, snapshot)
        whole = compute_answers(snapshot, statement)
        group = statement.groups()[0]
        for place in range(len(statement.measures)):
            assert compute_answer(snapshot, statement.question(group, place)) == whole[group][place]
    return True


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_refused_or_answered(engine, policy, text):
    ask(engine, policy, text)


@pytest.mark.parametrize("seed", range(4))
def test_expressions_over_extreme_values_are_refused_or_answered(engine, policy, seed):
    writer = Writer(random.Random(seed), COLUMNS)
    answered = 0
    for _ in range(ROUNDS // 4):
        text = writer.statement()
        try:
            answered += ask(engine, policy, text)
        except SordinoError as error:
            pytest.fail(
                f"{text}\n{error}\n{error.details.reveal() if isinstance(error, EngineError) else ''}"
            )
    assert answered > ROUNDS // 40, "the writer asks too little that is understood"


@pytest.mark.parametrize("seed", range(2))
def test_broken_texts_are_refused_or_answered(engine, policy, seed):
    draw = random.Random(seed)
    texts = [f"SELECT COUNT(*) FROM r WHERE {condition}" for condition in CONDITIONS]
    texts += [f"SELECT {total} FROM r" for total in SUMS] + STATEMENTS
    pieces = ["(", ")", "'", '"', ";", ",", " NOT ", " SELECT ", " FROM ", "*", "%", "--", "/*", "\\", "$$", "::", ".",
              " NULL ", " DISTINCT ", " OVER () ", " LIMIT 1 ", " AS ", "é",
              "\u2028", "1e", "0x", "{", "[", "]", "}", "@",
              "?", ":x", " UNION "]  # fmt: skip
    for _ in range(ROUNDS // 4):
        text = draw.choice(texts)
        for _ in range(draw.randint(1, 4)):
            place = draw.randrange(len(text) + 1)
            match draw.randrange(4):
                case 0:
                    text = text[:place] + draw.choice(pieces) + text[place:]
                case 1:
                    text = text[:place] + text[place + draw.randint(1, 6) :]
                case 2:
                    other = draw.choice(texts)
                    text = text[:place] + other[draw.randrange(len(other)) :]
                case _:
                    text = text[:place] + text[max(0, place - 9) :]
        ask(engine, policy, text)
