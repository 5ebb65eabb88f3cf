"""What only PostgreSQL has: servers, users, schemas, numerics without a scale."""

from __future__ import annotations

import datetime
import socket
from decimal import Decimal

import pyarrow as pa
import pytest
from sqlglot import parse_one

from sordino.core import EngineError, ParameterError
from sordino.engines import Column, connect
from sordino.testing import check_backend

from .conftest import ENCODED, PASSWORD


def test_the_engine_passes_the_shipped_suite(postgresql_backend):
    check_backend(postgresql_backend.load, write=postgresql_backend.write)


def ask(engine, sql):
    with engine.snapshot() as snapshot:
        return snapshot.aggregate(parse_one(sql, dialect="postgres"))


@pytest.fixture
def shop(postgresql_backend):
    """The owner's connection and the engine over a new database."""
    engine = postgresql_backend.load({})
    return postgresql_backend.owner, engine


def test_the_catalogue_knows_schemas_domains_and_views(shop):
    owner, engine = shop
    owner.execute("CREATE SCHEMA other")
    owner.execute("CREATE DOMAIN age AS integer NOT NULL")
    owner.execute("CREATE TYPE colour AS ENUM ('red')")
    owner.execute("CREATE TABLE t (a age, b varchar(3) NOT NULL, c colour, d uuid, e timestamptz, f real)")
    owner.execute("CREATE VIEW v AS SELECT a FROM t")
    owner.execute("CREATE TABLE other.u (n numeric)")
    tables = engine.catalogue()
    assert set(tables) == {"t", "v", "other.u"}
    assert tables["t"].columns == (
        Column("a", "integer"),  # a domain's NOT NULL is checked when a value is cast, not when it is stored
        Column("b", "text", False),
        Column("c", "text"),
        Column("d", "other"),
        Column("e", "timestamp"),
        Column("f", "float"),
    )
    owner.execute("CREATE TABLE w (n numeric(10, 2), m numeric, k numeric(38, 37), c numeric(5, -3))")
    assert [(column.type, column.digits, column.scale) for column in engine.catalogue()["w"].columns] == [
        ("decimal", None, 2),
        ("decimal", None, None),
        ("decimal", None, 37),
        ("decimal", None, None),
    ]
    owner.execute("INSERT INTO other.u VALUES (1), (2)")
    assert ask(engine, "SELECT sum(n) AS s FROM other.u").to_pydict() == {"s": [3]}


def test_a_user_sees_what_it_may_read(server, shop):
    owner, _ = shop
    database = owner.info.dbname
    owner.execute("CREATE TABLE open (a integer)")
    owner.execute("CREATE TABLE closed (a integer)")
    owner.execute("DROP ROLE IF EXISTS reader")
    owner.execute("CREATE ROLE reader LOGIN PASSWORD 'p'")
    owner.execute("GRANT SELECT ON open TO reader")
    with connect(server.url(database, "reader", "p")) as reader:
        assert set(reader.catalogue()) == {"open"}
        with pytest.raises(ParameterError, match="no table 'closed'"):
            ask(reader, "SELECT a FROM closed")
    owner.execute("DROP OWNED BY reader")
    owner.execute("DROP ROLE reader")


def test_types_come_from_the_answer(shop):
    _, engine = shop
    answer = ask(
        engine,
        "SELECT 1::smallint AS a, 0.1::real AS b, 'x'::char(2) AS c, date '2024-02-29' AS d, "
        "timestamptz '2024-02-29 12:00+02' AS e, NULL::bigint AS f, 1.50::numeric AS g, "
        "NULL::numeric AS h, '100%' AS i, '00000000-0000-0000-0000-000000000000'::uuid AS j",
    )
    assert [str(field.type) for field in answer.schema] == [
        "int64", "double", "string", "date32[day]", "timestamp[us, tz=UTC]", "int64",
        "decimal128(38, 2)", "int64", "string", "string",
    ]  # fmt: skip
    row = {name: column[0] for name, column in answer.to_pydict().items()}
    assert row["b"] == pa.scalar(0.1, pa.float32()).cast(pa.float64()).as_py()
    assert row["e"] == datetime.datetime(2024, 2, 29, 10, tzinfo=datetime.UTC)
    assert (row["f"], row["g"], row["h"], row["i"]) == (None, Decimal("1.50"), None, "100%")


@pytest.mark.parametrize(
    "sql", ["SELECT 1e19::numeric AS n", "SELECT 'NaN'::numeric AS n", "SELECT 2::numeric^300 AS n"]
)
def test_numbers_that_do_not_fit_are_refused(shop, sql):
    with pytest.raises(EngineError, match="beyond what Arrow can carry"):
        ask(shop[1], sql)


def test_the_transaction_refuses_to_write(shop):
    owner, engine = shop
    owner.execute("CREATE TABLE t (a integer)")
    owner.execute("CREATE SEQUENCE s")
    with pytest.raises(EngineError, match="cannot answer"):
        ask(engine, "SELECT nextval('s') AS n")
    with engine.snapshot() as snapshot, pytest.raises(Exception, match="read-only"):
        snapshot._connection.execute("INSERT INTO public.t VALUES (1)")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"password": "wrong%20horse"}, "refuses this user and password"),
        ({"user": "nobody_here"}, "refuses this user and password"),
        ({"database": "nowhere"}, "no such database"),
    ],
)
def test_what_is_wrong_with_a_url_is_said_without_its_password(server, change, message):
    with pytest.raises(EngineError, match=message) as refused:
        connect(server.url(**change))
    shown = f"{refused.value}{refused.value.args}"
    assert not any(secret in shown for secret in (PASSWORD, ENCODED, "wrong%20horse", "wrong horse"))


def test_a_server_that_is_not_there_is_named():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(EngineError, match=rf"127\.0\.0\.1:{port} .* cannot be reached") as refused:
        connect(f"postgresql://me:hunter2@127.0.0.1:{port}/db")
    assert "hunter2" not in str(refused.value)


def test_a_url_that_cannot_be_read_is_not_shown():
    with pytest.raises(ParameterError, match="cannot be read") as refused:
        connect("postgresql://me:hun%ter2@[::/db")
    assert "ter2" not in str(refused.value)


def test_the_engine_does_not_show_its_password(shop):
    assert ENCODED not in f"{vars(shop[1])}"


def test_resources_and_closing(server):
    with pytest.raises(ParameterError, match="cannot be set on a PostgreSQL server"):
        connect(server.url(), threads=2)
    engine = connect(server.url())
    engine.close()
    with pytest.raises(EngineError, match="closed"):
        engine.catalogue()


def test_the_suite_notices_a_server_without_isolation(postgresql_backend, monkeypatch):
    """The control: read committed in place of repeatable read must fail."""
    from sordino.core import ProofError
    from sordino.engines.postgresql import PostgreSQLEngine

    connection_of = PostgreSQLEngine._connection

    class Committed:
        def __init__(self, connection):
            self.inner = connection

        def execute(self, sql, *values):
            return self.inner.execute(sql.replace("REPEATABLE READ", "READ COMMITTED"), *values)

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.inner.close()

    monkeypatch.setattr(PostgreSQLEngine, "_connection", lambda self: Committed(connection_of(self)))
    with pytest.raises(ProofError, match="a snapshot"):
        check_backend(postgresql_backend.load, write=postgresql_backend.write)
