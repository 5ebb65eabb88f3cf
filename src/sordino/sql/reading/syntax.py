"""From text to a tree of one statement, or to one sentence: where the text cannot be read, and what is expected.

The parser is not ours. It is asked in one place, with a bound on its work, and whatever it raises ends there; what it
forgives is refused before (`sordino.sql.reading.words`) or behind it, where its tree has a hole.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, NoReturn

from sqlglot import Dialect, Token, TokenType, exp
from sqlglot.errors import ParseError

from sordino.core import ParameterError, Place, UnsupportedError
from sordino.sql.reading.words import FLATTER, check_spelling, check_words, find_deepest, quote_word
from sordino.sql.text import Text, find_place

LONGEST_TEXT = 20_000
# The parser takes one or two steps at a word, a few dozen where it tries alternatives, unless they nest.
_STEPS_PER_WORD, _LEAST_STEPS = 20, 2_000
# So many opening signs are tried as the one that is never closed.
_MOST_TRIALS = 20
_EMPTY = "the query is empty: ask SELECT COUNT(*) FROM ..."
_CLEARER = "write ON behind every JOIN, and simpler types"
_SHAPE = "a question is SELECT ... FROM ... JOIN ... ON ... WHERE ... GROUP BY ... HAVING ... ORDER BY ... LIMIT ..."

_reading: ContextVar[bool] = ContextVar("reading an analyst's text", default=False)


def _heard(record: logging.LogRecord) -> bool:
    return not _reading.get()


# The parser's own warnings quote the text; whoever runs it elsewhere in the same process still gets them.
logging.getLogger("sqlglot").addFilter(_heard)


@contextmanager
def silence_parser() -> Iterator[None]:
    """Without the warnings of the parser: what it cannot read is refused in our words."""
    token = _reading.set(True)
    try:
        yield
    finally:
        _reading.reset(token)


def parse_statement(text: str, dialect: str) -> exp.Expr:
    """The tree of the one statement in the text, without holes.

    Raises `ParameterError` where the text cannot be read, `UnsupportedError` where it is no SELECT or several, both
    with the place, and nothing else whatever the text.
    """
    _check_text(text)
    tokens = _tokens(text, dialect)
    check_words(text, tokens)
    tree = _tree(text, tokens, dialect)
    _check_complete(Text(text, dialect), tree)
    return tree


def _tree(text: str, tokens: Sequence[Token], dialect: str) -> exp.Expr:
    """What the parser makes of the words. Whatever it raises becomes a refusal where it stood."""
    reader = Dialect.get_or_raise(dialect)
    most = _STEPS_PER_WORD * len(tokens) + _LEAST_STEPS
    try:
        parser = _bounded(type(reader).parser_class)(dialect=reader)
        parser.steps_left = most
    except TypeError:  # the compiled parser takes no heirs, and is bounded in what it builds
        parser = reader.parser(max_nodes=most)
    try:
        statements: list[exp.Expr] = [
            found for found in parser.parse(list(tokens), text) if found is not None
        ]
        if getattr(parser, "_node_count", 0) > most:  # past its bound it finds only what needs no more nodes
            raise _AmbiguousError(tokens[-1].start)
    except ParseError as error:
        _unreadable(text, tokens, error)
    except RecursionError:
        raise UnsupportedError.at(find_place(text, find_deepest(tokens).start), FLATTER) from None
    except _AmbiguousError as error:
        where = find_place(text, error.stood)
        raise UnsupportedError.at(
            where, f"the query can be read in too many ways up to here: {_CLEARER}"
        ) from None
    except Exception:  # the parser is not ours, and what it raises on odd texts is not always its own error
        stood = getattr(parser, "_curr", None) or getattr(parser, "_prev", None) or tokens[-1]
        where, word = find_place(text, stood.start), quote_word(text, stood)
        raise ParameterError.at(where, f"the query cannot be read at {word!r}: {_SHAPE}") from None
    if len(statements) != 1:
        where = find_place(text, tokens[0].start)
        raise UnsupportedError.at(where, "several statements are refused: ask one SELECT at a time")
    return statements[0]


class _AmbiguousError(Exception):
    """The parser does not come to an end; ``stood``: the first character of the last word that it reached."""

    def __init__(self, stood: int) -> None:
        super().__init__()
        self.stood = stood


@cache
def _bounded(parser: type[Any]) -> type[Any]:
    """The same parser with a bound on its steps.

    It tries alternatives, one inside another, so its time may double with every word: ``t JOIN t JOIN t``. Every
    trial goes back and forth over the words by ``_advance``.
    """

    class Bounded(parser):  # type: ignore[misc]
        steps_left = 0
        furthest = 0

        def _advance(self, times: int = 1) -> None:
            super()._advance(times)
            self.steps_left -= 1
            stood = getattr(self._curr, "start", 0)
            self.furthest = max(self.furthest, stood)
            if self.steps_left < 0:
                raise _AmbiguousError(self.furthest)

    return Bounded


def _check_complete(text: Text, tree: exp.Expr) -> None:
    """Refuse a tree with a hole: the parser forgives ``WHERE @``, and who walks the tree expects a condition there."""
    for node in tree.walk():
        lists = (part for part in node.args.values() if isinstance(part, list))
        if node.error_messages() or any(item is None for part in lists for item in part):
            text.wrong(
                node, f"the query cannot be read here, a part is missing: {_SHAPE}", keyword=node.key.upper()
            )


def _check_text(text: str) -> None:
    if not isinstance(text, str) or not text.strip():
        raise ParameterError.at(Place(1, 1), _EMPTY)
    if len(text) > LONGEST_TEXT:
        where = find_place(text, LONGEST_TEXT)
        raise ParameterError.at(where, f"the query is {len(text)} characters long: {LONGEST_TEXT} are read")
    if not text.isascii():
        half = next((i for i, character in enumerate(text) if "\ud800" <= character <= "\udfff"), None)
        if half is not None:
            where = find_place(text, half)
            raise ParameterError.at(where, "the query is not Unicode text: it holds half of a surrogate pair")
    if "\0" in text:
        raise ParameterError.at(find_place(text, text.index(chr(0))), "the query holds a zero character")


def _tokens(text: str, dialect: str) -> list[Token]:
    """The tokens without semicolons at both ends."""
    reader = Dialect.get_or_raise(dialect)
    try:
        tokens = reader.tokenize(text)
    except (
        Exception
    ):  # the tokenizer is not ours, and what it raises on odd texts is not always its own error
        start = _unclosed(text, dialect)
        if start is None:
            where = find_place(text, _readable(text, dialect))
            raise ParameterError.at(where, "the query cannot be read from here: check its quotes") from None
        sign = "/*" if text.startswith("/*", start) else text[start]
        what = "comment" if sign == "/*" else "quote"
        raise ParameterError.at(
            find_place(text, start), f"the {what} that {sign} opens is never closed"
        ) from None
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        tokens.pop()
    while tokens and tokens[0].token_type == TokenType.SEMICOLON:
        tokens.pop(0)
    if not tokens:
        raise ParameterError.at(Place(1, 1), _EMPTY)
    return tokens


def _unclosed(text: str, dialect: str) -> int | None:
    """Where a quote or comment begins that never ends: the last opening sign before which all is well."""
    signs = [found.start() for found in re.finditer(r"['\"`]|/\*|\$", text)]
    tried = 0
    for start in reversed(signs):
        if start and text[start - 1] == text[start]:
            continue  # a doubled quote stands for one inside the text
        if _tokenizes(text[:start], dialect):
            return start
        tried += 1
        if tried == _MOST_TRIALS:
            return None
    return None


def _readable(text: str, dialect: str) -> int:
    """How many characters the tokenizer reads, found by halving: near the fault, if there is one fault."""
    good, bad = 0, len(text)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if _tokenizes(text[:middle], dialect) else (good, middle)
    return good


def _tokenizes(text: str, dialect: str) -> bool:
    try:
        Dialect.get_or_raise(dialect).tokenize(text)
    except Exception:  # as above
        return False
    return True


def _unreadable(text: str, tokens: Sequence[Token], error: ParseError) -> NoReturn:
    """The parser's error in our words."""
    detail = error.errors[0] if error.errors else {}
    place = next(
        (i for i, t in enumerate(tokens) if (t.line, t.col) == (detail.get("line"), detail.get("col"))),
        len(tokens) - 1,
    )
    check_spelling(text, tokens, place)
    where, word = find_place(text, tokens[place].start), quote_word(text, tokens[place])
    said = str(detail.get("description") or "")
    expected = re.fullmatch(r"Expect(?:ed|ing) (.{1,40}?)( but got .*)?", said.partition("\n")[0])
    if expected is not None:
        raise ParameterError.at(
            where, f"the query cannot be read at {word!r}: expected is {expected[1]}"
        ) from None
    if said.startswith("Required keyword"):
        missing = "expected is x BETWEEN low AND high" if "Between" in said else "a part is missing here"
        raise ParameterError.at(where, f"the query cannot be read at {word!r}: {missing}") from None
    raise ParameterError.at(where, f"the query cannot be read at {word!r}: {_SHAPE}") from None
