"""DataSet: an engine, a policy and a ledger together; the one thing that every front door holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import NoReturn

from sordino.core import Distance, EngineError, ParameterError
from sordino.curator.accounts import Accounts
from sordino.engines import Engine, Table
from sordino.ledger.amount_text import write_rounded_up
from sordino.sql.policy import Policy


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DataSet:
    """Data behind an engine, what their owner has declared about them, and who has paid for what.

    ``catalogue``: the tables that the policy was checked with. Curator, Session and command line are fronts of it:
    whatever they are asked goes through `sordino.curator.answer`.
    """

    engine: Engine
    policy: Policy
    catalogue: Mapping[str, Table]
    accounts: Accounts

    @property
    def distance(self) -> Distance:
        """What all losses are counted per."""
        return self.accounts.distance

    @property
    def digest(self) -> str:
        """A short name of all but the policy's budgets: another policy makes another question."""
        told = asdict(self.policy)
        told = {
            name: told[name]
            for name in told
            if name not in ("budgets", "cap", "least_epsilon", "answer_every", "most_pairs")
        }
        content = json.dumps(told, sort_keys=True, default=str)
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def check_reachable(self) -> None:
        """Before anything is paid for: the engine answers, and has the tables that the policy was checked with."""
        if self.engine.catalogue() != self.catalogue:
            raise EngineError("the tables have changed since they were connected: connect again")

    def check_epsilon(self, epsilon: Fraction) -> None:
        """Refuse a question that costs less than the policy says: each tells whether the engine fails."""
        least = self.policy.least_epsilon
        if epsilon < least:
            raise ParameterError(
                f"epsilon must be at least {write_rounded_up(least)}, which is least_epsilon in the policy of data set "
                f"{self.policy.dataset!r}, got {write_rounded_up(epsilon)}"
            )

    def check_rho(self, rho: Fraction) -> None:
        """The same for zCDP: an ε costs ε²/2 there, so that is the least ρ."""
        least = self.policy.least_epsilon**2 / 2
        if rho < least:
            raise ParameterError(
                f"rho must be at least {write_rounded_up(least)}, half of the square of least_epsilon in the policy of "
                f"data set {self.policy.dataset!r}, got {write_rounded_up(rho)}"
            )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a data set holds a database and a ledger and stays in its process: connect again there"
        )

    def __repr__(self) -> str:
        return f"DataSet({self.policy.dataset!r} on {self.engine.name})"
