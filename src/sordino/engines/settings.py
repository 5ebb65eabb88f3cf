"""Settings that change what a statement means: pinned when a session opens, read back, refused if they do not hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sordino.core import EngineError


def check_settings(
    engine: str, found: Mapping[str, object], needed: Mapping[str, str], remedy: Callable[[str, str], str]
) -> None:
    """Raise unless every setting that was found has the value that statements were written for.

    ``found``: values as the engine tells them, after pinning. A setting that the engine does not know is left out of
    it and cannot do harm. ``remedy(name, value)``: what the owner does about it.
    """
    for name, value in needed.items():
        if name in found and not holds(found[name], value):
            raise EngineError(
                f"the setting {name} of {engine} is {str(found[name])!r} and cannot be changed from here; statements "
                f"would mean something else with it, so it must be {value!r}: {remedy(name, value)}"
            )


def holds(found: object, needed: str) -> bool:
    """Whether two spellings are the same value: engines write one setting in several ways."""
    return _plain(found) == _plain(needed)


_SAME = {
    "on": "true",
    "off": "false",
    "etc/utc": "utc",
    "ascending": "asc",
    "none": "",
    "preserve_case": "true",
}


def _plain(value: object) -> str:
    text = "" if value is None else str(value).strip().lower()
    return _SAME.get(text, text)
