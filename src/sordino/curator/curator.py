"""Curator: the owner's side of a data set."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from sordino.core import Distance, EngineError, ParameterError, Release, Secret, UnsupportedError
from sordino.curator.budgets import Accounts
from sordino.curator.session import Session, words_of
from sordino.engines import Engine, Table
from sordino.ledger import Account, Ledger
from sordino.ledger.amount_text import rounded_up
from sordino.sql.answering.explain import explanation
from sordino.sql.answering.plan import AnswerPlan, Options, make_plan
from sordino.sql.policy import Policy
from sordino.sql.question import Statement
from sordino.sql.reading.read import read_statement, with_public_keys

OWNER = "owner"
_NO_KEYS = (
    "the groups of a public table could not be read; nothing was spent. The owner finds the engine's own words in "
    ".details"
)


class Curator:
    """Data, policy and ledger in one hand: the owner's. Analysts get sessions.

    What a session needs of it before a question is paid for (`admit`, `plan`, `check_reachable`) touches no private
    row.
    """

    def __init__(
        self, engine: Engine, policy: Policy, ledger: Ledger | str | os.PathLike[str] | None, *, owned: bool
    ) -> None:
        """``owned``: close the engine with the curator."""
        self._engine = engine
        self._owned = owned
        self.policy = policy
        self._catalogue: dict[str, Table] = engine.catalogue()
        policy.check(self._catalogue)
        self._accounts = Accounts(ledger, policy)
        self.policy_digest = _digest(policy)

    def session(self, analyst: str) -> Session:
        """Questions of one analyst; the budget is the policy's or the ledger's for that name."""
        return Session(self, analyst)

    def query(self, sql: str, epsilon: Any, delta: Any = 0.0, **options: Any) -> Release:
        """The owner's own session: a release like any analyst's, paid by the account named ``owner``.

        What the owner publishes is seen by all, so it needs a budget too: ``budgets: {owner: {epsilon: …}}``.
        A question that fails after it was paid for suspends this account like any other; `resume` lifts it.
        For the owner's eyes alone there is `explain`.
        """
        return self.session(OWNER).query(sql, epsilon, delta, **options)

    def resume(self, analyst: str) -> Account:
        """Lift the suspension of an analyst's account: the owner's act, after looking at what failed."""
        return self._accounts.resume(analyst)

    def explain(
        self,
        sql: str,
        epsilon: Any,
        delta: Any = 0.0,
        *,
        noise: str | None = None,
        error_share: Any = 0.0,
        analyses: Sequence[str] | str | None = None,
    ) -> Secret[dict[str, Any]]:
        """Exact answer, bounds, noise and error of a question, as a Secret of plain data; spends nothing.

        NOT PRIVATE: all of it follows the rows. It is for the owner, who chooses ε by it.
        """
        options = Options.checked(epsilon, delta, noise=noise, error_share=error_share, analyses=analyses)
        plan = self.plan(sql, options)
        return Secret(explanation(self._engine, plan))

    def plan(self, sql: str, options: Options) -> AnswerPlan:
        """Read, check and plan a question: no private row is touched."""
        if not isinstance(sql, str):
            raise ParameterError(f"sql must be a text, got {type(sql).__name__}")
        if options.epsilon < self.policy.least_epsilon:
            raise ParameterError(
                f"epsilon must be at least {rounded_up(self.policy.least_epsilon)}, which is least_epsilon in the "
                f"policy of data set {self.policy.dataset!r}, got {rounded_up(options.epsilon)}"
            )
        statement = read_statement(
            sql, policy=self.policy, catalogue=self._catalogue, dialect=self._engine.dialect
        )
        if any(key.source is not None for key in statement.keys):
            statement = self._with_public_keys(statement)
        return make_plan(statement, options, self._accounts.distance)

    def admit(self, analyst: str) -> None:
        """Before anything is read: the policy fits what the ledger knows, and the account is not suspended."""
        self._accounts.admit(analyst)

    def _with_public_keys(self, statement: Statement) -> Statement:
        """Groups from the rows of public tables, which are no secret; a failure has one text and costs nothing."""
        self.check_reachable()
        failure = ""
        try:
            with self._engine.snapshot() as snapshot:
                return with_public_keys(statement, snapshot)
        except UnsupportedError:  # more groups than are released: a public table decides
            raise
        except Exception as error:
            failure = words_of(error)
        raise EngineError(_NO_KEYS, failure)

    def check_reachable(self) -> None:
        """Before anything is paid for: the engine answers, and has the tables that the policy was checked with."""
        if self._engine.catalogue() != self._catalogue:
            raise EngineError("the tables have changed since they were connected: connect again")

    @property
    def distance(self) -> Distance:
        """What all losses are counted per."""
        return self._accounts.distance

    def close(self) -> None:
        """Close what was opened here: the engine unless it was given, the ledger unless it was given."""
        self._accounts.close()
        if self._owned:
            self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Curator holds a database and a ledger and stays in its process: connect again there"
        )

    def __repr__(self) -> str:
        return f"Curator({self.policy.dataset!r} on {self._engine.name})"


def _digest(policy: Policy) -> str:
    """A short name of the policy's tables: another policy makes another question."""
    tables = asdict(policy)["tables"]
    content = json.dumps({"dataset": policy.dataset, "tables": tables}, sort_keys=True, default=str)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def connect(
    target: Any,
    *,
    policy: Policy | Mapping[str, Any] | str | Path,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
) -> Curator:
    """The curator of a data set.

    ``target``: a database URL, a folder of CSV and Parquet files, an open DuckDB connection, a SparkSession
    or frames, as `sordino.engines.connect` takes them; types of CSV columns come from the policy. ``policy``:
    a YAML or JSON file, a dict, or a Policy; checked against the catalogue now. ``ledger``: the file of the
    budgets (made when the first question is accepted), an open Ledger, or None for budgets that end with this
    process and are enforced all the same.

    Reads no rows and writes nothing.
    """
    from sordino.curator.target import open_target

    checked = Policy.load(policy)
    engine, owned = open_target(target, checked, memory_limit=memory_limit, threads=threads)
    try:
        return Curator(engine, checked, ledger, owned=owned)
    except BaseException:
        if owned:
            engine.close()
        raise
