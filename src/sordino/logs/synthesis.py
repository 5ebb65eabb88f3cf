"""Made-up logs for the demo and the benchmarks: the same for the same size, with no randomness in them."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import pyarrow as pa

OWNERS = ("hospital", "insurer", "pharmacy", "registry")
_GAP = 5  # one value in five is missing


def synthesise_logs(entries: int, owners: int = 2, *, seed: int = 0) -> dict[str, pa.Table]:
    """One log per owner with the columns time, ip and user; people move between addresses and organisations."""
    numbers = _scatter(seed)
    people, addresses = max(2, entries // 4), max(2, entries // 3)
    rows: dict[str, list[tuple[int, str | None, str | None]]] = {name: [] for name in OWNERS[:owners]}
    time = 0
    for _ in range(entries):
        time += next(numbers) % 4  # some entries share a time
        who = OWNERS[next(numbers) % owners]
        host = next(numbers) % addresses
        address = f"10.0.{host // 250}.{host % 250 + 1}" if next(numbers) % _GAP else None
        user = f"user{next(numbers) % people}" if next(numbers) % _GAP else None
        rows[who].append((time, address, user))
    schema = pa.schema([("time", pa.int64()), ("ip", pa.string()), ("user", pa.string())])
    return {
        name: pa.table([list(column) for column in zip(*found, strict=True)] or [[], [], []], schema=schema)
        for name, found in rows.items()
    }


def _scatter(seed: int) -> Iterator[int]:
    """Whole numbers that look random, from a hash."""
    block = 0
    while True:
        digest = blake2b(f"{seed} {block}".encode()).digest()
        for start in range(0, len(digest), 4):
            yield int.from_bytes(digest[start : start + 4], "little")
        block += 1
