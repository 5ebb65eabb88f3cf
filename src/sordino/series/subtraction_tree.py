"""SubtractionTree: running totals whose blocks are added and subtracted, by digits of both signs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import Distance
from sordino.ledger.library_payment import AccountName, LedgerSource
from sordino.series.block_noise import BlockNoise, Budget
from sordino.series.lattice import ChangeLattice, Steps
from sordino.series.running_total import RunningTotal
from sordino.series.tree_shape import Base, Block, choose_shape


class SubtractionTree(RunningTotal):
    """Totals with the noise of added and subtracted blocks: about half as many addends as `BlockTree`, the same levels.

    A total at time i may subtract a block that ends after i. Its sum is not known yet and is not needed: the blocks
    of a total sum up to x₁ + … + xᵢ whatever the later changes are, so what is released is that sum with the noises
    of the blocks, each with the sign of its block. Noises are drawn when first used and kept until their blocks are
    past.

    **Guarantee**: ε or ρ-zCDP for one change by at most ``sensitivity``: the totals are a function of the noisy sums of
    all blocks, of which a change moves at most ``levels``, each with the same share of the budget.
    **Requires**: see `RunningTotal`. **Source**: Andersson, Pagh, Steiner and Torkamani 2025, also for even bases, and
    with the base chosen by the largest error at the horizon given. **Numerics**: none, all of it is in whole steps.

    Memory is at most half a base of numbers per level. The state holds noise, so it must stay with the owner.

    >>> import sordino as sd
    >>> tree = sd.series.SubtractionTree(horizon=365, epsilon=1.0)
    >>> tree.base, tree.levels, round(tree.worst_error, 1)
    (28, 2, 14.3)
    >>> tree.blocks(27)
    (Block(first=1, last=28, sign=1), Block(first=28, last=28, sign=-1))
    """

    def __init__(
        self,
        horizon: int,
        epsilon: Any = None,
        sensitivity: Any = 1,
        *,
        rho: Any = None,
        base: Base = "auto",
        step: Any = 1,
        distance: Distance | None = None,
        ledger: LedgerSource | None = None,
        account: AccountName | None = None,
    ) -> None:
        budget, lattice = Budget.checked(epsilon, rho), ChangeLattice.checked(step, sensitivity)
        self.shape = choose_shape(horizon, base, subtract=True, power=2 if budget.rho is None else 1)
        self.noise = budget.share(lattice.sensitivity, Fraction(self.levels))
        super().__init__(
            self.shape.horizon,
            budget,
            lattice,
            theorem=f"tree with subtraction: a change moves at most {self.levels} noisy sums, each with a share of "
            f"1/{self.levels}",
            mechanism=f"subtraction tree of base {self.base}",
            distance=distance,
            ledger=ledger,
            account=account,
        )
        self._total = 0
        # Per level: the noise of the blocks that are added, or of each block that is subtracted, the earliest first.
        self._added = [0] * self.levels
        self._subtracted: list[Steps] = [np.zeros(0, dtype=np.int64)] * self.levels

    @property
    def base(self) -> int:
        """How many blocks make a longer one."""
        return self.shape.base

    @property
    def levels(self) -> int:
        """How many noisy sums a change can move."""
        return self.shape.levels

    def blocks(self, time: int) -> tuple[Block, ...]:
        """The blocks whose signed sum is the total at a time, the longest first."""
        return self.shape.blocks(self._check_time(time))

    def _advance(self, steps: Steps) -> NDArray[Any]:
        before = self._time
        times = np.arange(before, before + len(steps) + 1)
        totals = self._total + np.cumsum(steps)
        self._total = int(totals[-1])
        for level in range(self.levels):
            totals += self._advance_level(level, times)
        return self.lattice.values(totals)

    def _advance_level(self, level: int, times: Steps) -> Steps:
        """The noise of one level at the times after the first; the state of the level moves on.

        Block q is the q-th of its level; at each time the blocks between ``turns`` and ``places`` are used.
        """
        shape = self.shape
        places, turns = shape.place(times, level), shape.base * shape.place(times, level + 1)
        tops = np.maximum(places, turns)
        low, known, top = int(places[0]), int(tops[0]), int(tops[-1])
        numbers = np.arange(known + 1, top + 1)
        used = (
            numbers - 1
        ) % shape.base != shape.largest_digit  # the child that no digit reaches from either side
        fresh = np.zeros(len(numbers), dtype=np.int64)
        fresh[used] = self.noise.draw(int(used.sum()))
        # Sums of noise from the place of now on; what was added before lies behind it, at the turn of now.
        noises = np.concatenate([self._subtracted[level], fresh])
        so_far = np.concatenate([[0], np.cumsum(noises)])
        behind = turns[1:] < low
        at_turns = np.where(behind, -self._added[level], so_far[np.maximum(turns[1:] - low, 0)])
        shares: Steps = so_far[places[1:] - low] - at_turns
        last, turn = int(places[-1]), int(turns[-1])
        self._added[level] = int(shares[-1]) if last > turn else 0
        self._subtracted[level] = noises[last - low : turn - low] if turn > last else noises[:0]
        return shares

    def _draws(self, times: Steps) -> Steps:
        return self.shape.addends(times)

    def _most_draws(self) -> int:
        return self.shape.most_addends

    def _noises(self, draws: int) -> tuple[tuple[BlockNoise, int], ...]:
        return ((self.noise, draws),)
