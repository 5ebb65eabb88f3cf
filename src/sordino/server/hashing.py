"""The slow hash of tokens: argon2id."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sordino.core import MissingExtraError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

_NOBODY = "a text that is nobody's token"


def hash_token(text: str) -> str:
    """What is kept of a token."""
    return _hasher().hash(text)


def matches_token(kept: str | None, text: str) -> bool:
    """Whether a text is the token that was kept; None, for nobody's, takes as long and is False."""
    from argon2.exceptions import Argon2Error, InvalidHashError

    try:
        return _hasher().verify(_nobodys() if kept is None else kept, text) and kept is not None
    except (Argon2Error, InvalidHashError):
        return False


@cache
def _hasher() -> PasswordHasher:
    try:
        from argon2 import PasswordHasher
    except ImportError:
        raise MissingExtraError("tokens need argon2: pip install 'sordino[server]'") from None
    # A token is 256 random bits, which no search finds; the least recommended cost keeps floods of wrong ones cheap.
    return PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


@cache
def _nobodys() -> str:
    return hash_token(_NOBODY)
