"""KnownChains: chains that an owner has met before, and which chains are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa

from sordino.core import ParameterError
from sordino.core.parameters import choice
from sordino.logs.log_file import read_log

Sameness = Literal["values", "columns"]
Steps = tuple[tuple[str | None, ...], ...]
"""A chain: for each step the value of every column."""


@dataclass(frozen=True, slots=True)
class KnownChains:
    """A set of chains. Two are the same if they are equally long and agree step by step.

    ``same="values"``: each step has the same multiset of values, in whichever columns; ``"columns"``: the same value in
    each column. Times and owners do not count.
    """

    values: tuple[str, ...]
    same: Sameness = "values"
    chains: Mapping[Any, Steps] = field(default_factory=dict)

    @classmethod
    def read(
        cls, source: pa.Table | str | Path | None, values: Sequence[str], same: Sameness = "values"
    ) -> KnownChains:
        """From a table or file with the columns chain, position and the values, as `Chains.for_owner` gives it."""
        choice("same", same, get_args(Sameness))
        empty = cls(tuple(values), same)
        if source is None:
            return empty
        name = str(source) if isinstance(source, str | Path) else "the table of known chains"
        table = read_log(source) if isinstance(source, str | Path) else source
        for column in ("chain", "position", *values):
            if column not in table.column_names:
                raise ParameterError(f"{name} must have a column {column!r}; it has {table.column_names}")
        try:
            place = table.column("position").cast(pa.int64())
        except pa.ArrowInvalid:
            raise ParameterError(f"the column 'position' of {name} must hold whole numbers") from None
        return empty.merged(table.set_column(table.column_names.index("position"), "position", place))

    def __len__(self) -> int:
        return len(self.chains)

    def __repr__(self) -> str:
        return f"<{len(self)} known chains>"

    def merged(self, found: pa.Table) -> KnownChains:
        """These chains and those of a table of entries."""
        chains = dict(self.chains)
        for chain in group_chains(found):
            steps = self._steps(chain)
            chains.setdefault(self._key(steps), steps)
        return KnownChains(self.values, self.same, chains)

    def select(self, found: pa.Table, wanted: bool) -> pa.Table:
        """The entries of the chains of a table that are known, or those of the others."""
        known = {
            chain["chain"] for chain in group_chains(found) if self._key(self._steps(chain)) in self.chains
        }
        keep = [(number in known) is wanted for number in found.column("chain").to_pylist()]
        return found.filter(pa.array(keep, pa.bool_()))

    def to_table(self) -> pa.Table:
        """Chain, position and the values, as `read` takes them."""
        rows = [
            (number, position, *step)
            for number, steps in enumerate(self.chains.values(), start=1)
            for position, step in enumerate(steps, start=1)
        ]
        columns = list(zip(*rows, strict=True)) or [()] * (2 + len(self.values))
        numbers = {
            name: pa.array(columns[place], pa.int64()) for place, name in enumerate(("chain", "position"))
        }
        texts = {
            name: pa.array(columns[place], pa.string()) for place, name in enumerate(self.values, start=2)
        }
        return pa.table(numbers | texts)

    def _steps(self, chain: dict[str, Any]) -> Steps:
        return tuple(tuple(entry[column] for column in self.values) for entry in chain["entries"])

    def _key(self, steps: Steps) -> Any:
        if self.same == "columns":
            return steps
        return tuple(tuple(sorted(value for value in step if value is not None)) for step in steps)


def group_chains(found: pa.Table) -> list[dict[str, Any]]:
    """Entries of a table by chain, in order: ``{"chain": number, "entries": [...]}``."""
    grouped: dict[Any, list[dict[str, Any]]] = {}
    for entry in found.to_pylist():
        grouped.setdefault(entry.pop("chain"), []).append(entry)
    return [
        {"chain": number, "entries": sorted(entries, key=lambda entry: int(entry["position"]))}
        for number, entries in grouped.items()
    ]
