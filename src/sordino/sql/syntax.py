"""From text to a tree of one statement, or to one sentence: where the text cannot be read, and what is expected.

The parser forgives: it reads ``JOIN t ON`` without a condition as a join of everything with everything, and
``GROUP BY`` without a column as no groups. Such an answer would be to another question, so a word that something
must follow is checked before the parser sees it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import pairwise
from typing import Any, NoReturn

from sqlglot import Dialect, Token, TokenType, exp
from sqlglot.errors import ParseError

from sordino.core import ParameterError, UnsupportedError
from sordino.core.parameters import did_you_mean
from sordino.sql.refusals import Text, place_of

LONGEST_TEXT = 20_000
MOST_BRACKETS = 100
MOST_STRUCTURES = 8
# The parser takes one or two steps at a word, a few dozen where it tries alternatives, unless they nest.
_STEPS_PER_WORD, _LEAST_STEPS = 20, 2_000
# So many opening signs are tried as the one that is never closed.
_MOST_TRIALS = 20
_LONGEST_QUOTE = 40
_EMPTY = "line 1, column 1: the query is empty: ask SELECT COUNT(*) FROM ..."
_CLEARER = "write ON behind every JOIN, and simpler types"
_FLATTER = "the query is nested too deeply here: write it flatter"
_SHAPE = "a question is SELECT ... FROM ... JOIN ... ON ... WHERE ... GROUP BY ... ORDER BY ..."
_KEYWORDS = ("SELECT", "FROM", "WHERE", "GROUP", "JOIN", "INNER", "USING", "BETWEEN", "ORDER")
_BEGIN = (TokenType.SELECT, TokenType.WITH, TokenType.FROM)
# A name stands behind these, so that what looks like a misspelt keyword there is none.
_NAME_FOLLOWS = (TokenType.SELECT, TokenType.FROM, TokenType.JOIN, TokenType.COMMA, TokenType.DOT)
_CLAUSES = (
    TokenType.FROM,
    TokenType.WHERE,
    TokenType.GROUP_BY,
    TokenType.ORDER_BY,
    TokenType.HAVING,
    TokenType.LIMIT,
    TokenType.JOIN,
    TokenType.ON,
    TokenType.UNION,
    TokenType.R_PAREN,
    TokenType.COMMA,
    TokenType.SEMICOLON,
)
# `>` also ends a type such as ARRAY<INT>.
_AFTER_TYPES = (TokenType.R_PAREN, TokenType.COMMA)
# How much deeper a word leads.
_STEP = {
    **dict.fromkeys((TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE), 1),
    **dict.fromkeys((TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END), -1),
}
_VALUE = "a value is expected"
_EXPECTED = {
    TokenType.SELECT: "COUNT(*), COUNT(x), SUM(x) or AVG(x) is expected",
    TokenType.FROM: "a table is expected",
    TokenType.JOIN: "a table is expected",
    TokenType.ON: "a condition such as a.id = b.id is expected",
    TokenType.WHERE: "a condition such as x = 1 is expected",
    TokenType.AND: "a condition, or the upper end of BETWEEN, is expected",
    TokenType.OR: "a condition is expected",
    TokenType.NOT: "a condition is expected",
    TokenType.GROUP_BY: "a column is expected",
    TokenType.ORDER_BY: "a column of the answer is expected",
    TokenType.BETWEEN: "low AND high is expected",
    TokenType.LIKE: "a pattern such as 'A%' is expected",
    **dict.fromkeys((TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE,
                     TokenType.PLUS, TokenType.DASH, TokenType.SLASH), _VALUE),
}  # fmt: skip

_reading: ContextVar[bool] = ContextVar("reading an analyst's text", default=False)


def _heard(record: logging.LogRecord) -> bool:
    return not _reading.get()


# The parser's own warnings quote the text; whoever runs it elsewhere in the same process still gets them.
logging.getLogger("sqlglot").addFilter(_heard)


@contextmanager
def quietly() -> Iterator[None]:
    """Without the warnings of the parser: what it cannot read is refused in our words."""
    token = _reading.set(True)
    try:
        yield
    finally:
        _reading.reset(token)


def parsed(text: str, dialect: str) -> exp.Expr:
    """The tree of the one statement in the text, without holes.

    Raises `ParameterError` where the text cannot be read, `UnsupportedError` where it is no SELECT or several, both
    with the place, and nothing else whatever the text.
    """
    _check_text(text)
    tokens = _tokens(text, dialect)
    _check_one_select(text, tokens)
    _check_nesting(text, tokens)
    _check_followed(text, tokens)
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
    except ParseError as error:
        _unreadable(text, tokens, error)
    except RecursionError:
        raise UnsupportedError(f"{place_of(text, _deepest(tokens).start)}: {_FLATTER}") from None
    except _AmbiguousError as error:
        where = place_of(text, error.stood)
        raise UnsupportedError(
            f"{where}: the query can be read in too many ways up to here: {_CLEARER}"
        ) from None
    except Exception:  # the parser is not ours, and what it raises on odd texts is not always its own error
        _check_brackets(text, tokens)
        stood = getattr(parser, "_curr", None) or getattr(parser, "_prev", None) or tokens[-1]
        where, word = place_of(text, stood.start), _shown(text, stood)
        raise ParameterError(f"{where}: the query cannot be read at {word!r}: {_SHAPE}") from None
    if len(statements) != 1:
        where = place_of(text, tokens[0].start)
        raise UnsupportedError(f"{where}: several statements are refused: ask one SELECT at a time")
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
        raise ParameterError(_EMPTY)
    if len(text) > LONGEST_TEXT:
        where = place_of(text, LONGEST_TEXT)
        raise ParameterError(f"{where}: the query is {len(text)} characters long: {LONGEST_TEXT} are read")
    if not text.isascii():
        half = next((i for i, character in enumerate(text) if "\ud800" <= character <= "\udfff"), None)
        if half is not None:
            where = place_of(text, half)
            raise ParameterError(f"{where}: the query is not Unicode text: it holds half of a surrogate pair")
    if "\0" in text:
        raise ParameterError(f"{place_of(text, text.index(chr(0)))}: the query holds a zero character")


def _check_nesting(text: str, tokens: Sequence[Token]) -> None:
    """Refuse what is so deep that no stack suffices, and what the parser's time grows with faster than its length:
    subscripts by the square of their number, types inside types twice at every level.
    """
    depth, subscripts, structures = 0, 0, 0
    for token in tokens:
        depth += _STEP.get(token.token_type, 0)
        subscripts += token.token_type == TokenType.L_BRACKET
        structures += token.token_type == TokenType.STRUCT
        if max(depth, subscripts) > MOST_BRACKETS or structures > MOST_STRUCTURES:
            raise UnsupportedError(f"{place_of(text, token.start)}: {_FLATTER}")


def _deepest(tokens: Sequence[Token]) -> Token:
    """The first of the words inside the most brackets."""
    depth, most, found = 0, 0, tokens[0]
    for token in tokens:
        depth += _STEP.get(token.token_type, 0)
        if depth > most:
            most, found = depth, token
    return found


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
            where = place_of(text, _readable(text, dialect))
            raise ParameterError(f"{where}: the query cannot be read from here: check its quotes") from None
        sign = "/*" if text.startswith("/*", start) else text[start]
        what = "comment" if sign == "/*" else "quote"
        raise ParameterError(
            f"{place_of(text, start)}: the {what} that {sign} opens is never closed"
        ) from None
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        tokens.pop()
    while tokens and tokens[0].token_type == TokenType.SEMICOLON:
        tokens.pop(0)
    if not tokens:
        raise ParameterError(_EMPTY)
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


def _check_one_select(text: str, tokens: Sequence[Token]) -> None:
    for before, token in pairwise(tokens):
        if before.token_type == TokenType.SEMICOLON and token.token_type != TokenType.SEMICOLON:
            where = place_of(text, token.start)
            raise UnsupportedError(f"{where}: several statements are refused: ask one SELECT at a time")
    first = next((token for token in tokens if token.token_type != TokenType.L_PAREN), tokens[0])
    if first.token_type in _BEGIN:
        return
    where, word = place_of(text, first.start), _shown(text, first)
    meant = did_you_mean(word.upper(), ("SELECT", "WITH"))
    if meant and first.token_type == TokenType.VAR:
        raise ParameterError(f"{where}: a question begins with SELECT, not with {word!r}: {meant}")
    raise UnsupportedError(f"{where}: {word} is refused: questions only read: ask one SELECT")


def _check_followed(text: str, tokens: Sequence[Token]) -> None:
    """Refuse a word behind which something is missing."""
    for place, token in enumerate(tokens):
        expected = _EXPECTED.get(token.token_type)
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        named = place > 0 and tokens[place - 1].token_type == TokenType.DOT
        if expected is None or named:
            continue
        where, word = place_of(text, token.start), _shown(text, token)
        if token.token_type == TokenType.FROM and after is not None and after.token_type == TokenType.SELECT:
            raise ParameterError(
                f"{place_of(text, after.start)}: after {word!r} a table is expected: write a sub-select in brackets, "
                "and quote a table whose name is a keyword"
            )
        if token.token_type == TokenType.GT and after is not None and after.token_type in _AFTER_TYPES:
            continue
        if after is None or after.token_type in _CLAUSES:
            got = "and the query ends" if after is None else f"not {_shown(text, after)!r}"
            raise ParameterError(f"{where}: after {word!r} {expected}, {got}")


def _unreadable(text: str, tokens: Sequence[Token], error: ParseError) -> NoReturn:
    """The parser's error in our words."""
    _check_brackets(text, tokens)
    detail = error.errors[0] if error.errors else {}
    place = next(
        (i for i, t in enumerate(tokens) if (t.line, t.col) == (detail.get("line"), detail.get("col"))),
        len(tokens) - 1,
    )
    _check_spelling(text, tokens, place)
    where, word = place_of(text, tokens[place].start), _shown(text, tokens[place])
    said = str(detail.get("description") or "")
    expected = re.fullmatch(r"Expect(?:ed|ing) (.{1,40}?)( but got .*)?", said.partition("\n")[0])
    if expected is not None:
        raise ParameterError(
            f"{where}: the query cannot be read at {word!r}: expected is {expected[1]}"
        ) from None
    if said.startswith("Required keyword"):
        missing = "expected is x BETWEEN low AND high" if "Between" in said else "a part is missing here"
        raise ParameterError(f"{where}: the query cannot be read at {word!r}: {missing}") from None
    raise ParameterError(f"{where}: the query cannot be read at {word!r}: {_SHAPE}") from None


def _check_brackets(text: str, tokens: Sequence[Token]) -> None:
    opened: list[Token] = []
    for token in tokens:
        if token.token_type == TokenType.L_PAREN:
            opened.append(token)
        elif token.token_type == TokenType.R_PAREN:
            if not opened:
                raise ParameterError(
                    f"{place_of(text, token.start)}: this ) closes a bracket that is not open"
                ) from None
            opened.pop()
    if opened:
        raise ParameterError(f"{place_of(text, opened[-1].start)}: this ( is never closed") from None


def _check_spelling(text: str, tokens: Sequence[Token], place: int) -> None:
    """A misspelt keyword is read as a name, and the parser stumbles one or two words later."""
    for i in range(max(place - 2, 0), place + 1):
        before = tokens[i - 1].token_type if i else None
        if tokens[i].token_type == TokenType.VAR and before not in _NAME_FOLLOWS:
            word = _shown(text, tokens[i])
            meant = did_you_mean(word.upper(), _KEYWORDS)
            if meant:
                raise ParameterError(
                    f"{place_of(text, tokens[i].start)}: the query cannot be read at {word!r}: {meant}"
                ) from None


def _shown(text: str, token: Token) -> str:
    shown = " ".join(text[token.start : token.end + 1].split())
    return shown if len(shown) <= _LONGEST_QUOTE else shown[: _LONGEST_QUOTE - 3] + "..."
