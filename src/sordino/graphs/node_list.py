"""Nodes from a file: one id per line. Which nodes there are is public, also those without an edge."""

from __future__ import annotations

import re
from os import PathLike, fspath

from sordino.core import ParameterError
from sordino.graphs.reading import read_content

_INTEGER = re.compile(r"-?[0-9]+")


def read_nodes(path: str | PathLike[str]) -> list[int] | list[str]:
    r"""The ids of a text file, gzipped or not; integers where all of them are.

    Blank lines, and lines that begin with # or %, are left out, as in a file of edges.

    >>> import os, tempfile
    >>> from sordino.graphs import read_nodes
    >>> path = os.path.join(tempfile.mkdtemp(), "people.txt")
    >>> with open(path, "w") as file:
    ...     _ = file.write("# everybody\nann\nbob\n")
    >>> read_nodes(path)
    ['ann', 'bob']
    """
    name = fspath(path)
    try:
        text = read_content(name).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ParameterError(f"{name} is not UTF-8 text: a list of nodes has one id per line") from None
    lines = (line.strip() for line in text.split("\n"))
    ids = [line for line in lines if line and line[0] not in "#%"]
    if not ids:
        raise ParameterError(f"{name} names no nodes: it has one id per line")
    if len(set(ids)) != len(ids):
        raise ParameterError(
            f"{name} names a node twice: it has {len(ids)} lines and {len(set(ids))} distinct ids"
        )
    return [int(label) for label in ids] if all(map(_INTEGER.fullmatch, ids)) else ids
