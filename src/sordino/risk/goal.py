"""Goals: what an attacker tries to guess, from text: ``|salary| within 500 AND is(smoker)``.

goal ::= guess (AND guess)* | guess (OR guess)*
guess ::= column within number | |column| within number | is(column)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sordino.core import ParameterError, Place
from sordino.core.parameters import did_you_mean
from sordino.risk.priors import Prior, SetPrior, UnknownPrior
from sordino.risk.regions import Leaf, Named, Within

_NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?"
_GUESS = re.compile(
    rf"\s*(?:is\s*\(\s*(?P<named>{_NAME})\s*\)|(?P<bar>\|)?\s*(?P<column>{_NAME})\s*(?(bar)\|)\s*within\s+"
    r"(?P<radius>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))\s*",
    re.IGNORECASE,
)
_JOINED = re.compile(r"(AND|OR)\b", re.IGNORECASE)
_GRAMMAR = "a guess is written 'column within 500' or 'is(column)', and several are joined by AND or by OR"


@dataclass(frozen=True, slots=True)
class Guess:
    """One column: its name, and the radius that counts as right; None for a category."""

    column: str
    radius: float | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """Guesses about different columns, all of which (``AND``) or one of which (``OR``) must be right.

    >>> from sordino.risk import Goal
    >>> Goal.parse("|salary| within 500 AND is(smoker)").columns
    ('salary', 'smoker')
    """

    guesses: tuple[Guess, ...]
    joined: Literal["AND", "OR"] = "AND"

    @property
    def columns(self) -> tuple[str, ...]:
        """In the order in which they are written."""
        return tuple(guess.column for guess in self.guesses)

    @classmethod
    def parse(cls, text: str) -> Goal:
        """From its text; what cannot be read is refused with its place."""
        if not isinstance(text, str):
            raise ParameterError(f"a goal is a text such as 'salary within 500', got {type(text).__name__}")
        guesses: list[Guess] = []
        words: set[str] = set()
        place = 0
        while True:
            found = _GUESS.match(text, place)
            if found is None:
                raise _wrong(text, place, _GRAMMAR)
            column = found["named"] or found["column"]
            if column.casefold() in {guess.column.casefold() for guess in guesses}:
                raise _wrong(
                    text, place, f"{column} stands in the goal twice: guesses are about different columns"
                )
            guesses.append(Guess(column, None if found["radius"] is None else float(found["radius"])))
            place = found.end()
            if place == len(text):
                break
            joint = _JOINED.match(text, place)
            if joint is None:
                raise _wrong(text, place, _GRAMMAR)
            words.add(joint[1].upper())
            if len(words) > 1:
                raise _wrong(text, place, "AND and OR are not mixed in one goal: bound each part by itself")
            place = joint.end()
        return cls(tuple(guesses), "OR" if "OR" in words else "AND")

    def find_leaves(self, priors: Mapping[str, Prior]) -> tuple[Leaf, ...]:
        """The guesses with the priors of their columns."""
        return tuple(self._leaf(guess, priors) for guess in self.guesses)

    def _leaf(self, guess: Guess, priors: Mapping[str, Prior]) -> Leaf:
        if guess.column not in priors:
            hint = did_you_mean(guess.column, priors, before="; ")
            raise ParameterError(
                f"the goal is about {guess.column!r}, of which no prior is known: there are priors of "
                f"{', '.join(priors) or 'no column'}{hint}"
            )
        prior = priors[guess.column]
        if isinstance(prior, UnknownPrior):
            raise ParameterError(
                f"the prior of {guess.column!r} is unknown, so all of them must be: leave them out"
            )
        if guess.radius is None:
            if not isinstance(prior, SetPrior):
                raise ParameterError(
                    f"is({guess.column}) names a category: give a set of values as its prior"
                )
            return Named(guess.column, prior)
        if isinstance(prior, SetPrior):
            raise ParameterError(
                f"{guess.column} within {guess.radius:g} is about a range, and its prior is a set of values: "
                f"write is({guess.column})"
            )
        return Within(guess.column, prior, guess.radius)


def _wrong(text: str, place: int, why: str) -> ParameterError:
    place += len(text[place:]) - len(text[place:].lstrip())
    before = text[:place]
    at = Place(1 + before.count("\n"), place - (before.rfind("\n") + 1) + 1)
    return ParameterError.at(at, why)
