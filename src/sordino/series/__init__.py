"""Answers over time: running totals, smoothing, event sums, and budgets that last."""

from sordino.ledger.renewable import RenewableBudget, spend_renewable
from sordino.series.advise import SeriesAdvice, advise
from sordino.series.block_tree import BlockTree
from sordino.series.combined_noise import CombinedNoise
from sordino.series.consistency import make_consistent
from sordino.series.doubling_tree import DoublingTree
from sordino.series.event_sums import EventSums
from sordino.series.exclusion import ChainRow, Exclusion, MoreUses, count_uses
from sordino.series.kalman import Kalman, Smoothed, noise_variance_of
from sordino.series.revealed_scale import RevealPlan, ScaledRelease, plan_reveal, reveal_scale
from sordino.series.scale_advice import ScaleAdvice, advise_scale, quantile_sensitivity
from sordino.series.series_release import SeriesRelease
from sordino.series.square_root import SquareRoot
from sordino.series.stream_sensitivity import StreamBound, stream_sensitivity
from sordino.series.subtraction_tree import SubtractionTree
from sordino.series.timed_row import TimedRow, join_by_user, join_rows
from sordino.series.tree_shape import Block

__all__ = [
    "Block",
    "BlockTree",
    "ChainRow",
    "CombinedNoise",
    "DoublingTree",
    "EventSums",
    "Exclusion",
    "Kalman",
    "MoreUses",
    "RenewableBudget",
    "RevealPlan",
    "ScaleAdvice",
    "ScaledRelease",
    "SeriesAdvice",
    "SeriesRelease",
    "Smoothed",
    "SquareRoot",
    "StreamBound",
    "SubtractionTree",
    "TimedRow",
    "advise",
    "advise_scale",
    "count_uses",
    "join_by_user",
    "join_rows",
    "make_consistent",
    "noise_variance_of",
    "plan_reveal",
    "quantile_sensitivity",
    "reveal_scale",
    "spend_renewable",
    "stream_sensitivity",
]
