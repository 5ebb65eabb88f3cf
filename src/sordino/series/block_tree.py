"""BlockTree: running totals from released blocks of lengths 1, a, a², …"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sordino.core import Distance, ParameterError, PrivateDataError
from sordino.core.parameters import choice, flag
from sordino.ledger.library_payment import AccountName, LedgerSource
from sordino.series.block_noise import BlockNoise, Budget
from sordino.series.lattice import MOST_MASS, ChangeLattice, Steps
from sordino.series.running_total import RunningTotal
from sordino.series.tree_shape import Base, Block, choose_shape

NoiseName = Literal["auto", "laplace", "gaussian"]


class BlockTree(RunningTotal):
    """Totals read off noisy sums of aligned blocks; one block is released when a time ends.

    **Guarantee**: ε (discrete Laplace noise) or ρ-zCDP (discrete Gaussian noise) for one change of the stream by at
    most ``sensitivity``: it lies in at most ``levels`` released blocks and each of these gets the same share of the
    budget. ``start``, the total before the first change, is released with the whole budget, because no change depends
    on its rows; with ``start_shares_rows`` it counts as one level more. ``pan_private``: an intruder who sees the
    state once, at a time that nobody foresaw, learns no more than the totals and that budget: each open block starts
    with a draw of noise and only ever holds its sum with that draw, and the release of a block adds a second one. Such
    a tree keeps no ``ids``, and no sum of all changes: each is limited by itself.
    **Requires**: see `RunningTotal`. **Source**: Dwork, Naor, Pitassi and Rothblum 2010; Chan, Shi and Song 2011;
    levels are counted as digits of the horizon, not as log₂ n. **Numerics**: none, all of it is in whole steps.

    ``base="auto"`` takes the base with the smallest error at the worst time, by the public horizon alone. Memory is two
    numbers per level.

    >>> import sordino as sd
    >>> tree = sd.series.BlockTree(horizon=365, epsilon=1.0)
    >>> tree.base, tree.levels, round(tree.worst_error, 1)
    (20, 2, 16.8)
    >>> tree.blocks(45)
    (Block(first=1, last=20, sign=1), Block(first=21, last=40, sign=1), Block(first=41, last=41, sign=1), \
Block(first=42, last=42, sign=1), Block(first=43, last=43, sign=1), Block(first=44, last=44, sign=1), \
Block(first=45, last=45, sign=1))
    >>> release = tree.push(12)
    >>> print(release.guarantee.loss)
    ε = 1
    """

    def __init__(
        self,
        horizon: int,
        epsilon: Any = None,
        sensitivity: Any = 1,
        *,
        rho: Any = None,
        base: Base = "auto",
        noise: NoiseName = "auto",
        step: Any = 1,
        pan_private: bool = False,
        start: Any = None,
        start_shares_rows: bool = False,
        distance: Distance | None = None,
        ledger: LedgerSource | None = None,
        account: AccountName | None = None,
    ) -> None:
        budget, lattice = Budget.checked(epsilon, rho), ChangeLattice.checked(step, sensitivity)
        check_noise_fits(noise, budget)
        self.pan_private = flag("pan_private", pan_private)
        flag("start_shares_rows", start_shares_rows)
        self.shape = choose_shape(horizon, base, power=2 if budget.rho is None else 1)
        parts = self.levels + (1 if start_shares_rows and start is not None else 0)
        self.noise = budget.share(lattice.sensitivity, Fraction(parts))
        self._start_noise = (
            self.noise if start_shares_rows else budget.share(lattice.sensitivity, Fraction(1))
        )
        first = 0 if start is None else int(lattice.round([start])[0])
        super().__init__(
            self.shape.horizon,
            budget,
            lattice,
            theorem=f"block tree: a change is in at most {parts} released numbers, each with a share of 1/{parts}",
            mechanism=f"block tree of base {self.base}",
            distance=distance,
            ledger=ledger,
            account=account,
        )
        self._started = start is not None
        self._start = first + (int(self._start_noise.draw(1)[0]) if self._started else 0)
        # Per level: what the released blocks of the present parent sum up to, and the block that is open.
        self._released = [0] * self.levels
        self._open = [self._first_draw() for _ in range(self.levels)]

    @property
    def base(self) -> int:
        """How many blocks make a longer one."""
        return self.shape.base

    @property
    def levels(self) -> int:
        """How many released blocks a change can be in."""
        return self.shape.levels

    def blocks(self, time: int) -> tuple[Block, ...]:
        """The blocks whose sum is the total at a time, the longest first."""
        return self.shape.blocks(self._check_time(time))

    def _check_mass(self, steps: Steps) -> int:
        """What all changes sum up to would be in the state, without noise: who is pan-private has a limit for each."""
        if not self.pan_private:
            return super()._check_mass(steps)
        most = MOST_MASS // self.shape.horizon
        if len(steps) and int(np.abs(steps).max()) > most:
            raise PrivateDataError(
                f"every change of a pan-private tree of {self.shape.horizon} times must be at most {most} steps: clip "
                "it, or give a larger step"
            )
        return 0

    def _check_ids(self, count: int, ids: Iterable[Iterable[Hashable]] | None) -> set[Hashable]:
        if self.pan_private and ids is not None:
            raise ParameterError(
                "a pan-private tree keeps no names: who was there would be in its state; leave ids out"
            )
        return super()._check_ids(count, ids)

    def _first_draw(self) -> int:
        return int(self.noise.draw(1)[0]) if self.pan_private else 0

    def _advance(self, steps: Steps) -> NDArray[Any]:
        before = self._time
        times = np.arange(before + 1, before + len(steps) + 1)
        sums = np.concatenate([[0], np.cumsum(steps)])
        totals = np.full(len(steps), self._start, dtype=np.int64)
        for level in range(self.levels):
            totals += self._advance_level(level, sums, times)
        return self.lattice.values(totals)

    def _advance_level(self, level: int, sums: Steps, times: Steps) -> Steps:
        """What the released blocks of one level add to the totals; the state of the level moves on.

        ``sums``: of the new changes, from none to all. Block q ends at time q·length.
        """
        base, length = self.base, self.base**level
        before, after = int(times[0]) - 1, int(times[-1])
        done, last = before // length, after // length
        ends = np.arange(done, last + 1) * length - before  # of the blocks done, done + 1, …, last
        opened, released = self._open[level], self._released[level]
        if last == done:
            self._open[level] = opened + int(sums[-1])
            return np.full(len(times), released, dtype=np.int64)
        values = np.diff(sums[np.maximum(ends, 0)])
        values[0] += opened
        if self.pan_private:
            later = self.noise.draw(last - done)  # the first draws of the blocks done + 2, …, last + 1
            values[1:] += later[:-1]
            self._open[level] = int(later[-1]) + int(sums[-1] - sums[ends[-1]])
        else:
            self._open[level] = int(sums[-1] - sums[ends[-1]])
        numbers = np.arange(done + 1, last + 1)
        used = numbers % base != 0  # the last child of a parent is never needed, so never released
        noise = np.zeros(len(values), dtype=np.int64)
        noise[used] = self.noise.draw(int(used.sum()))
        so_far = np.concatenate([[0], np.cumsum(np.where(used, values + noise, 0))])
        places = times // length
        starts = places - places % base
        known = starts >= done
        shares: Steps = so_far[places - done] - np.where(known, so_far[np.maximum(starts - done, 0)], 0)
        shares[~known] += released
        self._released[level] = int(shares[-1])
        return shares

    def _draws(self, times: Steps) -> Steps:
        return self.shape.addends(times) * (2 if self.pan_private else 1)

    def _most_draws(self) -> int:
        return self.shape.most_addends * (2 if self.pan_private else 1)

    def _noises(self, draws: int) -> tuple[tuple[BlockNoise, int], ...]:
        return (self.noise, draws), (self._start_noise, int(self._started))


def check_noise_fits(noise: str, budget: Budget) -> None:
    """The noise follows the budget: pure ε has Laplace noise, ρ Gaussian."""
    choice("noise", noise, ("auto", "laplace", "gaussian"))
    fitting = "laplace" if budget.rho is None else "gaussian"
    if noise not in ("auto", fitting):
        raise ParameterError(
            f"{noise} noise is not paid for with {'epsilon' if budget.rho is None else 'rho'}: {fitting} is"
        )
