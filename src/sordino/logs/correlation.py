"""Plain correlation: every entry joins the chain with the latest last entry that shares a value with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.core.parameters import choice
from sordino.logs.chains import Chains, divide_chains
from sordino.logs.entries import Entries, Log, make_entries

Match = Literal["any", "column"]
_NOTHING = -1


def correlate(
    logs: Log | Mapping[str, Log],
    *,
    values: Sequence[str],
    match: Match = "any",
    owners: Sequence[str] | None = None,
    time: str = "time",
    owner: str = "owner",
    normalise: Sequence[str] = (),
    require_sorted: bool = False,
) -> Chains:
    """Correlate event logs in the clear.

    Entries are taken by time, then by position in the input (logs in the order given). An entry *matches* an earlier
    one if they share a value: in any columns (``match="any"``) or in the same column (``"column"``); NULL matches
    nothing. Among the chains whose **last** entry matches, it joins the one whose last entry is latest; if there is
    none, it opens a chain.

    ``logs``: a data frame, Arrow table or file with a column ``owner``, or a mapping from owner to log. Values are
    compared as text, after ``normalise`` ("lower", "strip").
    """
    choice("match", match, get_args(Match))
    entries = make_entries(
        logs,
        values=values,
        owners=owners,
        time=time,
        owner=owner,
        normalise=normalise,
        require_sorted=require_sorted,
    )
    return correlate_entries(entries, match)


def correlate_entries(entries: Entries, match: Match) -> Chains:
    """Correlate entries that have been read."""
    return divide_chains(entries, number_chains(encode_matches(entries, match)))


def encode_matches(entries: Entries, match: Match) -> NDArray[np.int64]:
    """Values as whole numbers, one row per entry: equal where they match, -1 for NULL."""
    columns = [entries.compared(name).combine_chunks() for name in entries.values]
    if match == "any":
        encoded = pa.chunked_array(columns).dictionary_encode().combine_chunks()
        codes = encoded.indices if isinstance(encoded, pa.DictionaryArray) else encoded.chunk(0).indices
        flat = codes.fill_null(_NOTHING).to_numpy(zero_copy_only=False).astype(np.int64)
        return np.ascontiguousarray(flat.reshape(len(columns), len(entries)).T)
    table = np.empty((len(entries), len(columns)), np.int64)
    start = 0
    for place, column in enumerate(columns):
        indices = column.dictionary_encode().indices.fill_null(_NOTHING)
        codes = indices.to_numpy(zero_copy_only=False).astype(np.int64)
        table[:, place] = np.where(codes >= 0, codes + start, _NOTHING)
        start += int(codes.max(initial=_NOTHING)) + 1
    return table


def number_chains(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The chain number of every place (from 1), by one pass.

    For each value, its entries are kept on a stack, the latest on top. An entry that is not the last of its chain never
    becomes it again, so it is thrown away when it is met: every entry is put on and taken off at most once per column,
    and what remains of n·v steps is the sort before.
    """
    from sordino.logs.chain_numbering import number_places  # numba is loaded for it

    values = int(codes.max(initial=_NOTHING)) + 1
    return number_places(codes, values)
