"""The text of a policy, which is YAML or JSON: its content, and where a field stands in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from sordino.core import ParameterError, Place

# A policy is written by hand; what is larger is not one.
_LONGEST = 4 * 2**20


class _Loader(yaml.SafeLoader):
    """YAML without repeated keys (the later of two would silently win), whose values are wrong at a line."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """The value of a node; what YAML's own types cannot hold is named with its place."""
        try:
            return super().construct_object(node, deep=deep)
        except ParameterError:
            raise
        except (ValueError, LookupError, AttributeError, TypeError, ArithmeticError) as error:
            kind = node.tag.rpartition(":")[2].replace("timestamp", "date")
            why = f" ({error})" if isinstance(error, ValueError) else ""
            problem = f"{str(node.value)[:40]!r} is no {kind}{why}; write it in quotes if it is a text"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


def _unique_mapping(loader: _Loader, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        if isinstance(key_node, yaml.ScalarNode):
            if key_node.value in seen:
                place = _place(key_node.start_mark.line, key_node.start_mark.column)
                raise ParameterError(
                    f"policy line {place.line}: {key_node.value!r} is given twice", place=place
                )
            seen.add(key_node.value)
    return yaml.SafeLoader.construct_mapping(loader, node, deep=deep)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique_mapping)
# Numbers stay as they are written, so that 0.1 is a tenth and 1e-6 a millionth; and so do 010, which YAML takes for
# eight, and 1:30, which it takes for ninety.
_NUMBERS = ("tag:yaml.org,2002:float", "tag:yaml.org,2002:int")
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _NUMBERS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_NUMBERS[1], re.compile(r"[-+]?(0|[1-9][0-9]*)\Z"), list("-+0123456789"))


def read_text(source: Any) -> str:
    """The text of a file, or the text itself."""
    if isinstance(source, Path) or (isinstance(source, str) and "\n" not in source and ":" not in source[2:]):
        return _file_text(Path(source))
    if not isinstance(source, str):
        raise ParameterError(f"a policy is a dict, a path or YAML text, got {type(source).__name__}")
    return source


def parse(text: Mapping[str, Any] | str) -> Any:
    """The plain content of a text, or of a dict, which is that already; JSON is YAML."""
    if isinstance(text, Mapping):
        return text
    if len(text) > _LONGEST:
        raise ParameterError("the policy is longer than 4 MB: that is not one")
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = None if mark is None else _place(mark.line, mark.column)
        raise ParameterError(
            f"the policy is not YAML or JSON{_quoted(text, place)}: {error.problem or 'unreadable'}",
            place=place,
        ) from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = _place(before.count("\n"), len(before) - before.rfind("\n") - 1)
        raise ParameterError(
            f"the policy is not YAML or JSON{_quoted(text, place)}: {error.reason}", place=place
        ) from None
    except RecursionError:
        raise ParameterError("the policy is not YAML or JSON: it is nested too deeply") from None


def _place(line: int, column: int) -> Place:
    """The place of what YAML counts from zero."""
    return Place(line + 1, column + 1)


def _quoted(text: str, place: Place | None) -> str:
    """Where a policy is wrong, with the line itself: a policy holds no rows."""
    if place is None or place.line is None:
        return ""
    lines = text.split("\n")
    shown = lines[place.line - 1].strip() if place.line <= len(lines) else ""
    quoted = f" ({shown[:80]!r})" if shown else ""
    return f" at {place}{quoted}"


def _file_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ParameterError(f"the policy {path} is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "it is no file name").lower()
        raise ParameterError(
            f"the policy {path} cannot be read ({reason}): give a YAML or JSON file, its text or a dict"
        ) from None


def find_field(text: str, path: str) -> Place:
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
