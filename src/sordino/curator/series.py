"""Series: a question that is asked for every interval of time, opened once and answered as the intervals close."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from sordino.core import EngineError, Guarantee, ParameterError, Release
from sordino.curator.answer import FAILED, words_of
from sordino.curator.dataset import DataSet
from sordino.curator.series_definition import (
    SeriesDefinition,
    SeriesPlan,
    plan_series,
    read_every,
    read_moment,
)
from sordino.ledger import Ledger, StoredRelease
from sordino.ledger.series import claim_interval, name_interval, name_series, open_series
from sordino.sampling.source import is_private
from sordino.series import SeriesRelease
from sordino.sql.answering.exact import compute_answer

_NOTES = (
    "the total of all intervals so far; each row is in the interval of its time",
    "a row that came late counts from the blocks on that were released after it came",
)


class Series:
    """One series of one analyst: `next` answers the interval that has closed, `show` what was answered so far.

    **Guarantee**: ε in all, paid when the series was opened; every interval has one answer, which the ledger holds
    before it leaves. What is stored are released blocks and nothing else, so another process goes on from the ledger
    alone.
    """

    __slots__ = ("_analyst", "_data", "_ledger", "_name", "_plan")

    def __init__(self, data: DataSet, analyst: str, name: str, plan: SeriesPlan, ledger: Ledger) -> None:
        self._data, self._analyst, self._name = data, analyst, name
        self._plan, self._ledger = plan, ledger

    @property
    def name(self) -> str:
        """By which it is found again."""
        return self._name

    @property
    def definition(self) -> SeriesDefinition:
        """What it asks."""
        return self._plan.definition

    @property
    def guarantee(self) -> Guarantee:
        """Of all answers together."""
        return self._plan.guarantee

    def __repr__(self) -> str:
        return f"Series({self.name!r}, {self.answered} of {self.definition.horizon} intervals)"

    @property
    def answered(self) -> int:
        """How many intervals have an answer: they are answered in order, so a search finds the last."""
        low, high = 0, self.definition.horizon
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._stored(middle) is not None else (low, middle - 1)
        return low

    def next(self, *, now: Any = None) -> Release:
        """The total up to the next interval, which must be over. ``now``: a moment in place of the clock (UTC)."""
        return self.answer_next(now=now)[1]

    def answer_next(self, *, now: Any = None) -> tuple[int, Release]:
        """The same with the number of the interval: another process may answer some in between."""
        interval = self.answered + 1
        if interval > self.definition.horizon:
            raise ParameterError(
                f"the horizon of series {self.name!r} is {self.definition.horizon} intervals, and all have an answer; "
                "nothing was released; open a new series, with a budget of its own"
            )
        if _moment(now) < (end := self.definition.end_of(interval)):
            raise ParameterError(
                f"interval {interval} of series {self.name!r} is open until {end}; nothing was released"
            )
        return interval, self._answer(interval)

    def catch_up(self, *, now: Any = None) -> Iterator[Release]:
        """Answers to all intervals that are over and have none, one by one."""
        for _, release in self.answer_all(now=now):
            yield release

    def answer_all(self, *, now: Any = None) -> Iterator[tuple[int, Release]]:
        """The same with the numbers of the intervals."""
        over = self.count_over(now=now)
        while (interval := self.answered + 1) <= over:
            yield interval, self._answer(interval)

    def count_over(self, *, now: Any = None) -> int:
        """How many intervals are over, answered or not."""
        passed = (_moment(now) - self.definition.begin_of(1)) // read_every(self.definition.every)
        return max(0, min(self.definition.horizon, passed))

    def _answer(self, interval: int) -> Release:
        """Drawn once, and then as it is stored."""
        self._data.check_reachable()
        claim = claim_interval(
            self._ledger,
            self._data.policy.dataset,
            self._analyst,
            self._plan.guarantee,
            name=self.name,
            interval=interval,
        )
        if not isinstance(claim, StoredRelease):
            with claim as reservation:
                reservation.commit(self._measure_and_draw(interval))
        return self.total(interval)

    def show(self) -> SeriesRelease:
        """All totals so far, from the ledger alone: costs nothing and reads no row."""
        done = self.answered
        if not done:
            raise ParameterError(f"series {self.name!r} has no answer yet")
        contents = [self._content(interval) for interval in range(1, done + 1)]
        totals = [
            sum(int(contents[block.last - 1]["released"]) for block in self._plan.tree.blocks(interval))
            for interval in range(1, done + 1)
        ]
        radii = self._plan.tree.radii(np.arange(1, done + 1))
        return SeriesRelease(
            np.array([self._plan.tree.lattice.value(steps) for steps in totals]),
            self._plan.guarantee,
            self._plan.mechanism,
            error=float(radii.max()),
            notes=_NOTES,
            private=all(content["private"] for content in contents),
            radii=radii,
        )

    def error(self, interval: int) -> float:
        """The standard deviation of the total at an interval: public."""
        return self._plan.tree.error(interval)

    def describe(self) -> dict[str, Any]:
        """What it is, as plain data; nothing of it follows the rows."""
        loss = self.definition.loss
        return self.definition.to_dict() | {
            "name": self.name,
            **({"epsilon": loss.epsilon} if loss.rho is None else {"rho": loss.rho}),
            "answered": self.answered,
            "mechanism": self._plan.mechanism,
            "guarantee": str(self._plan.guarantee),
            "worst_error": self._plan.tree.worst_error,
        }

    def plot(self, *, smoothed: Any = None) -> Any:
        """`show` as a picture; ``smoothed`` is a second line."""
        return self.show().plot(
            smoothed=smoothed, title=f"{self.definition.sql} every {self.definition.every}"
        )

    def _stored(self, interval: int) -> StoredRelease | None:
        return self._ledger.stored(
            self._data.policy.dataset, self._analyst, name_interval(self.name, interval)
        )

    def _content(self, interval: int) -> Mapping[str, Any]:
        stored = self._stored(interval)
        if stored is None:
            raise ParameterError(f"interval {interval} of series {self.name!r} has no answer yet")
        return stored.content

    def total(self, interval: int) -> Release:
        """The total at an interval that has an answer, made of released blocks: costs nothing."""
        contents = [self._content(block.last) for block in self._plan.tree.blocks(interval)]
        steps = sum(int(content["released"]) for content in contents)
        return Release(
            self._plan.tree.lattice.value(steps),
            self._plan.guarantee,
            self._plan.mechanism,
            error=float(self._plan.tree.radii([interval])[0]),
            notes=_NOTES,
            private=all(content["private"] for content in contents),
        )

    def _measure_and_draw(self, interval: int) -> dict[str, Any]:
        """The block that ends with this interval, from one snapshot, with its noise."""
        length = 1
        while interval % (length * self._plan.tree.base) == 0:
            length *= self._plan.tree.base
        first = interval - length + 1
        try:
            question = self._plan.question(first, interval, self._data)
            with self._data.engine.snapshot() as snapshot:
                exact = compute_answer(snapshot, question)
            released = exact + int(self._plan.tree.noise.draw(1)[0])
            return {
                "series": self.name,
                "block": [first, interval],
                "released": released,
                "private": is_private(),
            }
        except Exception as error:  # its text may hold rows
            failure = words_of(error)
        raise EngineError(FAILED, failure)


def start_series(data: DataSet, analyst: str, name: str | None, definition: SeriesDefinition) -> Series:
    """Open a series, or find the one of this name and definition; paid for once."""
    plan = plan_series(data, definition)
    found = _check_name(name) if name is not None else _name_by(definition)
    data.accounts.admit(analyst)
    data.check_reachable()
    ledger = data.accounts.prepare(analyst, plan.guarantee, name_series(found))
    content = definition.to_dict() | {"policy": data.digest}
    opened = open_series(
        ledger,
        data.policy.dataset,
        analyst,
        plan.guarantee,
        name=found,
        mechanism=plan.mechanism,
        definition=content,
    )
    if opened.content["definition"] != content:
        raise ParameterError(
            f"there is a series {found!r} that asks something else, or under another policy: give this one a name of "
            "its own; nothing was spent"
        )
    return Series(data, analyst, found, plan, ledger)


def find_series(data: DataSet, analyst: str, name: str) -> Series:
    """A series that was opened before, by any process: it goes on where it stands."""
    data.accounts.admit(analyst)
    opened = data.accounts.stored(analyst, name_series(_check_name(name)))
    if opened is None:
        raise ParameterError(f"{analyst!r} has opened no series {name!r} on data set {data.policy.dataset!r}")
    content = dict(opened.content["definition"])
    if content.pop("policy") != data.digest:
        raise ParameterError(f"series {name!r} was opened under another policy: open a new one")
    plan = plan_series(data, SeriesDefinition.from_dict(content))
    return Series(data, analyst, name, plan, data.accounts.prepare(analyst, None, name_series(name)))


def _name_by(definition: SeriesDefinition) -> str:
    """Its SQL on one line, as far as a name is long."""
    line = "".join(sign if sign.isprintable() else " " for sign in " ".join(definition.sql.split()))
    return f"{line[:60].strip()} every {definition.every}"


def _moment(now: Any) -> datetime:
    """A moment that was given, or the clock's; in UTC, as all times of a series are."""
    return datetime.now(UTC).replace(tzinfo=None) if now is None else read_moment("now", now)


def _check_name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip() or len(name) > 120 or not name.isprintable():
        raise ParameterError(f"name must be a printable name of 1 to 120 characters, got {name!r}")
    return name
