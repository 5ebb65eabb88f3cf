"""BPMN 2.0, a subset, read into a process: pools or lanes, tasks, data objects and message flows.

What has no bearing on data (events that start and end, sequence flows, the picture) is passed over; every element
outside the subset is refused by its name. BPMN has no word for protected data, so tasks and message flows say it in
their documentation, as in the process file, or by the elements of PE-BPMN:

    task             kind: protect | compute_protected | open, epsilon, sensitivity; ProtectConfidentiality,
                     PETComputation, OpenConfidentiality
    data input       documentation of the association: the filter
    message flow     its name is the object that it carries; documentation: secure (default) or plain; SecureChannel
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from sordino.core import ParameterError, UnsupportedError
from sordino.workflow.source import read_file, read_source

Element = ElementTree.Element
_MODEL = "http://www.omg.org/spec/BPMN/20100524/MODEL"

_TASKS = {
    "task", "userTask", "serviceTask", "scriptTask", "manualTask", "businessRuleTask", "sendTask", "receiveTask",
}  # fmt: skip
_STORES = {"dataObjectReference", "dataStoreReference"}
_SILENT = {
    "startEvent", "endEvent", "sequenceFlow", "dataObject", "dataStore", "ioSpecification", "documentation",
    "extensionElements", "laneSet", "association", "textAnnotation", "category",
}  # fmt: skip
_TOP = {"collaboration", "process", "BPMNDiagram", "message", "itemDefinition", "dataStore", "category",
        "documentation", "extensionElements"}  # fmt: skip
_PROTECTION = {
    "ProtectConfidentiality": "protect",
    "PETComputation": "compute_protected",
    "OpenConfidentiality": "open",
}
_NOTES = {"documentation", "extensionElements"}
_ASSOCIATION = {"sourceRef", "targetRef", *_NOTES}
_EVENT = {"incoming", "outgoing", "property", *_NOTES}
# What elements may hold that are read in part or passed over: anything else could say where data go.
_WITHIN = {
    "startEvent": _EVENT,
    "endEvent": _EVENT,
    "sequenceFlow": _NOTES,
    "participant": _NOTES,
    "messageFlow": {"SecureChannel", *_NOTES},
    "dataInputAssociation": _ASSOCIATION,
    "dataOutputAssociation": _ASSOCIATION,
}
_IN_A_TASK = {"incoming", "outgoing", "documentation", "extensionElements", "ioSpecification", "property",
              "dataInputAssociation", "dataOutputAssociation", *_PROTECTION}  # fmt: skip


def read_bpmn(path: Path) -> dict[str, Any]:
    """The content of a process file from a BPMN 2.0 file."""
    text = read_file(path, "a process")
    if re.search(r"<!(DOCTYPE|ENTITY)", text):
        raise ParameterError(f"{path} declares a document type or entities, which a process has no use for")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise ParameterError(f"{path} is not XML (line {line}, column {column + 1})") from None
    if root.tag != f"{{{_MODEL}}}definitions":
        raise ParameterError(
            f"{path} is no BPMN 2.0: it begins with <{_kind(root)}>, not with <definitions> of {_MODEL}"
        )
    return _Reader(root).read()


class _Reader:
    """One file: names by id, then tasks and sends as the process file has them."""

    def __init__(self, root: Element) -> None:
        self.processes: list[Element] = []
        self.collaborations: list[Element] = []
        for element in root:
            if _kind(element) not in _TOP:
                _refuse(element, "definitions")
            if _kind(element) == "process":
                self.processes.append(element)
            elif _kind(element) == "collaboration":
                self.collaborations.append(element)
        self.parties: dict[str, str] = {}  # the id of a pool, a process or a task → its party
        self.objects: dict[str, str] = {}  # the id of a reference → the object's name
        self.title = root.get("name", "")

    def read(self) -> dict[str, Any]:
        pools = [part for one in self.collaborations for part in one if _kind(part) == "participant"]
        named = {pool.get("processRef", ""): _name(pool) for pool in pools}
        for pool in pools:
            _check_within(pool, "the collaboration")
            self.parties[_id(pool)] = _name(pool)
        order = [_name(pool) for pool in pools]
        tasks: list[dict[str, Any]] = []
        for process in self.processes:
            party = named.get(_id(process)) or process.get("name") or _id(process)
            if party not in order:
                order.append(party)
            lanes = _list_lanes(process)
            if len(lanes) > 1:
                at = order.index(party)
                order[at : at + 1] = [_name(lane) for lane in lanes]
            for lane in lanes if len(lanes) > 1 else ():
                for node in lane:
                    if _kind(node) == "flowNodeRef":
                        self.parties[(node.text or "").strip()] = _name(lane)
            self._read_objects(process)
            tasks += self._read_tasks(process, party, bool(len(lanes) > 1))
        for name in order:
            if order.count(name) > 1:
                raise ParameterError(
                    f"two pools or lanes are called {name!r}: a party is known by its name, so give them different ones"
                )
        sends = [self._read_flow(part) for one in self.collaborations for part in one if self._is_flow(part)]
        return {"title": self.title, "parties": order, "tasks": tasks, "sends": sends}

    def _read_objects(self, process: Element) -> None:
        declared = {_id(part): part.get("name", "") for part in process if _kind(part) == "dataObject"}
        for part in process:
            if _kind(part) in _STORES:
                self.objects[_id(part)] = (
                    part.get("name") or declared.get(part.get("dataObjectRef", "")) or _id(part)
                )
        self.objects.update({one: name or one for one, name in declared.items()})

    def _read_tasks(self, process: Element, party: str, lanes: bool) -> Iterator[dict[str, Any]]:
        for part in process:
            kind = _kind(part)
            if kind in _SILENT or kind in _STORES:
                self._check_silent(part, f"process {process.get('name') or _id(process)!r}")
                continue
            if kind not in _TASKS:
                _refuse(part, f"process {process.get('name') or _id(process)!r}")
            if lanes and _id(part) not in self.parties:
                raise ParameterError(f"task {_name(part)!r} is in no lane")
            self.parties.setdefault(_id(part), party)
            task = self._read_task(part)
            if task["to"]:  # a task that makes nothing, such as one that sends a letter, moves no data
                yield task

    def _read_task(self, part: Element) -> dict[str, Any]:
        where = f"task {_name(part)!r}"
        filters: dict[str, list[str]] = {}
        made: list[str] = []
        stated: dict[str, Any] = {}
        for child in (*part, *_extensions(part)):
            kind = _kind(child)
            if child in part and kind not in _IN_A_TASK:
                _refuse(child, where)
            _check_within(child, where)
            if kind in _PROTECTION:
                stated["kind"] = _PROTECTION[kind]
            elif kind == "documentation":
                stated.update(_read_documentation(child, where))
            elif kind == "dataInputAssociation":
                for source in _references(child, "sourceRef"):
                    name = self._object(source, where)
                    filters.setdefault(name, [])
                    filters[name] += [text for text in _documentation(child).splitlines() if text.strip()]
            elif kind == "dataOutputAssociation":
                made += [self._object(target, where) for target in _references(child, "targetRef")]
        reads: Any = {name: [one.strip() for one in each] for name, each in filters.items()}
        return {"name": _name(part), "by": self.parties[_id(part)], "from": reads, "to": made, **stated}

    def _read_flow(self, part: Element) -> dict[str, Any]:
        told = f"message flow {part.get('name') or _id(part)!r}"
        _check_within(part, told)
        ends = [part.get("sourceRef", ""), part.get("targetRef", "")]
        for end in ends:
            if end not in self.parties:
                raise ParameterError(f"{told} ends at {end!r}, which is no pool and no task")
        if part.get("name") not in set(self.objects.values()):
            raise ParameterError(f"{told}: name it after the data object that it carries")
        words = _documentation(part).split()
        over = words[0].casefold() if words else "secure"
        return {
            "what": part.get("name"),
            "from": self.parties[ends[0]],
            "to": self.parties[ends[1]],
            "over": over,
        }

    def _is_flow(self, part: Element) -> bool:
        kind = _kind(part)
        if kind not in (
            "participant",
            "messageFlow",
            "documentation",
            "extensionElements",
            "association",
            "textAnnotation",
        ):
            _refuse(part, "the collaboration")
        self._check_silent(part, "the collaboration")
        return kind == "messageFlow"

    def _check_silent(self, part: Element, where: str) -> None:
        """What is passed over carries no data."""
        _check_within(part, where)
        if _kind(part) == "association" and {part.get("sourceRef"), part.get("targetRef")} & set(
            self.objects
        ):
            raise UnsupportedError(
                f"{where}: <association> {_id(part)!r} joins a data object: draw data inputs and data outputs of tasks"
            )

    def _object(self, reference: str, where: str) -> str:
        if reference not in self.objects:
            raise ParameterError(
                f"{where} reads or makes {reference!r}, which is no data object or data store"
            )
        return self.objects[reference]


def _list_lanes(process: Element) -> list[Element]:
    """The lanes that hold no others."""
    lanes = [lane for lane in process.iter() if _kind(lane) == "lane"]
    return [
        lane
        for lane in lanes
        if not any(_kind(inner) == "lane" for inner in lane.iter() if inner is not lane)
    ]


def _extensions(part: Element) -> list[Element]:
    """Where modellers put elements that are not BPMN's own; only those of PE-BPMN mean something here."""
    return [one for child in part if _kind(child) == "extensionElements" for one in child]


def _check_within(part: Element, where: str) -> None:
    if _kind(part) not in _WITHIN:
        return
    known = _WITHIN[_kind(part)]
    for child in part:
        kind = _kind(child)
        if kind not in known and not (known is _EVENT and kind.endswith("EventDefinition")):
            _refuse(child, f"{where}: <{_kind(part)}> {_name(part)!r}")


def _read_documentation(child: Element, where: str) -> Mapping[str, Any]:
    text = (child.text or "").strip()
    if not re.search(r"^(kind|epsilon|sensitivity)\s*:", text, flags=re.MULTILINE):
        return {}  # prose
    stated = read_source(text + "\n", f"the documentation of {where}")
    return {name: stated[name] for name in ("kind", "epsilon", "sensitivity") if name in stated}


def _references(association: Element, name: str) -> Iterable[str]:
    return [(part.text or "").strip() for part in association if _kind(part) == name]


def _documentation(part: Element) -> str:
    if any(_kind(child) == "SecureChannel" for child in part.iter()):
        return "secure"
    return "\n".join((child.text or "").strip() for child in part if _kind(child) == "documentation")


def _kind(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _id(element: Element) -> str:
    return element.get("id", "")


def _name(element: Element) -> str:
    return " ".join((element.get("name") or _id(element)).split())


def _refuse(element: Element, where: str) -> None:
    name = element.get("name") or _id(element)
    told = f" {name!r}" if name else ""
    raise UnsupportedError(
        f"{where}: <{_kind(element)}>{told} is outside the subset of BPMN that is read: pools, lanes, tasks, "
        "data objects, data stores and message flows"
    )
