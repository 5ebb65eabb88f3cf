"""The process file: parties, tasks and sends, in YAML or JSON."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from sordino.core import ParameterError
from sordino.core.parameters import choice
from sordino.workflow.process_model import CHANNELS, KINDS, Input, ProcessModel, Send, Task, as_kind
from sordino.workflow.source import check_fields, read_amount, read_names, read_source
from sordino.workflow.sql_flow import SqlFlow, read_sql_flow

_TASK_FIELDS = ("name", "by", "kind", "from", "to", "sql", "epsilon", "sensitivity")


def read_process(source: Mapping[str, Any] | str | Path) -> ProcessModel:
    """A process from a file, its text or a dict; unknown fields are errors."""
    content = check_fields(
        "the process", read_source(source, "the process"), ("title", "parties", "inputs", "tasks", "sends")
    )
    if not isinstance(content.get("tasks"), list | tuple) or not content["tasks"]:
        raise ParameterError("the process has no tasks: write tasks: [{name, by, from, to}, …]")
    sends = content.get("sends") or []
    if not isinstance(sends, list | tuple):
        raise ParameterError(f"sends must be a list of {{what, from, to, over}}, got {sends!r}")
    return ProcessModel(
        parties=read_names("parties", content.get("parties", [])),
        tasks=tuple(_read_task(number, given) for number, given in enumerate(content["tasks"], 1)),
        sends=tuple(_read_send(number, given) for number, given in enumerate(sends, 1)),
        title=str(content.get("title", "")),
        stated_inputs=read_names("inputs", content["inputs"]) if "inputs" in content else None,
    )


def _read_task(number: int, given: Any) -> Task:
    fields = check_fields(f"task {number}", given, _TASK_FIELDS)
    name = fields.get("name")
    if not isinstance(name, str) or not name:
        raise ParameterError(f"task {number} has no name")
    where = f"task {name!r}"
    if not isinstance(fields.get("by"), str):
        raise ParameterError(f"{where}: by must name a party, got {fields.get('by')!r}")
    outputs = read_names(f"{where}: to", fields.get("to", []))
    flow: SqlFlow | None = None
    inputs = _read_inputs(where, fields.get("from", []))
    if "sql" in fields:
        if len(outputs) != 1:
            raise ParameterError(f"{where}: a query makes one object, got {len(outputs)} under 'to'")
        flow = read_sql_flow(str(fields["sql"]), where)
        named = {one.name for one in inputs}
        if named and named != set(flow.tables):
            raise ParameterError(
                f"{where}: from names {', '.join(sorted(named))}, the query reads {', '.join(sorted(flow.tables))}"
            )
        inputs = tuple(Input(table, flow.filters_of(table)) for table in flow.tables)
    return Task(
        name=name,
        by=fields["by"],
        inputs=inputs,
        outputs=outputs,
        kind=as_kind(choice(f"{where}: kind", fields.get("kind", "plain"), KINDS)),
        flow=flow,
        epsilon=None
        if fields.get("epsilon") is None
        else read_amount(f"{where}: epsilon", fields["epsilon"]),
        sensitivity=_read_sensitivity(where, fields.get("sensitivity"), inputs),
    )


def _read_inputs(where: str, given: Any) -> tuple[Input, ...]:
    if not isinstance(given, Mapping):
        return tuple(Input(name) for name in read_names(f"{where}: from", given))
    found = []
    for name, filters in given.items():
        if not isinstance(name, str):
            raise ParameterError(f"{where}: from must name objects, got {name!r}")
        found.append(Input(name, frozenset(read_names(f"{where}: the filter of {name}", filters or []))))
    return tuple(found)


def _read_sensitivity(where: str, given: Any, inputs: tuple[Input, ...]) -> dict[str, Fraction] | None:
    if given is None:
        return None
    known = [one.name for one in inputs]
    if not isinstance(given, Mapping):
        amount = read_amount(f"{where}: sensitivity", given)
        return dict.fromkeys(known, amount)
    for name in given:
        if name not in known:
            raise ParameterError(f"{where}: sensitivity to {name!r}, which it does not read")
    return {name: read_amount(f"{where}: sensitivity to {name}", value) for name, value in given.items()}


def _read_send(number: int, given: Any) -> Send:
    fields = check_fields(f"send {number}", given, ("what", "from", "to", "over"))
    for name in ("what", "from", "to"):
        if not isinstance(fields.get(name), str):
            raise ParameterError(f"send {number}: {name} must be a name, got {fields.get(name)!r}")
    over = choice(f"send {number} of {fields['what']}: over", fields.get("over", "secure"), CHANNELS)
    return Send(fields["what"], fields["from"], fields["to"], "plain" if over == "plain" else "secure")
