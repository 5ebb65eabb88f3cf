"""The ledger of a data set, with the policy's budgets granted in it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sordino.core import Distance, Guarantee, ParameterError
from sordino.ledger import Account, Ledger, Limit, Reservation, StoredRelease
from sordino.ledger.place import find_ledger
from sordino.risk import limit_belief
from sordino.sql.policy import DeclaredBudget, Policy, describe_moves, describe_promises, name_unit

_MILLION = 10**6  # budgets that follow from a risk are shown, and held, to six digits


class Accounts:
    """The accounts of one data set.

    The policy's budgets and its cap are declared before the first question is paid for. The owner's latest word
    counts: what a policy repeats changes nothing, so that what was granted in the ledger since then holds; whom it
    names no more has no budget; who was granted one in the ledger alone keeps it. A ledger is made when the
    first question is accepted, not before, so that a refused question leaves nothing behind.
    """

    def __init__(self, source: Ledger | str | os.PathLike[str] | None, policy: Policy) -> None:
        self._policy = policy
        self._distance = distance_of(policy)
        check_risks(policy)
        self._limits = {
            analyst: _read_budget(f"budgets.{analyst}", budget) for analyst, budget in policy.budgets.items()
        }
        self._cap = None if policy.cap is None else _read_budget("cap", policy.cap)
        self._owned = not isinstance(source, Ledger)
        self._place: str | os.PathLike[str] | None = None
        self._declared = False
        self._ledger: Ledger | None = None
        if isinstance(source, Ledger):
            self._ledger = source
        elif source is None:
            self._ledger = Ledger.in_memory()
        elif isinstance(source, str | os.PathLike):
            self._place = source
            if find_ledger(source):
                self._ledger = Ledger.open(source, create=False)
        else:
            raise ParameterError(
                f"ledger must be a path, an address, a Ledger or None, got {type(source).__name__}"
            )

    @property
    def distance(self) -> Distance:
        """What all losses of the data set are counted per."""
        return self._distance

    def admit(self, analyst: str) -> None:
        """Before anything is read: the ledger agrees with the policy, and the analyst's account is not suspended."""
        if self._ledger is None and self._place is not None and find_ledger(self._place):
            self._ledger = Ledger.open(self._place, create=False)  # made by another process meanwhile
        if self._ledger is not None:
            self._declare_once(self._ledger)
            self._ledger.refuse_suspended(self._policy.dataset, analyst)

    def resume(self, analyst: str) -> Account:
        """`Ledger.resume` on the data set of the policy."""
        if self._ledger is None:
            return self.account(analyst)
        self._declare_once(self._ledger)
        return self._ledger.resume(self._policy.dataset, analyst)

    def account(self, analyst: str) -> Account:
        """What an analyst may spend and has spent; before the first question, by the policy alone."""
        if self._ledger is None:
            with Ledger.in_memory() as dry:
                self._declare(dry)
                return dry.account(self._policy.dataset, analyst)
        self._declare_once(self._ledger)
        return self._ledger.account(self._policy.dataset, analyst)

    def stored(self, analyst: str, question: str) -> StoredRelease | None:
        """The release of this question that this analyst has paid for; refused to who has no budget any more."""
        if self._ledger is None:
            return None
        self.account(analyst)
        return self._ledger.stored(self._policy.dataset, analyst, question)

    def reserve(
        self,
        analyst: str,
        guarantee: Guarantee,
        question: str,
        *,
        mechanism: str,
        parameters: Mapping[str, Any],
    ) -> Reservation:
        """`Ledger.reserve` on the data set of the policy: what is durably paid before a row is read."""
        if self._ledger is None:
            self._rehearse(analyst, guarantee, question)
            self._ledger = Ledger.open(self._place or "")
        self._declare_once(self._ledger)
        return self._ledger.reserve(
            self._policy.dataset,
            analyst,
            guarantee,
            question=question,
            mechanism=mechanism,
            parameters=parameters,
        )

    def prepare(self, analyst: str, guarantee: Guarantee | None, question: str) -> Ledger:
        """The ledger itself, with the budgets declared; made now unless it would refuse ``guarantee``."""
        if self._ledger is None:
            if guarantee is not None:
                self._rehearse(analyst, guarantee, question)
            self._ledger = Ledger.open(self._place or "")
        self._declare_once(self._ledger)
        return self._ledger

    def close(self) -> None:
        """Close what was opened here."""
        if self._owned and self._ledger is not None:
            self._ledger.close()

    def _rehearse(self, analyst: str, guarantee: Guarantee, question: str) -> None:
        """Refuse what a new ledger would refuse, without making its file."""
        with Ledger.in_memory() as dry:
            self._declare(dry)
            dry.reserve(self._policy.dataset, analyst, guarantee, question=question)

    def _declare_once(self, ledger: Ledger) -> None:
        if not self._declared:
            self._declare(ledger)
            self._declared = True

    def _declare(self, ledger: Ledger) -> None:
        ledger.declare(
            self._policy.dataset,
            self._limits,
            cap=self._cap,
            distance=self._distance,
            tables=tables_of(self._policy),
        )


def tables_of(policy: Policy) -> dict[str, str]:
    """What the rows of each table are, in the ledger's words: protected, protected as rows of a view, or public."""
    return {
        table.name: ("view" if table.view else "private") if table.private else "public"
        for table in policy.tables.values()
    }


def check_risks(policy: Policy) -> None:
    """Refuse budgets that are a risk where two databases with another unit are not two units of distance apart."""
    budgets = [*policy.budgets.values(), *([policy.cap] if policy.cap is not None else [])]
    heavy = [table.name for table in policy.tables.values() if table.private and table.weight != 1]
    if any(budget.advantage is not None for budget in budgets) and (policy.measured or heavy):
        raise ParameterError(
            "a budget is an advantage where rows of weight 1 or users are protected; give an epsilon here "
            "(sordino risk epsilon finds one for a norm)"
        )


def _read_budget(path: str, budget: DeclaredBudget) -> Limit:
    """The limit, or what the owner has to change; analysts are told nothing of each other's budgets."""
    try:
        return limit_of(budget)
    except ParameterError as error:
        raise ParameterError(f"policy {path}: {error}") from None


def limit_of(budget: DeclaredBudget) -> Limit:
    """A budget of the policy as a limit of the ledger; a risk becomes the ε that keeps beliefs about a unit within it.

    What a unit's rows hold lies two changes apart, and whether it is there one: two are reckoned with.
    """
    if budget.advantage is not None:
        prior = None if budget.prior is None else float(budget.prior)
        epsilon = limit_belief(float(budget.advantage), prior=prior, units=2)
        if math.isinf(epsilon):
            raise ParameterError(
                f"a belief of {float(budget.prior or 0):g} cannot rise by {float(budget.advantage):g}: every epsilon "
                "keeps to that; give a smaller advantage"
            )
        millionths = math.floor(epsilon * _MILLION)
        if not millionths:
            raise ParameterError(
                f"an advantage of {float(budget.advantage):g} allows less than the least epsilon of a budget, "
                "0.000001; give a larger advantage"
            )
        return Limit.of(epsilon=Fraction(millionths, _MILLION))
    return Limit.of(epsilon=budget.epsilon, delta=budget.delta, rho=budget.rho, at_delta=budget.at_delta)


def distance_of(policy: Policy) -> Distance:
    """One user with all their rows, moves of cells, or one row of one private table, counted by the table's weight."""
    if policy.users:
        return Distance(name_unit(policy.users), "add_remove", among=describe_promises(policy.tables))
    if policy.measured:
        return describe_moves(policy.tables, counts_rows=policy.counts_rows)
    weights = {table.name: table.weight for table in policy.tables.values() if table.private}
    told = tuple((name, float(weight)) for name, weight in sorted(weights.items()) if weight != 1)
    return Distance("row", "add_remove", told, describe_promises(policy.tables))
