"""The straight way of every question: read → plan → reserve → measure → draw → commit."""

from __future__ import annotations

from typing import Any, TypeVar

from sordino.core import EngineError, Release
from sordino.core.parameters import as_written, flag
from sordino.curator.dataset import DataSet
from sordino.curator.quote import Question, Quote
from sordino.engines import Engine
from sordino.ledger import write_question_key

AnyQuote = TypeVar("AnyQuote", bound=Quote)
FAILED = (
    "the database could not answer this question; what it cost stays spent and the account is suspended until the "
    "owner resumes it, because whether a database fails may depend on its rows. The owner finds its own words in "
    ".details"
)


def answer_question(
    data: DataSet, analyst: str, question: Question[Quote], *, reuse: bool = False
) -> Release:
    """One private answer, paid from the account of ``analyst``.

    **Guarantee**: that of the release, which the ledger holds durably before this returns. An error before the
    reservation spends nothing and depends on nothing private. After it the budget stays spent whatever happens, and
    whatever ends the question without a release suspends the account until the owner resumes it.
    """
    data.accounts.admit(analyst)
    flag("reuse", reuse)
    quote = quote_question(data, question)
    key = write_question_key(quote.identity, policy=data.digest, **quote.parameters)
    if reuse and (known := data.accounts.stored(analyst, key)) is not None:
        return quote.present(known.content)
    data.check_reachable()
    asked = {"question": quote.text, **quote.parameters}
    with data.accounts.reserve(
        analyst, quote.guarantee, key, mechanism=quote.mechanism, parameters=asked
    ) as reservation:
        stored = reservation.commit(_measure_and_draw(data.engine, quote))
    return quote.present(stored.content)  # nothing but what is stored leaves


def quote_question(data: DataSet, question: Question[AnyQuote]) -> AnyQuote:
    """How a question would be answered and what it would cost; nothing is spent."""
    quote = question.quote(data)
    if quote.guarantee.epsilon is not None:
        data.check_epsilon(as_written("epsilon", quote.guarantee.epsilon))
    return quote


def words_of(error: Exception) -> str:
    """What went wrong, for the owner alone."""
    own = error.details.reveal() if isinstance(error, EngineError) else ""
    return f"{type(error).__name__}: {error} {own}".strip()


def _measure_and_draw(engine: Engine, quote: Quote) -> dict[str, Any]:
    """All that is read of private rows, in one snapshot, and all randomness."""
    try:
        with engine.snapshot() as snapshot:
            return quote.draw(quote.measure(snapshot))
    # Whatever went wrong may have rows in its text, and so may what it was raised from: neither leaves here.
    except Exception as error:
        failure = words_of(error)
    raise EngineError(FAILED, failure)
