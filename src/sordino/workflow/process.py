"""Process: a checked process, and the tables that follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sordino.core import ParameterError
from sordino.core.parameters import did_you_mean
from sordino.workflow.bpmn import read_bpmn
from sordino.workflow.dependencies import make_dependencies
from sordino.workflow.disclosure import make_disclosure
from sordino.workflow.flow_table import FlowTable
from sordino.workflow.leaks import make_leaks
from sordino.workflow.process_checks import check_process
from sordino.workflow.process_file import read_process
from sordino.workflow.process_model import ProcessModel


@dataclass(frozen=True, eq=False)
class Process(ProcessModel):
    """A checked process. Inputs are objects that no task makes; where a file states them, every other one is a slip.

    **Requires**, and checks, naming task, party or object: known parties; one maker per object; no cycle; who sends
    holds what is sent; only what was protected is opened; no plain task reads what its party holds hidden only.

    >>> import sordino as sd
    >>> process = sd.workflow.Process.load('''
    ... parties: [shop, lab]
    ... tasks:
    ...   - {name: protect, by: shop, kind: protect, from: [orders], to: [shares]}
    ... sends:
    ...   - {what: shares, from: shop, to: lab, over: secure}
    ... ''')
    >>> print(process.disclosure())
    object          shop  lab  shared over
    orders, shares  O     H    S
    """

    def __post_init__(self) -> None:
        check_process(self)

    @classmethod
    def load(cls, source: Mapping[str, Any] | str | Path) -> Process:
        """A process from a YAML or JSON file, its text or a dict, or from a BPMN 2.0 file (.bpmn, .xml)."""
        is_path = isinstance(source, Path) or (isinstance(source, str) and "\n" not in source)
        drawn = is_path and str(source).casefold().endswith((".bpmn", ".xml"))
        read = read_process(read_bpmn(Path(str(source))) if drawn else source)
        return cls(read.parties, read.tasks, read.sends, read.title, read.stated_inputs)

    def disclosure(self, *, split: bool = False, objects: Sequence[str] | None = None) -> FlowTable:
        """Who sees what: V visible, O owner, H hidden, - not at all; and over which channels it is sent.

        ``split``: a row per object; otherwise objects that a task protects or opens share a row, with the largest cell.
        """
        return make_disclosure(self, split=split, objects=self.choose(objects))

    def dependencies(self) -> FlowTable:
        """Which inputs reach a party: D directly, I by something that it sees, H only hidden, - not at all."""
        return make_dependencies(self)

    def leaks(self, *, objects: Sequence[str] | None = None, columns: bool = False) -> FlowTable:
        """When something of each input is in each object: never, always, or if some conditions hold.

        ``columns``: a row and a column for each column of a table that SQL tasks read or make.
        """
        return make_leaks(self, objects=self.choose(objects), columns=columns)

    def choose(self, objects: Sequence[str] | None) -> tuple[str, ...] | None:
        """Some objects by name; an unknown one is an error with the nearest."""
        if objects is None:
            return None
        for name in objects:
            if name not in self.objects:
                hint = did_you_mean(name, self.objects, before="; ")
                raise ParameterError(f"there is no object {name!r} in the process{hint}")
        return tuple(objects)
