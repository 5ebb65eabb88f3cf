"""From the text of a norm to its tree, or to an error with its place.

    N ::= column | number*N | l1(N, …) | l2(N, …) | linf(N, …) | l<p>(N, …), p >= 1 | log(column) | is(column)

A column is a name, a name with a table in front, or any text in double quotes.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from sordino.core import ParameterError, Place
from sordino.core.parameters import from_text
from sordino.sensitivity.norms.combination import CombinedNorm
from sordino.sensitivity.norms.leaf import LeafKind, NormLeaf
from sordino.sensitivity.norms.part import Exponent, NormPart
from sordino.sensitivity.norms.scaled import ScaledNorm, write_factor

_LONGEST = 10_000
_DEEPEST = 50
_MOST = 1000
_WORD = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![A-Za-z_]))"
    r"|(?P<power>l(?:inf|\d+(?:\.\d+)?)(?=\s*\())"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)"
    r'|"(?P<quoted>(?:[^"]|"")+)"'
    r"|(?P<sign>\S))"
)
_GRAMMAR = "a norm is a column, number*norm, l1(…), l2(…), linf(…), log(column) or is(column)"
# Factors beyond these are slips of the pen, and their products leave the range of doubles.
_SMALLEST, _LARGEST = Fraction(1, 10**30), Fraction(10**30)


@dataclass(frozen=True, slots=True)
class _Lexeme:
    kind: str
    text: str
    start: int


def parse_norm(text: str, *, shared: bool = False) -> NormPart:
    """The tree of a norm; every column stands in it once, or if ``shared`` is measured in one way."""
    if not isinstance(text, str):
        raise ParameterError(f"a norm is a text such as 'l2(x, y)', got {type(text).__name__}")
    if len(text) > _LONGEST:
        raise ParameterError(f"the norm is {len(text)} characters long: {_LONGEST} are read")
    return _Reader(text).read_all(shared=shared)


class _Reader:
    """Reads a norm from left to right; ``_starts`` are the places of the columns in the order of the leaves."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words: list[_Lexeme] = []
        place = 0
        while (found := _WORD.match(text, place)) is not None:
            kind = str(found.lastgroup)
            content = found[kind].replace('""', '"') if kind == "quoted" else found[kind]
            self._words.append(_Lexeme("name" if kind == "quoted" else kind, content, found.start(kind)))
            place = found.end()
        self._next = 0
        self._starts: list[_Lexeme] = []

    def read_all(self, *, shared: bool) -> NormPart:
        root = self._norm(0)
        if self._next < len(self._words):
            word = self._words[self._next]
            if word.text == "*":
                self._wrong(word, "the number stands first: 2*x")
            if word.text in "+-/|^":
                self._wrong(word, "norms are added by l1(…), and put together by l2(…) and linf(…)")
            self._wrong(word, "the norm has ended before")
        self._check_kinds(root) if shared else self._check_repeated(root)
        return root

    def _norm(self, depth: int) -> NormPart:
        word = self._take(_GRAMMAR)
        if depth > _DEEPEST:
            self._wrong(word, f"norms are nested deeper than {_DEEPEST}")
        if word.kind == "number":
            factor = self._factor(word)
            self._expect("*", f"a number stands before a norm: {word.text}*x")
            return ScaledNorm(factor, self._norm(depth + 1))
        if word.kind == "power":
            return self._combination(word, depth)
        if word.kind != "name":
            self._wrong(word, _GRAMMAR)
        return self._function(word) if self._peek("(") else self._leaf(word, "plain")

    def _factor(self, word: _Lexeme) -> Fraction:
        try:
            factor = from_text("a factor", word.text)
        except ParameterError as error:
            self._wrong(word, str(error))
        if factor == 0:
            self._wrong(
                word, "a factor must be > 0: a column that costs nothing is not protected; leave it out"
            )
        if not _SMALLEST <= factor <= _LARGEST:
            self._wrong(word, "a factor must be between 1e-30 and 1e30")
        return factor

    def _combination(self, word: _Lexeme, depth: int) -> NormPart:
        written = word.text[1:]
        exponent: Exponent = math.inf if written == "inf" else Fraction(written)
        if exponent < 1:
            self._wrong(word, f"{word.text} is no norm: p must be at least 1")
        if exponent != math.inf and exponent > _MOST:
            self._wrong(word, f"p may be at most {_MOST}; write linf for the largest")
        self._expect("(", f"write {word.text}(…)")
        children = [self._norm(depth + 1)]
        while self._peek(","):
            self._take("")
            children.append(self._norm(depth + 1))
        self._expect(")", f"the bracket of {word.text} is not closed")
        if exponent != 1:
            for child in children:
                for leaf, _ in child.leaves():
                    if leaf.kind == "is":
                        self._wrong(word, f"{leaf} may stand under l1 only: a jump has no way in between")
        return CombinedNorm(exponent, tuple(children))

    def _function(self, word: _Lexeme) -> NormPart:
        if word.text not in ("log", "is"):
            self._wrong(word, f"there is no {word.text}(…): {_GRAMMAR}")
        self._take("")
        name = self._take(f"{word.text}(…) takes one column")
        if name.kind != "name":
            self._wrong(name, f"{word.text}(…) takes one column")
        leaf = self._leaf(name, "log" if word.text == "log" else "is")
        self._expect(")", f"{word.text}(…) takes one column")
        return leaf

    def _leaf(self, word: _Lexeme, kind: LeafKind) -> NormPart:
        self._starts.append(word)
        return NormLeaf(word.text, kind)

    # --- one column, one place

    def _check_repeated(self, root: NormPart) -> None:
        seen: set[str] = set()
        for word in self._starts:
            if word.text in seen:
                self._wrong(word, f"column {word.text!r} stands twice in the norm{_suggest(root, word.text)}")
            seen.add(word.text)

    def _check_kinds(self, root: NormPart) -> None:
        seen: dict[str, NormLeaf] = {}
        for word, (leaf, _) in zip(self._starts, root.leaves(), strict=True):
            if seen.setdefault(leaf.column, leaf) != leaf:
                self._wrong(
                    word, f"column {word.text!r} is measured in two ways, {seen[leaf.column]} and {leaf}"
                )

    # --- words

    def _peek(self, sign: str) -> bool:
        return self._next < len(self._words) and self._words[self._next].text == sign

    def _take(self, expected: str) -> _Lexeme:
        if self._next == len(self._words):
            self._wrong(_Lexeme("end", "", len(self._text)), f"the norm ends too early: {expected}")
        self._next += 1
        return self._words[self._next - 1]

    def _expect(self, sign: str, otherwise: str) -> None:
        if not self._peek(sign):
            start = self._words[self._next].start if self._next < len(self._words) else len(self._text)
            self._wrong(_Lexeme("sign", sign, start), otherwise)
        self._next += 1

    def _wrong(self, word: _Lexeme, problem: str) -> NoReturn:
        before = self._text[: word.start]
        place = Place(before.count("\n") + 1, word.start - before.rfind("\n"))
        raise ParameterError.at(place, problem)


def _suggest(root: NormPart, column: str) -> str:
    """The merged form, where all ℓ above the occurrences have one p: (Σ aᵖ)^(1/p)·x (Lemma 3.76)."""
    around = [
        part
        for part in root.parts()
        if isinstance(part, CombinedNorm) and sum(leaf.column == column for leaf, _ in part.leaves()) > 1
    ]
    smallest = around[-1]
    found = [(leaf, factor) for leaf, factor in smallest.leaves() if leaf.column == column]
    if len(set(smallest.exponents())) > 1 or len({leaf for leaf, _ in found}) > 1:
        return ": write each column once"
    p = smallest.exponent
    factors = [factor for _, factor in found]
    merged = (
        max(factors)
        if p == math.inf
        else sum(float(factor) ** float(p) for factor in factors) ** (1 / float(p))
    )
    return f": write {write_factor(Fraction(f'{float(merged):.10g}'))}*{found[0][0]} once"
