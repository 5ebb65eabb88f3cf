"""The words of a query before they are parsed: what must follow what, and how deep they may lead.

The parser forgives: it reads ``JOIN t`` without a condition as a join of everything with everything, ``GROUP BY``
without a column as no groups, ``IN (, 2)`` as ``IN (2)``, and some brackets that are never closed. Such an answer would
be to another question, so these are refused before the parser sees them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sqlglot import Token, TokenType

from sordino.core import ParameterError, UnsupportedError
from sordino.core.parameters import did_you_mean
from sordino.sql.text import find_place

MOST_BRACKETS = 100
MOST_STRUCTURES = 8
_LONGEST_QUOTE = 40
FLATTER = "the query is nested too deeply here: write it flatter"
_KEYWORDS = ("SELECT", "FROM", "WHERE", "GROUP", "JOIN", "INNER", "USING", "BETWEEN", "ORDER", "HAVING", "LIMIT",
             "OFFSET")  # fmt: skip
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
    TokenType.OFFSET,
    TokenType.JOIN,
    TokenType.ON,
    TokenType.UNION,
    TokenType.R_PAREN,
    TokenType.COMMA,
    TokenType.SEMICOLON,
    TokenType.WHEN,
    TokenType.THEN,
    TokenType.ELSE,
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
    TokenType.SELECT: "COUNT(*), COUNT(x), SUM(x), AVG(x) or another aggregate is expected",
    TokenType.FROM: "a table is expected",
    TokenType.JOIN: "a table is expected",
    TokenType.ON: "a condition such as a.id = b.id is expected",
    TokenType.WHERE: "a condition such as x = 1 is expected",
    TokenType.AND: "a condition, or the upper end of BETWEEN, is expected",
    TokenType.OR: "a condition is expected",
    TokenType.NOT: "a condition is expected",
    TokenType.GROUP_BY: "a column is expected",
    TokenType.HAVING: "a condition over aggregates such as COUNT(*) > 10 is expected",
    TokenType.ORDER_BY: "a column of the answer is expected",
    TokenType.LIMIT: "a whole number is expected",
    TokenType.OFFSET: "a whole number is expected",
    TokenType.BETWEEN: "low AND high is expected",
    TokenType.LIKE: "a pattern such as 'A%' is expected",
    **dict.fromkeys((TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE,
                     TokenType.PLUS, TokenType.DASH, TokenType.SLASH), _VALUE),
}  # fmt: skip
# Where the joins of one SELECT end.
_AFTER_JOINS = (TokenType.WHERE, TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.HAVING, TokenType.LIMIT,
                TokenType.UNION, TokenType.R_PAREN, TokenType.COMMA)  # fmt: skip
# Joins that need no condition, or that are refused as what they are.
_OTHER_JOINS = ("CROSS", "NATURAL", "POSITIONAL", "ASOF", "LEFT", "RIGHT", "FULL", "OUTER", "SEMI", "ANTI")


def check_words(text: str, tokens: Sequence[Token]) -> None:
    """Refuse what is no SELECT, too deep, or lacks a word."""
    _check_one_select(text, tokens)
    _check_nesting(text, tokens)
    _check_followed(text, tokens)
    _check_brackets(text, tokens)
    _check_joins(text, tokens)
    _check_cases(text, tokens)


def _check_one_select(text: str, tokens: Sequence[Token]) -> None:
    """Refuse what is no question, and what is several."""
    for before, token in pairwise(tokens):
        if before.token_type == TokenType.SEMICOLON and token.token_type != TokenType.SEMICOLON:
            where = find_place(text, token.start)
            raise UnsupportedError.at(where, "several statements are refused: ask one SELECT at a time")
    first = next((token for token in tokens if token.token_type != TokenType.L_PAREN), tokens[0])
    if first.token_type in _BEGIN:
        return
    where, word = find_place(text, first.start), quote_word(text, first)
    meant = did_you_mean(word.upper(), ("SELECT", "WITH"))
    if meant and first.token_type == TokenType.VAR:
        raise ParameterError.at(where, f"a question begins with SELECT, not with {word!r}: {meant}")
    if word.upper() in ("DESCRIBE", "DESC", "SHOW"):
        raise UnsupportedError.at(
            where, f"{word} is refused: session.tables() and 'sordino tables' say what may be asked about"
        )
    raise UnsupportedError.at(where, f"{word} is refused: questions only read: ask one SELECT")


def _check_followed(text: str, tokens: Sequence[Token]) -> None:
    """Refuse a word behind which something is missing."""
    for place, token in enumerate(tokens):
        expected = _EXPECTED.get(token.token_type)
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        named = place > 0 and tokens[place - 1].token_type == TokenType.DOT
        if expected is None or named:
            continue
        where, word = find_place(text, token.start), quote_word(text, token)
        if token.token_type == TokenType.FROM and after is not None and after.token_type == TokenType.SELECT:
            raise ParameterError.at(
                find_place(text, after.start),
                f"after {word!r} a table is expected: write a sub-select in brackets, "
                "and quote a table whose name is a keyword",
            )
        if token.token_type == TokenType.GT and after is not None and after.token_type in _AFTER_TYPES:
            continue
        if after is None or after.token_type in _CLAUSES:
            got = "and the query ends" if after is None else f"not {quote_word(text, after)!r}"
            raise ParameterError.at(where, f"after {word!r} {expected}, {got}")


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
            raise UnsupportedError.at(find_place(text, token.start), FLATTER)


def find_deepest(tokens: Sequence[Token]) -> Token:
    """The first of the words inside the most brackets."""
    depth, most, found = 0, 0, tokens[0]
    for token in tokens:
        depth += _STEP.get(token.token_type, 0)
        if depth > most:
            most, found = depth, token
    return found


def _check_joins(text: str, tokens: Sequence[Token]) -> None:
    """Refuse a JOIN without its ON or USING: all pairs are asked for by CROSS JOIN or a comma."""
    waiting: list[list[Token]] = [[]]  # per open bracket, the joins that still want a condition
    for before, token in pairwise((tokens[0], *tokens)):
        kind, named = token.token_type, before.token_type == TokenType.DOT
        if kind == TokenType.JOIN and not named and before.text.upper() not in _OTHER_JOINS:
            waiting[-1].append(token)
        elif kind in (TokenType.ON, TokenType.USING) and not named and waiting[-1]:
            waiting[-1].pop()
        elif kind in _AFTER_JOINS and not named and waiting[-1]:
            break
        if kind == TokenType.L_PAREN:
            waiting.append([])
        elif kind == TokenType.R_PAREN:
            waiting.pop()
    for joins in waiting:
        if joins:
            raise ParameterError.at(
                find_place(text, joins[-1].start),
                "this JOIN has no condition: write JOIN ... ON or USING, or CROSS JOIN for all pairs",
            )


def _check_cases(text: str, tokens: Sequence[Token]) -> None:
    """Refuse a WHEN without its THEN."""
    waiting: list[Token] = []
    for before, token in pairwise((tokens[0], *tokens)):
        kind = TokenType.VAR if before.token_type == TokenType.DOT else token.token_type
        if kind == TokenType.WHEN:
            waiting.append(token)
        elif kind == TokenType.THEN and waiting:
            waiting.pop()
    if waiting:
        where = find_place(text, waiting[-1].start)
        raise ParameterError.at(where, "this WHEN has no THEN: write CASE WHEN condition THEN value END")


def _check_brackets(text: str, tokens: Sequence[Token]) -> None:
    """Refuse brackets that are not closed or not open, and lists with nothing between two commas."""
    for before, token in pairwise(tokens):
        if token.token_type == TokenType.COMMA and before.token_type in (TokenType.COMMA, TokenType.L_PAREN):
            where, word = find_place(text, before.start), quote_word(text, before)
            raise ParameterError.at(where, f"after {word!r} an item of the list is expected, not ','")
    opened: list[Token] = []
    for token in tokens:
        if token.token_type == TokenType.L_PAREN:
            opened.append(token)
        elif token.token_type == TokenType.R_PAREN:
            if not opened:
                raise ParameterError.at(
                    find_place(text, token.start), "this ) closes a bracket that is not open"
                )
            opened.pop()
    if opened:
        raise ParameterError.at(find_place(text, opened[-1].start), "this ( is never closed")


def check_spelling(text: str, tokens: Sequence[Token], place: int) -> None:
    """A misspelt keyword is read as a name, and the parser stumbles one or two words later."""
    for i in range(max(place - 2, 0), place + 1):
        before = tokens[i - 1].token_type if i else None
        if tokens[i].token_type == TokenType.VAR and before not in _NAME_FOLLOWS:
            word = quote_word(text, tokens[i])
            meant = did_you_mean(word.upper(), _KEYWORDS)
            if meant:
                raise ParameterError.at(
                    find_place(text, tokens[i].start), f"the query cannot be read at {word!r}: {meant}"
                ) from None


def quote_word(text: str, token: Token) -> str:
    """The word as it was written, cut to a readable length."""
    word = " ".join(text[token.start : token.end + 1].split())
    return word if len(word) <= _LONGEST_QUOTE else word[: _LONGEST_QUOTE - 3] + "..."
