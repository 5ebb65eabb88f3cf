"""Proofs and attacks: every privacy claim is checked here against its definition."""

from sordino.audit.comparison import LogLaw
from sordino.audit.lattice_law import LatticeLaw
from sordino.audit.prove import Proof, Witness, prove

__all__ = ["LatticeLaw", "LogLaw", "Proof", "Witness", "prove"]
