"""A setting that does not hold is named with its value, what is needed, and what to do."""

from __future__ import annotations

import pytest

from sordino.core import EngineError
from sordino.engines.settings import check_settings, holds


@pytest.mark.parametrize(
    ("found", "needed"),
    [("on", "true"), ("OFF", "false"), (True, "true"), ("Etc/UTC", "UTC"), (None, ""), ("NONE", "none")],
)
def test_spellings_of_one_value_are_equal(found, needed):
    assert holds(found, needed)


@pytest.mark.parametrize(
    ("found", "needed"), [("on", "false"), ("Asia/Tokyo", "UTC"), (None, "UTC"), ("nocase", "")]
)
def test_other_values_are_not(found, needed):
    assert not holds(found, needed)


def test_what_does_not_hold_is_named():
    expected = "the setting zone of X is 'Mars' .* must be 'UTC': SET zone UTC"
    with pytest.raises(EngineError, match=expected):
        check_settings("X", {"zone": "Mars"}, {"zone": "UTC"}, lambda name, value: f"SET {name} {value}")
    check_settings("X", {}, {"zone": "UTC"}, lambda name, value: "a version that does not know it")
