"""Secret: a value that depends on private data and was not paid for."""

from __future__ import annotations

from typing import Generic, TypeVar

from sordino.core.sordino_error import SordinoError

Content = TypeVar("Content")

_REDACTED = "<secret>"
_GONE = object()


class Secret(str, Generic[Content]):
    """Wraps what must not be published: exact values, sensitivities, noise scales, realised errors.

    It *is* the text ``<secret>``, so that printing, formatting, logging and JSON show that text without any
    special handling, and a copy (pickle, deepcopy, ``dataclasses.asdict``) carries the text alone.
    Only `reveal` on the original opens it.

    >>> import sordino as sd
    >>> secret = sd.Secret({"exact": 41})
    >>> print(secret, secret.reveal())
    <secret> {'exact': 41}
    """

    __slots__ = ("_content",)
    _content: object

    def __new__(cls, content: Content) -> Secret[Content]:
        """Hide ``content`` behind the redacted text."""
        secret = super().__new__(cls, _REDACTED)
        secret._content = content
        return secret

    def reveal(self) -> Content:
        """The content, for the owner of the data."""
        if self._content is _GONE:
            raise SordinoError(
                "this Secret is a copy and holds nothing: reveal the original in the process that made it"
            )
        return self._content  # type: ignore[return-value]

    def __repr__(self) -> str:
        return _REDACTED

    def __copy__(self) -> Secret[Content]:
        return _redacted()

    def __deepcopy__(self, memo: object) -> Secret[Content]:
        return _redacted()

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        return (_redacted, ())


def _redacted() -> Secret[Content]:
    return Secret(_GONE)  # type: ignore[arg-type]
