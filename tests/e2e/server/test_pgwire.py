"""PostgreSQL's protocol as clients speak it: psql, psycopg, asyncpg, SQLAlchemy, pandas and ADBC."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess

import pytest

from tests.e2e.server.serving import serving

psycopg = pytest.importorskip("psycopg")
COUNT = "SELECT COUNT(*) FROM orders"
GROUPS = "SELECT city, SUM(amount) AS total FROM orders GROUP BY city ORDER BY city"
NEAR = 3000  # far beyond the noise of these tests, with a false alarm below e^-100


@pytest.fixture
def ann(server):
    with psycopg.connect(server.dsn("ann"), autocommit=True) as connection:
        yield connection


@pytest.fixture
def unpaid(server):
    """Nothing may be paid in the test."""
    before = server.spent("ann")
    yield
    assert server.spent("ann") == before


def psql(server, *commands, name="ann", **environment):
    if shutil.which("psql") is None:
        pytest.skip("no psql on this machine")
    host, port = server.postgres
    words = [word for command in commands for word in ("-c", command)]
    done = subprocess.run(
        ["psql", "-X", "-h", host, "-p", str(port), "-U", name, "-d", "shop", *words],
        env=os.environ | {"PGPASSWORD": server.tokens[name]} | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout, done.stderr


# -- psql ----------------------------------------------------------------------------------------------------------


def test_psql_lists_and_describes_tables(server, unpaid):
    out, err = psql(server, r"\d", r"\dt", r"\d orders", r"\l", r"\du", r"\dn", r"\df")
    assert err == ""
    assert re.search(r"public \| orders +\| table", out)
    assert re.search(r"amount +\| double precision", out)
    assert "card" not in out
    assert psql(server, r"\d nothing")[1].startswith("Did not find any relation")


def test_psql_describes_more(server, unpaid):
    out, err = psql(server, r"\d+ orders", r"\dt+", r"\conninfo")
    assert "card" not in out
    assert "Traceback" not in err


def test_psql_asks_and_is_told_what_it_cost(server):
    out, err = psql(server, f"/* sordino: epsilon = 10 */ {COUNT}")
    assert abs(int(re.search(r"^ +(\d+)$", out, re.MULTILINE)[1]) - 4711) < NEAR
    assert re.search(r"NOTICE: +paid: ε = 10 for one row", err)
    assert "left:" in err


def test_psql_points_at_the_clause(server, unpaid):
    _, err = psql(server, "SELECT COUNT(*) FROM nothing")
    lines = err.splitlines()
    line = next(number for number, text in enumerate(lines) if text.startswith("LINE 1:"))
    assert lines[line][lines[line + 1].index("^") :].startswith("nothing")


def test_psql_points_into_the_second_statement_and_the_second_line(server, unpaid):
    _, err = psql(server, "SELECT 1;\nSELECT COUNT(*)\n  FROM nothing")
    lines = err.splitlines()
    line = next(number for number, text in enumerate(lines) if text.startswith("LINE 3:"))
    assert lines[line][lines[line + 1].index("^") :].startswith("nothing")


# -- psycopg -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_gets_values_of_their_types(ann, binary):
    ann.execute("SET sordino.epsilon = 10")
    cursor = ann.cursor(binary=binary)
    rows = cursor.execute(GROUPS).fetchall()
    assert [row[0] for row in rows] == ["Lima", "Oslo", "Rome"]
    assert all(isinstance(row[1], float) for row in rows)
    (count,) = cursor.execute(COUNT).fetchone()
    assert isinstance(count, int)
    assert abs(count - 4711) < NEAR


@pytest.mark.parametrize("binary", [False, True])
def test_parameters_mean_what_they_are(ann, binary):
    cursor = ann.cursor(binary=binary)
    cursor.execute("SET sordino.epsilon = 10")
    for city, expected in (("Rome", 2356), ("Lima", 0), ("x' OR '1'='1", 0), ("' OR 1=1 --", 0), ("\\", 0)):
        (found,) = cursor.execute(COUNT + " WHERE city = %s", (city,)).fetchone()
        assert abs(found - expected) < 200, city
    (found,) = cursor.execute(COUNT + " WHERE amount > %s AND paid = %s", (-5, True)).fetchone()
    assert abs(found - 1571) < 200
    (found,) = cursor.execute(COUNT + " WHERE amount - %s > 60", (-5,)).fetchone()
    assert abs(found - 4711) < 200


def test_a_parameter_sets_no_price(server, ann):
    ann.execute("SET sordino.epsilon = 0.01")
    before = server.spent("ann")
    ann.execute(COUNT + " WHERE city = %s", ("/* sordino: epsilon = 50 */",))
    ann.execute(COUNT + " WHERE city = '/* sordino: epsilon = 60 */'")
    assert server.spent("ann") == pytest.approx(before + 0.02)


def test_prepared_statements_and_pipelines_pay_once_for_each_execution(server, ann):
    ann.execute("SET sordino.epsilon = 0.01")
    before = server.spent("ann")
    for _ in range(3):
        ann.execute(COUNT, prepare=True)
    with ann.pipeline():
        cursors = [ann.execute(COUNT + " WHERE city = %s", (city,)) for city in ("Rome", "Oslo")]
        assert all(cursor.fetchone() for cursor in cursors)
    assert server.spent("ann") == pytest.approx(before + 0.05)


def test_notices_tell_cost_and_what_is_left(ann):
    told = []
    ann.add_notice_handler(lambda notice: told.append(notice.message_primary))
    ann.execute("/* sordino: epsilon = 0.125 */ " + COUNT)
    assert any(text.startswith("paid: ε = 0.125") for text in told)
    assert any(text.startswith("left:") for text in told)


@pytest.mark.parametrize("form", ["text", "binary"])
def test_copy_out(ann, form):
    ann.execute("SET sordino.epsilon = 10")
    with ann.cursor().copy(f"COPY ({GROUPS}) TO STDOUT (FORMAT {form})") as copy:
        copy.set_types(["text", "float8"])
        rows = list(copy.rows())
    assert [row[0] for row in rows] == ["Lima", "Oslo", "Rome"]


def test_a_cursor_of_several_fetches_pays_once(server, ann):
    from psycopg import pq

    ann.execute("SET sordino.epsilon = 0.01")
    before = server.spent("ann")
    with ann.cursor() as cursor:
        assert len(list(cursor.stream(GROUPS))) == 3
    assert server.spent("ann") == pytest.approx(before + 0.01)
    assert ann.info.transaction_status == pq.TransactionStatus.IDLE


@pytest.mark.parametrize(
    ("sql", "state", "word"),
    [
        ("SELECT COUNT(*) FROM nothing", "42601", "nothing"),
        ("SELECT SUM(card) FROM orders", "0A000", "card"),
        ("SELECT * FROM orders", None, None),
        ("SELECT COUNT(*) OVER () FROM orders", "0A000", None),
        ("SELECT 'a", "42601", None),
        ("INSERT INTO orders VALUES (1)", "0A000", None),
        ("DROP TABLE orders", "0A000", None),
        ("COPY orders FROM STDIN", "0A000", None),
        ("COPY (SELECT 1) TO '/tmp/x'", "0A000", None),
        ("CREATE TABLE t (a int)", "0A000", None),
        ("SET sordino.epsilon = much", "22023", None),
        ("SET sordino.speed = 1", "42704", None),
        ("SHOW nothing", "42704", None),
        ("/* sordino: epsilon = 1e9 */ " + COUNT, "53400", None),
        ("/* sordino: epsilon = -1 */ " + COUNT, "22023", None),
        ("/* sordino: epsilon = nan */ " + COUNT, "22023", None),
        ("SELECT COUNT(*) FROM read_csv('/etc/passwd')", None, None),
        ("SELECT * FROM pg_read_file('/etc/passwd')", None, None),
        ("SELECT pg_read_file('/etc/passwd') FROM nothing", None, None),
        ("SELECT * FROM pg_nothing", "0A000", None),
        ("SELECT count(*) FROM pg_class, read_text('/etc/passwd')", "0A000", None),
        ("SELECT " + "(" * 3000 + "1" + ")" * 3000, None, None),
    ],
)
@pytest.mark.parametrize("extended", [False, True])
def test_refusals_have_states_and_cost_nothing(ann, unpaid, sql, state, word, extended):
    with pytest.raises(psycopg.Error) as caught:
        ann.execute(sql, prepare=extended, binary=extended)
    error = caught.value
    assert state is None or error.sqlstate == state, (error.sqlstate, str(error))
    assert error.sqlstate != "XX000", str(error)
    assert "root:" not in str(error)
    assert not re.search(r"Traceback|File \"|duckdb|sqlglot", str(error))
    if word is not None:
        assert sql[int(error.diag.statement_position) - 1 :].startswith(word)
    assert ann.execute("SELECT 1").fetchone() == (1,)


def test_a_position_is_that_of_the_statement_that_was_sent(ann, unpaid):
    sql = "SELECT COUNT(*) FROM orders WHERE city = %s AND nothing = 1"
    with pytest.raises(psycopg.Error) as caught:
        ann.execute(sql, ("a long city indeed",), binary=True)
    sent = sql.replace("%s", "$1")
    assert sent[int(caught.value.diag.statement_position) - 1 :].startswith("nothing")


def test_transactions_are_words(ann):
    ann.execute("BEGIN")
    with pytest.raises(psycopg.Error):
        ann.execute("SELECT COUNT(*) FROM nothing")
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        ann.execute("SELECT 1")
    ann.execute("ROLLBACK")
    assert ann.execute("SELECT 1").fetchone() == (1,)


# -- what it costs -------------------------------------------------------------------------------------------------


def test_nothing_is_paid_for_what_only_prepares_or_describes(server, ann, unpaid):
    asyncpg = pytest.importorskip("asyncpg")
    host, port = server.postgres

    async def prepare():
        given = {
            "host": host,
            "port": port,
            "user": "ann",
            "password": server.tokens["ann"],
            "database": "shop",
        }
        connection = await asyncpg.connect(**given)
        for sql in (COUNT, GROUPS, COUNT + " WHERE city = $1 AND amount < $2 AND paid = $3"):
            prepared = await connection.prepare(sql)
            assert prepared.get_attributes()
        assert [kind.name for kind in prepared.get_parameters()] == ["text", "float8", "bool"]
        await connection.close()

    asyncio.run(asyncio.wait_for(prepare(), 60))
    assert "epsilon" in str(ann.execute("EXPLAIN " + COUNT).fetchall())
    ann.execute("SHOW TABLES")
    ann.execute("DESCRIBE orders")


@pytest.mark.parametrize("way", ["set", "startup", "comment", "line", "default", "local", "copy"])
def test_a_price_is_said_in_many_ways(server, way):
    more = {"options": "-c sordino.epsilon=0.03"} if way == "startup" else {}
    price = {"default": 0.25}.get(way, 0.03)
    before = server.spent("ann")
    with psycopg.connect(server.dsn("ann", **more), autocommit=True) as connection:
        if way == "set":
            connection.execute("SET sordino.epsilon = 0.03")
        if way == "local":
            connection.execute("SET LOCAL sordino.epsilon TO '0.03'")
        if way == "copy":
            with connection.cursor().copy(f"COPY (/* sordino: epsilon = 0.03 */ {COUNT}) TO STDOUT") as copy:
                list(copy)
        else:
            said = {"comment": "/* sordino: epsilon = 0.03 */ ", "line": "-- sordino: epsilon = 0.03\n"}
            connection.execute(said.get(way, "") + COUNT)
    assert server.spent("ann") == pytest.approx(before + price)


def test_without_a_price_nothing_is_asked(tmp_path):
    with serving(tmp_path, epsilon=None) as running, psycopg.connect(running.dsn("ann")) as connection:
        with pytest.raises(psycopg.Error, match=r"SET sordino\.epsilon"):
            connection.execute(COUNT)
        assert running.spent("ann") == 0


# -- other clients -------------------------------------------------------------------------------------------------


def test_asyncpg(server):
    asyncpg = pytest.importorskip("asyncpg")
    host, port = server.postgres

    async def ask():
        connection = await asyncpg.connect(
            host=host, port=port, user="ann", password=server.tokens["ann"], database="shop"
        )
        await connection.execute("SET sordino.epsilon = 10")
        count = await connection.fetchval(COUNT + " WHERE city = $1 AND amount > $2", "Rome", 1.5)
        prepared = await connection.prepare(GROUPS)
        names = [attribute.name for attribute in prepared.get_attributes()]
        rows = await prepared.fetch()
        with pytest.raises(asyncpg.PostgresError) as caught:
            await connection.fetch("SELECT COUNT(*) FROM nothing")
        await connection.close()
        return count, names, rows, caught.value.position

    count, names, rows, position = asyncio.run(ask())
    assert abs(count - 2356) < 200
    assert names == ["city", "total"]
    assert len(rows) == 3
    assert position == "22"


def test_sqlalchemy_and_pandas(server):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    pandas = pytest.importorskip("pandas")
    host, port = server.postgres
    engine = sqlalchemy.create_engine(f"postgresql+psycopg://ann:{server.tokens['ann']}@{host}:{port}/shop")
    try:
        seen = sqlalchemy.inspect(engine)
        assert set(seen.get_table_names()) == {"orders", "knows", "patients", "odd"}
        assert seen.get_schema_names()
        columns = {column["name"]: str(column["type"]) for column in seen.get_columns("orders")}
        assert columns["amount"] == "DOUBLE PRECISION"
        assert "card" not in columns
        assert seen.get_foreign_keys("orders") == []
        assert seen.get_indexes("orders") == [] or seen.get_pk_constraint("orders")
        assert seen.get_view_names() == []
        with engine.connect() as connection:
            frame = pandas.read_sql(GROUPS, connection)
            value = connection.execute(
                sqlalchemy.text(COUNT + " WHERE city = :city"), {"city": "Rome"}
            ).scalar()
        assert list(frame.columns) == ["city", "total"]
        assert isinstance(value, int)
    finally:
        engine.dispose()


def test_adbc(server):
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    host, port = server.postgres
    with (
        dbapi.connect(
            f"postgresql://ann:{server.tokens['ann']}@{host}:{port}/shop", autocommit=True
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(GROUPS)
        table = cursor.fetch_arrow_table()
        assert table.column_names == ["city", "total"]
        assert table.num_rows == 3
        assert connection.adbc_get_info()["vendor_version"] == "150000"


# -- who -----------------------------------------------------------------------------------------------------------


def test_wrong_unknown_and_revoked_look_alike(tmp_path):
    with serving(tmp_path) as running:
        running.service.tokens.revoke(running.tokens["eve"].split("_")[1])
        told = set()
        for name, token in (
            ("ann", "wrong"),
            ("nobody", "wrong"),
            ("eve", running.tokens["eve"]),
            ("bob", running.tokens["ann"]),
        ):
            with pytest.raises(psycopg.OperationalError) as caught:
                psycopg.connect(running.dsn("ann", user=name, password=token))
            told.add(re.sub(r"port \d+|\"\w+\"", "", str(caught.value)))
        assert len(told) == 1


def test_a_revoked_token_ends_an_open_connection(tmp_path):
    with serving(tmp_path) as running, psycopg.connect(running.dsn("eve"), autocommit=True) as connection:
        connection.execute("SELECT 1")
        running.service.tokens.revoke(running.tokens["eve"].split("_")[1])
        with pytest.raises(psycopg.Error):
            connection.execute(COUNT)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
        assert running.spent("eve") == 0
