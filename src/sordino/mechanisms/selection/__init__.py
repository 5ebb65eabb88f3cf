"""Picking a winner: laws and draws over candidates."""

from sordino.mechanisms.selection.compare import Comparison, compare
from sordino.mechanisms.selection.majority import MAJORITY_MECHANISMS, majority_labels, majority_law
from sordino.mechanisms.selection.registry import MECHANISMS
from sordino.mechanisms.selection.select import (
    error_quantile,
    expected_error,
    select,
    selection_law,
    stated_law,
)
from sordino.mechanisms.selection.stated_law import StatedLaw
from sordino.mechanisms.selection.top_k import top_k

__all__ = [
    "MAJORITY_MECHANISMS",
    "MECHANISMS",
    "Comparison",
    "StatedLaw",
    "compare",
    "error_quantile",
    "expected_error",
    "majority_labels",
    "majority_law",
    "select",
    "selection_law",
    "stated_law",
    "top_k",
]
