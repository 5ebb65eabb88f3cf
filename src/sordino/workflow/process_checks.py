"""What must hold of a process; every error names the task, the party or the object."""

from __future__ import annotations

from collections.abc import Iterable

from sordino.core import ParameterError
from sordino.core.parameters import did_you_mean
from sordino.workflow.process_model import ProcessModel


def check_process(process: ProcessModel) -> None:
    """Refuse a process that is not one."""
    if not process.parties or len(set(process.parties)) < len(process.parties):
        raise ParameterError(f"parties must be different names, at least one, got {list(process.parties)!r}")
    _check_names(process)
    _check_makers(process)
    _check_inputs(process)
    _ = process.in_order  # refuses cycles
    _check_sends(process)
    _check_hidden(process)
    _check_columns(process)


def _check_names(process: ProcessModel) -> None:
    seen: set[tuple[str, str]] = set()
    for task in process.tasks:
        if task.by not in process.parties:
            raise ParameterError(f"task {task.name!r}: {_unknown('party', task.by, process.parties)}")
        if (task.name, task.by) in seen:
            raise ParameterError(f"there are two tasks {task.name!r} of {task.by}: give them different names")
        seen.add((task.name, task.by))
        if not task.outputs:
            raise ParameterError(f"{task} makes nothing: name an object under 'to'")
    for send in process.sends:
        if send.what not in process.objects:
            raise ParameterError(f"a send: {_unknown('object', send.what, process.objects)}")
        for party in (send.sender, send.receiver):
            if party not in process.parties:
                raise ParameterError(f"the send of {send.what}: {_unknown('party', party, process.parties)}")


def _check_makers(process: ProcessModel) -> None:
    makers: dict[str, str] = {}
    for task in process.tasks:
        for name in task.outputs:
            if name in makers:
                raise ParameterError(f"two tasks make {name}: {makers[name]} and {task}")
            makers[name] = str(task)


def _check_inputs(process: ProcessModel) -> None:
    """Where inputs are stated, a name that no task makes is one of them; a slip would cut a way, unseen."""
    stated = process.stated_inputs
    if stated is None:
        return
    for task in process.tasks:
        for one in task.inputs:
            if one.name not in process.maker and one.name not in stated:
                raise ParameterError(f"{task}: {_unknown('object', one.name, (*stated, *process.maker))}")
    for name in stated:
        if name not in process.inputs:
            told = f"{process.maker[name]} makes it" if name in process.maker else "no task reads it"
            raise ParameterError(f"{name} is stated as an input, but {told}")


def _check_sends(process: ProcessModel) -> None:
    held: dict[str, set[str]] = {party: set() for party in process.parties}
    for task in process.tasks:
        held[task.by].update(task.outputs)
        held[task.by].update(one.name for one in task.inputs if one.name in process.inputs)
    waiting = list(process.sends)
    while ready := [send for send in waiting if send.what in held[send.sender]]:
        for send in ready:
            waiting.remove(send)
            held[send.receiver].add(send.what)
    for send in waiting:
        holders = [party for party in process.parties if send.what in held[party]]
        raise ParameterError(
            f"{send.sender} sends {send.what} to {send.receiver} and does not hold it: "
            f"{', '.join(holders) or 'nobody'} does"
        )


def _check_hidden(process: ProcessModel) -> None:
    for task in process.tasks:
        for one in task.inputs:
            made = process.maker.get(one.name)
            hidden = made is not None and made.kind in ("protect", "compute_protected")
            if task.kind == "open" and not hidden:
                raise ParameterError(f"{task} opens {one.name}, which was never protected")
            if task.kind == "plain" and hidden and not _sees(process, task.by, one.name):
                raise ParameterError(
                    f"{task} reads {one.name}, which {task.by} holds hidden only: open it first, "
                    "or say kind: compute_protected"
                )


def _check_columns(process: ProcessModel) -> None:
    """A column that a query reads is one that the query before it makes, or its flow would be lost."""
    for task in process.tasks:
        for table, column in sorted(task.flow.columns_read()) if task.flow is not None else ():
            made = process.maker.get(table)
            if made is not None and made.flow is not None and column not in made.flow.outputs:
                raise ParameterError(
                    f"{task} reads {table}.{column}, which {made} does not make: "
                    f"it makes {', '.join(made.flow.outputs)}"
                )


def _sees(process: ProcessModel, party: str, name: str) -> bool:
    """Whether a party sees what a hidden object holds: all that it was protected from, or that alone, opened."""
    made = process.maker[name]
    if made.kind == "protect" and all(process.cell(party, one.name) in ("V", "O") for one in made.inputs):
        return True
    return any(
        task.kind == "open"
        and [one.name for one in task.inputs] == [name]
        and any(process.cell(party, opened) == "V" for opened in task.outputs)
        for task in process.tasks
    )


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    names = tuple(known)
    hint = did_you_mean(name, names, before="; ", otherwise=f": there are {', '.join(names[:8])}")
    return f"unknown {what} {name!r}{hint}"
