"""Constraint files: ``table.column KIND ARGUMENTS;``, with comments behind ``--``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from sordino.core import ParameterError, Place
from sordino.core.parameters import did_you_mean
from sordino.sql.constraint_files.constraint import KINDS, Constraint, Item

# (table, column) → what is known of it.
Constraints = Mapping[tuple[str, str], Constraint]

_WORD = re.compile(
    r"(?:\s|--[^\n]*)*"
    r"(?:'(?P<text>(?:[^']|'')*)'|(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))"
    r"|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(?P<sign>\S))"
)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int


def parse_constraints(text: str) -> dict[tuple[str, str], Constraint]:
    """The statements of a file; what is wrong is said with its line and column."""
    if not isinstance(text, str):
        raise ParameterError(f"constraints are a text or a mapping, got {type(text).__name__}")
    found: dict[tuple[str, str], Constraint] = {}
    statement: list[_Token] = []
    for token in _read_tokens(text):
        if token.text != ";" or token.kind != "sign":
            statement.append(token)
            continue
        if statement:
            name, constraint = _read_statement(text, statement)
            if name in found:
                _wrong(text, statement[0], f"{'.'.join(name)} is constrained twice")
            found[name] = constraint
        statement = []
    if statement:
        _wrong(text, statement[0], "this statement does not end: write ; behind it")
    return found


def read_mapping_of_constraints(given: Mapping[str, str]) -> dict[tuple[str, str], Constraint]:
    """From ``{"table.column": "range 0 10"}``."""
    return parse_constraints("\n".join(f"{name} {content};" for name, content in given.items()))


def write_constraints(constraints: Constraints) -> str:
    """The text of a file."""
    return "".join(f"{table}.{column} {constraint};\n" for (table, column), constraint in constraints.items())


def _read_tokens(text: str) -> list[_Token]:
    tokens, place = [], 0
    while (found := _WORD.match(text, place)) is not None:
        kind = str(found.lastgroup)
        content = found[kind].replace("''", "'") if kind == "text" else found[kind]
        tokens.append(_Token(kind, content, found.start(kind)))
        place = found.end()
    return tokens


def _read_statement(text: str, words: list[_Token]) -> tuple[tuple[str, str], Constraint]:
    name = words[0]
    table, dot, column = name.text.rpartition(".")
    if name.kind != "name" or not dot:
        _wrong(text, name, "a statement begins with table.column")
    if len(words) < 2 or words[1].text not in KINDS:
        at = words[1] if len(words) > 1 else name
        hint = did_you_mean(at.text, KINDS, otherwise=f"kinds are {', '.join(KINDS)}")
        _wrong(text, at, f"there is no kind {at.text!r}: {hint}")
    kind = words[1].text
    items: list[Item] = []
    weights: list[float] = []
    ahead = list(words[2:])
    while ahead:
        word = ahead.pop(0)
        if word.text == "(" and word.kind == "sign" and kind in ("setPrior", "rangePrior"):
            pair = [ahead.pop(0) if ahead else word for _ in range(4)]
            if [pair[1].text, pair[3].text] != [",", ")"] or pair[2].kind != "number":
                _wrong(text, word, "a value with its weight is written (value, weight)")
            items.append(_read_item(text, pair[0]))
            weights.append(float(pair[2].text))
        elif kind == "setPrior" or (kind == "rangePrior" and items):
            _wrong(text, word, "a value with its weight is written (value, weight)")
        else:
            items.append(_read_item(text, word))
    try:
        return (table, column), Constraint(kind, tuple(items), tuple(weights))
    except ParameterError as error:
        _wrong(text, words[1], str(error))


def _read_item(text: str, word: _Token) -> Item:
    if word.kind == "number":
        return float(word.text)
    if word.kind == "text":
        return word.text
    _wrong(text, word, "a value is a number or a text in single quotes")


def _wrong(text: str, token: _Token, problem: str) -> NoReturn:
    before = text[: token.start]
    place = Place(before.count("\n") + 1, token.start - before.rfind("\n"))
    raise ParameterError.at(place, problem)
