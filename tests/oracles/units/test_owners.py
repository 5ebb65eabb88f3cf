"""Owners, neighbours and joined results: hand-made databases, and every small one."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from tests.oracles.units.owners import (
    Join,
    Schema,
    joined_results,
    joined_rows,
    neighbours,
    remove_unit,
    row_owners,
    units,
)

SHOP = Schema(
    entities={"customer": "id", "supplier": "id"},
    foreign_keys={
        "orders": {"customer_id": ("customer", "id")},
        "item": {"order_id": ("orders", "id"), "supplier_id": ("supplier", "id")},
    },
    public=frozenset({"nation"}),
)
ITEMS = Join({"o": "orders", "i": "item"}, [(("o", "id"), ("i", "order_id"))])


def shop(customers, orders, items, suppliers=(), nations=()):
    return {
        "customer": [{"id": i} for i in customers],
        "supplier": [{"id": i} for i in suppliers],
        "orders": [{"id": i, "customer_id": c} for i, c in orders],
        "item": [{"order_id": o, "supplier_id": s} for o, s in items],
        "nation": [{"id": i} for i in nations],
    }


def customer(i):
    return ("customer", i)


def supplier(i):
    return ("supplier", i)


def test_owners_are_found_over_two_hops_and_for_two_entities():
    owners = row_owners(shop([1, 2], [(10, 1), (20, 2)], [(10, 7), (20, 7), (20, 8)], [7]), SHOP)
    assert owners["customer"] == [{customer(1)}, {customer(2)}]
    assert owners["orders"] == [{customer(1)}, {customer(2)}]
    assert owners["item"] == [{customer(1), supplier(7)}, {customer(2), supplier(7)}, {customer(2)}]


def test_dangling_and_null_keys_reach_nobody():
    data = shop([1, None], [(10, 9), (20, None), (None, 1)], [(10, None), (None, None)])
    owners = row_owners(data, SHOP)
    assert owners["customer"] == [{customer(1)}, set()]
    assert owners["orders"] == [set(), set(), {customer(1)}]
    assert owners["item"] == [set(), set()]
    assert units(data, SHOP) == {customer(1)}
    assert joined_results(data, SHOP, ITEMS) == []


def test_a_key_that_is_not_unique_gives_several_owners():
    data = shop([1, 2], [(10, 1), (10, 2)], [(10, None)])
    assert row_owners(data, SHOP)["item"] == [{customer(1), customer(2)}]
    results = joined_results(data, SHOP, ITEMS)
    assert [r.owners for r in results] == [{customer(1), customer(2)}] * 2
    assert remove_unit(data, SHOP, customer(1)) == shop([2], [(10, 2)], [])


def test_two_entity_rows_with_one_key_are_one_unit_and_leave_together():
    data = shop([1, 1, 2], [(10, 1), (20, 2)], [])
    assert neighbours(data, SHOP) == {
        customer(1): shop([2], [(20, 2)], []),
        customer(2): shop([1, 1], [(10, 1)], []),
    }


def test_a_circle_of_ownership_is_refused():
    boss = Schema({"staff": "id"}, {"staff": {"boss": ("staff", "id")}})
    with pytest.raises(ValueError, match="circle"):
        row_owners({"staff": [{"id": 1, "boss": 1}]}, boss)


def test_public_rows_join_without_owners_and_weights_come_from_the_rows():
    data = shop([1], [(10, 1), (20, 5)], [], nations=[1, 1, 2])
    join = Join(
        {"o": "orders", "n": "nation"},
        [(("o", "customer_id"), ("n", "id"))],
        weight=lambda rows: rows["o"]["id"],
    )
    assert [(r.weight, r.owners) for r in joined_results(data, SHOP, join)] == [(10, {customer(1)})] * 2


def test_a_row_of_nobody_is_left_out_even_beside_owned_rows():
    """A cross join of one customer with two orders, one of them dangling, and with a public table."""
    data = shop([1], [(10, 1), (20, 9)], [], nations=[4])
    cross = Join({"c": "customer", "o": "orders", "n": "nation"}, weight=lambda rows: rows["o"]["id"])
    assert [r.weight for r in joined_results(data, SHOP, cross)] == [10]


def test_null_does_not_join_null():
    data = shop([1, 2], [(None, 1), (None, 2)], [])
    pairs = Join({"a": "orders", "b": "orders"}, [(("a", "id"), ("b", "id"))])
    assert joined_results(data, SHOP, pairs) == []


def test_a_self_join_has_the_owners_of_both_sides():
    data = shop([1, 2], [(10, 1), (10, 2)], [])
    pairs = Join({"a": "orders", "b": "orders"}, [(("a", "id"), ("b", "id"))])
    owners = Counter(r.owners for r in joined_results(data, SHOP, pairs))
    assert owners == {
        frozenset({customer(1)}): 1,
        frozenset({customer(2)}): 1,
        frozenset({customer(1), customer(2)}): 2,
    }


def test_rows_as_units_name_the_private_rows_of_a_result():
    data = shop([1], [(10, 1), (10, 1)], [(10, 7)])
    results = joined_rows(data, ITEMS)
    assert [r.owners for r in results] == [{("orders", 0), ("item", 0)}, {("orders", 1), ("item", 0)}]
    assert [r.owners for r in joined_rows(data, ITEMS, frozenset({"orders"}))] == [{("item", 0)}] * 2


def small_shops():
    """Customers within {1, 2}, repeated or not; up to two orders and items, keys dangling or repeated."""
    orders = [(10, 1), (10, 2), (20, 2), (20, 3)]
    items = [(10, 7), (20, 7), (20, 8), (30, 8)]
    for customers in ([], [1], [2], [1, 2], [1, 1, 2]):
        for chosen in itertools.chain(*(itertools.combinations(orders, k) for k in range(4))):
            for bought in itertools.combinations_with_replacement(items, 2):
                for suppliers in ([7], [7, 8]):
                    yield shop(customers, chosen, bought, suppliers)


def test_removing_a_unit_removes_exactly_the_results_it_owns_and_changes_no_other_owner():
    checked = 0
    for data in small_shops():
        before = Counter(joined_results(data, SHOP, ITEMS))
        owners = row_owners(data, SHOP)
        for unit, rest in neighbours(data, SHOP).items():
            kept = Counter({r: n for r, n in before.items() if unit not in r.owners})
            assert Counter(joined_results(rest, SHOP, ITEMS)) == kept
            after = row_owners(rest, SHOP)
            assert all(after[t] == [o for o in owners[t] if unit not in o] for t in data)
            checked += before != kept
    assert checked > 300


def test_an_anti_join_is_not_monotone():
    """A removed unit makes a result appear: orders without items, when the item's supplier goes."""
    data = shop([1], [(10, 1)], [(10, 7)], [7])

    def without_items(d):
        return sum(all(i["order_id"] != o["id"] for i in d["item"]) for o in d["orders"])

    assert without_items(data) == 0
    assert without_items(remove_unit(data, SHOP, supplier(7))) == 1
