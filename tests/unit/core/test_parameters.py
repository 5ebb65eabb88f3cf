"""Numbers that callers give: exact where they can be, and refused where they are more digits than a memory holds."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from sordino.core import ParameterError
from sordino.core.parameters import as_written, exact, from_text

HUGE = ["1e-999999999", "1e999999999", "-1e-99999", "1E+12345"]


@pytest.mark.parametrize("text", HUGE)
def test_a_short_text_is_no_fraction_of_a_billion_digits(text):
    with pytest.raises(ParameterError, match="epsilon"):
        from_text("epsilon", text)
    for read in (exact, as_written):
        with pytest.raises(ParameterError, match="epsilon"):
            read("epsilon", Decimal(text))


@pytest.mark.parametrize(
    ("text", "number"),
    [("0.1", Fraction(1, 10)), ("1/3", Fraction(1, 3)), ("1e-6", Fraction(1, 10**6)), ("010", Fraction(10))],
)
def test_a_text_is_the_number_that_is_written(text, number):
    assert from_text("epsilon", text) == number


@pytest.mark.parametrize("text", ["", "one", "1/0", "nan", "inf", "1" * 61, "0x10"])
def test_what_is_no_number_is_named(text):
    with pytest.raises(ParameterError, match="epsilon must be a number such as"):
        from_text("epsilon", text)


@pytest.mark.parametrize("text", ["NaN", "sNaN", "Infinity"])
def test_a_decimal_that_is_no_number_is_named(text):
    for read in (exact, as_written):
        with pytest.raises(ParameterError, match="epsilon must be finite"):
            read("epsilon", Decimal(text))


def test_decimals_are_exact():
    assert exact("epsilon", Decimal("0.1")) == as_written("epsilon", Decimal("0.1")) == Fraction(1, 10)
    smallest = Decimal.from_float(5e-324)  # all places of the smallest float
    assert exact("epsilon", smallest) == Fraction(5e-324)
