"""Proofs and attacks: every privacy claim is checked here against its definition."""

from typing import TYPE_CHECKING, Any

from sordino.audit.attack import Attack, Distinguisher, attack
from sordino.audit.check_profile import BoundWitness, ProfileCheck, check_profile, check_smooth
from sordino.audit.lattice_law import LatticeLaw
from sordino.audit.log_law import LogLaw
from sordino.audit.prove import Proof, Witness, prove

if TYPE_CHECKING:
    from sordino.audit import zoo

__all__ = [
    "Attack",
    "BoundWitness",
    "Distinguisher",
    "LatticeLaw",
    "LogLaw",
    "ProfileCheck",
    "Proof",
    "Witness",
    "attack",
    "check_profile",
    "check_smooth",
    "prove",
    "zoo",
]


def __getattr__(name: str) -> Any:
    if name == "zoo":  # scipy's special functions and a dozen small universes: loaded when first visited
        import importlib

        return importlib.import_module("sordino.audit.zoo")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
