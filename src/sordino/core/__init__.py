"""The nouns of every guarantee; standard library only."""

from sordino.core.distance import Distance, add_remove_row, check_distance, flip_edge, replace_row
from sordino.core.errors import (
    BudgetError,
    CalibrationError,
    EngineError,
    LedgerError,
    MissingExtraError,
    ParameterError,
    PrivateDataError,
    ProofError,
    SuspendedError,
    UnsupportedError,
)
from sordino.core.guarantee import Guarantee
from sordino.core.loss import Loss
from sordino.core.place import Place
from sordino.core.release import Release
from sordino.core.secret import Secret
from sordino.core.sordino_error import SordinoError

__all__ = [
    "BudgetError",
    "CalibrationError",
    "Distance",
    "EngineError",
    "Guarantee",
    "LedgerError",
    "Loss",
    "MissingExtraError",
    "ParameterError",
    "Place",
    "PrivateDataError",
    "ProofError",
    "Release",
    "Secret",
    "SordinoError",
    "SuspendedError",
    "UnsupportedError",
    "add_remove_row",
    "check_distance",
    "flip_edge",
    "replace_row",
]
