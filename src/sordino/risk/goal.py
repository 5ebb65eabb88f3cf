"""Goals: what an attacker tries to guess, from text: ``|salary| within 500 AND is(smoker)``.

goal ::= guess (AND guess)* | guess (OR guess)*
guess ::= column within number | |column| within number | norm(column, …) within number | is(column)
norm ::= l1 | l2 | linf
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sordino.core import ParameterError, Place
from sordino.core.parameters import did_you_mean
from sordino.risk.ball import Ball
from sordino.risk.priors import NormalPrior, Prior, RangePrior, SetPrior, UnknownPrior
from sordino.risk.regions import Leaf, Named, Within

_NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?"
_GUESS = re.compile(
    rf"\s*(?:is\s*\(\s*(?P<named>{_NAME})\s*\)|"
    rf"(?:(?P<order>l1|l2|linf)\s*\(\s*(?P<columns>{_NAME}(?:\s*,\s*{_NAME})+)\s*\)"
    rf"|(?P<bar>\|)?\s*(?P<column>{_NAME})\s*(?(bar)\|))\s*within\s+"
    r"(?P<radius>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))\s*",
    re.IGNORECASE,
)
_JOINED = re.compile(r"(AND|OR)\b", re.IGNORECASE)
_GRAMMAR = (
    "a guess is written 'column within 500', 'l2(column, column) within 500' or 'is(column)', and several are joined "
    "by AND or by OR"
)
_ORDERS = {"l1": 1.0, "l2": 2.0, "linf": math.inf}


@dataclass(frozen=True, slots=True)
class Guess:
    """One column: its name, and the radius that counts as right; None for a category."""

    column: str
    radius: float | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The one."""
        return (self.column,)


@dataclass(frozen=True, slots=True)
class JointGuess:
    """Two or three numbers named together: right within ``radius`` in the norm of ``order`` 1, 2 or infinity."""

    columns: tuple[str, ...]
    order: float
    radius: float


@dataclass(frozen=True, slots=True)
class Goal:
    """Guesses about different columns, all of which (``AND``) or one of which (``OR``) must be right.

    >>> from sordino.risk import Goal
    >>> Goal.parse("|salary| within 500 AND is(smoker)").columns
    ('salary', 'smoker')
    """

    guesses: tuple[Guess | JointGuess, ...]
    joined: Literal["AND", "OR"] = "AND"

    @property
    def columns(self) -> tuple[str, ...]:
        """In the order in which they are written."""
        return tuple(column for guess in self.guesses for column in guess.columns)

    @classmethod
    def parse(cls, text: str) -> Goal:
        """From its text; what cannot be read is refused with its place."""
        if not isinstance(text, str):
            raise ParameterError(f"a goal is a text such as 'salary within 500', got {type(text).__name__}")
        guesses: list[Guess | JointGuess] = []
        seen: set[str] = set()
        words: set[str] = set()
        place = 0
        while True:
            found = _GUESS.match(text, place)
            if found is None:
                raise _wrong(text, place, _GRAMMAR)
            guess = _make_guess(found)
            for column in guess.columns:
                if column.casefold() in seen:
                    raise _wrong(
                        text, place, f"{column} stands in the goal twice: guesses are about different columns"
                    )
                seen.add(column.casefold())
            guesses.append(guess)
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

    def _leaf(self, guess: Guess | JointGuess, priors: Mapping[str, Prior]) -> Leaf:
        if isinstance(guess, JointGuess):
            parts = tuple(_within(column, guess.radius, priors) for column in guess.columns)
            return Ball(parts, guess.order, guess.radius)
        if guess.radius is not None:
            return _within(guess.column, guess.radius, priors)
        prior = _known(guess.column, priors)
        if not isinstance(prior, SetPrior):
            raise ParameterError(f"is({guess.column}) names a category: give a set of values as its prior")
        return Named(guess.column, prior)


def _make_guess(found: re.Match[str]) -> Guess | JointGuess:
    if found["order"] is None:
        return Guess(
            found["named"] or found["column"], None if found["radius"] is None else float(found["radius"])
        )
    columns = tuple(column.strip() for column in found["columns"].split(","))
    return JointGuess(columns, _ORDERS[found["order"].lower()], float(found["radius"]))


def _within(column: str, radius: float, priors: Mapping[str, Prior]) -> Within:
    prior = _known(column, priors)
    if isinstance(prior, SetPrior):
        raise ParameterError(
            f"{column} within {radius:g} is about a range, and its prior is a set of values: write is({column})"
        )
    return Within(column, prior, radius)


def _known(column: str, priors: Mapping[str, Prior]) -> RangePrior | NormalPrior | SetPrior:
    if column not in priors:
        hint = did_you_mean(column, priors, before="; ")
        raise ParameterError(
            f"the goal is about {column!r}, of which no prior is known: there are priors of "
            f"{', '.join(priors) or 'no column'}{hint}"
        )
    prior = priors[column]
    if isinstance(prior, UnknownPrior):
        raise ParameterError(
            f"the prior of {column!r} is not known, so none of the goal's can be used: declare all of them as "
            "unknown (range, set or total)"
        )
    return prior


def _wrong(text: str, place: int, why: str) -> ParameterError:
    place += len(text[place:]) - len(text[place:].lstrip())
    before = text[:place]
    at = Place(1 + before.count("\n"), place - (before.rfind("\n") + 1) + 1)
    return ParameterError.at(at, why)
