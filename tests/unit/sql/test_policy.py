"""Policies: what is accepted, and how each mistake is named."""

from __future__ import annotations

import datetime
import json
import re
from fractions import Fraction

import duckdb
import pytest
import yaml

import sordino as sd
from sordino.core import ParameterError, Place
from sordino.engines import Column, Reference, Table
from sordino.sql.policy import ColumnName, DeclaredBudget, Policy
from sordino.sql.policy.text import write_policy

TEXT = """
version: 1
dataset: shop
protects: row
tables:
  orders:
    key: id
    weight: 2
    columns:
      id: integer
      amount: {type: "decimal(10, 2)", bounds: [0, 99.5], granularity: 0.1}
      region: {type: text, domain: [EU, US, null]}
      day: {type: date, domain: [2024-01-31, "2024-02-29"]}
  regions: {private: false}
budgets:
  ann: {epsilon: 0.3, delta: 1e-6}
  bob: {rho: 0.1, at_delta: 1e-6}
cap: {epsilon: 2}
"""
CATALOGUE = {
    "orders": Table(
        "orders",
        (
            Column("id", "integer"),
            Column("amount", "decimal"),
            Column("region", "text"),
            Column("day", "date"),
        ),
    ),
    "regions": Table("regions", (Column("name", "text"),)),
}


def with_column(content, **table):
    return {"version": 1, "dataset": "x", "tables": {"orders": {"columns": {"amount": content}, **table}}}


def in_yaml(content):
    return f"version: 1\ndataset: x\ntables:\n  orders:\n    columns:\n      amount: {content}\n"


def test_numbers_are_taken_as_they_are_written():
    policy = Policy.load(TEXT)
    amount = policy.tables["orders"].columns["amount"]
    assert amount.bounds == (0, Fraction(199, 2))
    assert amount.granularity == Fraction(1, 10)
    assert policy.budgets["ann"] == DeclaredBudget(epsilon=Fraction(3, 10), delta=Fraction(1, 10**6))
    assert policy.budgets["bob"] == DeclaredBudget(rho=Fraction(1, 10), at_delta=Fraction(1, 10**6))
    assert policy.cap == DeclaredBudget(epsilon=Fraction(2))
    assert policy.tables["orders"].weight == 2
    assert policy.tables["orders"].key == ("id",)
    assert policy.tables["orders"].columns["day"].domain == (
        datetime.date(2024, 1, 31),
        datetime.date(2024, 2, 29),
    )


def test_tables_are_private_unless_declared_public():
    policy = Policy.load(TEXT)
    assert policy.tables["orders"].private
    assert not policy.tables["regions"].private


def test_a_policy_is_the_same_as_yaml_json_dict_and_file(tmp_path):
    content = {
        "version": 1,
        "dataset": "x",
        "tables": {"t": {"columns": {"a": {"bounds": [0, 1.5], "granularity": 0.1}}}},
    }
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(content))
    policy = Policy.load(content)
    assert policy == Policy.load(json.dumps(content)) == Policy.load(path) == Policy.load(str(path))
    assert Policy.load(policy) is policy
    assert policy.tables["t"].columns["a"].granularity == Fraction(1, 10)


def test_declared_types_are_handed_to_engines_as_written():
    assert Policy.load(TEXT).types() == {
        "orders": {"id": "integer", "amount": "decimal(10, 2)", "region": "text", "day": "date"},
        "regions": {},
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"version": 1, "dataset": "x", "tabels": {}}, "policy tabels is unknown.*did you mean 'tables'"),
        ({"version": 2, "dataset": "x", "tables": {"t": {}}}, "version must be 1"),
        ({"dataset": "x"}, "lacks 'version'"),
        ({"version": 1, "dataset": ""}, "dataset must be a text|tables is empty"),
        ({"version": 1, "dataset": "x"}, "tables is empty"),
        ({"version": 1, "dataset": "x", "tables": ["t"]}, "tables must be a mapping"),
        ({"version": 1, "dataset": "x", "tables": {"t": {}}, "protects": "user"}, "users lacks an entity"),
        ({"version": 1, "dataset": "x", "tables": {"t": {}}, "protects": "rows"}, "protects must be 'row'"),
        ({"version": 1, "dataset": "x", "tables": {"t": {}, "T": {}}}, "upper and lower case only"),
        (with_column({"bound": [0, 1]}), r"tables\.orders\.columns\.amount\.bound is unknown.*'bounds'"),
        (with_column({"type": "intger"}), r"tables\.orders\.columns\.amount\.type.*did you mean 'integer'"),
        (with_column({"type": 3}), "must be one of integer"),
        (with_column({"type": "integer", "bounds": [0, 1.5]}), "not a whole multiple of the granularity 1"),
        (with_column({"type": "integer", "granularity": 0.5}), "must be a whole number"),
        (with_column({"bounds": [0, 1], "granularity": 0.3}), "not a whole multiple"),
        (with_column({"bounds": [3, 1]}), "lo < hi"),
        (with_column({"bounds": [0]}), "a pair"),
        (with_column({"bounds": [0, "inf"]}), "must be a number"),
        (with_column({"bounds": [0, float("inf")]}), "must be finite"),
        (with_column({"bounds": [0, "1e999999999"]}), "must be a number"),
        (with_column({"type": "text", "bounds": [0, 1]}), "a column of type text has none"),
        (with_column({"type": "date", "bounds": [0, 1]}), "a column of type date has none"),
        (with_column({"type": "date", "bounds": ["2024-02-01", "2024-01-01"]}), "the first day before the last"),
        (with_column({"type": "integer", "bounds": ["2024-01-01", "2024-02-01"]}), "must be a number"),
        (with_column({"granularity": 0}), "must be > 0"),
        (with_column({"domain": "EU"}), "must be a list"),
        (with_column({"domain": []}), "must be a list"),
        (with_column({"domain": ["a", 1]}), "mixes types"),
        (with_column({"domain": ["a", "a"]}), "two values are equal"),
        (with_column({"domain": ["É", "e "]}), "two values are equal, or differ in case, accents or blanks only"),
        (with_column({"type": "text", "domain": [True]}), "True is not of type text"),
        (with_column({"type": "float", "domain": [1]}), "cannot be a group"),
        (with_column({"type": "date", "domain": ["soon"]}), "no date"),
        (with_column({"type": "integer", "domain": [2**63]}), "64 bits"),
        (with_column({}, private="yes"), "private must be true or false"),
        (with_column({}, weight=0), "weight must be > 0"),
        (with_column({}, wieght=1), "did you mean 'weight'"),
        (with_column({}, key=5), r"tables\.orders\.key must be a column name or a list of them, got 5"),
        (with_column({}, key={"id": 1}), "a field must be one of columns, enforced"),
        (with_column({}, key={"columns": "id", "enforced": 1}), "key.enforced must be true or false"),
        (with_column({}, key=["id", 3]), "must be a column name or a list"),
        (with_column({}, key=["id", "ID"]), "named twice"),
        ({"version": 1, "dataset": "x", "tables": {"t": {}}, "budgets": {"a": {"delta": 1}}}, "or advantage"),
        ({"version": 1, "dataset": "x", "tables": {"t": {}}, "budgets": {"a": {"rho": 1}}}, "belong together"),
        ({"version": 1, "dataset": "x", "tables": {"t": {}}, "cap": {"epsilon": -1}}, r"cap\.epsilon must be > 0"),
        ({"version": 1, "dataset": "x", "tables": {"t": {}}, "cap": {"epsilon": 1, "delta": 1}}, "< 1"),
        ("version: 1\nversion: 1\n", "line 2: 'version' is given twice"),
        ("version: [1\n", "not YAML or JSON at line"),
        ("version: 1\ndataset: [a, b: c: d]\n", r"line 2, column \d+ \('dataset: \[a, b: c: d\]'\): .*expected"),
        (in_yaml("{domain: [2024-01-01, 2024-13-01]}"), r"line 6, column 37 .*'2024-13-01' is no date \(month.*quotes"),
        (in_yaml("{type: decimal(6,1), bounds: [0, 1]}"), r"amount\.type is 'decimal\(6'.*in quotes"),
        (in_yaml("{type: decimal(6, 1)}"), r"amount\.type is 'decimal\(6'.*in quotes"),
        (in_yaml("!!bool maybe"), "line 6, column 15 .*'maybe' is no bool"),
        (in_yaml("!!timestamp soon"), "line 6, column 15 .*'soon' is no date"),
        (in_yaml("!!int much"), "line 6, column 15 .*'much' is no int"),
        (in_yaml("a\x01b"), "line 6, column 16 .*special characters"),
        (in_yaml("[" * 5000), "nested too deeply"),
        ("- 1\n- 2\n", "must be a mapping"),
        ("a: !!python/object/apply:os.system [ls]\n", "not YAML or JSON"),
        ("no-such-file.yaml", "cannot be read"),
        (3, "a dict, a path or YAML text"),
    ],
)  # fmt: skip
def test_mistakes_are_named_by_their_path(content, message):
    with pytest.raises(ParameterError, match=message):
        Policy.load(content)


def test_a_policy_fits_its_catalogue():
    Policy.load(TEXT).check(CATALOGUE)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("orders:", "ordes:", r"tables\.ordes: no table 'ordes'.*did you mean 'orders'"),
        ("      id: integer", "      ids: integer", r"tables\.orders\.columns\.ids.*did you mean 'id'"),
        ("id: integer", "id: text", r"columns\.id\.type is 'text', the database has 'integer'"),
        ("key: id", "key: idd", r"tables\.orders\.key: no column 'idd'.*did you mean 'id'"),
        ("{type: text, domain: [EU, US, null]}", "{domain: [1, 2]}", "1 is not of type text"),
        ("{type: text, domain: [EU, US, null]}", "{bounds: [1, 2]}", "a column of type text has none"),
        ("id: integer", "id: {bounds: [0.5, 2]}", "not a whole multiple"),
    ],
)
def test_what_the_catalogue_lacks_is_named_with_the_nearest(old, new, message):
    with pytest.raises(ParameterError, match=message):
        Policy.load(TEXT.replace(old, new)).check(CATALOGUE)


def test_the_written_policy_is_private_valid_and_fits():
    strange = Table("my table", (Column("no", "integer"), Column("a: b #", "text"), Column("x", "other")))
    catalogue = {**CATALOGUE, "my table": strange}
    text = write_policy(catalogue, "shop: main")
    policy = Policy.load(text)
    policy.check(catalogue)
    assert policy.dataset == "shop: main"
    assert set(policy.tables) == set(catalogue)
    assert all(table.private for table in policy.tables.values())
    assert "# bounds: [0, 100]" in text
    for words in (
        "# Types: integer, decimal, float, text,",
        "Empty cells of a CSV file",
        "it changes no noise",
    ):
        assert words in text
    assert max(len(line) for line in text.splitlines()) <= 120
    with pytest.raises(ParameterError, match="no tables"):
        write_policy({}, "x")


def make_keyed(name, columns, keys=(), references=()):
    kinds = tuple(Column(column, "integer", nullable=False) for column in columns)
    return Table(name, kinds, keys=keys, references=references)


KEYED = {
    table.name: table
    for table in (
        make_keyed("customers", ["id", "referrer", "country"], (("id",), ("country", "id")), (
            Reference(("country",), "countries", ("id",)),
            Reference(("referrer",), "customers", ("id",)),
        )),
        make_keyed("orders", ["id", "customer"], (("id",),), (Reference(("customer",), "customers", ("id",)),)),
        make_keyed("items", ["order", "a", "b"], (), (
            Reference(("a", "b"), "customers", ("country", "id")),
            Reference(("order",), "orders", ("id",)),
        )),
        make_keyed("countries", ["id"], (("id",),)),
    )
}  # fmt: skip


def test_the_written_policy_has_the_keys_of_the_catalogue():
    text = write_policy(KEYED, "shop")
    policy = Policy.load(text)
    policy.check(KEYED)
    assert policy.protects == "row"
    assert policy.tables["customers"].key == ("id",)
    assert {name: [str(key.to) for key in table.foreign_keys] for name, table in policy.tables.items()} == {
        "countries": [], "customers": ["countries.id", "customers.id"], "items": ["orders.id"],
        "orders": ["customers.id"],
    }  # fmt: skip
    # countries is reached from all tables, customers from three
    assert "# The database has foreign keys to countries.id, customers.id, orders.id" in text
    assert "id: {type: integer}    # never NULL; bounds" in text
    assert "no two rows share [country, id] either" in text
    assert "a, b → customers (country, id)" in text


def test_the_written_policy_protects_users():
    text = write_policy(KEYED, "shop", ["Customers.ID"])
    policy = Policy.load(text)
    policy.check(KEYED)
    assert policy.users == (ColumnName("customers", "id"),)
    # nobody owns a country, and whether countries are public is for the owner to say
    assert set(policy.tables) == {"customers", "orders", "items"}
    assert "# countries is left out: no enforced foreign key leads from it to customers.id" in text
    assert "referrer → customers (id): it would close a circle" in text
    public = text.replace("  # countries:\n", "  countries:\n    private: false\n").replace(
        "#   columns:\n", "#\n", 1
    )
    assert not Policy.load(public).tables["countries"].private


def test_users_of_files_are_written_without_keys():
    catalogue = {
        "people": Table("people", (Column("nr", "text"),)),
        "visits": Table("visits", (Column("person", "text"),)),
    }
    text = write_policy(catalogue, "clinic", ["people.nr"])
    assert set(Policy.load(text).tables) == {"people"}
    assert "# key: {columns: [nr], enforced: true}" in text
    assert "foreign_keys: {people_nr: people.nr}" in text


@pytest.mark.parametrize(
    ("users", "message"),
    [
        (["customer.id"], "did you mean 'customers'"),
        (["customers.nr"], "no column 'nr' in table 'customers'"),
        (["customers"], "such as customers.id, got 'customers'"),
        (["customers.id", "customers.referrer"], "one entity only"),
        (["v.x"], "no table 'v'"),
        (["f.x"], "f.x is of type float"),
    ],
)
def test_users_that_are_none_are_refused(users, message):
    catalogue = KEYED | {
        "v": Table("v", (Column("x", "integer"),), view=True),
        "f": Table("f", (Column("x", "float"),)),
    }
    with pytest.raises(ParameterError, match=re.escape(message)):
        write_policy(catalogue, "shop", users)


def test_labels_become_a_domain():
    labels = ("red", "it's", "Zürich", 'a "b"\\', "\n", "\U0001f600", "null", "1")
    catalogue = {
        "t": Table(
            "t",
            (
                Column("colour", "text", labels=labels),
                Column("twins", "text", labels=("a", "A")),
                Column("\U0001f600 #", "text"),
            ),
        )
    }
    policy = Policy.load(write_policy(catalogue, "d"))
    policy.check(catalogue)
    columns = policy.tables["t"].columns
    assert columns["colour"].domain == labels
    # some engine may take them for equal: the owner decides
    assert columns["twins"].domain is None
    assert "\U0001f600 #" in columns


def test_names_that_differ_in_case_only_are_left_out():
    columns = (Column("a", "integer"), Column("A", "integer"), Column("b", "integer"))
    catalogue = {name: Table(name, columns) for name in ("t", "T", "u")}
    policy = Policy.load(write_policy(catalogue, "d"))
    policy.check(catalogue)
    assert {name: list(table.columns) for name, table in policy.tables.items()} == {"u": ["b"]}


def test_a_private_view_must_be_said_to_be_one():
    catalogue = {
        "t": Table("t", (Column("x", "integer"),)),
        "v": Table("v", (Column("x", "integer"),), view=True),
    }
    content = {"version": 1, "dataset": "d", "tables": {"t": {}, "v": {}}, "budgets": {}}
    with pytest.raises(ParameterError, match="v is a view"):
        Policy.load(content).check(catalogue)
    for said in ({"view": True}, {"private": False}):
        Policy.load(content | {"tables": {"v": said}}).check(catalogue)
    text = write_policy(catalogue, "d")
    assert list(Policy.load(text).tables) == ["t"]
    assert "# v is a view" in text


def test_a_column_that_is_computed_when_read_cannot_be_declared():
    catalogue = {"t": Table("t", (Column("x", "integer"),), left_out=(("y", "it is computed: store it"),))}
    policy = Policy.load(
        {"version": 1, "dataset": "d", "tables": {"t": {"columns": {"y": {"bounds": [0, 1]}}}}}
    )
    with pytest.raises(ParameterError, match=r"policy tables\.t\.columns\.y: it is computed: store it"):
        policy.check(catalogue)


SHOP = """# a shop
version: 1
dataset: shop
tables:
  orders:
    weight: {weight}
    columns:
      a.b: {{type: {type}}}
      city: {{type: text, domain: [Rome, {second}]}}
budgets:
  ann: {{epsilon: {epsilon}}}
"""


@pytest.mark.parametrize(
    ("changes", "path", "line", "column"),
    [
        ({"weight": "heavy"}, "tables.orders.weight", 6, 5),
        ({"type": "number"}, "tables.orders.columns.a.b.type", 8, 13),
        ({"epsilon": -1}, "budgets.ann.epsilon", 11, 9),
        ({"epsilon": "1, rho: 1"}, "budgets.ann", 11, 3),
        ({"weight": "1\n    wieght: 2"}, "tables.orders.wieght", 7, 5),
        ({"second": 3}, "tables.orders.columns.city.domain", 9, 26),
    ],
)
def test_an_error_has_the_path_of_its_field_and_its_place_in_the_text(changes, path, line, column, tmp_path):
    text = SHOP.format(**({"weight": 1, "type": "integer", "epsilon": 1, "second": "Oslo"} | changes))
    (tmp_path / "policy.yaml").write_text(text)
    for source in (text, tmp_path / "policy.yaml"):
        with pytest.raises(ParameterError, match=f"policy {path}") as wrong:
            Policy.load(source)
        assert wrong.value.place == Place(line, column, path)
    with pytest.raises(ParameterError, match=f"policy {path}") as wrong:
        Policy.load(yaml.safe_load(text))
    assert wrong.value.place == Place(path=path)


def test_a_field_that_is_not_there_has_the_place_around_it():
    with pytest.raises(ParameterError, match="policy tables must be a mapping") as wrong:
        Policy.load("version: 1\ndataset: shop\ntables: 3\n")
    assert wrong.value.place == Place(3, 1, "tables")
    with pytest.raises(ParameterError, match="lacks 'dataset'") as wrong:
        Policy.load("version: 1\n")
    assert wrong.value.place == Place(path="file")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(ssn) FROM t",
        "SELECT COUNT(*) FROM t WHERE t.SSN = 1",
        "SELECT COUNT(*) FROM t JOIN t AS u USING (ssn)",
        "SELECT COUNT(*) FROM (SELECT ssn AS x FROM t) AS s WHERE x = 1",
        "SELECT COUNT(*) FROM (SELECT * FROM t) AS s WHERE ssn = 1",
        "SELECT ssn, COUNT(*) FROM t GROUP BY ssn",
        "SELECT COUNT(*) FROM t ORDER BY ssn",
    ],
)
def test_a_hidden_column_cannot_be_named(sql):
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (ssn INTEGER, age INTEGER)")
    content = {
        "version": 1,
        "dataset": "d",
        "tables": {"t": {"columns": {"Ssn": {"hidden": True, "domain": [1, 2]}}}},
        "budgets": {"ann": {"epsilon": 1}},
    }
    with sd.connect(connection, policy=content) as curator:
        with pytest.raises((sd.ParameterError, sd.UnsupportedError)):
            curator.session("ann").query(sql, 0.5)
        curator.session("ann").query("SELECT COUNT(age) FROM (SELECT * FROM t) AS s", 0.5)


@pytest.mark.parametrize("written", ["010", "0x10", "0b11", "1:30"])
def test_numbers_are_what_people_read(written):
    """YAML takes 010 for eight and 1:30 for ninety."""
    text = f"version: 1\ndataset: d\nprotects: row\ntables: {{t: {{}}}}\nbudgets: {{ann: {{epsilon: {written}}}}}\n"
    if written == "010":
        assert Policy.load(text).budgets["ann"].epsilon == 10
    else:
        with pytest.raises(ParameterError, match="must be a number"):
            Policy.load(text)
