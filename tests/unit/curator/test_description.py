"""What an analyst may know without asking: the policy and the catalogue, without what is hidden."""

from __future__ import annotations

import duckdb
import pytest

import sordino as sd
from sordino.curator.description import read_metadata

POLICY = {
    "version": 1,
    "dataset": "shop",
    "protects": "user",
    "users": "customers.id",
    "tables": {
        "customers": {
            "columns": {"city": {"domain": ["Rome", "Oslo", None]}, "secret_diagnosis": {"hidden": True}},
        },
        "orders": {
            "foreign_keys": {"Customer": "customers.id", "partner": "partners.secret_nr"},
            "columns": {
                "amount": {"bounds": [0, 99.5], "granularity": 0.5},
                "SECRET_flag": {"hidden": True},
            },
        },
        "partners": {"private": False, "columns": {"secret_nr": {"hidden": True}}},
    },
    "budgets": {"ann": {"epsilon": 2}},
}


@pytest.fixture
def curator():
    with duckdb.connect() as owner:
        owner.execute("CREATE TABLE partners (secret_nr INTEGER PRIMARY KEY, name VARCHAR UNIQUE)")
        owner.execute(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, city VARCHAR, secret_diagnosis VARCHAR)"
        )
        owner.execute(
            "CREATE TABLE orders (customer INTEGER, partner INTEGER, amount DECIMAL(10, 2), secret_flag INTEGER)"
        )
        owner.execute("INSERT INTO customers VALUES (1, 'Rome', 'private-cell')")
        owner.execute("CREATE TABLE unlisted (secret_thing INTEGER)")
        with sd.connect(owner, policy=POLICY) as curator:
            yield curator


def test_tables_tell_the_policy_and_nothing_that_is_hidden(curator):
    known = curator.session("ann").tables()
    customers, orders, partners = known.tables
    assert (customers.private, partners.private) == (True, False)
    assert customers.key == ("id",)
    assert [column.name for column in orders.columns] == ["customer", "partner", "amount"]
    assert orders.foreign_keys == (("customer", "customers.id"),)
    assert (customers.owners, orders.owners, partners.owners) == (("customer",), ("customer",), ())
    # the primary key is hidden, the other one is not
    assert partners.key == ("name",)
    shown = f"{known} {known._repr_html_()} {known.to_dict()} {known.to_pandas()}"
    assert "secret" not in shown.lower()
    assert "private-cell" not in shown
    assert "unlisted" not in shown


def test_tables_have_types_bounds_domains_and_a_budget(curator):
    known = curator.session("ann").tables()
    assert known.to_dict()["tables"][1]["columns"][2] == {
        "name": "amount", "type": "decimal(10, 2)", "bounds": [0, 99.5], "period": None, "granularity": 0.5,
        "domain": None, "fixed": False,
    }  # fmt: skip
    assert known.to_dict()["budget"]["left"]["epsilon"] == 2
    text = str(known)
    for words in (
        "shop: losses are per one customer with all their rows added or removed",
        "budget: epsilon 2 left of epsilon 2",
        "customers (private; rows of one customer; no two rows share id)",
        "partners (public; no two rows share name)",
        "decimal(10, 2)  0 to 99.5 in steps of 0.5",
        "one of Rome, Oslo, NULL",
    ):
        assert words in text
    frame = known.to_pandas()
    assert list(frame["column"]) == ["id", "city", "customer", "partner", "amount", "name"]
    assert frame["high"][4] == 99.5


def test_one_table_is_described_by_a_name_in_any_case(curator):
    session = curator.session("ann")
    described = session.describe("ORDERS")
    assert described == session.tables().tables[1]
    assert str(described).startswith("orders (private; rows of one customer; customer → customers.id)\n")
    assert list(described.to_pandas()["column"]) == ["customer", "partner", "amount"]
    assert "<table" in described._repr_html_()
    with pytest.raises(sd.ParameterError, match="no table 'unlisted'"):
        session.describe("unlisted")


def test_who_has_no_budget_is_told_nothing(curator):
    with pytest.raises(sd.SordinoError, match="eve"):
        curator.session("eve").tables()


def test_describing_spends_nothing_and_reads_no_rows(curator, monkeypatch):
    def refuse(self):
        raise AssertionError("a snapshot was opened")

    monkeypatch.setattr(type(curator.data.engine), "snapshot", refuse)
    curator.session("ann").tables()
    assert curator.session("ann").budget().spent.loss == 0


@pytest.mark.parametrize(
    "sql", ["DESCRIBE orders", "desc Orders ;", 'DESCRIBE TABLE "orders"', "describe `orders`"]
)
def test_sql_that_describes_a_table(curator, sql):
    assert read_metadata(sql)(curator.data, "ann").name == "orders"


@pytest.mark.parametrize("sql", ["SHOW TABLES", " show  tables;", "DESCRIBE", "desc"])
def test_sql_that_lists_tables(curator, sql):
    assert [table.name for table in read_metadata(sql)(curator.data, "ann").tables] == list(POLICY["tables"])


@pytest.mark.parametrize(
    "sql",
    ["SELECT 1", "DESCRIBE SELECT 1", "DESCRIBE a; DROP TABLE a", "SHOW", "DESCRIBE a b", "DESCRIBED x", ""],
)
def test_other_sql_is_no_metadata(sql):
    assert read_metadata(sql) is None


def test_a_question_that_describes_says_where_to_look(curator):
    with pytest.raises(sd.UnsupportedError, match=r"session\.tables\(\)"):
        curator.session("ann").query("DESCRIBE orders", 1)
