"""Operations: what a secret computation takes, which must depend on public sizes alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operations:
    """Counts of one run, and the order in which they came.

    ``products`` are multiplications of secrets, ``sent`` the numbers that each party shares anew, ``rounds`` the times
    that parties wait for one another. ``trace`` has one (kind, size) per batch: the pattern that an observer sees.
    """

    products: int
    sent: int
    rounds: int
    trace: tuple[tuple[str, int], ...]

    def to_dict(self) -> dict[str, int]:
        """The counts."""
        return {"products": self.products, "sent": self.sent, "rounds": self.rounds}

    def __repr__(self) -> str:
        return f"<{self.products} products, {self.sent} numbers sent, {self.rounds} rounds>"
