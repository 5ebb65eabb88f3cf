"""The public verbs of selection: draw, law, errors."""

from __future__ import annotations

from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.core import Release, Secret
from sordino.core.parameters import choice, probability
from sordino.ledger.library_payment import AccountName, LedgerSource, pay_for
from sordino.mechanisms.names import MechanismName
from sordino.mechanisms.selection.mechanism import Selection
from sordino.mechanisms.selection.options import SelectionOptions, check_options
from sordino.mechanisms.selection.question import SelectionQuestion, pose_question
from sordino.mechanisms.selection.registry import AUTO, MECHANISMS, prepare
from sordino.mechanisms.selection.stated_law import StatedLaw
from sordino.sampling.source import is_private

MechanismChoice = Literal["auto"] | MechanismName


def select(
    scores: ArrayLike,
    *,
    mechanism: MechanismChoice = "auto",
    ledger: LedgerSource | None = None,
    account: AccountName | None = None,
    **options: Unpack[SelectionOptions],
) -> Release:
    """Release the index of a candidate with a large score.

    Keywords: ``profile`` (a `Profile`, or a number: the global sensitivity) and ``epsilon`` are needed; ``delta``,
    ``monotone``, ``sampler``, ``direction``, ``noise``, ``step``, ``changes`` and ``distance`` are explained in
    `sordino.mechanisms.selection.options.SelectionOptions`. ``mechanism``: exponential, permute_and_flip,
    report_noisy_max, local_dampening, shifted_dampening, smooth_noisy_max or inverse_sensitivity; ``auto`` takes the
    one that measures best for this kind of question. `selection_law` gives the law that is drawn from, and `compare`
    the exact errors of all mechanisms. With ``ledger`` and ``account``, a pair of a data set's and an analyst's name,
    the release is paid for.

    **Guarantee**: that of the mechanism. ``auto`` looks at public parameters only (see `best_mechanism`): whether the
    profile is a constant, whether it has a bound and one row per candidate, how many candidates there are, and which
    options were given. It never looks at a score or at a number of the profile.

    >>> import sordino as sd
    >>> votes = [120, 95, 14]
    >>> release = sd.select(votes, profile=1, epsilon=0.5, monotone=True)
    >>> release.mechanism, str(release.guarantee.loss)
    ('permute_and_flip', 'ε = 0.5')
    >>> profile = sd.Profile.from_table([[4, 8], [3, 6], [1, 2]], bound=100)
    >>> sd.select([52.0, 31.0, 3.0], profile=profile, epsilon=1.0).mechanism
    'inverse_sensitivity'
    """
    name, asked, selection = _prepared(scores, mechanism, options)
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
    release = Release(index, selection.guarantee, name, private=is_private(), details=details)
    return pay_for(release, ledger, account)


def selection_law(
    scores: ArrayLike,
    *,
    mechanism: MechanismChoice = "auto",
    log: bool = False,
    **options: Unpack[SelectionOptions],
) -> NDArray[np.float64]:
    """The probability with which `select` releases each candidate (or its logarithm).

    >>> import sordino as sd
    >>> sd.selection_law([3, 2, 0], profile=1, epsilon=2.0, mechanism="exponential").round(3)
    array([0.705, 0.259, 0.035])
    """
    log_law = _prepared(scores, mechanism, options)[2].log_law()
    return log_law if log else np.exp(log_law)


def stated_law(
    scores: ArrayLike, *, mechanism: MechanismChoice = "auto", **options: Unpack[SelectionOptions]
) -> StatedLaw:
    """What `selection_law` gives as logarithms, with how far each may be off: what a proof should compare."""
    return _prepared(scores, mechanism, options)[2].stated_law()


def expected_error(
    scores: ArrayLike, *, mechanism: MechanismChoice = "auto", **options: Unpack[SelectionOptions]
) -> float:
    """The mean of best score − released score, exactly from the law.

    >>> import sordino as sd
    >>> round(sd.expected_error([3, 2, 0], profile=1, epsilon=2.0, mechanism="exponential"), 3)
    0.365
    """
    _, asked, selection = _prepared(scores, mechanism, options)
    return mean_error(asked.scores, np.exp(selection.log_law()))


def error_quantile(
    scores: ArrayLike,
    confidence: float,
    *,
    mechanism: MechanismChoice = "auto",
    **options: Unpack[SelectionOptions],
) -> float:
    """The smallest e such that best score − released score ≤ e with at least this probability.

    >>> import sordino as sd
    >>> sd.error_quantile([3, 2, 0], 0.95, profile=1, epsilon=2.0)
    1.0
    """
    probability("confidence", confidence)
    _, asked, selection = _prepared(scores, mechanism, options)
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


def _prepared(
    scores: ArrayLike, mechanism: str, options: SelectionOptions
) -> tuple[str, SelectionQuestion, Selection]:
    choice("mechanism", mechanism, (AUTO, *MECHANISMS))
    check_options(options)
    asked = pose_question(scores, **options)
    name, selection = prepare(mechanism, asked)
    return name, asked, selection
