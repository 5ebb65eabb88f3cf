"""Identity: who asks, by a token that was checked."""

from __future__ import annotations

from dataclasses import dataclass

from sordino.core.errors import OwnerOnlyError


@dataclass(frozen=True, slots=True)
class Identity:
    """A name whose account pays, whether it is the owner's, and the token that says so."""

    name: str
    owner: bool
    token: str

    def require_owner(self) -> None:
        """Refuse an analyst."""
        if not self.owner:
            raise OwnerOnlyError
