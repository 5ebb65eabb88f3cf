"""Every selection mechanism by its name: a new one is a file and a line here."""

from __future__ import annotations

from sordino.mechanisms.selection.exponential import global_scores
from sordino.mechanisms.selection.inverse_sensitivity import inverse_scores
from sordino.mechanisms.selection.local_dampening import dampened_scores
from sordino.mechanisms.selection.mechanism import Mechanism, ScoreMechanism
from sordino.mechanisms.selection.report_noisy_max import ReportNoisyMax
from sordino.mechanisms.selection.shifted_dampening import shifted_scores
from sordino.mechanisms.selection.smooth_noisy_max import SmoothNoisyMax

_ALL: tuple[Mechanism, ...] = (
    ScoreMechanism("exponential", "exponential mechanism", global_scores, "exponential", own_sampler=True),
    ScoreMechanism(
        "permute_and_flip", "permute-and-flip", global_scores, "permute_and_flip", own_sampler=True
    ),
    ReportNoisyMax(),
    ScoreMechanism("local_dampening", "local dampening", dampened_scores, "permute_and_flip", dampened=True),
    ScoreMechanism(
        "shifted_dampening", "shifted local dampening", shifted_scores, "permute_and_flip", dampened=True
    ),
    SmoothNoisyMax(),
    ScoreMechanism(
        "inverse_sensitivity", "inverse sensitivity", inverse_scores, "permute_and_flip", dampened=True
    ),
)

MECHANISMS: dict[str, Mechanism] = {mechanism.name: mechanism for mechanism in _ALL}
