"""What an owner gets of an entry that it may see: a short text as numbers of the field, seven bytes in each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from sordino.core import ParameterError
from sordino.logs.field import Numbers

_BYTES = 7  # 56 bits: below 2⁶¹ − 1
_STEP = 4 * _BYTES  # lengths are rounded up to whole steps
_LENGTH_BYTES = 2


def choose_width(contents: Sequence[bytes], width: int | None) -> int:
    """The public number of bytes of every payload: ``width``, or that of the longest, rounded up to 28 bytes."""
    longest = max(map(len, contents), default=0) + _LENGTH_BYTES
    if width is not None and width < longest:
        raise ParameterError(f"width must hold the longest entry, which takes {longest} bytes, got {width}")
    wanted = longest if width is None else width
    if wanted >= 256**_LENGTH_BYTES:
        raise ParameterError("an entry is too long to be shared: its values must be below 64 KB together")
    return -(-wanted // _STEP) * _STEP


def encode_payload(content: Sequence[Any]) -> bytes:
    """Plain values as bytes."""
    return json.dumps(list(content), ensure_ascii=False, separators=(",", ":")).encode()


def pack(contents: Sequence[bytes], width: int) -> Numbers:
    """One row of numbers per content, padded with zeros to ``width`` bytes."""
    rows = np.zeros((len(contents), width // _BYTES, 8), np.uint8)
    for row, content in zip(rows, contents, strict=True):
        framed = len(content).to_bytes(_LENGTH_BYTES, "little") + content
        padded = np.frombuffer(framed.ljust(width, b"\0"), np.uint8)
        row[:, :_BYTES] = padded.reshape(-1, _BYTES)
    return rows.view("<u8")[:, :, 0].astype(np.uint64)


def unpack(row: Numbers) -> list[Any]:
    """What was packed into one row."""
    content = np.ascontiguousarray(row.astype("<u8")).view(np.uint8).reshape(-1, 8)[:, :_BYTES].tobytes()
    length = int.from_bytes(content[:_LENGTH_BYTES], "little")
    found: list[Any] = json.loads(content[_LENGTH_BYTES : _LENGTH_BYTES + length])
    return found
