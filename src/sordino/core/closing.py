"""Closing: what is opened is closed at the end of its `with` block, whatever happens in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """Something that holds a file or a connection: `with thing:` closes it."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Let go of what is held; a second time does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
