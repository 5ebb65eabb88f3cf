"""Durable budgets: accounts, reserve–commit, and the record of every release."""

from sordino.ledger.account import Account
from sordino.ledger.anchor import Anchor
from sordino.ledger.batch import GaussianPart, LaplacePart, compose_batch
from sordino.ledger.composition import Amount
from sordino.ledger.event import Event, write_question_key
from sordino.ledger.ledger import Ledger
from sordino.ledger.limit import Limit
from sordino.ledger.reservation import NothingReleased, Reservation, StoredRelease
from sordino.ledger.tables import TABLE_KINDS

__all__ = [
    "TABLE_KINDS",
    "Account",
    "Amount",
    "Anchor",
    "Event",
    "GaussianPart",
    "LaplacePart",
    "Ledger",
    "Limit",
    "NothingReleased",
    "Reservation",
    "StoredRelease",
    "compose_batch",
    "write_question_key",
]
