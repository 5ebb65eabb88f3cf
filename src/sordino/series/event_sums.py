"""EventSums: SUM over a table whose rows come and go, released at every time, paid by those whose rows are in it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

from sordino.core import Distance, Guarantee, Loss, ParameterError, Release, UnsupportedError
from sordino.core.loss import round_as_written
from sordino.core.parameters import as_written, choice, non_negative, positive, whole
from sordino.ledger.library_payment import AccountName, LedgerSource, pay_before
from sordino.mechanisms.noise import add_noise
from sordino.sampling.discrete import draw_discrete_laplace
from sordino.sampling.source import is_private
from sordino.sensitivity import SmoothBound
from sordino.series.combined_noise import CombinedNoise
from sordino.series.timed_row import FOREVER, TimedRow
from sordino.series.tree_shape import Base, choose_shape

CONTENTS = Distance(
    "cell", "replace", among="tables of the same rows, times and joins; a change of contents by 1 is one cell"
)


class EventSums:
    """The sum of ``value`` over the rows that are there at the end of each time, by released blocks of changes.

    A block of the times t₁ … t₂ is worth the rows added in it and still there at its end, minus those added before it
    and removed in it. Its noise follows the largest sensitivity among these rows, and each provenance among them pays
    ε/levels once, however many rows it has there. A block that no row touches is 0: arrivals are public here.

    **Guarantee**: (ε, δ) for a change of the contents of one provenance by distance 1 (in all its rows together, ℓ₁),
    for all times: each provenance pays for at most ``allowance`` blocks of ε₁ = ε/levels, by default as many as there
    are levels; rows of a provenance that has none left are left out of value and scale, which is public. With
    ``allowance=None`` nothing is left out and the guarantee of each release states what the provenance that has paid
    most has paid: `charges` tells for each. With ``combined`` times, arrivals and joins are private too: every block
    has the noise of `CombinedNoise`, and a provenance with more uses than it allows is refused. With a ``ledger`` the
    whole series is paid for when it is opened.
    **Requires**: smooth bounds of rows are smooth at the ``beta`` of the series; rows come in the order of time,
    before the time in which they were added or removed is closed.
    **Source**: NAPLES report, Sections 3.3.12.4 and 3.3.12.5; levels are digits of the horizon, and δ is shared as
    δ/levels since each block is (ε₁, δ₁) in the usual sense. **Numerics**: those of `add_noise`.

    >>> import sordino as sd
    >>> sums = sd.series.EventSums(horizon=4, epsilon=1e6, step=1, base=2, allowance=None)
    >>> for row in [("a", 1, 5, None), ("b", 2, 3, 4), ("a", 3, 2, None), ("c", 2, 7, 3)]:
    ...     sums.add(sd.series.TimedRow.of(row[0], row[1], row[2], removed=row[3]))
    >>> [sums.close().value for _ in range(4)], sorted(sums.charges().items())
    ([5, 15, 10, 7], [('a', 4), ('b', 1), ('c', 2)])
    """

    def __init__(
        self,
        horizon: int,
        epsilon: Any,
        *,
        step: Any,
        delta: Any = 0.0,
        base: Base = "auto",
        noise: Literal["auto", "student_t", "cauchy", "flared_laplace", "laplace"] = "auto",
        beta: float | None = None,
        allowance: int | Literal["levels"] | None = "levels",
        combined: CombinedNoise | None = None,
        ledger: LedgerSource | None = None,
        account: AccountName | None = None,
    ) -> None:
        positive("epsilon", epsilon), positive("step", step), non_negative("delta", delta)
        self.shape = choose_shape(horizon, base)
        self.horizon = self.shape.horizon
        self._epsilon, self._delta = as_written("epsilon", epsilon), as_written("delta", delta)
        self._step = as_written("step", step)
        self.share = self._epsilon / self.levels
        self._noise = choice("noise", noise, ("auto", "student_t", "cauchy", "flared_laplace", "laplace"))
        self._beta, self._combined = beta, combined
        if allowance is None and combined is not None:
            raise ParameterError("with combined noise the limit is its uses: leave allowance as it is")
        self.allowance = (
            self.levels
            if allowance == "levels"
            else None
            if allowance is None
            else whole("allowance", allowance, least=1)
        )
        self._rows: list[TimedRow] = []
        self._charges: dict[Hashable, int] = {}
        self._time = 0
        self._released = [Fraction(0)] * self.levels
        self._private = True
        self._draw_smooth(
            Fraction(0), 1.0
        )  # what the budget cannot pay for is refused before anything leaves
        self._stated: Guarantee | None = None
        if ledger is not None or account is not None:
            if self.allowance is None:
                raise ParameterError(
                    "without an allowance nobody knows what the series will cost: give one, and a ledger can pay for it"
                )
            self._stated = pay_before(self._guarantee(), ledger, account, mechanism=self.mechanism)

    @property
    def mechanism(self) -> str:
        """For people."""
        return f"event sums by blocks of base {self.shape.base}"

    @property
    def levels(self) -> int:
        """How many released blocks a row can be in, if it comes and stays."""
        return self.shape.levels

    @property
    def time(self) -> int:
        """How many times are closed."""
        return self._time

    def charges(self) -> dict[Hashable, int]:
        """How many shares of ε/levels each provenance has paid: public, unless arrivals are private."""
        if self._combined is not None:
            raise UnsupportedError("where arrivals are private, who has paid how much is private too")
        return dict(self._charges)

    def add(self, row: TimedRow) -> None:
        """A row, before the time in which it was added is closed."""
        if not isinstance(row, TimedRow):
            raise ParameterError(f"a row must be a TimedRow, got {type(row).__name__}")
        if row.added <= self._time:
            raise ParameterError(
                f"times are out of order: {self._time} is closed, and a row was added at {row.added}"
            )
        if row.added > self.horizon:
            raise ParameterError(f"a row was added at time {row.added}, beyond the horizon {self.horizon}")
        if row.smooth and self._beta is None:
            raise ParameterError("a smooth bound is smooth at a beta: give the series the beta of its rows")
        if self._combined is not None:
            self._check_combined(row)
        self._rows.append(row)

    def extend(self, rows: Iterable[TimedRow]) -> None:
        """Many rows."""
        for row in rows:
            self.add(row)

    def remove(self, row: TimedRow, time: int) -> TimedRow:
        """Say that a row that was added without an end ends at a time that is not closed yet; the row as it is now."""
        if row not in self._rows:
            raise ParameterError("only a row that was added can be removed")
        if time <= self._time:
            raise ParameterError(
                f"times are out of order: {self._time} is closed, and a row was removed at {time}"
            )
        if row.removed != FOREVER or time <= row.added:
            raise ParameterError(f"removed must be after added and said once, got {row.added} and {time!r}")
        ended = replace(row, removed=float(time), components=row.sources)
        self._use(row, 1)
        self._rows[self._rows.index(row)] = ended
        return ended

    def close(self) -> Release:
        """End the next time: the sum over the rows that are there then, with noise."""
        if self._time >= self.horizon:
            raise ParameterError(
                f"the horizon of this series is {self.horizon} times, and all are over; nothing was released"
            )
        time = self._time + 1
        level = max(k for k in range(self.levels) if time % self.shape.base**k == 0)
        first = time - self.shape.base**level + 1
        released = self._release_block(first, time)
        for lower in range(level):
            self._released[lower] = Fraction(0)
        self._released[level] += released
        self._time = time
        total = sum(self._released, Fraction(0))
        return Release(
            int(total) if self._step.denominator == 1 else float(total),
            self._stated or self._guarantee(),
            self.mechanism,
            notes=("values are protected; who was there, when, and joined with whom is public",)
            if self._combined is None
            else (),
            private=self._private,
        )

    def block(self, first: int, last: int) -> tuple[Fraction, list[TimedRow]]:
        """The exact value of a block and the rows that it is made of. NOT PRIVATE."""
        rows = [row for row in self._rows if _counts(row, first, last)]
        return _sum(rows, first), rows

    def _release_block(self, first: int, last: int) -> Fraction:
        value, rows = self.block(first, last)
        self._private = self._private and is_private()
        if self._combined is not None:
            return self._draw_combined(value)
        allowed = [row for row in rows if self._may_pay(row)]
        if not allowed:
            return Fraction(0)
        for name in frozenset().union(*(row.provenances for row in allowed)):
            self._charges[name] = self._charges.get(name, 0) + 1
        draw = self._draw_smooth if any(row.smooth for row in allowed) else self._draw_constant
        return draw(_sum(allowed, first), find_sensitivity(allowed))

    def _may_pay(self, row: TimedRow) -> bool:
        if self.allowance is None:
            return True
        return all(self._charges.get(name, 0) < self.allowance for name in row.provenances)

    def _draw_constant(self, value: Fraction, sensitivity: float) -> Fraction:
        steps = math.floor(value / self._step)
        moved = math.ceil(Fraction(sensitivity) / self._step)
        return (steps + (draw_discrete_laplace(moved / self.share) if moved else 0)) * self._step

    def _draw_smooth(self, value: Fraction, sensitivity: float) -> Fraction:
        bound = SmoothBound(lambda beta: sensitivity, CONTENTS, kind="derivative")
        release = add_noise(
            value,
            bound,
            epsilon=float(self.share),
            delta=float(self._delta / self.levels),
            noise=self._noise,  # type: ignore[arg-type]
            step=self._step,
            beta=self._beta,
        )
        return Fraction(release.value).limit_denominator(self._step.denominator)

    def _draw_combined(self, value: Fraction) -> Fraction:
        combined = self._combined
        if combined is None:
            raise TypeError("combined noise is drawn with combined limits")
        # Rounded down, a block moves by at most a whole number of steps per joined row, whatever its size.
        come, move = (math.ceil(Fraction(size) / self._step) for size in (combined.largest, combined.per_use))
        moved = combined.uses * self.levels * max(come / Fraction(combined.weight), Fraction(move))
        return (math.floor(value / self._step) + draw_discrete_laplace(moved / self._epsilon)) * self._step

    def _check_combined(self, row: TimedRow) -> None:
        combined = self._combined
        if combined is None:
            return
        if row.smooth or row.sensitivity > combined.per_use or abs(row.value) > combined.largest:
            raise ParameterError(
                f"with combined noise a joined row adds at most {combined.largest:g} and moves by at most "
                f"{combined.per_use:g} per unit: clip it before it is added"
            )
        # A row that comes is in at most as many blocks as there are levels, and again when it goes.
        self._use(row, 1 if row.removed == FOREVER else 2)

    def _use(self, row: TimedRow, uses: int) -> None:
        if self._combined is None:
            return
        for name in row.provenances:
            self._combined.check_uses(self._charges.get(name, 0) + uses)
        for name in row.provenances:
            self._charges[name] = self._charges.get(name, 0) + uses

    def _guarantee(self) -> Guarantee:
        if self._combined is not None:
            weights = (("row", float(self._combined.weight)),)
            return Guarantee(
                Loss(epsilon=round_as_written(self._epsilon)),
                Distance(
                    "row",
                    "add_remove",
                    weights,
                    "tables in which a row is used in a limited number of joined rows",
                ),
                "combined noise: rows that come, go or change",
            )
        most = self.allowance if self.allowance is not None else max(self._charges.values(), default=0)
        loss = Loss(
            epsilon=round_as_written(self.share * most),
            delta=round_as_written(self._delta / self.levels * most),
        )
        return Guarantee(
            loss, CONTENTS, f"event sums: a provenance pays for at most {most} blocks of a share each"
        )


def find_sensitivity(rows: Sequence[TimedRow]) -> float:
    """How far a sum moves when contents move by 1 in all: the most of any row, joined rows of one row together.

    A row of several names that does not say which rows it is joined of shares contents with all rows of these names.
    """
    sources = frozenset().union(*(row.sources for row in rows))
    unsaid = frozenset().union(*(row.provenances for row in sources if len(row.provenances) > 1))
    together: dict[Hashable, Fraction] = {}
    for row in rows:
        named = {("name", name) for name in row.provenances & unsaid}
        joined = {("row", source) for source in row.sources}
        for source in named | joined:
            together[source] = together.get(source, Fraction(0)) + Fraction(row.sensitivity)
    return _round_up(max(together.values()))


def _round_up(value: Fraction) -> float:
    rounded = float(value)
    return rounded if Fraction(rounded) >= value else math.nextafter(rounded, math.inf)


def _counts(row: TimedRow, first: int, last: int) -> bool:
    """Whether a row comes in a block and is there at its end, or was there before and goes in it."""
    return first <= row.added <= last < row.removed or row.added < first <= row.removed <= last


def _sum(rows: Sequence[TimedRow], first: int) -> Fraction:
    """Exactly: rows that came in the block, minus those that went."""
    return sum(
        (Fraction(row.value) if row.added >= first else -Fraction(row.value) for row in rows), Fraction(0)
    )
