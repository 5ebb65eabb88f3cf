"""The public verbs of selection: draw, law, errors."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.core import Release, Secret
from sordino.core.parameters import probability
from sordino.ledger.library_payment import AccountName, LedgerSource, pay_for
from sordino.mechanisms.selection.mechanism import Selection, chosen
from sordino.mechanisms.selection.options import Options, checked_options
from sordino.mechanisms.selection.question import Question, question
from sordino.mechanisms.selection.registry import MECHANISMS
from sordino.mechanisms.selection.stated_law import StatedLaw
from sordino.sampling.source import is_private

DEFAULT_MECHANISM = "shifted_dampening"


def select(
    scores: ArrayLike,
    *,
    mechanism: str = DEFAULT_MECHANISM,
    ledger: LedgerSource | None = None,
    account: AccountName | None = None,
    **options: Unpack[Options],
) -> Release:
    """Release the index of a candidate with a large score.

    Keywords: ``profile`` (a `Profile`, or a number: the global sensitivity) and ``epsilon`` are needed; ``delta``,
    ``monotone``, ``sampler``, ``direction``, ``noise``, ``step``, ``changes`` and ``distance`` are explained in
    `sordino.mechanisms.selection.options.Options`. ``mechanism``: exponential, permute_and_flip, report_noisy_max,
    local_dampening, shifted_dampening, smooth_noisy_max or inverse_sensitivity. `selection_law` gives the law that is
    drawn from, and `compare` the exact errors of all mechanisms. With ``ledger`` and ``account``, a pair of a data
    set's and an analyst's name, the release is paid for.
    """
    asked, selection = _prepared(scores, mechanism, options)
    index = selection.draw()
    best = float(asked.scores.max())
    details: Secret[dict[str, Any]] = Secret(
        {
            "exact": int(asked.scores.argmax()),
            "score": float(asked.scores[index]),
            "best_score": best,
            "realised_error": best - float(asked.scores[index]),
        }
    )
    release = Release(index, selection.guarantee, mechanism, private=is_private(), details=details)
    return pay_for(release, ledger, account)


def selection_law(
    scores: ArrayLike, *, mechanism: str = DEFAULT_MECHANISM, log: bool = False, **options: Unpack[Options]
) -> NDArray[np.float64]:
    """The probability with which `select` releases each candidate (or its logarithm)."""
    log_law = _prepared(scores, mechanism, options)[1].log_law()
    return log_law if log else np.exp(log_law)


def stated_law(
    scores: ArrayLike, *, mechanism: str = DEFAULT_MECHANISM, **options: Unpack[Options]
) -> StatedLaw:
    """What `selection_law` gives as logarithms, with how far each may be off: what a proof should compare."""
    return _prepared(scores, mechanism, options)[1].stated_law()


def expected_error(
    scores: ArrayLike, *, mechanism: str = DEFAULT_MECHANISM, **options: Unpack[Options]
) -> float:
    """The mean of best score − released score, exactly from the law."""
    asked, selection = _prepared(scores, mechanism, options)
    return mean_error(asked.scores, np.exp(selection.log_law()))


def error_quantile(
    scores: ArrayLike,
    confidence: float,
    *,
    mechanism: str = DEFAULT_MECHANISM,
    **options: Unpack[Options],
) -> float:
    """The smallest e such that best score − released score ≤ e with at least this probability."""
    probability("confidence", confidence)
    asked, selection = _prepared(scores, mechanism, options)
    return quantile_of_error(asked.scores, np.exp(selection.log_law()), confidence)


def mean_error(scores: NDArray[np.float64], law: NDArray[np.float64]) -> float:
    """Σ P(r)·(max u − u_r)."""
    return float(law @ (scores.max() - scores))


def quantile_of_error(scores: NDArray[np.float64], law: NDArray[np.float64], confidence: float) -> float:
    """The quantile of max u − u_r under the law."""
    order = np.argsort(-scores, kind="stable")
    reached = np.cumsum(law[order])
    position = int(np.searchsorted(reached, confidence * (1 - 1e-12)))
    return float(scores.max() - scores[order[min(position, len(order) - 1)]])


def _prepared(scores: ArrayLike, mechanism: str, options: Options) -> tuple[Question, Selection]:
    entry = chosen(mechanism, MECHANISMS)
    checked_options(options)
    asked = question(scores, **options)
    return asked, entry.prepare(asked)
