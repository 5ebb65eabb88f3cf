"""ProcessModel: parties, tasks that make objects out of objects, and what is sent to whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Literal, cast

from sordino.core import ParameterError
from sordino.workflow.sql_flow import SqlFlow

Kind = Literal["plain", "protect", "compute_protected", "open"]
KINDS = ("plain", "protect", "compute_protected", "open")
CHANNELS = ("secure", "plain")
HIDING = ("protect", "compute_protected")


@dataclass(frozen=True, slots=True)
class Input:
    """What a task reads, and the conditions (filters) under which something of it is in the result."""

    name: str
    filters: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Task:
    """What a party does: objects in, objects out. ``epsilon``, ``sensitivity``: per input, for costs."""

    name: str
    by: str
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    kind: Kind = "plain"
    flow: SqlFlow | None = None
    epsilon: Fraction | None = None
    sensitivity: Mapping[str, Fraction] | None = None

    def __str__(self) -> str:
        return f"task {self.name!r} of {self.by}"


@dataclass(frozen=True, slots=True)
class Send:
    """An object on its way from a party to another, over a secure or a plain channel."""

    what: str
    sender: str
    receiver: str
    over: Literal["secure", "plain"]


@dataclass(frozen=True, eq=False)
class ProcessModel:
    """What a process consists of, and what follows from it at once; inputs are objects that no task makes.

    ``stated_inputs``: all inputs by name, so that a slip in a name is no further input; None: not stated.
    """

    parties: tuple[str, ...]
    tasks: tuple[Task, ...]
    sends: tuple[Send, ...] = ()
    title: str = field(default="")
    stated_inputs: tuple[str, ...] | None = None

    @cached_property
    def maker(self) -> dict[str, Task]:
        """The task that makes each object; inputs are not there."""
        return {name: task for task in self.tasks for name in task.outputs}

    @cached_property
    def objects(self) -> tuple[str, ...]:
        """All objects, sorted as people sort: without regard to capitals."""
        names = {one.name for task in self.tasks for one in task.inputs} | set(self.maker)
        return tuple(sorted(names, key=lambda name: (name.casefold(), name)))

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Objects that no task makes."""
        return tuple(name for name in self.objects if name not in self.maker)

    @cached_property
    def held(self) -> dict[str, frozenset[str]]:
        """What each party holds: what its tasks read and make, and what is sent to it."""
        found = {party: set[str]() for party in self.parties}
        for task in self.tasks:
            found[task.by].update(task.outputs, (one.name for one in task.inputs))
        for send in self.sends:
            found[send.receiver].add(send.what)
        return {party: frozenset(names) for party, names in found.items()}

    @cached_property
    def in_order(self) -> tuple[Task, ...]:
        """The tasks, each after those that make what it reads."""
        done: set[str] = set(self.inputs)
        waiting, ordered = list(self.tasks), list[Task]()
        while waiting:
            ready = [task for task in waiting if all(one.name in done for one in task.inputs)]
            if not ready:
                names = ", ".join(repr(task.name) for task in waiting)
                raise ParameterError(f"a cycle: tasks {names} wait for what they make themselves")
            for task in ready:
                waiting.remove(task)
                ordered.append(task)
                done.update(task.outputs)
        return tuple(ordered)

    def cell(self, party: str, name: str) -> str:
        """O, V, H or -: whether a party holds an object as its owner, visibly, hidden, or not at all."""
        if name not in self.held[party]:
            return "-"
        task = self.maker.get(name)
        return "O" if task is None else "H" if task.kind in HIDING else "V"

    @cached_property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Objects of one content: joined by tasks that protect or open."""
        group = {name: {name} for name in self.objects}
        for task in self.tasks:
            if task.kind in ("protect", "open"):
                names = (*(one.name for one in task.inputs), *task.outputs)
                joined = set[str]().union(*(group[name] for name in names))
                for name in joined:
                    group[name] = joined
        return tuple(
            dict.fromkeys(tuple(name for name in self.objects if name in group[one]) for one in self.objects)
        )

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What is legal, and worth a look."""
        told = [
            f"{send.what} is visible to {send.receiver}, sent by {send.sender} over a plain channel: "
            "whoever listens sees it too"
            for send in self.sends
            if send.over == "plain" and self.cell(send.sender, send.what) in "VO"
        ]
        for task in self.tasks:
            for one in task.inputs:
                made = self.maker.get(one.name)
                if made is None or made.by == task.by:
                    continue
                if not any(send.what == one.name and send.receiver == task.by for send in self.sends):
                    told.append(
                        f"{task} reads {one.name}, which {made.by} makes and nobody sends to {task.by}"
                    )
        return tuple(told)


def as_kind(value: str) -> Kind:
    """One of the kinds of tasks."""
    return cast(Kind, value)
