"""Errors about one field of a policy, which carry the path of the field for programs to read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sordino.core import ParameterError, Place


def field_error(path: str, problem: str) -> ParameterError:
    """An error about one field; ``problem`` goes on after its path, such as " must be a text" or ": …"."""
    return ParameterError(f"policy {path}{problem}", place=Place(path=path))


@contextmanager
def at_field(path: str) -> Iterator[None]:
    """Give an error of a check that knows nothing of policies the path of the field."""
    try:
        yield
    except ParameterError as error:
        error.place = Place(path=path)
        raise
