"""Structured logs: one JSON line per thing that happened, on standard error.

No line holds an answer, a duration or anything else that follows rows; questions are in the journal.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

_LOGGER = logging.getLogger("sordino.server")


def log(event: str, *, level: int = logging.INFO, **facts: Any) -> None:
    """One line."""
    if _LOGGER.isEnabledFor(level):
        moment = datetime.now(UTC).isoformat(timespec="milliseconds")
        _LOGGER.log(level, json.dumps({"time": moment, "event": event, **facts}, default=str))


def log_to_standard_error() -> None:
    """What a server does with its lines."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(logging.INFO)
    _LOGGER.propagate = False
