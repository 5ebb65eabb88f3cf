"""Where a policy is wrong: the path of the field, and the line and column where it stands in the text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import yaml

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


def place_of_field(text: str, path: str) -> Place:
    """The place of a field in the YAML or JSON that it was read from; of what is not there, that around it."""
    place = Place(path=path)
    node: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    while path and isinstance(node, yaml.MappingNode):
        found = [
            (key, value)
            for key, value in node.value
            if isinstance(key, yaml.ScalarNode) and f"{path}.".startswith(f"{key.value}.")
        ]
        if not found:
            break
        # Names may have dots in them: the longest that fits is the field's.
        key, node = max(found, key=lambda pair: len(pair[0].value))
        path = path[len(key.value) + 1 :]
        place = Place(key.start_mark.line + 1, key.start_mark.column + 1, place.path)
    return place
