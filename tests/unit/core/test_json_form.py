"""Numbers in JSON are written one way, whatever type they have in Python."""

import json
import math
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sordino.core import Secret
from sordino.core.json_form import json_text, plain_data
from sordino.ledger import Ledger, Limit


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (3, "3"),
        (2**70, str(2**70)),
        (np.int32(3), "3"),
        (True, "true"),
        (np.bool_(False), "false"),
        (0.1, "0.1"),
        (np.float64(0.1), "0.1"),
        (Decimal("0.1"), "0.1"),
        (Fraction(1, 4), "0.25"),
        (1e-7, "1e-07"),
        (math.inf, '"inf"'),
        (-np.inf, '"-inf"'),
        (math.nan, '"nan"'),
        (Fraction(10**400), '"inf"'),
        (date(2024, 2, 29), '"2024-02-29"'),
        (None, "null"),
        (Secret(7), '"<secret>"'),
    ],
    ids=str,
)
def test_a_number_has_one_form(value, written):
    assert json.loads(json_text({"value": value})) == {"value": json.loads(written)}
    assert written in json_text({"value": value})


def test_arrays_and_nested_data_are_plain():
    nested = {"a": np.array([[1.0, math.inf]]), 3: ({"b": Fraction(1, 2)}, frozenset([1]))}
    assert plain_data(nested) == {"a": [[1.0, "inf"]], "3": [{"b": 0.5}, [1]]}


def test_what_has_no_form_is_an_error_and_not_a_text():
    with pytest.raises(TypeError, match="object has no JSON form"):
        plain_data({"a": object()})


def test_the_amounts_of_a_budget_are_numbers_of_the_digits_that_a_person_is_shown():
    with Ledger.in_memory() as ledger:
        account = ledger.grant("shop", "ann", Limit.of(epsilon=0.1, delta=1e-7))
        third = ledger.grant("shop", "bob", Limit.of(rho=Fraction(1, 3), at_delta=1e-6))
        event = ledger.history()[0].to_dict()
    assert json.loads(json_text(account.to_dict()))["limit"] == {"epsilon": 0.1, "delta": 1e-7}
    assert third.to_dict()["limit"] == {"rho": 0.333333333333, "delta": 0.0, "at_delta": 1e-6}
    assert (event["epsilon"], event["delta"]) == (0.1, 1e-7)
