"""What real clients ask of the catalogue before an analyst asks anything: all is answered, nothing is paid."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
from pathlib import Path

import asyncpg
import duckdb
import pytest
import sqlalchemy as sa

from tests.e2e.server.serving import serving

SHOP = {
    "version": 1,
    "dataset": "shop",
    "protects": "user",
    "users": "customers.id",
    "tables": {
        "customers": {"columns": {"city": {"domain": ["Rome", "Oslo"]}, "card": {"hidden": True}}},
        "orders": {
            "foreign_keys": {"customer": "customers.id"},
            "columns": {"amount": {"bounds": [0, 100]}},
        },
    },
    "budgets": {"ann": {"epsilon": 1000}},
}
JAR = Path("/usr/share/java/postgresql.jar")
PSQL = (r"\d", r"\d customers", r"\d+ orders", r"\dt+", r"\di", r"\dp", r"\l", r"\dn+", r"\du", r"\db", r"\df",
        r"\dT", r"\dC", r"\do", r"\dx", r"\dy", r"\dRp")  # fmt: skip


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    made = duckdb.connect()
    made.execute(
        """
        CREATE TABLE customers (id BIGINT PRIMARY KEY, city VARCHAR, card BIGINT);
        INSERT INTO customers SELECT i, 'Rome', 77 FROM range(90) t(i);
        CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT REFERENCES customers (id), amount BIGINT);
        INSERT INTO orders SELECT i, i % 90, 5 FROM range(900) t(i);
        """
    )
    with serving(tmp_path_factory.mktemp("shop"), policy=SHOP, data=made, names=["ann"]) as running:
        yield running


@pytest.fixture
def unpaid(shop):
    before = shop.spent("ann")
    yield
    assert shop.spent("ann") == before


def url(shop, driver="postgresql"):
    host, port = shop.postgres
    return f"{driver}://ann:{shop.tokens['ann']}@{host}:{port}/shop"


@pytest.mark.parametrize("command", PSQL)
def test_psql_has_its_commands(shop, unpaid, command):
    if shutil.which("psql") is None:
        pytest.skip("no psql on this machine")
    done = subprocess.run(
        ["psql", "-X", url(shop), "-c", command], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "ERROR" not in done.stderr
    assert "card" not in done.stdout
    if command == r"\d customers":
        assert '"customers_pkey" PRIMARY KEY, btree (id)' in done.stdout
        assert (
            'TABLE "orders" CONSTRAINT "orders_customer_fkey" FOREIGN KEY (customer) REFERENCES customers(id)'
            in done.stdout
        )


def test_sqlalchemy_reflects_tables_with_their_keys(shop, unpaid):
    engine = sa.create_engine(url(shop, "postgresql+psycopg"))
    found = sa.inspect(engine)
    assert set(found.get_table_names()) == {"customers", "orders"}
    assert [column["name"] for column in found.get_columns("customers")] == ["id", "city"]
    assert found.get_pk_constraint("customers")["constrained_columns"] == ["id"]
    (reference,) = found.get_foreign_keys("orders")
    assert reference["constrained_columns"] == ["customer"]
    assert (reference["referred_table"], reference["referred_columns"]) == ("customers", ["id"])
    assert found.get_schema_names() == ["information_schema", "public"]
    for nothing in (
        "get_view_names",
        "get_materialized_view_names",
        "get_sequence_names",
        "get_enums",
        "get_domains",
    ):
        assert not getattr(found, nothing)(), nothing
    for nothing in ("get_unique_constraints", "get_check_constraints"):
        assert not getattr(found, nothing)("orders"), nothing
    data = sa.MetaData()
    data.reflect(engine)
    assert {str(key.target_fullname) for key in data.tables["orders"].foreign_keys} == {"customers.id"}
    engine.dispose()


def test_asyncpg_reads_lists_and_vectors(shop, unpaid):
    async def ask():
        connection = await asyncpg.connect(url(shop))
        try:
            keys = await connection.fetch("SELECT indkey, indnatts FROM pg_index ORDER BY indexrelid")
            references = await connection.fetch(
                "SELECT conkey, confkey FROM pg_constraint WHERE contype = 'f'"
            )
            names = await connection.fetch(
                "SELECT relname, relacl FROM pg_class WHERE relkind = ANY($1::text[]) ORDER BY relname",
                ["r", "p"],
            )
            typed = await connection.fetch(
                "SELECT typname FROM pg_type WHERE oid = ANY($1::oid[]) ORDER BY oid", [20, 25]
            )
        finally:
            await connection.close()
        return [[tuple(row) for row in rows] for rows in (keys, references, names, typed)]

    keys, references, names, typed = asyncio.run(asyncio.wait_for(ask(), 60))
    assert keys == [([1], 1), ([1], 1)]
    assert references == [([2], [1])]
    assert names == [("customers", ["=r/owner"]), ("orders", ["=r/owner"])]
    assert typed == [("int8",), ("text",)]


def test_jdbc_answers_all_of_its_metadata(shop):
    if shutil.which("java") is None or not JAR.exists():
        pytest.skip("no java, or no driver of PostgreSQL for it (Debian: libpostgresql-jdbc-java)")
    host, port = shop.postgres
    told = subprocess.run(
        ["java", "-cp", str(JAR), str(Path(__file__).with_name("Metadata.java")),
         f"jdbc:postgresql://{host}:{port}/shop", "ann", shop.tokens["ann"]],
        capture_output=True, text=True, timeout=120, check=False, env=os.environ,
    )  # fmt: skip
    assert "FAILED" not in told.stdout, told.stdout
    lines = dict(re.findall(r"^([a-z ]+): (.*)$", told.stdout, re.MULTILINE))
    assert set(lines["tables"].split()) == {"customers", "orders"}
    assert (lines["columns"], lines["types of columns"]) == ("id customer amount", "int8 int8 int8")
    assert (lines["keys"], lines["best"], lines["indexes"]) == ("id", "id", "customers_pkey")
    assert (lines["imported"], lines["exported"], lines["crossing"]) == ("customer", "orders", "id")
    assert set(lines["privileges"].split()) == {"SELECT"}
    assert not lines["procedures"]
    assert len(re.findall(r"^count: -?\d+$", told.stdout, re.MULTILINE)) == 7


def test_names_of_columns_are_not_taken_for_those_of_the_shadow(shop, unpaid):
    """A bare ``oid`` given to a function is the column of the question, not one of the function's own tables."""
    engine = sa.create_engine(url(shop, "postgresql+psycopg"))
    with engine.connect() as connection:
        rows = connection.execute(
            sa.text("SELECT oid::regtype::text, typname FROM pg_type WHERE oid IN (16, 20)")
        )
        assert {tuple(row) for row in rows} == {("boolean", "bool"), ("bigint", "int8")}
        rows = connection.execute(sa.text("SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r'"))
        assert {row[0] for row in rows} == {"customers", "orders"}
    engine.dispose()
