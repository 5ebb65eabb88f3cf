"""Conditions of a flow: a disjunction of conjunctions of filters, kept without redundant members."""

from __future__ import annotations

from collections.abc import Iterable

from sordino.core import UnsupportedError

Conditions = frozenset[frozenset[str]]
NEVER: Conditions = frozenset()
ALWAYS: Conditions = frozenset({frozenset()})
_MOST = 4096


def any_way(several: Iterable[Conditions]) -> Conditions:
    """One of several, without sets that contain another: who satisfies them satisfies the smaller one."""
    union = sorted(frozenset[frozenset[str]]().union(*several), key=len)
    kept: list[frozenset[str]] = []
    for one in union:
        if not any(smaller <= one for smaller in kept):
            kept.append(one)
    if len(kept) > _MOST:
        raise UnsupportedError(
            f"more than {_MOST} ways lead from one input to one object: ask for less of the process"
        )
    return frozenset(kept)


def under(conditions: Conditions, filters: frozenset[str]) -> Conditions:
    """The same, and the filters too."""
    return any_way([frozenset(one | filters for one in conditions)])


def word(conditions: Conditions) -> str:
    """never, always or if."""
    return "never" if not conditions else "always" if frozenset() in conditions else "if"


def in_order(conditions: Conditions) -> tuple[tuple[str, ...], ...]:
    """For people and programs: sorted."""
    return tuple(sorted((tuple(sorted(one)) for one in conditions), key=lambda one: (len(one), one)))


def sentence(conditions: Conditions) -> str:
    """The conditions in words."""
    told = [" and ".join(one) for one in in_order(conditions)]
    return f"({') or ('.join(told)})" if len(told) > 1 else told[0]
