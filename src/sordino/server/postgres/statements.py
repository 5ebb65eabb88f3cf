"""Statements: what kind of thing a text asks for, told by its words alone, and how texts with several are cut.

Everything here takes time in proportion to the text, however it is made: strangers write it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from sordino.server.postgres.sqlstate import state_error
from sordino.server.settings import LONGEST_STATEMENT

Kind = Literal[
    "empty",
    "private",
    "catalogue",
    "explain",
    "describe",
    "transaction",
    "set",
    "reset",
    "show",
    "copy",
    "ignored",
]
_TRANSACTION = ("BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE")
_IGNORED = ("DISCARD", "DEALLOCATE", "CLOSE", "LISTEN", "UNLISTEN")
# Functions that drivers read from as from tables; they are of the session and know no rows.
_VALUES = ("current_schema", "current_schemas", "current_database", "version", "unnest", "generate_series")
_OPTION = re.compile(r"\s*+sordino\s*+:(.*+)", re.IGNORECASE | re.DOTALL)
# No alternative is tried again after it failed (the signs *+ and ++), and what is never closed goes to the end.
_PIECE = re.compile(
    r"""(?P<space>\s++)|(?P<string>'(?:[^']|'')*+')|(?P<name>"(?:[^"]|"")*+")|(?P<line>--[^\n]*+)|(?P<comment>/\*)"""
    r"""|(?P<open>['"].*+)|(?P<word>[^\W\d][\w$]*+)|(?P<number>\d[\w.]*+)|(?P<sign>.)""",
    re.DOTALL,
)
_NESTING = re.compile(r"/\*|\*/")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text that belongs together; ``kind`` as in the pattern."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The place after its last character."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Parsed:
    """One statement: its text, its kind, and what it names.

    ``inner``: the question of an EXPLAIN or a COPY, with blanks for what stands before it. ``sent``: the statement
    before values were put in, whose comments say its price: a value never does.
    """

    sql: str
    kind: Kind
    word: str = ""
    inner: str = ""
    binary: bool = False
    sent: str = ""


def cut_pieces(sql: str) -> list[Piece]:
    """Words, quotes, comments and signs, without blanks. A comment may hold comments; one without end is ``open``."""
    pieces, place = [], 0
    while place < len(sql):
        found = _PIECE.match(sql, place)
        if found is None:  # every character is at least a sign
            break
        kind, end = found.lastgroup or "sign", found.end()
        if kind == "comment":
            end = _comment_end(sql, place)
            kind = "comment" if end >= 0 else "open"
            end = end if end >= 0 else len(sql)
        if kind != "space":
            pieces.append(Piece(kind, sql[place:end], place))
        place = end
    return pieces


def split_statements(sql: str) -> list[tuple[int, str]]:
    """The statements of a text with their places in it, cut at semicolons outside of quotes and comments."""
    ends = [piece.start for piece in cut_pieces(sql) if piece.text == ";" and piece.kind == "sign"]
    starts = [0, *(end + 1 for end in ends)]
    parts = [(start, sql[start:end]) for start, end in zip(starts, [*ends, len(sql)], strict=True)]
    return [part for part in parts if _said(cut_pieces(part[1]))] or [(0, "")]


def sort_statement(sql: str, tables: Collection[str]) -> Parsed:
    """What a statement asks for. ``tables``: the names of the policy, in lower case."""
    return replace(_sort(sql, tables), sent=sql)


def _sort(sql: str, tables: Collection[str]) -> Parsed:
    if len(sql) > LONGEST_STATEMENT:
        raise state_error(
            "54000", f"the statement is {len(sql)} characters long: at most {LONGEST_STATEMENT} are read"
        )
    pieces = _said(cut_pieces(sql))
    if not pieces:
        return Parsed(sql, "empty")
    first, word = pieces[0], pieces[0].text.upper()
    if any(piece.kind == "open" for piece in pieces):
        return Parsed(sql, "private")  # whoever reads it says what is wrong, and where
    if word in _TRANSACTION:
        return Parsed(sql, "transaction", word)
    if word in ("SET", "RESET", "SHOW"):
        if word == "SHOW" and len(pieces) == 2 and pieces[1].text.upper() == "TABLES":
            return Parsed(sql, "describe")
        return Parsed(sql, word.lower(), word)  # type: ignore[arg-type]
    if word in _IGNORED:
        return Parsed(sql, "ignored", word)
    if word in ("DESC", "DESCRIBE"):
        return Parsed(sql, "describe")
    if word == "EXPLAIN":
        return Parsed(sql, "explain", inner=_blank(sql[: first.end]) + sql[first.end :])
    if word == "COPY":
        return _parse_copy(sql, pieces)
    if word in ("SELECT", "WITH", "VALUES", "TABLE", "("):
        return Parsed(sql, "catalogue" if _asks_catalogue(pieces, tables) else "private")
    raise state_error(
        "0A000",
        f"{word[:40]} is not answered here: there are SELECT, EXPLAIN, SHOW TABLES, DESCRIBE and SET sordino.…",
    )


def read_comment(sql: str) -> dict[str, str]:
    """Settings of one statement: ``/* sordino: epsilon = 0.1, delta = 1e-6 */``, or after ``--``; not within quotes."""
    found: dict[str, str] = {}
    for piece in cut_pieces(sql):
        if piece.kind not in ("comment", "line"):
            continue
        told = _OPTION.fullmatch(piece.text[2:-2] if piece.kind == "comment" else piece.text[2:])
        for part in told[1].split(",") if told is not None else ():
            name, equals, value = part.partition("=")
            if not equals or not value.strip():
                raise state_error(
                    "22023",
                    f"a comment for Sordino holds settings such as epsilon = 0.1, got {part.strip()!r}",
                )
            found[name.strip().lower()] = value.strip()
    return found


def _blank(text: str) -> str:
    """Blanks of the same length, with the same lines."""
    return re.sub(r"[^\n]", " ", text)


def _comment_end(sql: str, start: int) -> int:
    """After the comment that opens at ``start``, or -1."""
    depth = 0
    for found in _NESTING.finditer(sql, start):
        depth += 1 if found[0] == "/*" else -1
        if depth == 0:
            return found.end()
    return -1


def _said(pieces: list[Piece]) -> list[Piece]:
    """What is no comment, and no semicolon."""
    return [piece for piece in pieces if piece.kind not in ("line", "comment") and piece.text != ";"]


def _parse_copy(sql: str, pieces: list[Piece]) -> Parsed:
    """``COPY (SELECT …) TO STDOUT …``; the question keeps its place in the text."""
    words = [piece.text.upper() for piece in pieces]
    close = next((place for place, depth in enumerate(_depths(words)) if place > 1 and depth == 0), 0)
    if words[1:2] != ["("] or not close or words[close + 1 : close + 3] != ["TO", "STDOUT"]:
        raise state_error("0A000", "of COPY there is COPY (SELECT …) TO STDOUT, in text or binary format")
    begin, end = pieces[1].end, pieces[close].start
    return Parsed(
        sql, "copy", inner=_blank(sql[:begin]) + sql[begin:end], binary="BINARY" in words[close + 3 :]
    )


def _depths(words: list[str]) -> list[int]:
    """How many brackets are open after each word."""
    depths, depth = [], 0
    for word in words:
        depth += (word == "(") - (word == ")")
        depths.append(depth)
    return depths


def _asks_catalogue(pieces: list[Piece], tables: Collection[str]) -> bool:
    """Whether a SELECT names nothing private: it reads catalogues, or no table at all."""
    names = [piece.text.strip('"').lower() for piece in pieces if piece.kind in ("word", "name")]
    if any(name in tables for name in names):
        return False
    if any(name.startswith("pg_") or name == "information_schema" for name in names):
        return True
    return all(
        after.text == "(" and name.text.lower() in _VALUES
        for word, name, after in zip(pieces, pieces[1:] + pieces[:1], pieces[2:] + pieces[:2], strict=True)
        if word.kind == "word" and word.text.lower() == "from"
    )
