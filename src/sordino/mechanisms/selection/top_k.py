"""Top-k: k selections, each without those already chosen."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from sordino.core import ParameterError, Release, Secret
from sordino.core.parameters import choice, whole
from sordino.ledger.library_payment import AccountName, LedgerSource, pay_for
from sordino.mechanisms.selection.concentrated import largest_root_rho
from sordino.mechanisms.selection.mechanism import ScoreSelection
from sordino.mechanisms.selection.options import SelectionOptions, check_options
from sordino.mechanisms.selection.question import pose_question
from sordino.mechanisms.selection.registry import AUTO, MECHANISMS, mechanism_names, prepare
from sordino.mechanisms.selection.scores import GridScores
from sordino.mechanisms.selection.select import MechanismChoice
from sordino.sampling.source import is_private


def top_k(
    scores: ArrayLike,
    k: int,
    *,
    mechanism: MechanismChoice = "auto",
    ledger: LedgerSource | None = None,
    account: AccountName | None = None,
    **options: Unpack[SelectionOptions],
) -> Release:
    """Release k different candidates, best first.

    **Guarantee**: each of k selections spends ε/k. With ``delta`` > 0 each spends what zCDP allows, if that is more:
    ε₀ with k·c·ε₀² = ρ and ρ + 2√(ρ ln(1/δ)) = ε, where c = 1/8 for the exponential law (bounded range) and 1/2 for
    permute-and-flip. For the exponential law the k draws have the law of one-shot Gumbel top-k.
    **Requires**: a mechanism whose scores have a known sensitivity (all but smooth noisy max).
    **Source**: LD Alg. 3; Durfee and Rogers 2019; Bun and Steinke 2016.
    **Numerics**: dampening is computed once; the draws are exact.

    >>> import sordino as sd
    >>> release = sd.top_k([40, 31, 22, 3], 2, profile=1, epsilon=20.0, monotone=True)
    >>> len(release.value), release.mechanism
    (2, 'permute_and_flip')
    """
    choice("mechanism", mechanism, (AUTO, *MECHANISMS))
    check_options(options)
    asked = pose_question(scores, **options)
    k = whole("k", k, least=1)
    if k > len(asked.scores):
        raise ParameterError(f"k must be at most the number of candidates ({len(asked.scores)}), got {k}")
    name, selection = prepare(mechanism, asked, several=True)
    if not isinstance(selection, ScoreSelection):
        accepted = ", ".join(mechanism_names(lambda traits: traits.ranks))
        raise ParameterError(
            f"top_k works with mechanisms that score candidates ({accepted}), not with {name}"
        )
    share, composition, delta = _share(asked.epsilon, asked.delta, k, selection)
    rate = selection.scores.rate(share, monotone=asked.monotone and MECHANISMS[name].traits.monotone)
    remaining = np.arange(len(asked.scores))
    values = selection.scores.values
    picked = []
    for _ in range(k):
        place = selection.sampler.draw(GridScores(values, selection.scores.sensitivity), rate)
        picked.append(int(remaining[place]))
        remaining, values = np.delete(remaining, place), np.delete(values, place)
    loss = replace(selection.guarantee.loss, delta=delta, bounded_range=False)
    guarantee = selection.guarantee.with_loss(loss, further=composition)
    truth = np.argsort(-asked.scores, kind="stable")[:k]
    overlap = len(set(picked) & set(truth.tolist())) / k
    details = Secret({"exact": truth.tolist(), "overlap": overlap})
    release = Release(picked, guarantee, name, private=is_private(), details=details)
    return pay_for(release, ledger, account)


def _share(epsilon: Fraction, delta: float, k: int, selection: ScoreSelection) -> tuple[Fraction, str, float]:
    """What each of the k selections may spend, by which composition, and the δ that this takes."""
    basic = epsilon / k
    if delta > 0:
        root_rho = largest_root_rho(float(epsilon), delta)
        advanced = Fraction(
            root_rho / math.sqrt(k * float(selection.guarantee.loss.zcdp_factor)) * (1 - 2.0**-40)
        )
        if advanced > basic:
            return advanced, f"{k}-fold zCDP composition", delta
    return basic, f"{k}-fold basic composition", 0.0
