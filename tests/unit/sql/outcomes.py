"""What becomes of a text: it is accepted, or refused with a place. Whatever else happens is a `FallenError`."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from sordino.core import ParameterError, SordinoError, UnsupportedError
from sordino.sql.reading.read import read_statement

from .damage import damaged, extreme
from .storm import CATALOGUE, POLICY, Storm

LONGEST_MESSAGE = 1000
MOST_SECONDS = 5.0
_PLACE = re.compile(r"line [1-9][0-9]*, column [1-9][0-9]*: ")


class FallenError(AssertionError):
    """A text that is neither accepted nor refused as it should be."""


class _TooSlow(BaseException):
    """No `Exception`, so that nothing on the way takes it for a fault of the text."""


def texts(seed: int, dialect: str, count: int) -> Iterator[str]:
    """So many texts: two in five as they were written, the others damaged, a few very deep or very long."""
    draw = Random(f"{dialect} {seed}")
    for _ in range(count):
        if draw.random() < 0.02:
            yield extreme(draw)
            continue
        text = Storm(draw, dialect, draw.choice([0.0, 0.0, 0.1, 0.3, 0.6, 1.0])).statement()
        yield text if draw.random() < 0.4 else damaged(text, draw)


def outcome(text: str, dialect: str, seconds: float = MOST_SECONDS) -> str:
    """``accepted``, ``refused`` or ``wrong``, or a `FallenError`."""
    try:
        with _within(seconds):
            read_statement(text, policy=POLICY, catalogue=CATALOGUE, dialect=dialect)
    except (ParameterError, UnsupportedError) as error:
        check_refusal(text, error)
        return "refused" if isinstance(error, UnsupportedError) else "wrong"
    except _TooSlow:
        raise FallenError(f"more than {seconds} seconds over {text[:300]!r}") from None
    except Exception as error:
        raise FallenError(f"{type(error).__name__} from {text[:2000]!r}") from error
    return "accepted"


def check_refusal(text: str, error: SordinoError) -> None:
    """It says where, is short, and hides no other exception."""
    if error.__cause__ is not None:
        raise FallenError(
            f"{type(error.__cause__).__name__} was caught in {text[:2000]!r}"
        ) from error.__cause__
    if _PLACE.match(str(error)) is None:
        raise FallenError(f"no place in {str(error)!r} about {text[:2000]!r}")
    if len(str(error)) > LONGEST_MESSAGE:
        raise FallenError(f"{len(str(error))} characters about {text[:200]!r}")


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """So many seconds of this process's own time, however busy the machine is."""

    def ring(signum: int, frame: object) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
