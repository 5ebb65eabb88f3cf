"""What only Spark has: files behind tables, sessions with settings."""

from __future__ import annotations

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp, parse_one

from sordino.core import EngineError, ParameterError, UnsupportedError
from sordino.engines import connect
from sordino.engines.spark_files import show_files
from sordino.testing import check_backend

from .nan_suite import FILES, check_nan_is_found, write_files
from .text_suite import VALUES, check_texts


def test_the_engine_passes_the_shipped_suite(spark_backend):
    check_backend(spark_backend.load, write=spark_backend.write)


@pytest.fixture
def folder(spark, tmp_path):
    """A folder of Parquet files behind the view ``t``."""
    path = tmp_path / "t"
    path.mkdir()
    pq.write_table(pa.table({"a": [1, 2]}), path / "0.parquet")
    spark.read.parquet(str(path)).createOrReplaceTempView("t")
    yield path
    spark.catalog.dropTempView("t")


def ask(snapshot, sql):
    return snapshot.aggregate(parse_one(sql)).to_pydict()


def test_the_list_of_files_is_pinned_and_a_change_is_noticed(spark, folder):
    engine = connect(spark)
    with engine.snapshot() as snapshot:
        pq.write_table(pa.table({"a": [10]}), folder / "1.parquet")
        assert ask(snapshot, "SELECT SUM(a) AS s FROM t") == {"s": [3]}
        assert ask(snapshot, "SELECT SUM(t.a) AS s FROM t JOIN t AS u ON t.a = u.a") == {"s": [3]}
    with pytest.raises(EngineError, match=r"0\.parquet changed"), engine.snapshot():
        pq.write_table(pa.table({"a": [1, 2, 3]}), folder / "0.parquet")
    assert [table.name for table in spark.catalog.listTables()] == ["t"]


def test_types_that_spark_guesses_from_the_names_of_folders_are_left_out(spark, tmp_path):
    inference = "spark.sql.sources.partitionColumnTypeInference.enabled"
    for year in ("01", "2024"):
        (tmp_path / "t" / f"year={year}").mkdir(parents=True)
        pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "t" / f"year={year}" / "0.parquet")
    path = str(tmp_path / "t")
    spark.conf.set(inference, "true")  # Spark's own default, which engines opened before by their URL change
    spark.read.parquet(path).createOrReplaceTempView("guessed")
    spark.read.parquet(path).withColumnRenamed("year", "y").createOrReplaceTempView("renamed")
    spark.read.schema("a bigint, year string").parquet(path).createOrReplaceTempView("declared")
    spark.conf.set(inference, "false")
    spark.read.parquet(path).createOrReplaceTempView("texts")
    try:
        engine = connect(spark)
        tables = engine.catalogue()
        columns = {name: [(c.name, c.type) for c in table.columns] for name, table in tables.items()}
        assert columns == {
            "guessed": [("a", "integer")],
            "renamed": [("a", "integer")],
            "declared": [("a", "integer"), ("year", "text")],
            "texts": [("a", "integer"), ("year", "text")],
        }
        assert "names of folders" in dict(tables["renamed"].left_out)["y"]
        with engine.snapshot() as snapshot:
            assert ask(snapshot, "SELECT SUM(a) AS s FROM guessed") == {"s": [6]}
            for name in ("declared", "texts"):
                assert ask(snapshot, f"SELECT SUM(a) AS s FROM {name} WHERE year = '01'") == {"s": [3]}
    finally:
        spark.conf.unset(inference)
        for name in ("guessed", "renamed", "declared", "texts"):
            spark.catalog.dropTempView(name)


def test_a_local_frame_is_a_table_and_overflow_is_refused(spark):
    frame = spark.createDataFrame([(2**62,), (2**62,)], "a bigint")
    frame.createOrReplaceTempView("big")
    with connect(spark) as engine:
        with engine.snapshot() as snapshot:
            assert ask(snapshot, "SELECT MAX(a) AS m FROM big") == {"m": [2**62]}
        with pytest.raises(EngineError, match="cannot answer"), engine.snapshot() as snapshot:
            ask(snapshot, "SELECT SUM(a) AS s FROM big")
    spark.catalog.dropTempView("big")
    with pytest.raises(EngineError, match="closed"):
        engine.catalogue()
    assert spark.sql("SELECT 1").count() == 1


def test_the_catalogue_says_how_many_digits_decimals_have(spark):
    spark.createDataFrame([], "a decimal(15, 2), b double").createOrReplaceTempView("d")
    with connect(spark) as engine:
        columns = engine.catalogue()["d"].columns
        assert [(column.digits, column.scale) for column in columns] == [(15, 2), (None, None)]
    spark.catalog.dropTempView("d")


def test_nan_beside_smaller_numbers_in_a_file_is_found(spark, tmp_path):
    write_files(tmp_path)
    for name in FILES:
        spark.read.parquet(str(tmp_path / f"{name}.parquet")).createTempView(name)
    with connect(spark) as engine:
        check_nan_is_found(engine, constants=(2, 5))
    for name in FILES:
        spark.catalog.dropTempView(name)


def test_sessions_that_would_be_wrong_are_refused(spark):
    with pytest.raises(EngineError, match="already open"):
        connect("spark-local")
    with pytest.raises(ParameterError, match="cannot be set"):
        connect(spark, threads=2)


def test_files_of_a_folder_are_tables(spark, tmp_path):
    (tmp_path / "orders" / "code=01").mkdir(parents=True)
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "orders" / "code=01" / "0.parquet")
    pq.write_table(pa.table({"b": [5]}), tmp_path / "prices.of.parquet")
    show_files(spark, tmp_path)
    pq.write_table(pa.table({"a": [3]}), tmp_path / "orders" / "code=01" / "1.parquet")
    spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    try:
        show_files(spark, tmp_path / "prices.of.parquet")
        with connect(spark) as engine, engine.snapshot() as snapshot:
            assert not engine.catalogue()["orders"].view
            assert ask(snapshot, "SELECT SUM(a) AS s FROM orders") == {"s": [3]}
            assert ask(snapshot, "SELECT b FROM prices_of") == {"b": [5]}
    finally:
        spark.conf.unset("spark.sql.sources.partitionColumnTypeInference.enabled")
        for name in ("orders", "prices_of"):
            spark.catalog.dropTempView(name)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("t.csv", UnsupportedError, "'t' is a CSV file, and Spark is given Parquet files"),
        ("t{1}.parquet", EngineError, r"path of table 't\{1\}' holds one of"),
        ("t.txt", ParameterError, "holds no tables"),
    ],
)
def test_files_that_spark_would_read_otherwise_are_refused(spark, tmp_path, name, error, message):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(error, match=message):
        show_files(spark, tmp_path)


def test_the_command_line_asks_spark_about_a_folder(tmp_path):
    """In a process of its own, whose session is Sordino's: names of folders are texts there."""
    (tmp_path / "visits" / "code=01").mkdir(parents=True)
    pq.write_table(pa.table({"a": list(range(50))}), tmp_path / "visits" / "code=01" / "0.parquet")
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "{version: 1, dataset: d, protects: row, budgets: {ann: {epsilon: 1000}}, "
        "tables: {visits: {columns: {code: {domain: ['01', '1']}}}}}"
    )
    asked = "SELECT code, COUNT(*) AS n FROM visits GROUP BY code"
    command = [
        sys.executable,
        "-c",
        "from sordino.cli import main; main()",
        "query",
        f"spark-local://{tmp_path}",
    ]
    command += [asked, "-p", str(policy), "-l", str(tmp_path / "l"), "-a", "ann", "-e", "500", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["value"] == [{"code": "01", "n": 50}, {"code": "1", "n": 0}]


# --- what the session, its settings or its catalogue would have a statement mean

SHORT = tuple(value if value is None else value.rstrip(" ") for value in VALUES)


def test_texts_of_every_kind_are_compared_by_their_characters(spark):
    spark.sql(
        "CREATE TABLE kinds (plain STRING, padded CHAR(3), limited VARCHAR(9), nocase STRING COLLATE UTF8_LCASE) "
        "USING parquet"
    )
    try:
        rows = [(value, short, value, value) for value, short in zip(VALUES, SHORT, strict=True)]
        schema = "plain string, padded string, limited string, nocase string"
        spark.createDataFrame(rows, schema).coalesce(1).write.insertInto("kinds")
        kinds = {"plain": VALUES, "padded": SHORT, "limited": VALUES, "nocase": VALUES}
        engine = connect(spark)
        assert {column.type for column in engine.catalogue()["kinds"].columns} == {"text"}
        check_texts(engine, kinds)
    finally:
        spark.sql("DROP TABLE kinds")


HOSTILE_SETTINGS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.caseSensitive": "true",
    "spark.sql.variable.substitute": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.crossJoin.enabled": "false",
    "spark.sql.readSideCharPadding": "false",
    "spark.sql.legacy.sizeOfNull": "true",
    "spark.sql.legacy.integerGroupingId": "true",
    "spark.sql.legacy.setopsPrecedence.enabled": "true",
}


@pytest.fixture
def hostile(spark):
    """The caller's session with settings that would change what a statement means."""
    before = {key: spark.conf.get(key) for key in HOSTILE_SETTINGS}
    for key, value in HOSTILE_SETTINGS.items():
        spark.conf.set(key, value)
    yield spark
    for key, value in before.items():
        spark.conf.set(key, value)


def test_settings_of_the_callers_neither_change_a_statement_nor_are_changed(hostile, spark_backend):
    check_backend(spark_backend.load)
    assert {key: hostile.conf.get(key) for key in HOSTILE_SETTINGS} == HOSTILE_SETTINGS
    hostile.createDataFrame([(2**62,), (2**62,)], "a bigint").createOrReplaceTempView("big")
    try:
        with pytest.raises(EngineError, match="cannot answer"), connect(hostile).snapshot() as snapshot:
            ask(snapshot, "SELECT SUM(a) AS s FROM big")
    finally:
        hostile.catalog.dropTempView("big")
    assert hostile.sparkContext.parallelize([(1,)]).toDF(["a"]).sparkSession is hostile


def test_rows_left_out_by_a_setting_are_refused(spark, folder):
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        needed = r"session\.conf\.set\('spark\.sql\.files\.ignoreCorruptFiles', 'false'\)"
        with pytest.raises(EngineError, match=needed), connect(spark).snapshot():
            pass
    finally:
        spark.conf.set("spark.sql.files.ignoreCorruptFiles", "false")


def test_functions_of_the_callers_are_not_called(spark, folder):
    """The caller's session calls REPLACE where TRANSLATE is written; ours has functions of its own."""
    registry = spark._jsparkSession.sessionState().functionRegistry()
    listed = registry.listFunction()
    named = {listed.apply(i).funcName(): listed.apply(i) for i in range(listed.size())}
    name, other = named["translate"], named["replace"]
    info, own = registry.lookupFunction(name).get(), registry.lookupFunctionBuilder(name).get()
    registry.registerFunction(name, info, registry.lookupFunctionBuilder(other).get())
    query = "SELECT MAX(TRANSLATE('aab', 'ab', 'xy')) AS t FROM t"
    try:
        assert spark.sql(query).collect()[0].t == "axy", "the test shows nothing"
        with connect(spark).snapshot() as snapshot:
            assert ask(snapshot, query) == {"t": ["xxy"]}
    finally:
        registry.registerFunction(name, info, own)


def test_a_temporary_view_is_a_table_only_where_it_names_rows(spark, folder):
    source, csv = spark.table("t"), folder.parent / "c.csv"
    csv.write_text("a,b\n1,2\nx\n")
    made = {
        "renamed": (source.toDF("k"), False),
        "local": (spark.createDataFrame([(1,)], "a int"), False),
        "divided": (source.selectExpr("1 / (a - 1) AS q"), True),
        "filtered": (source.where("a > 1"), True),
        "summed": (source.groupBy().sum("a"), True),
        "joined": (source.crossJoin(source.toDF("b")), True),
        "lenient": (spark.read.csv(str(csv), header=True, schema="a int, b int"), False),
        "strict": (spark.read.csv(str(csv), header=True, schema="a int, b int", mode="FAILFAST"), None),
        "dropping": (
            spark.read.csv(str(csv), header=True, schema="a int, b int", mode="DROPMALFORMED"),
            None,
        ),
    }
    for name, (frame, _) in made.items():
        frame.createOrReplaceTempView(name)
    spark.sql("SELECT 1 AS a").createOrReplaceGlobalTempView("everywhere")
    try:
        found = {name: table.view for name, table in connect(spark).catalogue().items()}
        assert found == {"t": False} | {name: view for name, (_, view) in made.items() if view is not None}
    finally:
        for name in made:
            spark.catalog.dropTempView(name)
        spark.catalog.dropGlobalTempView("everywhere")


def test_names_are_sent_as_they_are_or_left_out(spark, folder):
    odd = "x`y; -- 'é' \"z\""
    schema = f"`{odd.replace('`', '``')}` int, `b.c` int, `${{env:HOME}}` int"
    spark.createDataFrame([(1, 2, 3)], schema).createOrReplaceTempView("odd")
    try:
        engine = connect(spark)
        found = engine.catalogue()["odd"]
        assert [column.name for column in found.columns] == [odd, "b.c"]
        assert [name for name, _ in found.left_out] == ["${env:HOME}"]
        with engine.snapshot() as snapshot:
            columns = [exp.column(odd, quoted=True), exp.column("b.c", table="odd", quoted=True)]
            answer = snapshot.aggregate(exp.select(*columns).from_("odd"))
            assert [column.to_pylist() for column in answer.columns] == [[1], [2]]
            for refused in (
                "SELECT 1 AS `${env:HOME}` FROM odd",
                "WITH sordino_pinned_0 AS (SELECT 1) SELECT 1 FROM odd",
            ):
                with pytest.raises(UnsupportedError, match="is refused"):
                    snapshot.aggregate(parse_one(refused, dialect="spark"))
            for hidden in (
                "SELECT COUNT(_metadata.file_path) AS n FROM t",
                "SELECT COUNT(`${env:HOME}`) AS n FROM odd",
            ):
                with pytest.raises((EngineError, UnsupportedError)):
                    snapshot.aggregate(parse_one(hidden, dialect="spark"))
    finally:
        spark.catalog.dropTempView("odd")
