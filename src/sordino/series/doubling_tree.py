"""DoublingTree: running totals without a horizon, by trees that double."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.core import Distance
from sordino.ledger.library_payment import AccountName, LedgerSource
from sordino.series.block_noise import BlockNoise, Budget
from sordino.series.block_tree import BlockTree
from sordino.series.lattice import ChangeLattice, Steps
from sordino.series.running_total import RunningTotal
from sordino.series.tree_shape import Base

_SHIFT = 44


class DoublingTree(RunningTotal):
    """A `BlockTree` of its own for the times 2ʲ … 2ʲ⁺¹ − 1, each on top of the last total of the one before.

    **Guarantee**: ε or ρ for one change, since every change is in one tree. **Requires**: see `RunningTotal`.
    **Source**: Chan, Shi and Song 2011, Section 4. **Numerics**: none.

    >>> import sordino as sd
    >>> tree = sd.series.DoublingTree(epsilon=1.0)
    >>> len(tree.extend([1] * 100).value), tree.horizon is None
    (100, True)
    """

    def __init__(
        self,
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
        self._arguments = {
            "epsilon": epsilon,
            "sensitivity": sensitivity,
            "rho": rho,
            "base": base,
            "step": step,
        }
        super().__init__(
            None,
            Budget.checked(epsilon, rho),
            ChangeLattice.checked(step, sensitivity),
            theorem="block trees of doubling length, and each change in one of them",
            mechanism="doubling block trees",
            distance=distance,
            ledger=ledger,
            account=account,
        )
        self._tree = self._make_tree(0)
        self._before = self._last = 0
        self._known: dict[int, BlockTree] = {}  # trees that are only looked at

    def _make_tree(self, number: int) -> BlockTree:
        return BlockTree(1 << number, **self._arguments)

    def _look_at(self, number: int) -> BlockTree:
        if number not in self._known:
            self._known[number] = self._make_tree(number)
        return self._known[number]

    def _advance(self, steps: Steps) -> NDArray[Any]:
        totals = []
        while len(steps):
            tree = self._tree
            room = tree.shape.horizon - tree.time
            if not room:
                self._before, self._tree = self._last, self._make_tree(tree.shape.horizon.bit_length())
                continue
            inside = tree._advance(steps[:room])
            tree._time += len(inside)
            totals.append(self._before + inside)
            self._last = totals[-1][-1]
            steps = steps[room:]
        return np.concatenate(totals)

    def _draws(self, times: Steps) -> Steps:
        """Which tree, counted from 0, and how many blocks of it."""
        trees = np.frexp(times.astype(np.float64))[1] - 1
        draws = np.empty_like(times)
        for tree in np.unique(trees).tolist():
            inside = trees == tree
            addends = self._look_at(tree).shape.addends(times[inside] - (1 << tree) + 1)
            draws[inside] = (tree << _SHIFT) + addends
        return draws

    def _noises(self, draws: int) -> tuple[tuple[BlockNoise, int], ...]:
        """Those of its own tree, and of the last totals of the trees before."""
        last = draws >> _SHIFT
        trees = [self._look_at(number) for number in range(last + 1)]
        counts = [int(tree.shape.addends(np.array([tree.shape.horizon]))[0]) for tree in trees]
        counts[-1] = draws - (last << _SHIFT)
        return tuple((tree.noise, count) for tree, count in zip(trees, counts, strict=True))
