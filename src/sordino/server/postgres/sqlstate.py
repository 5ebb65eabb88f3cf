"""Errors as PostgreSQL says them: a state of five letters, a message, and where in the text."""

from __future__ import annotations

from collections.abc import Callable

from sordino.core import SordinoError
from sordino.core.json_form import DEFECT
from sordino.core.place import Place
from sordino.server.postgres.frames import FrameError, fields

# By the code of an error.
STATES = {
    "parameter": "22023",
    "calibration": "22023",
    "usage": "22023",
    "unsupported": "0A000",
    "private_data": "55000",
    "unauthenticated": "28P01",
    "forbidden": "42501",
    "budget": "53400",
    "suspended": "55000",
    "busy": "53300",
    "engine": "58000",
    "ledger": "58030",
    "missing_extra": "0A000",
    "syntax": "42601",
    "transaction": "25P02",
    "missing": "26000",
}


class StateError(SordinoError):
    """An error of the protocol itself, with its state; `state_error` makes one."""

    state = "XX000"


def state_error(state: str, message: str) -> StateError:
    """An error of the protocol with a state."""
    error = StateError(message)
    error.state = state
    return error


def write_error(
    error: BaseException, sql: str = "", origin: Callable[[int], int] = int, *, fatal: bool = False
) -> bytes:
    """An ErrorResponse: the message without its place, which is told by its position.

    ``origin``: where a character of the text that was read stands in the text that was sent.
    """
    severity = "FATAL" if fatal else "ERROR"
    if isinstance(error, StateError):
        return _response(severity, error.state, str(error))
    if isinstance(error, FrameError):
        return _response(severity, "08P01", str(error))
    if not isinstance(error, SordinoError):
        return _response(
            severity, "XX000", f"a {DEFECT} in the server; its owner finds more in the server's log"
        )
    state = STATES.get(error.code, "XX000")
    position = None if error.place is None else find_position(error.place, sql)
    message = str(error)
    if error.place is not None and error.code == "parameter":
        state = "42601"
    if position is not None:
        position = origin(position - 1) + 1
        message = message.removeprefix(f"{error.place}: ")
    return _response(severity, state, message, position)


def write_notice(message: str) -> bytes:
    """A sentence that is no error."""
    return fields(b"N", {"S": "NOTICE", "V": "NOTICE", "C": "00000", "M": message})


def find_position(place: Place, sql: str) -> int | None:
    """The number of the character, from one, that a line and a column name."""
    if place.line is None or place.column is None:
        return None
    lines = sql.split("\n")
    if place.line > len(lines):
        return None
    return sum(len(line) + 1 for line in lines[: place.line - 1]) + place.column


def _response(severity: str, state: str, message: str, position: int | None = None) -> bytes:
    content = {"S": severity, "V": severity, "C": state, "M": message}
    if position is not None:
        content["P"] = str(position)
    return fields(b"E", content)
