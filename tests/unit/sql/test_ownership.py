"""Who owns the rows of a table: ways of foreign keys to entities, and how each mistake in them is named."""

from __future__ import annotations

import pytest

from sordino.core import ParameterError
from sordino.engines import Column, Table
from sordino.sql.policy import Policy

SHOP = """
version: 1
dataset: shop
protects: user
users: customers.id
min_units: 10
most_per_unit: 5000
tables:
  customers: {key: id}
  orders: {key: {columns: id, enforced: true}, foreign_keys: {customer_id: Customers.ID}}
  items: {foreign_keys: {order_id: orders.id, product_id: products.id}, columns: {amount: {bounds: [0, 10]}}}
  products: {private: false}
"""
CATALOGUE = {
    name: Table(name, tuple(Column(column, kind) for column, kind in columns.items()))
    for name, columns in {
        "customers": {"ID": "integer"},
        "orders": {"id": "integer", "customer_id": "integer"},
        "items": {"order_id": "integer", "product_id": "text", "amount": "integer"},
        "products": {"id": "text"},
    }.items()
}


def test_rows_are_owned_along_all_ways():
    policy = Policy.load(SHOP)
    assert (policy.protects, policy.min_units, policy.most_per_unit) == ("user", 10, 5000)
    assert [[hop.column for hop in path.hops] for path in policy.owner_paths("customers")] == [[]]
    assert [[hop.column for hop in path.hops] for path in policy.owner_paths("items")] == [
        ["order_id", "customer_id"]
    ]
    assert [policy.tables[name].key_enforced for name in ("orders", "customers")] == [True, False]
    policy.check(CATALOGUE)


def test_two_entities_and_two_ways_to_one():
    text = SHOP.replace("users: customers.id", "users: [customers.id, products.id]").replace(
        "products: {private: false}",
        "products: {key: id}\n  gifts: {foreign_keys: {giver: customers.id, taker: customers.id}}",
    )
    policy = Policy.load(text)
    assert {str(path.entity) for path in policy.owner_paths("items")} == {"customers.id", "products.id"}
    assert [path.hops[0].column for path in policy.owner_paths("gifts")] == ["giver", "taker"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("users: customers.id", "users: products.id", "users: products is public"),
        ("users: customers.id", "users: customer.id", "no table 'customer' in the policy: did you mean 'customers'"),
        ("users: customers.id", "users: id", "users must be a column such as customers.id, got 'id'"),
        ("users: customers.id", "users: [customers.id, customers.ID]", "an entity is named twice"),
        ("users: customers.id", "users: []", "users lacks an entity"),
        ("users: customers.id", "users: [customers.id, customers.name]", "a table can be one entity only, by one key"),
        ("users: customers.id", "users: customers.idd",
         r"tables\.orders\.foreign_keys\.customer_id leads to customers\.ID, and users names customers\.idd"),
        ("customer_id: Customers.ID", "customer_id: customers.key",
         r"leads to customers\.key, and users names customers\.id"),
        ("customer_id: Customers.ID", "customer_id: customers",
         "must be a column such as customers.id, got 'customers'"),
        ("customer_id: Customers.ID", "customer_id: customers.id, CUSTOMER_ID: customers.id",
         "two names differ in upper and lower case only"),
        ("customers: {key: id}", "customers: {key: [id, id]}", r"customers\.key: a column is named twice"),
        ("min_units: 10", "min_units: 2.5", "min_units must be a whole number of at least 1, got '2.5'"),
        ("min_units: 10", "min_units: true", "min_units must be a whole number of at least 1, got True"),
        ("protects: user", "protects: row", "users is for 'protects: user'"),
        ("min_units: 10", "min_units: 0", "min_units must be a whole number of at least 1, got 0"),
        ("min_units: 10", "keys_per_unit: 0", "keys_per_unit must be a whole number of at least 1, got 0"),
        ("most_per_unit: 5000", "most_per_unit: 0", "most_per_unit must be > 0"),
        ("customer_id: Customers.ID", "customer_id: clients.id", "no table 'clients' in the policy"),
        ("key: {columns: id, enforced: true}, foreign_keys: {customer_id: Customers.ID}", "key: id",
         r"tables\.orders: no way of foreign_keys leads from orders to customers\.id"),
        ("customers: {key: id}", "customers: {key: id, weight: 2}", r"customers\.weight: rows have no weights"),
        ("customers: {key: id}", "customers: {key: id, view: true}", "may be made of the rows of several users"),
        ("customers: {key: id}", "customers: {key: id, foreign_keys: {best: orders.id}}",
         "own one another in a circle"),
        ("customers: {key: id}", "customers: {key: id, foreign_keys: {friend: customers.id}}",
         "own one another in a circle"),
    ],
)  # fmt: skip
def test_mistakes_are_named(old, new, message):
    assert old in SHOP
    with pytest.raises(ParameterError, match=message):
        Policy.load(SHOP.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("customer_id: Customers.ID", "client: customers.id", r"foreign_keys\.client: no column 'client' in 'orders'"),
        ("product_id: products.id", "product_id: orders.id", "items.product_id is text, orders.id is integer"),
        ("order_id: orders.id,", "order_id: orders.id, amount: products.nr,", "no column 'products.nr'"),
    ],
)  # fmt: skip
def test_keys_fit_the_catalogue(old, new, message):
    assert old in SHOP
    with pytest.raises(ParameterError, match=message):
        Policy.load(SHOP.replace(old, new)).check(CATALOGUE)


def test_an_entity_has_its_key():
    policy = {
        "version": 1,
        "dataset": "shop",
        "protects": "user",
        "users": "customers.nr",
        "tables": {"customers": {}},
    }
    with pytest.raises(ParameterError, match=r"no column 'customers\.nr'"):
        Policy.load(policy).check(CATALOGUE)
