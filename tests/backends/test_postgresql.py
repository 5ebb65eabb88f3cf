"""What only PostgreSQL has: servers, users, schemas, numerics without a scale."""

from __future__ import annotations

import datetime
import socket
from decimal import Decimal

import psycopg
import pyarrow as pa
import pytest
from sqlglot import exp, parse_one

import sordino
from sordino.core import EngineError, ParameterError, UnsupportedError
from sordino.engines import Column, Reference, connect
from sordino.testing import check_backend

from .postgresql_server import ENCODED, PASSWORD
from .text_suite import VALUES, check_texts


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
        Column("c", "text", labels=("red",)),
        Column("d", "text"),
        Column("e", "timestamp"),
        Column("f", "float"),
    )
    owner.execute("CREATE TABLE w (n numeric(10, 2), m numeric, k numeric(38, 37), c numeric(5, -3))")
    assert [(column.type, column.digits, column.scale) for column in engine.catalogue()["w"].columns] == [
        ("decimal", 10, 2),
        ("decimal", None, None),
        ("decimal", 38, 37),
        ("decimal", None, None),
    ]
    owner.execute("INSERT INTO other.u VALUES (1), (2)")
    assert ask(engine, "SELECT sum(n) AS s FROM other.u").to_pydict() == {"s": [3]}


def test_the_catalogue_knows_enforced_keys_and_labels(shop):
    owner, engine = shop
    owner.execute("CREATE SCHEMA other")
    owner.execute("CREATE TYPE colour AS ENUM ('red', 'it''s', 'blue')")
    owner.execute("ALTER TYPE colour ADD VALUE 'green' BEFORE 'blue'")
    owner.execute("CREATE DOMAIN shade AS colour")
    owner.execute(
        "CREATE TABLE customers (id integer PRIMARY KEY, mail varchar UNIQUE, code char(4) UNIQUE, s shade, "
        "size float8 UNIQUE, x integer, y bigint DEFAULT 0, UNIQUE (y, x))"
    )
    owner.execute(
        "CREATE TABLE other.orders (n integer, customer bigint REFERENCES customers, mail varchar, x integer, "
        "code char(4) REFERENCES customers (code), y bigint, FOREIGN KEY (x, y) REFERENCES customers (x, y), "
        "letter text REFERENCES customers (mail) DEFERRABLE INITIALLY DEFERRED)"
    )
    owner.execute("CREATE UNIQUE INDEX ON other.orders (n) INCLUDE (x)")
    customers, orders = engine.catalogue()["customers"], engine.catalogue()["other.orders"]
    # a float has two forms of zero
    assert customers.keys == (("id",), ("code",), ("mail",), ("y", "x"))
    assert {column.name: column.labels for column in customers.columns if column.labels} == {
        "s": ("red", "it's", "green", "blue")
    }
    assert orders.keys == (("n",),)
    assert orders.references == (
        Reference(("code",), "customers", ("code",)),
        Reference(("customer",), "customers", ("id",)),
        Reference(("x", "y"), "customers", ("x", "y")),
    )  # letter is a text, mail a varchar
    owner.execute("ALTER TABLE customers DROP CONSTRAINT customers_mail_key CASCADE")
    assert engine.catalogue()["customers"] != customers


def test_keys_that_hold_for_some_rows_only_are_left_out(shop):
    owner, engine = shop
    owner.execute("CREATE TABLE t (a integer, b integer, c text, d integer, e integer, f integer, g integer)")
    owner.execute("CREATE TABLE u (a integer PRIMARY KEY)")
    owner.execute("CREATE UNIQUE INDEX ON t (a) WHERE a > 0")
    owner.execute("CREATE UNIQUE INDEX ON t (lower(c))")
    owner.execute("CREATE INDEX ON t (d)")
    owner.execute("ALTER TABLE t ADD FOREIGN KEY (e) REFERENCES u NOT VALID")
    owner.execute("ALTER TABLE t ADD FOREIGN KEY (f) REFERENCES u")
    assert engine.catalogue()["t"].references == (Reference(("f",), "u", ("a",)),)
    owner.execute("ALTER TABLE t DISABLE TRIGGER ALL")
    assert (engine.catalogue()["t"].keys, engine.catalogue()["t"].references) == ((), ())


def test_keys_of_partitioned_tables_and_of_their_parts(shop):
    owner, engine = shop
    owner.execute("CREATE TABLE p (a integer PRIMARY KEY) PARTITION BY HASH (a)")
    owner.execute("CREATE TABLE p0 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 0)")
    owner.execute("CREATE TABLE p1 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 1)")
    owner.execute("CREATE TABLE q (a integer REFERENCES p)")
    owner.execute("CREATE TABLE parent (a integer PRIMARY KEY)")
    owner.execute("CREATE TABLE child () INHERITS (parent)")
    tables = engine.catalogue()
    assert tables["p"].keys == (("a",),)
    # PostgreSQL keeps a constraint per part too, and no row refers to both
    assert tables["q"].references == (Reference(("a",), "p", ("a",)),)
    # the child may repeat what the parent has
    assert [tables[name].keys for name in ("p0", "parent", "child")] == [(), (), ()]


def test_children_need_not_be_filled_where_their_parent_is(shop):
    owner, engine = shop
    owner.execute("CREATE TABLE parent (a integer); CREATE TABLE child () INHERITS (parent)")
    named = owner.info.server_version >= 180000
    filled = "ADD CONSTRAINT filled NOT NULL a NO INHERIT" if named else "ALTER a SET NOT NULL"
    owner.execute(f"ALTER TABLE ONLY parent {filled}")
    owner.execute("INSERT INTO child VALUES (NULL)")
    owner.execute("CREATE TABLE p (a integer NOT NULL) PARTITION BY LIST (a)")
    owner.execute("CREATE TABLE p0 PARTITION OF p FOR VALUES IN (1)")
    assert ask(engine, "SELECT a FROM parent").to_pydict() == {"a": [None]}
    nullable = {name: table.columns[0].nullable for name, table in engine.catalogue().items()}
    assert nullable == {"parent": True, "child": True, "p": False, "p0": False}


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


# --- what the database, its settings or its catalogue would have a statement mean

ROW = dict(zip(range(len(VALUES)), VALUES, strict=True))
SHORT = tuple(value if value is None else value.rstrip(" ") for value in VALUES)
LABELS = ", ".join("'" + value.replace("'", "''") + "'" for value in VALUES if value is not None)
KINDS = {
    "plain": ("text", VALUES),
    "bytes": ('text COLLATE "C"', VALUES),
    "posix": ('text COLLATE "POSIX"', VALUES),
    "limited": ("varchar(20)", VALUES),
    "padded": ("char(3)", SHORT),
    "word": ("name", VALUES),
    "label": ("label", VALUES),
    "twice": ("twice", SHORT),
    "own": ("own_label", VALUES),
}


def fill(owner, kinds):
    owner.execute(f"CREATE TYPE label AS ENUM ({LABELS})")
    owner.execute('CREATE DOMAIN once AS char(3) COLLATE "POSIX"; CREATE DOMAIN twice AS once')
    owner.execute("CREATE DOMAIN own_label AS label")
    columns = ", ".join(f'"{name}" {kind}' for name, (kind, _) in kinds.items())
    owner.execute(f"CREATE TABLE kinds ({columns})")
    marks = ", ".join(["%s"] * len(kinds))
    for place in ROW:
        values = [texts[place] for _, texts in kinds.values()]
        owner.execute(f"INSERT INTO kinds VALUES ({marks})", values)


def test_texts_of_every_kind_are_compared_by_their_characters(shop):
    owner, engine = shop
    fill(owner, KINDS)
    check_texts(engine, {name: values for name, (_, values) in KINDS.items()})


@pytest.fixture
def icu_shop(icu_server):
    """A database whose own collation is a human language's."""
    with psycopg.connect(icu_server.url(), autocommit=True) as owner:
        owner.execute("DROP DATABASE IF EXISTS icu WITH (FORCE)")
        owner.execute(
            "CREATE DATABASE icu TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'de-DE' LOCALE 'C' ENCODING 'UTF8'"
        )
    with psycopg.connect(icu_server.url("icu"), autocommit=True) as owner:
        yield owner, connect(icu_server.url("icu"))


def test_collations_of_human_languages_do_not_show(icu_shop):
    owner, engine = icu_shop
    owner.execute("CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    owner.execute("CREATE COLLATION ai (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
    kinds = KINDS | {
        "nocase": ("text COLLATE ci", VALUES),
        "accents": ("text COLLATE ai", VALUES),
        "short": ("char(3) COLLATE ci", SHORT),
    }
    fill(owner, kinds)
    check_texts(engine, {name: values for name, (_, values) in kinds.items()})


def test_a_collation_without_case_makes_keys_but_no_foreign_keys(icu_shop):
    owner, engine = icu_shop
    owner.execute("CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    owner.execute("CREATE TABLE c (name text COLLATE ci PRIMARY KEY)")
    owner.execute("CREATE TABLE o (name text COLLATE ci REFERENCES c)")
    owner.execute("INSERT INTO c VALUES ('a')")
    owner.execute("INSERT INTO o VALUES ('A')")  # no row of c is 'A'
    tables = engine.catalogue()
    assert (tables["c"].keys, tables["o"].references) == ((("name",),), ())


HOSTILE_SETTINGS = {
    "standard_conforming_strings": "off",
    "backslash_quote": "on",
    "escape_string_warning": "on",
    "transform_null_equals": "on",
    "array_nulls": "off",
    "TimeZone": "Asia/Tokyo",
    "DateStyle": "German, DMY",
    "IntervalStyle": "sql_standard",
    "extra_float_digits": "-15",
    "bytea_output": "escape",
    "xmloption": "document",
    "gin_fuzzy_search_limit": "1",
    "search_path": "evil, pg_catalog, public",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "client_encoding": "LATIN1",
    "quote_all_identifiers": "on",
}
EVIL = """
    CREATE SCHEMA evil;
    CREATE FUNCTION evil.length(text) RETURNS int LANGUAGE sql AS 'SELECT 42';
    CREATE FUNCTION evil.always(text, text) RETURNS bool LANGUAGE sql AS 'SELECT true';
    CREATE FUNCTION evil.always(name, name) RETURNS bool LANGUAGE sql AS 'SELECT true';
    CREATE FUNCTION evil.always(bigint, integer) RETURNS bool LANGUAGE sql AS 'SELECT true';
    CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.always);
    CREATE OPERATOR evil.= (LEFTARG = name, RIGHTARG = name, FUNCTION = evil.always);
    CREATE OPERATOR evil.< (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = evil.always);
    CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE sql AS 'SELECT ''on''::text';
    CREATE FUNCTION evil.more(numeric, bigint) RETURNS numeric LANGUAGE sql AS 'SELECT 7::numeric';
    CREATE AGGREGATE evil.sum(bigint) (SFUNC = evil.more, STYPE = numeric, INITCOND = '7');
    CREATE DOMAIN evil.bigint AS text;
"""


def hostile_load(backend, server):
    def load(tables):
        backend.load(tables)
        owner = backend.owner
        owner.execute(EVIL)
        for name, value in HOSTILE_SETTINGS.items():
            shown = value if name == "search_path" else f"'{value}'"
            owner.execute(f"ALTER DATABASE {owner.info.dbname} SET {name} = {shown}")
        return connect(server.url(owner.info.dbname))

    return load


def test_neither_settings_nor_schemas_change_what_a_statement_means(postgresql_backend, server):
    check_backend(hostile_load(postgresql_backend, server), write=postgresql_backend.write)


def test_a_backslash_does_not_end_a_literal(postgresql_backend, server):
    """An analyst's literals, under settings in which a backslash would escape the quote behind it."""
    owner = postgresql_backend.owner
    owner.execute(f"ALTER DATABASE {owner.info.dbname} SET standard_conforming_strings = off")
    owner.execute(
        "CREATE TABLE t (id int, s text, u text); INSERT INTO t SELECT g, 'x', 'y' FROM generate_series(1, 20) g"
    )
    policy = {"version": 1, "dataset": "d", "budgets": {"ann": {"epsilon": 9}}, "tables": {"t": {}}}
    payload = " OR true) UNION ALL SELECT 1000000 * id FROM t WHERE id = 17 ORDER BY 1 DESC LIMIT 1 --"
    with sordino.connect(server.url(owner.info.dbname), policy=policy) as curator:
        sql = f"SELECT COUNT(*) FROM t WHERE s = '\\' AND u = '{payload}'"
        assert curator.explain(sql, epsilon=1).reveal()["exact"] == 0


def test_a_database_of_another_encoding_is_refused(server):
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute("DROP DATABASE IF EXISTS latin")
        owner.execute("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    with pytest.raises(EngineError, match=r"server_encoding of PostgreSQL is 'LATIN1'.*must be 'UTF8'"):
        connect(server.url("latin")).catalogue()


def test_types_and_casts_of_the_databases_own_are_not_taken_for_built_in_ones(shop):
    owner, engine = shop
    owner.execute("CREATE DOMAIN public.text AS integer; CREATE TYPE public.int8 AS (a integer)")
    owner.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
    owner.execute(
        "CREATE FUNCTION lie(mood) RETURNS pg_catalog.text LANGUAGE sql AS 'SELECT ''glad''::pg_catalog.text'"
    )
    owner.execute("CREATE CAST (mood AS pg_catalog.text) WITH FUNCTION lie(mood)")
    owner.execute("CREATE TABLE t (a public.text, b public.int8, c mood)")
    owner.execute("INSERT INTO t VALUES (5, ROW(1), 'sad')")
    assert [column.type for column in engine.catalogue()["t"].columns] == ["integer", "other", "text"]
    assert ask(engine, "SELECT c FROM t").to_pydict() == {"c": ["sad"]}


def test_views_in_disguise_are_views(shop):
    owner, engine = shop
    owner.execute(
        """
        CREATE TABLE plain (k int); CREATE UNLOGGED TABLE unlogged (k int);
        CREATE TABLE secured (k int); ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
        CREATE TABLE mother (k int); CREATE TABLE child () INHERITS (mother);
        CREATE TABLE parts (k int) PARTITION BY LIST (k); CREATE TABLE part PARTITION OF parts FOR VALUES IN (1);
        CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER far FOREIGN DATA WRAPPER nothing;
        CREATE TABLE mixed (k int) PARTITION BY LIST (k);
        CREATE TABLE middle PARTITION OF mixed FOR VALUES IN (1) PARTITION BY LIST (k);
        CREATE FOREIGN TABLE away PARTITION OF middle FOR VALUES IN (1) SERVER far;
        CREATE MATERIALIZED VIEW kept AS SELECT k FROM plain; CREATE VIEW v AS SELECT k FROM plain;
        """
    )
    views = {name: table.view for name, table in engine.catalogue().items()}
    assert views == dict.fromkeys(("plain", "unlogged", "parts"), False) | dict.fromkeys(
        ("secured", "mother", "child", "part", "mixed", "middle", "kept", "v"), True
    )
    policy = {"version": 1, "dataset": "d", "budgets": {}, "tables": {"secured": {}}}
    with pytest.raises(ParameterError, match="is a view"):
        sordino.connect(engine, policy=policy)


def test_virtual_generated_columns_do_not_exist_for_questions(shop):
    owner, engine = shop
    if owner.info.server_version < 180000:
        pytest.skip("virtual generated columns come with PostgreSQL 18")
    owner.execute(
        "CREATE TABLE t (id int, v int GENERATED ALWAYS AS (100 / id) VIRTUAL, "
        "s int GENERATED ALWAYS AS (id + 1) STORED)"
    )
    owner.execute("INSERT INTO t (id) VALUES (0), (1)")
    found = engine.catalogue()["t"]
    assert [column.name for column in found.columns] == ["id", "s"]
    assert [(name, "virtual" in reason) for name, reason in found.left_out] == [("v", True)]
    assert ask(engine, "SELECT COUNT(s) AS n FROM t").to_pydict() == {"n": [2]}
    with pytest.raises(EngineError):
        ask(engine, "SELECT COUNT(v) AS n FROM t")


def test_moments_at_the_edge_do_not_raise_whatever_the_servers_time_zone(postgresql_backend, server):
    owner = postgresql_backend.owner
    owner.execute(f"ALTER DATABASE {owner.info.dbname} SET timezone = 'Asia/Tokyo'")
    owner.execute("CREATE TABLE t (m timestamptz); INSERT INTO t VALUES ('294276-12-31 23:59:59+00')")
    engine = connect(server.url(owner.info.dbname))
    found = ask(engine, "SELECT COUNT(*) AS n FROM t WHERE CAST(m AS timestamp) > timestamp '2020-01-01'")
    assert found.to_pydict() == {"n": [1]}


def test_names_reach_the_tables_that_are_meant(shop):
    """Quotes, dots and case in names; a table of a name in a schema before; names that would be cut."""
    owner, engine = shop
    odd = 'x"y; -- ${HOME} `z` é'
    quoted = odd.replace('"', '""')
    owner.execute(
        f'CREATE TABLE "{quoted}" ("{quoted}" int, "b.c" text); INSERT INTO "{quoted}" VALUES (1, \'d\')'
    )
    owner.execute('CREATE TABLE "T" (a int); INSERT INTO "T" VALUES (1); CREATE TABLE t (a text)')
    owner.execute("CREATE TABLE pg_class (a int)")
    assert set(engine.catalogue()) == {odd, "T", "t", "public.pg_class"}
    with engine.snapshot() as snapshot:
        table = exp.Table(this=exp.to_identifier(odd, quoted=True))
        query = exp.select(exp.column(odd, quoted=True), exp.column("b.c", table=odd, quoted=True)).from_(
            table
        )
        assert [column.to_pylist() for column in snapshot.aggregate(query).columns] == [[1], ["d"]]
        for name, count in (('"T"', 1), ("t", 0)):
            found = snapshot.aggregate(parse_one(f"SELECT COUNT(a) AS n FROM {name}", dialect="postgres"))
            assert found.to_pydict() == {"n": [count]}
        for name in ("pg_settings", "pg_catalog.pg_settings", "pg_class"):
            with pytest.raises(ParameterError, match="no table"):
                snapshot.aggregate(parse_one(f"SELECT 1 AS one FROM {name}"))
        with pytest.raises(UnsupportedError, match="63 bytes"):
            snapshot.aggregate(parse_one(f"SELECT a AS {'x' * 64} FROM t"))


@pytest.mark.parametrize("column", ["ctid", "xmin", "tableoid", "t"])
def test_columns_of_the_system_cannot_be_asked_about(shop, column):
    owner, engine = shop
    owner.execute("CREATE TABLE t (a int)")
    policy = {"version": 1, "dataset": "d", "budgets": {"ann": {"epsilon": 1}}, "tables": {"t": {}}}
    with pytest.raises(ParameterError, match="no column"):
        sordino.connect(engine, policy=policy).explain(f"SELECT COUNT({column}) FROM t", epsilon=1)


def test_one_statement_is_sent(shop, monkeypatch):
    """Behind the writer of texts: PostgreSQL itself refuses a second statement."""
    monkeypatch.setattr("sordino.engines.postgresql.write", lambda *_: "SELECT 1 AS n; SELECT 2 AS n")
    with pytest.raises(EngineError) as refused:
        ask(shop[1], "SELECT 1 AS n")
    assert "multiple commands" in refused.value.details.reveal()
