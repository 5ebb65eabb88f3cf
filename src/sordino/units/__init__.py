"""Privacy of whole units: a user, or any other entity, with everything it owns."""

from sordino.units.flow_truncation import FlowTruncation
from sordino.units.key_release import KeyRelease
from sordino.units.limit_choice import LimitChoice
from sordino.units.limit_noise import GaussianPerLimit, LaplacePerLimit, LimitNoise
from sordino.units.row_weight import WEIGHT_STEPS, row_weight
from sordino.units.sparse_vector import SparseVector
from sordino.units.truncation import Truncation, list_limits

__all__ = [
    "WEIGHT_STEPS",
    "FlowTruncation",
    "GaussianPerLimit",
    "KeyRelease",
    "LaplacePerLimit",
    "LimitChoice",
    "LimitNoise",
    "SparseVector",
    "Truncation",
    "list_limits",
    "row_weight",
]
