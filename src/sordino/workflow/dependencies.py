"""The dependency table: which inputs reach which party, directly or in what is made of them."""

from __future__ import annotations

from sordino.workflow.flow_table import FlowCell, FlowTable
from sordino.workflow.process_model import ProcessModel

LEGEND = "D holds the input itself, I sees something that depends on it, H holds such things hidden only, - nothing"


def make_dependencies(process: ProcessModel) -> FlowTable:
    """Per party and input: D, I, H or -."""
    reached = find_sources(process)
    return FlowTable(
        kind="dependencies",
        corner="party",
        columns=process.inputs,
        rows={
            party: tuple(_cell(process, party, source, reached) for source in process.inputs)
            for party in process.parties
        },
        legend=LEGEND,
        warnings=process.warnings,
    )


def find_sources(process: ProcessModel) -> dict[str, frozenset[str]]:
    """The inputs that each object depends on; an input on itself."""
    found = {name: frozenset({name}) for name in process.inputs}
    for task in process.in_order:
        own = frozenset[str]().union(*(found[one.name] for one in task.inputs))
        found.update(dict.fromkeys(task.outputs, own))
    return found


def _cell(process: ProcessModel, party: str, source: str, reached: dict[str, frozenset[str]]) -> FlowCell:
    if process.cell(party, source) in ("V", "O"):
        return FlowCell("D", f"{party} holds {source} itself.")
    dependent = [name for name in process.objects if source in reached[name]]
    seen = [name for name in dependent if process.cell(party, name) in ("V", "O")]
    if seen:
        return FlowCell("I", f"{party} sees what depends on {source}: {', '.join(seen)}.")
    hidden = [name for name in dependent if process.cell(party, name) == "H"]
    if hidden:
        return FlowCell("H", f"{party} holds what depends on {source} hidden only: {', '.join(hidden)}.")
    return FlowCell("-", f"{party} holds nothing that depends on {source}.")
