"""Public names come with an example that can be pasted, and says what it prints."""

from __future__ import annotations

import doctest
import importlib
import inspect
import warnings

import pytest

from sordino import SordinoError

MODULES = (
    "sordino",
    *(f"sordino.{name}" for name in ("graphs", "learn", "audit", "ledger", "stats", "testing")),
)


def documented():
    """Every public function, and every public class but errors, which are raised by others."""
    for path in MODULES:
        module = importlib.import_module(path)
        for name in module.__all__:
            value = getattr(module, name)
            raised = inspect.isclass(value) and issubclass(value, SordinoError)
            if (inspect.isclass(value) or inspect.isfunction(value)) and not raised:
                yield pytest.param(value, id=f"{path}.{name}")


@pytest.mark.parametrize("value", list(documented()))
def test_the_example_of_a_public_name_runs_by_itself(value):
    example = doctest.DocTestParser().get_doctest(inspect.getdoc(value), {}, value.__name__, None, None)
    assert example.examples, f"{value.__name__} has no example"
    said = []
    with warnings.catch_warnings():
        outcome = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(
            example, out=said.append
        )
    assert outcome.failed == 0, "".join(said)
