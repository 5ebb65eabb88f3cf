"""The text of a workflow or a process, which is YAML or JSON; numbers stay as they are written."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from sordino.core import ParameterError, Place
from sordino.core.parameters import as_written, did_you_mean

_LEAST_EXPONENT = -300  # what is smaller would be rounded to nothing
_LONGEST = 4 * 2**20  # written by hand; what is larger is not one


class _Loader(yaml.SafeLoader):
    """YAML without repeated keys, of which the later would silently win, without rounding, and without aliases.

    A few lines of aliases of aliases stand for more than a memory holds.
    """

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.get_mark()
            raise yaml.MarkedYAMLError(problem="aliases (*name) are not read", problem_mark=mark)
        return super().compose_node(parent, index)


def _unique_mapping(loader: _Loader, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode):
            if key.value in seen:
                place = Place(key.start_mark.line + 1, key.start_mark.column + 1)
                raise ParameterError(f"{place}: {key.value!r} is given twice", place=place)
            seen.add(key.value)
    return yaml.SafeLoader.construct_mapping(loader, node, deep=deep)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique_mapping)
# Numbers stay texts until they are read as fractions: 0.1 is a tenth, 1e-6 a millionth and 010 ten, not eight.
_NUMBERS = ("tag:yaml.org,2002:float", "tag:yaml.org,2002:int")
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _NUMBERS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_source(source: Mapping[str, Any] | str | Path, what: str) -> dict[str, Any]:
    """The content of a file, of a text with line breaks, or of a dict."""
    if isinstance(source, Mapping):
        return dict(source)
    if isinstance(source, Path) or (isinstance(source, str) and "\n" not in source):
        text = read_file(Path(source), what)
    elif isinstance(source, str):
        text = source
    else:
        raise ParameterError(f"{what} is a dict, a path or YAML text, got {type(source).__name__}")
    try:
        content = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = None if mark is None else Place(mark.line + 1, mark.column + 1)
        told = "" if place is None else f" ({place})"
        raise ParameterError(
            f"{what} is not YAML or JSON{told}: {error.problem or 'unreadable'}", place=place
        ) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(f"{what} is not YAML or JSON") from None
    if not isinstance(content, dict):
        raise ParameterError(f"{what} is a mapping of fields, got {type(content).__name__}")
    return content


def read_file(path: Path, what: str) -> str:
    """The text of a file."""
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST + 1)  # a pipe or a device tells no size
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "it is not UTF-8 text").lower()
        raise ParameterError(f"{path} cannot be read: {reason}") from None
    if len(content) > _LONGEST:
        raise ParameterError(f"{path} is longer than 4 MB: that is not {what}")
    return text.replace("\r\n", "\n")


def read_amount(name: str, value: Any) -> Fraction:
    """A number >= 0 that a file states, exactly as it is written."""
    if isinstance(value, str):
        try:
            value = Decimal(value)
        except InvalidOperation:
            raise ParameterError(f"{name} must be a number, got {value!r}") from None
        if value and value.is_finite() and value.adjusted() < _LEAST_EXPONENT:
            raise ParameterError(f"{name} must be 0 or at least 1e{_LEAST_EXPONENT}, got {value}")
    amount = as_written(name, value)
    if amount < 0:
        raise ParameterError(f"{name} must be >= 0, got {float(amount):g}")
    return amount


def read_names(where: str, value: Any) -> tuple[str, ...]:
    """A list of names."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) and name for name in value):
        raise ParameterError(f"{where} must be a list of names, got {value!r}")
    return tuple(value)


def check_fields(where: str, given: Any, accepted: tuple[str, ...]) -> dict[str, Any]:
    """A mapping whose fields are all known."""
    if not isinstance(given, Mapping):
        raise ParameterError(f"{where} must be a mapping of fields, got {given!r}")
    for name in given:
        if name not in accepted:
            hint = did_you_mean(name, accepted, before="; ")
            raise ParameterError(f"{where}: unknown field {name!r}; fields are {', '.join(accepted)}{hint}")
    return dict(given)
