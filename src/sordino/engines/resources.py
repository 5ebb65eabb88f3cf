"""Resources: how much memory and how many threads an engine that runs on this machine may use."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sordino.core import ParameterError

_MEMORY = re.compile(r"[1-9]\d{0,8}(MB|GB|TB|MiB|GiB|TiB)")


@dataclass(frozen=True, slots=True)
class Resources:
    """What an engine that runs on this machine may use."""

    memory_limit: str | None
    threads: int | None

    def __post_init__(self) -> None:
        limit, threads = self.memory_limit, self.threads
        if limit is not None and not (isinstance(limit, str) and _MEMORY.fullmatch(limit)):
            raise ParameterError(f"memory_limit must be a text such as '512MB' or '2GB', got {limit!r}")
        if threads is not None and (type(threads) is not int or threads < 1):
            raise ParameterError(f"threads must be an integer >= 1, got {threads!r}")

    def refuse(self, target: str) -> None:
        """Raise if something was asked of an engine that others run."""
        if self.memory_limit is not None or self.threads is not None:
            raise ParameterError(f"memory_limit and threads cannot be set on {target}: leave them out")
