"""Session: what one analyst may do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from sordino.core import ParameterError, Release
from sordino.curator.answer import answer_question
from sordino.curator.dataset import DataSet
from sordino.curator.description import Description, TableDescription, describe_data, describe_table
from sordino.curator.preview import Preview, preview_question
from sordino.curator.questions.sql import SqlQuestion
from sordino.curator.quote import Question, Quote
from sordino.ledger import Account
from sordino.mechanisms.names import (
    CountMechanismName,
    CountName,
    CriterionName,
    GridNoiseName,
    LeafName,
    MechanismName,
    MetricName,
    SqlMechanismName,
    TopKMechanismName,
    VotingName,
)

if TYPE_CHECKING:
    from sordino.curator.series import Series
    from sordino.learn import DecisionTreeClassifier, RandomForestClassifier


class Session:
    """Questions of one analyst, paid from that analyst's budget.

    Each kind of question is imported when it is first asked, so that a session for SQL starts without graph kernels.

    **What an analyst learns**: the releases that were paid for and, between two acts of the owner, which question
    failed first if one did; nothing else. Whether a question is accepted, what it costs and which noise it gets
    depend on its text, the policy, the catalogue and public tables. Engine errors have one fixed text.
    **Order of one question**: that of `sordino.curator.answer`, whatever is asked.
    **Not covered**: how long an answer takes depends on the rows. A session in the same process as the data can be
    taken apart by its holder: hand out answers, not sessions, to people who are not trusted with the process.

    >>> import pyarrow as pa
    >>> import sordino as sd
    >>> policy = {"version": 1, "dataset": "shop", "protects": "row", "tables": {"orders": {}}}
    >>> policy["budgets"] = {"ann": {"epsilon": 2}}
    >>> tables = {"orders": pa.table({"id": range(500)})}
    >>> with sd.connect(tables, policy=policy) as curator:
    ...     ann = curator.session("ann")
    ...     release = ann.query("SELECT COUNT(*) FROM orders", epsilon=0.5)
    ...     print(ann.budget())
    epsilon 1.5 left of epsilon 2
    """

    __slots__ = ("_analyst", "_data")

    def __init__(self, data: DataSet, analyst: str) -> None:
        if not isinstance(analyst, str) or not analyst.strip():
            raise ParameterError(f"analyst must be a name, got {analyst!r}")
        self._data = data
        self._analyst = analyst

    @property
    def analyst(self) -> str:
        """Whose budget pays."""
        return self._analyst

    def __repr__(self) -> str:
        return f"Session({self.analyst!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Session stays in the process that holds the data: hand out its answers instead")

    def budget(self) -> Account:
        """This analyst's account: its limit, what was spent and what is left, and whether it is suspended."""
        return self._data.accounts.account(self.analyst)

    def tables(self) -> Description:
        """What may be asked about: tables, columns, types, bounds, domains, keys, and the budget that is left.

        It costs nothing and reads no rows: all of it is in the policy and the catalogue. Hidden columns are not in it.
        """
        return describe_data(self._data, self.analyst)

    def describe(self, table: str) -> TableDescription:
        """The same of one table."""
        return describe_table(self._data, table)

    def query(
        self,
        sql: str,
        epsilon: Any = None,
        delta: Any = 0.0,
        *,
        rho: Any = None,
        mechanism: SqlMechanismName | None = None,
        noise: GridNoiseName | None = None,
        error_share: Any = 0.0,
        reuse: bool = False,
        non_negative: bool = False,
        analyses: Sequence[str] | str | None = None,
        filters: str | None = None,
    ) -> Release:
        """A private answer to one SELECT with COUNT, SUM, AVG or MEDIAN over inner joins, and what is made of them.

        Either ``epsilon`` is given, or ``rho`` for accounts of zCDP, which buys discrete Gaussian noise: for one table,
        where users are protected, and with ``mechanism="truncation"``.

        The value is a number (an int where the measure's step is whole, else a float), or with GROUP BY or
        several aggregates a list with one dict per group, empty groups included. MIN, MAX, MEDIAN and quantiles are
        values of the column's public lattice near a rank, drawn by permute-and-flip. ``noise`` for joins:
        "flared_laplace", "student_t" or "cauchy" (pure ε), or "laplace" (needs δ); None takes the best pure noise
        by public parameters, whether there is a δ or not. A question about one table gets discrete Laplace noise
        of its global sensitivity either way, and its error is public.
        ``error_share=0.1`` spends a tenth of ε on a 95 % error radius (`Release.error`, and ``…_error``
        columns). ``reuse`` answers a question whose numbers this analyst has paid for before from the ledger, at no
        cost, whatever names, HAVING, ORDER BY, LIMIT and arithmetic show them. ``non_negative`` moves negative
        counts to 0. ``analyses`` names the analyses that bound the sensitivity ("patterns", "residual", "elastic",
        and "solver" where keys are enforced); None takes the default of the question's shape. ``filters``, where what
        cells contain is protected: "exact", "ramp(WIDTH)" or "sigmoid(ALPHA)". ``mechanism`` where rows are protected:
        "smooth_bound", noise for what one row may change near these data, or "truncation", which cuts what a row adds
        at a limit that a part of the budget chooses and adds noise of that width; None takes smooth bounds.

        Several aggregates share ε and δ evenly (AVG is two); groups share them only where they do not
        partition the rows.
        """
        options = {
            "epsilon": epsilon,
            "delta": delta,
            "rho": rho,
            "mechanism": mechanism,
            "noise": noise,
            "error_share": error_share,
            "non_negative": non_negative,
            "analyses": analyses,
            "filters": filters,
        }
        return self._answer(SqlQuestion(sql, options), reuse)

    def preview(
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
    ) -> Preview:
        """What `query` would cost with these arguments, and the public part of its error; nothing is spent.

        It reads no private rows. The error of a question about one table is public; that of a join follows the rows,
        and is not known before.
        """
        options = {
            "epsilon": epsilon,
            "delta": delta,
            "rho": rho,
            "mechanism": mechanism,
            "noise": noise,
            "error_share": error_share,
            "analyses": analyses,
            "filters": filters,
        }
        return preview_question(self._data, self.analyst, SqlQuestion(sql, options))

    def quantile(
        self,
        column: str,
        q: float,
        *,
        epsilon: Any,
        step: Any = None,
        where: str | None = None,
        reuse: bool = False,
    ) -> Release:
        """A value near the q-quantile of a number column, named ``table.column``; NULLs do not count.

        The policy's bounds and granularity of the column are the lattice of the answer; ``step`` makes it coarser.
        ``where``: a condition in SQL that chooses rows. Permute-and-flip (`sordino.quantile`).
        """
        from sordino.curator.questions.quantile import QuantileQuestion

        return self._answer(QuantileQuestion(column, q, epsilon, step, where), reuse)

    def select(self, sql: str, *, epsilon: Any, reuse: bool = False) -> Release:
        """The group with the largest number: ``SELECT city, COUNT(*) FROM orders GROUP BY city``.

        All of ε goes to the choice, so it finds the largest group where `query` would drown all of them in noise. One
        private table, one COUNT or SUM; the value is that of the key, or a dict of several keys. Permute-and-flip
        (`sordino.select`).
        """
        from sordino.curator.questions.selection import LargestGroupQuestion

        return self._answer(LargestGroupQuestion(sql, epsilon), reuse)

    def count(
        self,
        edges: str,
        what: CountName,
        *,
        nodes: int | str,
        epsilon: Any,
        columns: tuple[str, str] | None = None,
        delta: float = 0.0,
        mechanism: CountMechanismName | None = None,
        k: int | None = None,
        step: int = 1,
        max_degree: int | None = None,
        non_negative: bool = False,
        reuse: bool = False,
    ) -> Release:
        """How many triangles, edges, … a graph has: `sordino.graphs.count` where each row of a table is an edge.

        ``edges``: the table; ``columns``: which two hold the ids, unless it has just two. ``nodes``: all ids, which are
        public: their number n for 0 … n − 1, or a column ``table.column`` of a public table. The others are explained
        there.
        """
        from sordino.curator.questions.graph import count_question

        options = {
            "delta": delta,
            "mechanism": mechanism,
            "k": k,
            "step": step,
            "max_degree": max_degree,
            "non_negative": non_negative,
        }
        question = count_question(edges, what, epsilon=epsilon, nodes=nodes, columns=columns, options=options)
        return self._answer(question, reuse)

    def top_k(
        self,
        edges: str,
        k: int,
        *,
        nodes: int | str,
        epsilon: Any,
        columns: tuple[str, str] | None = None,
        metric: MetricName = "ego_betweenness",
        mechanism: TopKMechanismName = "auto",
        max_degree: int | None = None,
        delta: float = 0.0,
        reuse: bool = False,
    ) -> Release:
        """The ids of k influential nodes, best first: `sordino.graphs.top_k` where each row of a table is an edge.

        ``edges``, ``columns`` and ``nodes`` as in `count`; the others are explained there. A graph beyond
        ``max_degree`` is projected, which takes two thirds of ε.
        """
        from sordino.curator.questions.graph import top_k_question

        options = {
            "metric": metric,
            "mechanism": mechanism,
            "max_degree": max_degree,
            "delta": delta,
        }
        question = top_k_question(edges, k, epsilon=epsilon, nodes=nodes, columns=columns, options=options)
        return self._answer(question, reuse)

    def tree(
        self,
        table: str,
        target: str,
        *,
        epsilon: Any,
        features: Sequence[str] | None = None,
        max_depth: int = 5,
        criterion: CriterionName = "auto",
        selection: MechanismName = "permute_and_flip",
        leaves: LeafName = "counts",
        bins: int = 10,
        max_rows: int | None = None,
        where: str | None = None,
        reuse: bool = False,
    ) -> DecisionTreeClassifier:
        """A fitted `sordino.learn.DecisionTreeClassifier` that tells one column of a table by others.

        ``features``: None takes every column with a domain or with bounds in the policy. A column with a domain has
        these values, one with bounds is cut into ``bins``; whatever else a row holds is ``missing``, which is a value
        of its own, or lies in the first or last bin. The target's domain is the classes, and rows of other targets do
        not count. ``max_rows``: a public guess at the number of rows, by which ``criterion="auto"`` chooses; a table
        may hold more. ``where``: a condition in SQL that chooses rows. The others are explained there.
        """
        from sordino.curator.questions.tree import TreeQuestion

        question = TreeQuestion(
            table, target, epsilon, features, max_depth, criterion, selection, leaves, bins, max_rows, where
        )
        return question.fitted(self._answer(question, reuse))

    def forest(
        self,
        table: str,
        target: str,
        *,
        epsilon: Any,
        features: Sequence[str] | None = None,
        n_estimators: int = 32,
        max_depth: int | None = None,
        leaves: LeafName = "counts",
        voting: VotingName = "auto",
        max_rows: int | None = None,
        where: str | None = None,
        reuse: bool = False,
    ) -> RandomForestClassifier:
        """A fitted `sordino.learn.RandomForestClassifier` that tells one column of a table by others.

        Columns, target, ``max_rows`` (which chooses the depth) and ``where`` as in `tree`; the others are explained
        there.
        """
        from sordino.curator.questions.forest import ForestQuestion

        question = ForestQuestion(
            table, target, epsilon, features, n_estimators, max_depth, leaves, voting, max_rows, where
        )
        return question.fitted(self._answer(question, reuse))

    def series(
        self,
        sql: str,
        *,
        time: str,
        every: str,
        start: Any,
        horizon: int,
        epsilon: Any = None,
        rho: Any = None,
        base: int | Literal["auto"] = "auto",
        name: str | None = None,
    ) -> Series:
        """A COUNT or SUM of one private table for every interval of time: paid once, answered as they close.

        ``time``: the column that says when a row happened. Intervals are ``every`` long, such as "1 day", the first
        one begins at ``start``, and there are ``horizon`` of them; all of it is public. Either ``epsilon`` is given, or
        ``rho`` for discrete Gaussian noise: the loss of the whole series. `Series.next` gives the total of all
        intervals so far. Opening the same series again, in any process, finds it and costs nothing; ``name``
        tells series apart (the SQL unless given).
        """
        from sordino.curator.series import start_series
        from sordino.curator.series_definition import SeriesDefinition

        definition = SeriesDefinition.checked(
            sql, time=time, every=every, start=start, horizon=horizon, epsilon=epsilon, rho=rho, base=base
        )
        return start_series(self._data, self.analyst, name, definition)

    def find_series(self, name: str) -> Series:
        """A series of this analyst that was opened before, by its name."""
        from sordino.curator.series import find_series

        return find_series(self._data, self.analyst, name)

    def _answer(self, question: Question[Quote], reuse: bool) -> Release:
        return answer_question(self._data, self.analyst, question, reuse=reuse)
