"""The pipeline of organisations that share logs: own chains first, then in secret what is still unexplained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.core import ParameterError
from sordino.core.parameters import choice
from sordino.logs.chains import Chains
from sordino.logs.correlation import Match, correlate_entries
from sordino.logs.entries import Entries, Log, make_entries
from sordino.logs.known_chains import KnownChains, Sameness
from sordino.logs.secret_correlation import Backend, check_run, correlate_entries_secretly

Share = Literal["both", "uncorrelated", "unknown"]


@dataclass(frozen=True, slots=True)
class OwnPart:
    """What one owner found alone: its chains, those that it had not met before, and how many entries it shares."""

    chains: int
    unknown: int
    entries: int
    shared: int


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """What each owner found alone, the joint chains of the rest, and the known chains that each has now."""

    own: Mapping[str, OwnPart]
    joint: Chains
    known: Mapping[str, KnownChains]
    new: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "owners": {
                owner: {
                    "entries": part.entries,
                    "own_chains": part.chains,
                    "unknown_own_chains": part.unknown,
                    "shared_entries": part.shared,
                    "new_known_chains": self.new[owner],
                    "known_chains": len(self.known[owner]),
                }
                for owner, part in self.own.items()
            },
            "joint": self.joint.to_dict(),
        }


def run_pipeline(
    logs: Mapping[str, Log],
    *,
    values: Sequence[str],
    known: Mapping[str, pa.Table | str | Path | KnownChains] | None = None,
    share: Share = "both",
    same: Sameness = "values",
    match: Match = "any",
    time: str = "time",
    normalise: Sequence[str] = (),
    require_sorted: bool = False,
    backend: Backend = "mpyc",
    hide_times: bool = False,
    width: int | None = None,
    timeout: float = 60.0,
    allow_large: bool = False,
    progress: bool | None = None,
) -> PipelineResult:
    """Correlate each owner's log in the clear, drop what the owner knows, correlate the rest in secret, and learn.

    1. Each owner correlates its own log by itself. 2. Chains that are among its ``known`` ones are dropped. 3. Of the
    rest it shares the events in no chain (``share="uncorrelated"``), those of unknown chains (``"unknown"``) or both.
    4. What is shared is correlated in secret. 5. The chains that an owner gets back are added to its known ones.

    Guarantee: as `correlate_secret`, about what is shared; how many events an owner shares is public, and tells how
    many of its events are explained already. Nothing else of a log leaves its owner.
    """
    if not isinstance(logs, Mapping):
        raise ParameterError("the pipeline takes one log per owner: {'a': log, 'b': log}")
    choice("share", share, get_args(Share))
    choice("match", match, get_args(Match))
    check_run(backend, hide_times, timeout, width)
    entries = make_entries(logs, values=values, time=time, normalise=normalise, require_sorted=require_sorted)
    given = dict(known or {})
    for stranger in given:
        choice("an owner of known chains", stranger, entries.owners)
    before = {owner: _read_known(given.get(owner), entries.values, same) for owner in entries.owners}
    own, places = {}, []
    for owner in entries.owners:
        own[owner], shared = _correlate_own(entries, owner, before[owner], share, match)
        places.append(shared)
    joint = correlate_entries_secretly(
        entries.take(np.sort(np.concatenate(places))),
        match,
        backend=backend,
        hide_times=hide_times,
        width=width,
        timeout=timeout,
        allow_large=allow_large,
        progress=progress,
    )
    after = {owner: before[owner].merged(joint.for_owner(owner)) for owner in entries.owners}
    new = {owner: len(after[owner]) - len(before[owner]) for owner in entries.owners}
    return PipelineResult(own, joint, after, new)


def _read_known(source: Any, values: tuple[str, ...], same: Sameness) -> KnownChains:
    if isinstance(source, KnownChains):
        if (source.values, source.same) != (values, same):
            raise ParameterError("known chains must be of the same columns and compared in the same way")
        return source
    return KnownChains.read(source, values, same)


def _correlate_own(
    entries: Entries, owner: str, known: KnownChains, share: Share, match: Match
) -> tuple[OwnPart, NDArray[np.int64]]:
    """What one owner does alone, and the places of what it shares."""
    mine = np.flatnonzero(entries.owner_of == entries.owners.index(owner))
    chains = correlate_entries(entries.of(owner), match)
    unknown = chains.unknown(known, owner=owner)
    chosen = []
    if share != "unknown":
        chosen.append(chains.unmatched(owner).column("place").to_numpy())
    if share != "uncorrelated":
        chosen.append(unknown.column("place").to_numpy())
    shared = mine[np.concatenate(chosen).astype(np.int64) - 1]
    part = OwnPart(
        chains.counts()[owner]["chains"], len(unknown.column("chain").unique()), len(mine), len(shared)
    )
    return part, shared
