"""Times as whole numbers that sort as they do: numbers, timestamps and dates, or texts that spell one of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sordino.core import ParameterError, PrivateDataError

_MOMENT = pa.timestamp("ns")
_ZONED = pa.timestamp("ns", "UTC")
_SPELLED = (pa.int64(), pa.float64(), _MOMENT, _ZONED)
_ACCEPTED = "whole numbers, floats, timestamps or dates, or texts such as 17, 2.5 or 2024-01-31T10:00:00"


def parse_times(column: pa.ChunkedArray, name: str, line_of: Callable[[int], str]) -> pa.ChunkedArray:
    """The column as int64, float64 or timestamps; ``line_of`` says where a row stands, for errors."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if column.null_count:
        missing = int(np.flatnonzero(pc.is_null(column).to_numpy())[0])
        raise PrivateDataError(f"{line_of(missing)}: the time {name!r} is missing")
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind):
        return _read_texts(column.cast(pa.string()), name, line_of)
    if pa.types.is_integer(kind):
        return _cast(column, pa.int64(), name)
    if pa.types.is_floating(kind):
        parsed = column.cast(pa.float64())
        wrong = np.flatnonzero(~np.isfinite(parsed.to_numpy()))
        if len(wrong):
            raise PrivateDataError(f"{line_of(int(wrong[0]))}: the time {name!r} is not a finite number")
        return parsed
    if pa.types.is_timestamp(kind):
        return _cast(column, _MOMENT if kind.tz is None else _ZONED, name)
    if pa.types.is_date(kind):
        return _cast(column, _MOMENT, name)
    raise ParameterError(f"the time {name!r} must hold {_ACCEPTED}; its type is {kind}")


def order_keys(times: pa.ChunkedArray) -> NDArray[np.int64]:
    """64-bit whole numbers in the order of the times, equal where times are equal."""
    if not pa.types.is_floating(times.type):
        return np.asarray(times.cast(pa.int64()).to_numpy(), dtype=np.int64)
    bits = (times.to_numpy() + 0.0).view(np.int64)  # + 0.0 makes one zero of two
    keys: NDArray[np.int64] = np.where(bits >= 0, bits, np.int64(-(2**63)) - bits)
    return keys  # a larger magnitude below zero comes first


def restore_times(keys: Sequence[int], kind: pa.DataType) -> pa.Array:
    """The times that have these keys."""
    numbers = np.array(keys, np.int64)
    if pa.types.is_floating(kind):
        return pa.array(np.where(numbers >= 0, numbers, np.int64(-(2**63)) - numbers).view(np.float64))
    return pa.array(numbers).cast(kind)


def _cast(column: pa.ChunkedArray, kind: pa.DataType, name: str) -> pa.ChunkedArray:
    try:
        return column.cast(kind)
    except pa.ArrowInvalid:  # its text quotes the value
        raise PrivateDataError(
            f"a time in {name!r} does not fit in 64 bits (timestamps: 1678 to 2262)"
        ) from None


def _read_texts(column: pa.ChunkedArray, name: str, line_of: Callable[[int], str]) -> pa.ChunkedArray:
    """The kind that reads the most rows from the top; the first row that it cannot read is the error."""
    column = pc.utf8_trim_whitespace(column)
    furthest = 0
    for kind in _SPELLED:
        read = _readable(column, kind)
        if read == len(column):
            return column.cast(kind)
        furthest = max(furthest, read)
    raise PrivateDataError(
        f"{line_of(furthest)}: the time {name!r} cannot be read; all must be {_ACCEPTED}, of one kind"
    )


def _readable(column: pa.ChunkedArray, kind: pa.DataType) -> int:
    """How many rows from the top can be read as that kind, by halving."""
    if _reads(column, kind):
        return len(column)
    low, high = 0, len(column)  # rows before `low` can be read, those before `high` not all
    while high - low > 1:
        middle = (low + high) // 2
        if _reads(column.slice(low, middle - low), kind):
            low = middle
        else:
            high = middle
    return low


def _reads(column: pa.ChunkedArray, kind: pa.DataType) -> bool:
    try:
        read = column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return not pa.types.is_floating(kind) or bool(np.isfinite(read.to_numpy()).all())
