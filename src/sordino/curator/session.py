"""Session: what one analyst may do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from sordino.core import EngineError, Guarantee, ParameterError, Release
from sordino.ledger import Account, StoredRelease, question_key
from sordino.sampling.source import is_private
from sordino.sql.answering.answer_table import answer_error, answer_errors, answer_value
from sordino.sql.answering.measured import measure_all
from sordino.sql.answering.plan import AnswerPlan, Options

if TYPE_CHECKING:
    from sordino.curator.curator import Curator

_FAILED = (
    "the database could not answer this question; what it cost stays spent and the account is suspended until the "
    "owner resumes it, because whether a database fails may depend on its rows. The owner finds its own words in "
    ".details"
)


class Session:
    """Questions of one analyst, paid from that analyst's budget.

    **What an analyst learns**: the releases that were paid for and, between two acts of the owner, which question
    failed first if one did; nothing else. Whether a question is accepted, what it costs and which noise it gets
    depend on its text, the policy, the catalogue and public tables. Engine errors have one fixed text.
    **Order of one question**: is the account suspended → read and check (no private row is touched) → choose the
    noise from public parameters → pay in the ledger → exact answer and bounds, all in one snapshot → draw → store in
    the ledger → return. An error before the payment spends nothing. After it the budget stays spent whatever
    happens, and whatever ends the question without a release suspends the account until the owner resumes it.
    **Not covered**: how long an answer takes depends on the rows. A session in the same process as the data can be
    taken apart by its holder: hand out answers, not sessions, to people who are not trusted with the process.
    """

    __slots__ = ("_analyst", "_curator")

    def __init__(self, curator: Curator, analyst: str) -> None:
        if not isinstance(analyst, str) or not analyst.strip():
            raise ParameterError(f"analyst must be a name, got {analyst!r}")
        self._curator = curator
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
        return self._curator._accounts.account(self.analyst)

    def query(
        self,
        sql: str,
        epsilon: Any,
        delta: Any = 0.0,
        *,
        noise: str | None = None,
        error_share: Any = 0.0,
        reuse: bool = False,
        non_negative: bool = False,
        analyses: Sequence[str] | str | None = None,
    ) -> Release:
        """A private answer to one SELECT with COUNT, SUM or AVG over inner joins.

        The value is a number (an int where the measure's step is whole, else a float), or with GROUP BY or
        several aggregates a list with one dict per group, empty groups included. ``noise``: "cauchy" (pure ε)
        or "laplace" (needs δ) for joins; None takes laplace where a δ is given. A question about one table
        gets discrete Laplace noise of its global sensitivity either way, and its error is public.
        ``error_share=0.1`` spends a tenth of ε on a 95 % error radius (`Release.error`, and ``…_error``
        columns; `Release.errors` has the largest of every column). ``reuse`` answers a question that this analyst
        has paid for before from the ledger, as it was then, at no cost. ``non_negative`` moves negative counts
        to 0. ``analyses`` names the analyses that bound the sensitivity; None takes the default of the shape.

        Several aggregates share ε and δ evenly (AVG is two); groups share them only where they do not
        partition the rows.
        """
        self._curator.admit(self.analyst)
        options = Options.checked(
            epsilon,
            delta,
            noise=noise,
            error_share=error_share,
            non_negative=non_negative,
            analyses=analyses,
        )
        if not isinstance(reuse, bool):
            raise ParameterError(f"reuse must be True or False, got {reuse!r}")
        plan = self._curator.plan(sql, options)
        accounts = self._curator._accounts
        question = question_key(
            plan.statement.canonical, policy=self._curator.policy_digest, **options.parameters()
        )
        if reuse and (known := accounts.stored(self.analyst, question)) is not None:
            return _release(known, plan.guarantee)
        self._curator.check_reachable()
        stored = accounts.spend(
            self.analyst,
            plan.guarantee,
            question,
            lambda: self._produce(plan),
            mechanism=plan.mechanism,
            parameters={"sql": plan.statement.text, **options.parameters()},
        )
        return _release(stored, plan.guarantee)

    def _produce(self, plan: AnswerPlan) -> dict[str, Any]:
        """Measure, then draw: called by the ledger once the budget is durably gone."""
        failure = ""
        try:
            with self._curator._engine.snapshot() as snapshot:
                measured = measure_all(snapshot, plan)
            cells = {
                (cell.group, cell.measure): plan.noises[cell.measure].draw(cell.exact, cell.bound)
                for cell in measured
            }
            release = Release(
                answer_value(plan, cells),
                plan.guarantee,
                plan.mechanism,
                error=answer_error(plan, cells),
                errors=answer_errors(plan, cells),
                private=is_private(),
            )
        # Whatever went wrong may have rows in its text, and so may what it was raised from: neither leaves here.
        except Exception as error:
            failure = words_of(error)
        if failure:
            raise EngineError(_FAILED, failure)
        return release.to_dict()


def words_of(error: Exception) -> str:
    """What went wrong, for the owner alone."""
    own = error.details.reveal() if isinstance(error, EngineError) else ""
    return f"{type(error).__name__}: {error} {own}".strip()


def _release(stored: StoredRelease, guarantee: Guarantee) -> Release:
    content = stored.content
    return Release(
        content["value"],
        guarantee,
        content["mechanism"],
        error=content.get("error"),
        errors=content.get("errors"),
        private=content["private"],
    )
