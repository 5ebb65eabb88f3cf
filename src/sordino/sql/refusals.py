"""Refusals: where in the text, which clause, and what could be asked instead. They show query text and schema only."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError

from sordino.core import ParameterError, UnsupportedError

_LONGEST_QUOTE = 80
MOST_WORK = 400_000


class Text:
    """The analyst's text, for quoting and for places."""

    def __init__(self, text: str, dialect: str) -> None:
        self.text, self.dialect = text, dialect
        self._work = 0

    def spend(self, nodes: int) -> None:
        """Count the work: names that are written out again and again grow faster than the text."""
        self._work += nodes
        if self._work > MOST_WORK:
            raise UnsupportedError(
                "the query is too large once all names are written out: ask something simpler"
            )

    def refuse(self, node: exp.Expr | str, instead: str, *, keyword: str | None = None) -> NoReturn:
        """``node`` is not supported; ``keyword`` helps to find where it stands."""
        raise UnsupportedError(f"{self.place(node, keyword)}{self.quote(node)} is refused: {instead}")

    def wrong(self, node: exp.Expr | str, problem: str, *, keyword: str | None = None) -> NoReturn:
        """``node`` is supported, but not like this."""
        raise ParameterError(f"{self.place(node, keyword)}{self.quote(node)}: {problem}")

    def quote(self, node: exp.Expr | str) -> str:
        """The clause as text, cut to a readable length."""
        if isinstance(node, str):
            text = node
        else:
            try:
                text = " ".join(node.sql(dialect=self.dialect, comments=False).split())
            except (SqlglotError, RecursionError, ValueError, TypeError, AttributeError):
                text = type(node).__name__.upper()
        return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."

    def place(self, node: exp.Expr | str, keyword: str | None = None) -> str:
        """``line 1, column 8: `` of the keyword or of the first name inside the clause; empty if nobody can tell."""
        start = self._keyword(keyword)
        if start is None and not isinstance(node, str):
            starts = [found.meta["start"] for found in node.walk() if "start" in found.meta]
            start = min(starts, default=None)
        return "" if start is None else f"{place_of(self.text, start)}: "

    def _keyword(self, keyword: str | None) -> int | None:
        if keyword is None:
            return None
        try:
            tokens = Dialect.get_or_raise(self.dialect).tokenize(self.text)
        except SqlglotError:
            return None
        starts = [t.start for t in tokens if self.text[t.start : t.end + 1].upper().split(" ")[0] == keyword]
        return starts[0] if starts else None


def place_of(text: str, start: int) -> str:
    """Line and column, both from one."""
    before = text[:start]
    return f"line {before.count(chr(10)) + 1}, column {start - before.rfind(chr(10))}"


def only(text: Text, node: exp.Expr, allowed: tuple[str, ...], instead: str) -> None:
    """Refuse a node with a part that is not in ``allowed``: what the parser knows and we do not is never ignored."""
    for name, part in node.args.items():
        if part and name not in allowed:
            what = part[0] if isinstance(part, list) else part
            word = name.strip("_").replace("_", " ").upper()
            text.refuse(what if isinstance(what, exp.Expr) else f"{word} in {text.quote(node)}", instead,
                        keyword=word.split(" ")[0])  # fmt: skip
