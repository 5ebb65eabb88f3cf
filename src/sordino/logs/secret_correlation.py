"""Secret correlation: the same chains as `correlate`, from shares of the entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from sordino.core import ParameterError
from sordino.core.parameters import choice, flag, positive, whole
from sordino.display.progress import show_progress
from sordino.logs.chains import Chains
from sordino.logs.correlation import Match
from sordino.logs.entries import Entries, Log, make_entries
from sordino.logs.field import Numbers
from sordino.logs.machine import Emulation, Machine
from sordino.logs.parties import run_parties
from sordino.logs.secret_program import count_operations, run_program
from sordino.logs.shared_log import prepare_log, read_opened
from sordino.logs.sharing import PARTIES, open_shares
from sordino.sampling.source import is_private

Backend = Literal["mpyc", "emulate"]
LIMITS = {"mpyc": 500, "emulate": 3000}
_EMULATED = (
    "emulated in one process that sees every entry: for tests and for counting operations, nothing is hidden"
)
_SEEDED = "seeded, so nothing is hidden"


def correlate_secret(
    logs: Log | Mapping[str, Log],
    *,
    values: Sequence[str],
    match: Match = "any",
    owners: Sequence[str] | None = None,
    time: str = "time",
    owner: str = "owner",
    normalise: Sequence[str] = (),
    require_sorted: bool = False,
    parties: int = PARTIES,
    backend: Backend = "mpyc",
    hide_times: bool = False,
    width: int | None = None,
    timeout: float = 60.0,
    allow_large: bool = False,
    progress: bool | None = None,
) -> Chains:
    """Correlate event logs on shares of their entries; every owner gets what `correlate` would give it.

    Guarantee: of the entries, a computing party learns the number of each owner's entries and their times (with
    ``hide_times`` not), the number of value columns, and the length of the longest entry up to 28 bytes (``width``
    fixes it). Values, matches, chains and what others get stay hidden from each party that follows the protocol and
    tells nothing to another (semi-honest, three parties, honest majority, Shamir with threshold 1). An owner learns
    that and its result, which holds entries of other owners and says where its chains' entries stand in the joint
    order (with ``hide_times`` in their own logs too). This is **not** differential privacy: results are exact.
    Requires: owners that agree on all this and on a key for the codes. Here one process plays all owners: it shares the
    entries with three processes on this machine, which it starts and ends, and opens for each owner what is theirs.
    A wrong match has probability below n²v²·2⁻⁶⁰.
    Source: the rule of `correlate`; Shamir sharing and products by MPyC (extra ``mpc``).

    ``backend="emulate"`` takes the same steps without secrecy. More than 500 entries (3000 emulated) need
    ``allow_large``: products grow with the square. A party that is silent for ``timeout`` seconds ends the run, and
    nothing is opened.
    """
    choice("match", match, get_args(Match))
    check_run(backend, hide_times, timeout, width)
    if whole("parties", parties, least=1) != PARTIES:
        raise ParameterError(f"parties must be {PARTIES}, got {parties}")
    entries = make_entries(
        logs,
        values=values,
        owners=owners,
        time=time,
        owner=owner,
        normalise=normalise,
        require_sorted=require_sorted,
    )
    return correlate_entries_secretly(
        entries,
        match,
        backend=backend,
        hide_times=hide_times,
        width=width,
        timeout=timeout,
        allow_large=allow_large,
        progress=progress,
    )


def check_run(backend: Backend, hide_times: bool, timeout: float, width: int | None) -> None:
    """Refuse what no run can do, before a log is read."""
    choice("backend", backend, get_args(Backend))
    flag("hide_times", hide_times)
    positive("timeout", timeout)
    if width is not None:
        whole("width", width, least=1)


def correlate_entries_secretly(
    entries: Entries,
    match: Match,
    *,
    backend: Backend = "mpyc",
    hide_times: bool = False,
    width: int | None = None,
    timeout: float = 60.0,
    allow_large: bool = False,
    progress: bool | None = None,
) -> Chains:
    """Correlate entries that have been read."""
    if len(entries.owners) < 2:
        raise ParameterError(
            f"a secret correlation takes the logs of at least 2 owners, got {len(entries.owners)}; "
            "one owner correlates its own log in the clear"
        )
    if len(entries) > LIMITS[backend] and not allow_large:
        raise ParameterError(
            f"{len(entries)} entries are more than {LIMITS[backend]}, and time grows with their square; "
            "give allow_large=True (--yes) to go on"
        )
    log = prepare_log(entries, by_column=match == "column", hide_times=hide_times, width=width)
    n, v, k, payload, bits, by_column = log.shape
    work = count_operations(n, v, k, payload=payload, time_bits=bits, by_column=by_column).products
    with show_progress("secret correlation", wanted=progress) as step:
        if backend == "emulate":
            machine = Machine(Emulation(), lambda done: step(done, work))
            results = run_program(log, machine)
            operations, guarantee = machine.operations, _EMULATED

            def open_for(index: int) -> Numbers:
                return results[index]
        else:
            shares, operations = run_parties(log, timeout=timeout, report=lambda done: step(done, work))
            guarantee = describe_guarantee(hide_times) if is_private() else _SEEDED

            def open_for(index: int) -> Numbers:
                return open_shares([party[index] for party in shares])

    return read_opened(entries, open_for, hide_times=hide_times, guarantee=guarantee, operations=operations)


def describe_guarantee(hide_times: bool) -> str:
    """What is hidden from whom, in words."""
    times = "" if hide_times else " and their times"
    return (
        "semi-honest security with three computing parties and an honest majority (Shamir sharing, threshold 1; two "
        f"parties that collude see everything). Public: the number of entries of each owner{times}, the number of "
        "value columns and a bound on the length of an entry. Hidden from every party: values, matches, chains and "
        "results. An owner learns its own result, which is exact: this is not differential privacy."
    )
