"""Raw logs: lines of text, taken apart by a pattern with named groups."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa

from sordino.core import ParameterError, PrivateDataError


def parse_lines(path: str | Path, pattern: str) -> pa.Table:
    """A table with one column per named group; a group that took no part is NULL, an empty line is no entry.

    A line that does not fit is an error with its number, never left out in silence.

        parse_lines("access.log", r"(?P<ip>\\S+) - (?P<user>\\S+) \\[(?P<time>[^]]+)\\]")
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ParameterError(f"the pattern of log lines is no regular expression: {error}") from None
    names = list(compiled.groupindex)
    if not names:
        raise ParameterError("the pattern of log lines must name its groups: (?P<time>…), (?P<ip>…), …")
    columns: dict[str, list[str | None]] = {name: [] for name in names}
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise ParameterError(f"cannot read {path}: {(error.strerror or 'refused').lower()}") from None
    except UnicodeDecodeError:
        raise PrivateDataError(f"{path} is not UTF-8 text") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        found = compiled.search(line)
        if found is None:
            raise PrivateDataError(f"line {number} of {path} does not fit the pattern")
        for name in names:
            columns[name].append(found[name] or None)
    return pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})
