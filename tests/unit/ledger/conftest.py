"""A ledger in a file, and guarantees to spend."""

import pytest

import sordino as sd
from sordino.ledger import Ledger, Limit


def pure(epsilon, delta=0.0, theorem="some mechanism", distance=None):
    return sd.Guarantee(sd.Loss(epsilon=epsilon, delta=delta), distance or sd.add_remove_row(), theorem)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.ledger"


@pytest.fixture
def ledger(path):
    with Ledger.open(path) as book:
        book.grant("shop", "ann", Limit.of(epsilon=1, delta=1e-6))
        yield book
