"""SordinoError: the root of the tree of errors that `errors` draws, apart from it because a Secret raises one too."""

from __future__ import annotations

from typing import ClassVar, Self

from sordino.core.place import Place


class SordinoError(Exception):
    """Base of every error that Sordino raises on purpose."""

    code: ClassVar[str] = "error"
    place: Place | None

    def __init__(self, message: str = "", *, place: Place | None = None) -> None:
        super().__init__(message)
        self.place = place

    @classmethod
    def at(cls, place: Place, problem: str) -> Self:
        """An error whose message begins with its place."""
        return cls(f"{place}: {problem}", place=place)
