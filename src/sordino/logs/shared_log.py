"""From entries to what parties compute on, and from what was opened to an owner back to entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sordino.core import ParameterError
from sordino.logs.chains import Chains
from sordino.logs.codes import draw_key, encode_secretly
from sordino.logs.entries import Entries
from sordino.logs.field import Numbers, constant
from sordino.logs.payload import choose_width, encode_payload, pack, unpack
from sordino.logs.secret_program import SharedLog
from sordino.logs.time_keys import restore_times

_TIME_BITS = 64


def prepare_log(entries: Entries, *, by_column: bool, hide_times: bool, width: int | None) -> SharedLog:
    """The numbers that owners share: codes, owners, payloads, and with hidden times the bits of those.

    Entries are in the order of the rule if times are public, in that of the input otherwise.
    """
    if hide_times:
        entries = entries.take(np.argsort(entries.rows))
    codes = encode_secretly(entries, draw_key())
    owned = constant(entries.owner_of[:, None] == np.arange(len(entries.owners)))
    texts = zip(*(entries.table.column(name).to_pylist() for name in entries.values), strict=True)
    contents: list[Sequence[Any]] = list(texts)
    times = np.zeros((len(entries), 0), np.uint64)
    if hide_times:
        facts = zip(entries.rows.tolist(), entries.owner_of.tolist(), entries.keys.tolist(), strict=True)
        contents = [(*fact, *values) for fact, values in zip(facts, contents, strict=True)]
        lifted = entries.keys.astype(np.uint64) ^ np.uint64(2**63)  # the order of signed numbers
        times = (lifted[:, None] >> np.arange(_TIME_BITS - 1, -1, -1, dtype=np.uint64)) & np.uint64(1)
    packed = [encode_payload(content) for content in contents]
    return SharedLog(codes, owned, pack(packed, choose_width(packed, width)), times, by_column)


def read_opened(
    entries: Entries, open_for: Callable[[int], Numbers], *, hide_times: bool, **facts: Any
) -> Chains:
    """Chains from what was opened to each owner, from public facts and from the owner's own entries; nothing else."""
    correlated, uncorrelated = {}, {}
    for index, owner in enumerate(entries.owners):
        opened = open_for(index)
        if (opened[:, 0] > 1).any():
            raise ParameterError("what the parties sent is no result of the computation; nothing is shown")
        places = np.flatnonzero(opened[:, 0])
        labels = opened[places, 1].astype(np.int64)
        contents = [unpack(opened[place, 2:]) for place in places]
        build = _with_hidden_times if hide_times else _with_public_times
        seen, times, people, values = build(entries, places, contents)
        correlated[owner] = _tabulate(entries, places, times, people, values, labels)
        own = entries.of(owner)
        kept = ~np.isin(own.rows, seen)
        alone = own.table.filter(pa.array(kept))
        if not hide_times:
            own_places = np.flatnonzero(entries.owner_of == index) + 1
            alone = alone.add_column(0, "place", pa.array(own_places[kept]))
        uncorrelated[owner] = alone
    return Chains(entries.owners, entries.values, correlated, uncorrelated, **facts)


def _with_public_times(entries: Entries, places: Any, contents: list[list[Any]]) -> Any:
    taken = entries.table.select(["time", "owner"]).take(pa.array(places))
    return entries.rows[places], taken.column("time"), taken.column("owner"), contents


def _with_hidden_times(entries: Entries, places: Any, contents: list[list[Any]]) -> Any:
    rows = np.array([content[0] for content in contents], np.int64)
    people = pa.array([entries.owners[content[1]] for content in contents], pa.string())
    times = restore_times([content[2] for content in contents], entries.table.column("time").type)
    return rows, times, people, [content[3:] for content in contents]


def _tabulate(
    entries: Entries, places: Any, times: Any, people: Any, values: list[list[Any]], labels: Any
) -> pa.Table:
    length: Counter[int] = Counter()
    positions = []
    for label in labels.tolist():
        length[label] += 1
        positions.append(length[label])
    texts = {
        name: pa.array([row[column] for row in values], pa.string())
        for column, name in enumerate(entries.values)
    }
    return pa.table(
        {
            "place": pa.array(places + 1),
            "time": times,
            "owner": people,
            **texts,
            "chain": pa.array(labels),
            "position": pa.array(positions, pa.int64()),
        }
    )
