"""Specimen: one broken mechanism with its refutation and its repaired control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sordino.audit.attack import Attack
from sordino.audit.check_profile import ProfileCheck
from sordino.audit.prove import Proof

Verdict = Proof | ProfileCheck | Attack


@dataclass(frozen=True, slots=True)
class Specimen:
    """A mechanism or bound that does not keep what it claims.

    ``refute()`` runs an auditor on it and must not hold; ``repaired()`` runs the same auditor on the corrected
    mechanism and must hold, so that the auditor is seen to tell the two apart.
    """

    name: str
    claim: str
    flaw: str
    source: str
    refute: Callable[[], Verdict]
    repaired: Callable[[], Verdict]

    def __str__(self) -> str:
        return f"{self.name}: {self.claim}; {self.flaw} [{self.source}]"
