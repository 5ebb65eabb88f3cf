"""Account: what one analyst, or all analysts of a data set together, may spend and has spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sordino.ledger.composition import Amount
from sordino.ledger.limit import Limit, describe_amount


@dataclass(frozen=True, slots=True)
class Account:
    """A limit and what was spent of it; ``analyst`` None is the cap of the data set over all analysts.

    ``suspended``: a question failed after it was paid for, and the owner has not resumed the account since.

    >>> import sordino as sd
    >>> from sordino.ledger import Ledger, Limit
    >>> guarantee = sd.Guarantee(sd.Loss(epsilon=0.5), sd.add_remove_row(), "Laplace mechanism")
    >>> ledger = Ledger.in_memory()
    >>> account = ledger.grant("shop", "ann", Limit.of(epsilon=2), distance=guarantee.distance)
    >>> print(account, account.suspended)
    epsilon 2 left of epsilon 2 False
    """

    dataset: str
    analyst: str | None
    limit: Limit
    spent: Amount
    suspended: bool = False

    @property
    def left(self) -> Amount:
        """What may still be spent; nothing where the limit was lowered below what was spent."""
        limit = self.limit.amount
        return limit - self.spent if self.spent.within(limit) else Amount()

    @property
    def withdrawn(self) -> bool:
        """Whether the owner or the policy took this budget back: nobody can grant a limit of nothing."""
        return self.limit.amount == Amount()

    def __str__(self) -> str:
        left = self.limit.shown(self.left, left=True)
        state = "suspended until the owner resumes it; " if self.suspended else ""
        return f"{state}{left} left of {self.limit}"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from sordino.ledger.account_view import render_account

        return render_account(self)

    def plot(self) -> Any:
        """A bar of what is spent and left; a matplotlib figure."""
        from sordino.ledger.account_view import plot_account

        return plot_account(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        epsilon, delta = self.limit.statement(self.spent)
        return {
            "dataset": self.dataset,
            "analyst": self.analyst,
            "limit": self.limit.to_dict(),
            "spent": describe_amount(self.limit, self.spent),
            "left": describe_amount(self.limit, self.left, left=True),
            "loss_so_far": {"epsilon": epsilon, "delta": delta},
            "withdrawn": self.withdrawn,
            "suspended": self.suspended,
        }
