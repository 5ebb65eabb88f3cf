"""Curator: the owner's side of a data set."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from sordino.core import Distance, Release, Secret
from sordino.core.closing import Closing
from sordino.curator.accounts import Accounts
from sordino.curator.dataset import DataSet
from sordino.curator.questions.sql import plan_sql
from sordino.curator.risk_words import say_risk
from sordino.curator.row_check import RowCheck, check_rows
from sordino.curator.session import Session
from sordino.engines import Engine
from sordino.ledger import Account, Ledger
from sordino.mechanisms.names import GridNoiseName, SqlMechanismName
from sordino.sql.answering.explain import explain_plan
from sordino.sql.answering.forecast import list_public_noises
from sordino.sql.answering.plan import AnswerOptions, AnswerPlan
from sordino.sql.policy import Policy
from sordino.sql.units.explain import explain_units
from sordino.sql.units.plan import UnitPlan
from sordino.sql.values.explain import explain_values
from sordino.sql.values.plan import ValuePlan

OWNER = "owner"


class Curator(Closing):
    """Data, policy and ledger in one hand: the owner's. Analysts get sessions.

    >>> import pyarrow as pa
    >>> import sordino as sd
    >>> policy = {"version": 1, "dataset": "shop", "protects": "row", "tables": {"orders": {}}}
    >>> policy["budgets"] = {"ann": {"epsilon": 2}}
    >>> tables = {"orders": pa.table({"id": range(500)})}
    >>> with sd.connect(tables, policy=policy) as curator:
    ...     facts = curator.explain("SELECT COUNT(*) FROM orders", epsilon=0.5)
    >>> print(facts, facts.reveal()["numbers"][0]["exact"])
    <secret> 500.0
    """

    def __init__(
        self, engine: Engine, policy: Policy, ledger: Ledger | str | os.PathLike[str] | None, *, owned: bool
    ) -> None:
        """``owned``: close the engine with the curator."""
        catalogue = engine.catalogue()
        policy.check(catalogue)
        self.data = DataSet(engine, policy, catalogue, Accounts(ledger, policy))
        self._owned = owned

    @property
    def policy(self) -> Policy:
        """What was declared."""
        return self.data.policy

    @property
    def distance(self) -> Distance:
        """What all losses are counted per."""
        return self.data.distance

    def session(self, analyst: str) -> Session:
        """Questions of one analyst; the budget is the policy's or the ledger's for that name."""
        return Session(self.data, analyst)

    def query(self, sql: str, epsilon: Any = None, delta: Any = 0.0, **options: Any) -> Release:
        """The owner's own session: a release like any analyst's, paid by the account named ``owner``.

        What the owner publishes is seen by all, so it needs a budget too: ``budgets: {owner: {epsilon: …}}``.
        A question that fails after it was paid for suspends this account like any other; `resume` lifts it.
        For the owner's eyes alone there is `explain`.
        """
        return self.session(OWNER).query(sql, epsilon, delta, **options)

    def resume(self, analyst: str) -> Account:
        """Lift the suspension of an analyst's account: the owner's act, after looking at what failed."""
        return self.data.accounts.resume(analyst)

    def explain(
        self,
        sql: str,
        epsilon: Any = None,
        delta: Any = 0.0,
        *,
        rho: Any = None,
        mechanism: SqlMechanismName | None = None,
        noise: GridNoiseName | None = None,
        error_share: Any = 0.0,
        analyses: Sequence[str] | str | None = None,
        filters: str | None = None,
    ) -> Secret[dict[str, Any]]:
        """Exact answer, bounds, noise and error of a question, as a Secret of plain data; spends nothing.

        NOT PRIVATE: all of it follows the rows. It is for the owner, who chooses ε by it.
        """
        options = AnswerOptions.checked(
            epsilon,
            delta,
            rho=rho,
            mechanism=mechanism,
            noise=noise,
            error_share=error_share,
            analyses=analyses,
        )
        plan = self.plan(sql, options, filters)
        if isinstance(plan, ValuePlan):
            facts = explain_values(self.data.engine, plan, self.data.policy, self.data.catalogue)
        elif isinstance(plan, UnitPlan):
            facts = explain_units(self.data.engine, plan)
        else:
            facts = explain_plan(self.data.engine, plan)
        noises = list_public_noises(plan) if isinstance(plan, AnswerPlan) else ()
        return Secret(facts | {"risk": say_risk(plan.guarantee, noises)})

    def check_rows(self) -> Secret[RowCheck]:
        """Whether the rows keep to the policy: its keys, foreign keys, conditions, bounds and domains.

        NOT PRIVATE: counts of rows. It is for the owner, who finds out what the policy takes for granted.
        """
        return Secret(check_rows(self.data))

    def plan(
        self, sql: str, options: AnswerOptions, filters: str | None = None
    ) -> AnswerPlan | UnitPlan | ValuePlan:
        """Read, check and plan a question: no private row is touched, nothing is spent."""
        return plan_sql(self.data, sql, options, filters)

    def close(self) -> None:
        """Close what was opened here: the engine unless it was given, the ledger unless it was given."""
        self.data.accounts.close()
        if self._owned:
            self.data.engine.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Curator holds a database and a ledger and stays in its process: connect again there"
        )

    def __repr__(self) -> str:
        return f"Curator({self.policy.dataset!r} on {self.data.engine.name})"


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

    >>> import pyarrow as pa
    >>> import sordino as sd
    >>> policy = {"version": 1, "dataset": "shop", "protects": "row", "tables": {"orders": {}}}
    >>> policy["budgets"] = {"ann": {"epsilon": 2}}
    >>> tables = {"orders": pa.table({"id": range(500)})}
    >>> with sd.connect(tables, policy=policy) as curator:
    ...     release = curator.session("ann").query("SELECT COUNT(*) FROM orders", epsilon=0.5)
    >>> print(release.guarantee.loss, "within", release.error)
    ε = 0.5 within 6.0
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
