"""Refusals: where in the text, which clause, and what could be asked instead. They show query text and schema only."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NoReturn

from sqlglot import Dialect, TokenType, exp

from sordino.core import ParameterError, Place, UnsupportedError

_LONGEST_QUOTE = 80
# So many words are longer than any quote; a clause that agrees so far is the one that is meant.
_MOST_WORDS = 120
_LONGEST_ADVICE = 600
MOST_WORK = 150_000


@dataclass(frozen=True, slots=True)
class _Word:
    """A token as it is compared, with its first and last character in the text."""

    text: str
    start: int
    end: int


class Text:
    """The analyst's text, for quoting and for places. ``reading``: the node that was looked at last."""

    def __init__(self, text: str, dialect: str) -> None:
        self.text, self.dialect = text, dialect
        self.reading: exp.Expr | None = None
        self._work = 0

    def spend(self, nodes: int) -> None:
        """Count the work: names that are written out again and again grow faster than the text."""
        self._work += nodes
        if self._work > MOST_WORK:
            raise UnsupportedError.at(
                self.here(), "the query is too large once all names are written out: ask something simpler"
            )

    def refuse(
        self, node: exp.Expr | str, instead: str, *, keyword: str | None = None, at: exp.Expr | None = None
    ) -> NoReturn:
        """``node`` is not supported. ``keyword`` and ``at``, a node near by, help to find where it stands."""
        advice = _cut(instead, _LONGEST_ADVICE)
        raise UnsupportedError.at(self.place(node, keyword, at), f"{self.quote(node)} is refused: {advice}")

    def wrong(
        self, node: exp.Expr | str, problem: str, *, keyword: str | None = None, at: exp.Expr | None = None
    ) -> NoReturn:
        """``node`` is supported, but not like this."""
        found = _cut(problem, _LONGEST_ADVICE)
        raise ParameterError.at(self.place(node, keyword, at), f"{self.quote(node)}: {found}")

    def number(self, node: exp.Expr) -> Fraction:
        """A number as it is written: a few characters of exponent could be more digits than a memory holds."""
        written = str(node.this)
        try:
            exact = Fraction(written) if len(written) <= 400 and _exponent(written) <= 400 else None
        except ValueError:
            exact = None
        if exact is None or not is_within_reach(exact, 100):
            self.refuse(node, "numbers must be zero or between 1e-100 and 1e100 in magnitude")
        return exact

    def quote(self, node: exp.Expr | str) -> str:
        """The clause as it was written if it is found, else as the parser writes it; cut to a readable length."""
        span = None if isinstance(node, str) else self._span(node, None)
        text = self._rendered(node) if span is None else self.text[span[0] : span[1]]
        return _cut(" ".join(text.split()), _LONGEST_QUOTE)

    def place(self, node: exp.Expr | str, keyword: str | None = None, at: exp.Expr | None = None) -> Place:
        """The place of the clause, of its function or keyword, or of the first name inside it.

        If nobody can tell: of the least that stands around it and has a place, at worst of the whole text.
        """
        span = self._span(node, at)
        start = self._guess(node, keyword, at) if span is None else span[0]
        around = at if isinstance(node, str) else node
        while start is None and around is not None:
            start, around = _first_place(around), around.parent
        if start is None:
            start = self._words[0].start if self._words else 0
        return find_place(self.text, start)

    def here(self) -> Place:
        """The place of what was looked at last."""
        return self.place("" if self.reading is None else self.reading)

    def _span(self, node: exp.Expr | str, at: exp.Expr | None) -> tuple[int, int] | None:
        """Where the words of the clause stand in the text: around a name whose place the parser noted, if it did."""
        wanted = [word.text for word in self._split(self._rendered(node))][:_MOST_WORDS]
        words, length = self._words, len(wanted)
        if not wanted:
            return None
        anchor = None if isinstance(node, str) else _first_place(node)
        found = []
        for place in range(len(words) - length + 1):
            if all(words[place + i].text == wanted[i] for i in range(length)):
                start, end = words[place].start, words[place + length - 1].end
                if anchor is None or start <= anchor <= end:
                    found.append((start, end + 1))
        before = None if at is None else _first_place(at)
        nearest = [span for span in found if before is not None and span[0] <= before]
        return nearest[-1] if nearest else found[0] if found else None

    def _guess(self, node: exp.Expr | str, keyword: str | None, at: exp.Expr | None) -> int | None:
        near = at if isinstance(node, str) else node
        anchor = None if near is None else _first_place(near)
        if keyword is not None:
            starts = [word.start for word in self._words if word.text.partition(" ")[0] == keyword]
            before = [start for start in starts if anchor is not None and start <= anchor]
            if starts:
                return before[-1] if before else starts[0]
        if anchor is None or not isinstance(node, exp.Func):
            return anchor
        # A function that the parser renames: the word before the bracket around its first argument.
        inside = [word for word in self._words if word.start < anchor][-2:]
        if len(inside) == 2 and inside[1].text == "(" and inside[0].text.replace("_", "").isalnum():
            return inside[0].start
        return anchor

    @cached_property
    def _words(self) -> list[_Word]:
        return self._split(self.text)

    def _split(self, text: str) -> list[_Word]:
        """The words of a text; AS, which may be left out, is left out."""
        try:
            tokens = Dialect.get_or_raise(self.dialect).tokenize(text)
        except (
            Exception
        ):  # the tokenizer is not ours; without words there is another place, never another error
            return []
        return [
            _Word(" ".join(token.text.upper().split()), token.start, token.end)
            for token in tokens
            if token.token_type != TokenType.ALIAS
        ]

    def _rendered(self, node: exp.Expr | str) -> str:
        if isinstance(node, str):
            return node
        try:
            return node.sql(dialect=self.dialect, comments=False)
        except Exception:  # the generator is not ours, and not every tree has a text in every dialect
            return type(node).__name__.upper()


def find_place(text: str, start: int) -> Place:
    """Line and column of a character."""
    before = text[:start]
    return Place(before.count("\n") + 1, start - before.rfind("\n"))


def check_parts(text: Text, node: exp.Expr, allowed: tuple[str, ...], instead: str) -> None:
    """Refuse a node with a part that is not in ``allowed``: what the parser knows and we do not is never ignored."""
    text.reading = node
    for name, part in node.args.items():
        if part and name not in allowed:
            what = part[0] if isinstance(part, list) else part
            word = name.strip("_").replace("_", " ").upper()
            text.refuse(what if isinstance(what, exp.Expr) else f"{word} in {text.quote(node)}", instead,
                        keyword=word.split(" ")[0], at=node)  # fmt: skip


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _first_place(node: exp.Expr) -> int | None:
    return min((found.meta["start"] for found in node.walk() if "start" in found.meta), default=None)


def is_within_reach(number: Fraction, exponent: int) -> bool:
    """Whether it is zero or has a magnitude within 10^±exponent."""
    return number == 0 or Fraction(1, 10**exponent) <= abs(number) <= Fraction(10) ** exponent


def _exponent(written: str) -> int:
    _, _, exponent = written.lower().partition("e")
    digits = exponent.lstrip("+-")
    return int(digits) if digits.isdigit() and len(digits) < 6 else 0 if not exponent else 10**6
