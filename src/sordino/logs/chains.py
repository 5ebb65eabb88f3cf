"""Chains: what correlation gives each owner, plain or secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.core import ParameterError
from sordino.core.parameters import choice
from sordino.logs.entries import Entries
from sordino.logs.known_chains import KnownChains, group_chains
from sordino.logs.operations import Operations

PLAIN = "computed in the clear by one process that sees every entry"


@dataclass(frozen=True, slots=True)
class Chains:
    """For every owner: whole chains of at least two entries of which one is theirs, and their uncorrelated entries.

    A chain's number is the place of its first entry in the joint order; positions within a chain count from 1.
    ``guarantee`` says who saw what while they were computed, ``operations`` what it took.
    """

    owners: tuple[str, ...]
    values: tuple[str, ...]
    correlated: Mapping[str, pa.Table]
    uncorrelated: Mapping[str, pa.Table]
    guarantee: str = PLAIN
    operations: Operations | None = None

    def for_owner(self, owner: str) -> pa.Table:
        """The entries of this owner's chains: place, time, owner, the values, chain and position."""
        return self.correlated[choice("owner", owner, self.owners)]

    def unmatched(self, owner: str) -> pa.Table:
        """This owner's entries that are in no chain; nobody else gets them."""
        return self.uncorrelated[choice("owner", owner, self.owners)]

    def known(self, previous: KnownChains | pa.Table | str | Path, *, owner: str | None = None) -> pa.Table:
        """The entries of those chains that are among the ``previous`` ones, of one owner or of all.

        A table or file of previous chains is compared by values; `KnownChains` says otherwise.
        """
        return self._select(previous, True, owner)

    def unknown(self, previous: KnownChains | pa.Table | str | Path, *, owner: str | None = None) -> pa.Table:
        """The entries of those chains that are not among the ``previous`` ones, of one owner or of all."""
        return self._select(previous, False, owner)

    @property
    def numbers(self) -> list[int]:
        """The chain number of every place, from what the owners hold together."""
        number: dict[int, int] = {}
        for owner in self.owners:
            matched, alone = self.correlated[owner], self.uncorrelated[owner]
            if "place" not in alone.column_names:
                raise ParameterError(
                    "with hidden times nobody learns the places of uncorrelated entries, nor their numbers"
                )
            number |= zip(
                matched.column("place").to_pylist(), matched.column("chain").to_pylist(), strict=True
            )
            number |= {place: place for place in alone.column("place").to_pylist()}
        return [number[place] for place in sorted(number)]

    def counts(self) -> dict[str, dict[str, int]]:
        """For every owner, how many chains, entries in them, and uncorrelated entries."""
        return {
            owner: {
                "chains": len(self.correlated[owner].column("chain").unique()),
                "entries": self.correlated[owner].num_rows,
                "uncorrelated": self.uncorrelated[owner].num_rows,
            }
            for owner in self.owners
        }

    def to_dict(self, owner: str | None = None) -> dict[str, Any]:
        """Plain values, for one owner or for all."""
        chosen = self.owners if owner is None else (choice("owner", owner, self.owners),)
        return {
            "owners": {
                name: {
                    "chains": group_chains(_printable(self.correlated[name])),
                    "uncorrelated": _printable(self.uncorrelated[name]).to_pylist(),
                }
                for name in chosen
            },
            "guarantee": self.guarantee,
            "operations": None if self.operations is None else self.operations.to_dict(),
        }

    def __repr__(self) -> str:
        return f"<chains of {', '.join(self.owners)}: {self.counts()}>"

    def _select(self, previous: Any, wanted: bool, owner: str | None) -> pa.Table:
        if not isinstance(previous, KnownChains):
            previous = KnownChains.read(previous, self.values)
        if owner is not None:
            return previous.select(self.for_owner(owner), wanted)
        every = pa.concat_tables([self.correlated[name] for name in self.owners])
        _, first = np.unique(every.column("place").to_numpy(), return_index=True)
        return previous.select(every.take(pa.array(first)), wanted)


def divide_chains(entries: Entries, number: NDArray[np.int64], **facts: Any) -> Chains:
    """What each owner gets of chains that are known in full; ``number`` is by place, from 1."""
    size = np.bincount(number, minlength=len(entries) + 1)
    in_chain = size[number] > 1
    # Places are in order already, so a chain's entries are in order after a stable sort by its number.
    order = np.argsort(number, kind="stable")
    starts = np.cumsum(size) - size
    position = np.empty(len(entries), np.int64)
    position[order] = np.arange(len(entries)) - starts[number[order]] + 1
    table = entries.table.add_column(0, "place", pa.array(np.arange(1, len(entries) + 1)))
    table = table.append_column("chain", pa.array(number)).append_column("position", pa.array(position))
    correlated, uncorrelated = {}, {}
    for index, owner in enumerate(entries.owners):
        own = entries.owner_of == index
        has_own = np.zeros(len(entries) + 1, bool)
        has_own[number[own]] = True
        correlated[owner] = table.filter(pa.array(in_chain & has_own[number]))
        uncorrelated[owner] = table.filter(pa.array(own & ~in_chain)).drop_columns(["chain", "position"])
    return Chains(entries.owners, entries.values, correlated, uncorrelated, **facts)


def _printable(table: pa.Table) -> pa.Table:
    """Times that JSON can hold."""
    place = table.column_names.index("time")
    if not pa.types.is_timestamp(table.column("time").type):
        return table
    return table.set_column(place, "time", table.column("time").cast(pa.string()))
