"""What only Spark has: files behind tables, sessions with settings."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp, parse_one

from sordino.core import EngineError, ParameterError, UnsupportedError
from sordino.engines import connect
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
