"""The leaks-when table: under which conditions something of an input is in an object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sordino.workflow.conditions import ALWAYS, NEVER, Conditions, any_way, in_order, sentence, under, word
from sordino.workflow.flow_table import FlowCell, FlowTable
from sordino.workflow.process_cost import find_object_costs
from sordino.workflow.process_model import ProcessModel, Task

LEGEND = (
    "never: no way from the input to the object; always: a way without a filter; if: every way has filters"
)
Node = tuple[str, str | None]  # an object, and its column where it has some


@dataclass(frozen=True, slots=True)
class Edge:
    """A step from something that a task reads to something that it makes."""

    source: Node
    target: Node
    filters: frozenset[str]


def make_leaks(
    process: ProcessModel, *, objects: tuple[str, ...] | None = None, columns: bool = False
) -> FlowTable:
    """Per object (or column of one) and input: never, always, or if and when. **Source**: NAPLES report, Fig. 80."""
    nodes = _list_nodes(process, columns)
    found = _find_conditions(process, nodes)
    sources = [node for name in process.inputs for node in nodes[name]]
    shown = tuple(name for name in process.objects if name in process.maker) if objects is None else objects
    costs = find_object_costs(process)
    rows = {
        _name(node): tuple(_cell(node, source, found, costs) for source in sources)
        for name in shown
        for node in nodes[name]
    }
    for channel in dict.fromkeys(send.over for send in process.sends):
        sent = tuple(dict.fromkeys(send.what for send in process.sends if send.over == channel))
        rows[f"network ({channel})"] = tuple(
            _network_cell(channel, sent, nodes, source, found) for source in sources
        )
    return FlowTable(
        kind="leaks",
        corner="object",
        columns=tuple(map(_name, sources)),
        rows=rows,
        legend=LEGEND,
        warnings=process.warnings,
    )


def _list_nodes(process: ProcessModel, columns: bool) -> dict[str, list[Node]]:
    """Each object, or its columns where queries name some."""
    if not columns:
        return {name: [(name, None)] for name in process.objects}
    named: dict[str, dict[str, None]] = {name: {} for name in process.objects}
    for task in process.tasks:
        if task.flow is not None:
            for table, column in task.flow.columns_read():
                named[table][column] = None
            named[task.outputs[0]].update(dict.fromkeys(task.flow.outputs))
    return {
        name: [(name, column) for column in sorted(found)] if found else [(name, None)]
        for name, found in named.items()
    }


def _edges(task: Task, nodes: Mapping[str, list[Node]]) -> list[Edge]:
    if task.flow is None or nodes[task.outputs[0]][0][1] is None:
        return [
            Edge(source, target, one.filters)
            for one in task.inputs
            for source in nodes[one.name]
            for name in task.outputs
            for target in nodes[name]
        ]
    made = task.outputs[0]
    return [
        Edge(source, (made, output), filters)
        for output, flows in task.flow.outputs.items()
        for table, column, filters in flows
        # rows of a table that no column is read of: all its columns say how many there are
        for source in ([(table, column)] if column is not None else nodes[table])
    ]


def _find_conditions(
    process: ProcessModel, nodes: Mapping[str, list[Node]]
) -> dict[Node, dict[Node, Conditions]]:
    """For every node, the conditions under which each source is in it."""
    found: dict[Node, dict[Node, Conditions]] = {
        node: {node: ALWAYS} for name in process.inputs for node in nodes[name]
    }
    for task in process.in_order:
        ways: dict[Node, dict[Node, list[Conditions]]] = {
            node: {} for name in task.outputs for node in nodes[name]
        }
        for edge in _edges(task, nodes):
            for source, conditions in found.get(edge.source, {}).items():
                ways[edge.target].setdefault(source, []).append(under(conditions, edge.filters))
        for node, several in ways.items():
            found[node] = {source: any_way(each) for source, each in several.items()}
    return found


def _cell(
    node: Node,
    source: Node,
    found: Mapping[Node, Mapping[Node, Conditions]],
    costs: Mapping[str, Mapping[str, float]],
) -> FlowCell:
    conditions = found.get(node, {}).get(source, NEVER)
    return _tell(f"of {_name(source)} is in {_name(node)}", conditions, costs.get(node[0], {}).get(source[0]))


def _network_cell(
    channel: str,
    sent: tuple[str, ...],
    nodes: Mapping[str, list[Node]],
    source: Node,
    found: Mapping[Node, Mapping[Node, Conditions]],
) -> FlowCell:
    conditions = any_way(found.get(node, {}).get(source, NEVER) for name in sent for node in nodes[name])
    return _tell(
        f"of {_name(source)} is in what is sent over {channel} channels ({', '.join(sent)})", conditions
    )


def _tell(what: str, conditions: Conditions, epsilon: float | None = None) -> FlowCell:
    told = word(conditions)
    if told == "never":
        return FlowCell(told, f"Nothing {what}: no way leads there.", ())
    cost = "" if epsilon is None else f" A change of one unit costs ε = {epsilon:.6g} at most."
    if told == "always":
        return FlowCell(told, f"Something {what}, whatever it holds.{cost}", in_order(conditions), epsilon)
    return FlowCell(told, f"Something {what} if {sentence(conditions)}.{cost}", in_order(conditions), epsilon)


def _name(node: Node) -> str:
    return node[0] if node[1] is None else f"{node[0]}.{node[1]}"
