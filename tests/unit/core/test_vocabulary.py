"""One noun, one meaning: no two classes share a name, and no two functions but for those that are the same thing."""

from __future__ import annotations

import ast
from collections import defaultdict

from .arrows import read_sources

# The same thing seen from two sides, so the same name: `docs/decisions/code.md` says why.
TWINS = {
    "advise": "by public parameters, among noises or among running totals",
    "compare": "a function of the library and its command",
    "connect": "opens an engine, or a curator over one",
    "count": "a function of the library and its command",
    "find_tables": "each database has its own",
    "open_url": "each database has its own",
    "quantile": "a function of the library and its command",
    "ranges": "a function of the library and its command",
    "root": "each group of commands has its own",
    "sensitivity": "a function of the library and its command",
    "select": "a function of the library and its command",
    "top_k": "of candidates, or of the nodes of a graph",
}


def find_homonyms(sources: dict[str, str]) -> dict[str, list[str]]:
    """Names of classes and functions of the outermost level that occur in more than one file."""
    places = defaultdict(list)
    for path, text in sources.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    return {name: paths for name, paths in places.items() if len(paths) > 1}


def test_no_name_has_two_meanings():
    assert set(find_homonyms(read_sources())) == set(TWINS)


def test_a_planted_homonym_is_found():
    planted = {"a.py": "class Plan: ...\ndef _own(): ...", "b.py": "def Plan(): ...\ndef _own(): ..."}
    assert find_homonyms(planted) == {"Plan": ["a.py", "b.py"]}
