"""Paying for a library call: how functions that release something take ``ledger=`` and ``account=``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from sordino.core import Guarantee, ParameterError, Release
from sordino.ledger.event import write_question_key
from sordino.ledger.ledger import Ledger

# What functions take as ``ledger=`` and ``account=``: (data set, analyst).
LedgerSource = Ledger | str | os.PathLike[str]
AccountName = tuple[str, str]


def pay_for(release: Release, ledger: LedgerSource | None, account: AccountName | None) -> Release:
    """Give the release back once it is in the ledger: paid for by the account, and stored.

    ``account``: the names of the data set and of the analyst. Without a ledger nothing is counted.
    **Guarantee**: that of the ledger. The value was drawn before it is paid for, in the owner's process, and leaves it
    afterwards only: whether the budget suffices depends on what the release costs, which does not depend on the data.
    **Requires**: one name of a data set for one set of rows; the ledger cannot see which rows were asked about.
    """
    payer = find_payer(ledger, account)
    if payer is None:
        return release
    price = payer.pay(
        release.guarantee, lambda price: replace(release, guarantee=price).to_dict(), release.mechanism
    )
    return replace(release, guarantee=price)


def pay_before(
    guarantee: Guarantee, ledger: LedgerSource | None, account: AccountName | None, *, mechanism: str
) -> Guarantee:
    """The same for what is no single value, such as a fitted model: it is paid for before it is drawn."""
    payer = find_payer(ledger, account)
    if payer is None:
        return guarantee
    return payer.pay(
        guarantee, lambda price: {"guarantee": price.to_dict(), "mechanism": mechanism}, mechanism
    )


def find_payer(ledger: LedgerSource | None, account: AccountName | None) -> Payer | None:
    """Both or neither: who pays, or None."""
    if ledger is None and account is None:
        return None
    if ledger is None or account is None:
        missing = "ledger= (a Ledger or its file)" if ledger is None else "account= (data set, analyst)"
        raise ParameterError(f"ledger= and account= belong together: {missing} is missing")
    if not isinstance(ledger, Ledger | str | os.PathLike):
        raise ParameterError(f"ledger must be a Ledger or the path of one, got {type(ledger).__name__}")
    pair = isinstance(account, tuple | list) and len(account) == 2
    if not pair or not all(isinstance(name, str) and name.strip() for name in account):
        raise ParameterError(f"account must be the names of a data set and an analyst, got {account!r}")
    return Payer(ledger, *account)


@dataclass(frozen=True, slots=True)
class Payer:
    """An account in a ledger that is open, or in a file that is opened for each payment."""

    ledger: LedgerSource
    dataset: str
    analyst: str

    def pay(
        self, guarantee: Guarantee, content: Callable[[Guarantee], Mapping[str, Any]], mechanism: str
    ) -> Guarantee:
        """Pay for a guarantee and store what ``content`` says; the guarantee in the data set's own Distance."""
        with self._opened() as book:
            price = book.convert(self.dataset, guarantee)
            question = write_question_key(f"library call: {mechanism}")
            book.spend(
                self.dataset, self.analyst, price, question, lambda: content(price), mechanism=mechanism
            )
        return price

    def _opened(self) -> AbstractContextManager[Ledger]:
        if isinstance(self.ledger, Ledger):
            return nullcontext(self.ledger)
        return Ledger.open(self.ledger, create=False)
