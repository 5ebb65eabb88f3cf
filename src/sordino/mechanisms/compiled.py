"""Compile a loop with numba, without the interpreter lock, and keep the machine code for the next run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(loop: Loop) -> Loop:
    """A loop as machine code; arguments are not checked, so every caller passes arrays that it has checked."""
    try:
        return cast(Loop, numba.njit(nogil=True, cache=True)(loop))
    except RuntimeError:  # nowhere to keep the machine code: compile again in every process
        return cast(Loop, numba.njit(nogil=True)(loop))
