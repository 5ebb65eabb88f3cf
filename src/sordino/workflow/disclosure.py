"""The disclosure table: who sees which object, and over which channels it is sent."""

from __future__ import annotations

from sordino.workflow.flow_table import FlowCell, FlowTable
from sordino.workflow.process_model import ProcessModel

_LARGEST = "OVH-"
LEGEND = "O owner, V visible, H hidden, - not held; S sent over a secure channel, MF over a plain one"


def make_disclosure(
    process: ProcessModel, *, split: bool = False, objects: tuple[str, ...] | None = None
) -> FlowTable:
    """Per row and party the largest of O > V > H > - of its objects. **Source**: NAPLES report, Table 31."""
    rows = tuple((name,) for name in process.objects) if split else process.rows
    if objects is not None:
        rows = tuple(row for row in rows if set(row) & set(objects))
    return FlowTable(
        kind="disclosure",
        corner="object",
        columns=(*process.parties, "shared over"),
        rows={
            ", ".join(row): (
                *(_party_cell(process, party, row) for party in process.parties),
                _channel(process, row),
            )
            for row in rows
        },
        legend=LEGEND,
        warnings=process.warnings,
    )


def _party_cell(process: ProcessModel, party: str, row: tuple[str, ...]) -> FlowCell:
    held = sorted((_LARGEST.index(process.cell(party, name)), name) for name in row)
    letter, name = _LARGEST[held[0][0]], held[0][1]
    if letter == "-":
        return FlowCell(
            "-", f"{party} holds none of {', '.join(row)}: it neither reads, makes nor receives it."
        )
    return FlowCell(
        letter, f"{party} {_reason(process, party, name, letter)}{_others(process, party, row, name)}."
    )


def _reason(process: ProcessModel, party: str, name: str, letter: str) -> str:
    if letter == "O":
        return f"reads {name}, which no task makes: it is the owner's"
    made = process.maker[name]
    came = "makes" if made.by == party else _came(process, party, name)
    how = f"in task {made.name!r}" if made.by == party else f"made by {made.by} in task {made.name!r}"
    if letter == "H":
        return f"{came} {name}, {how}, which keeps it hidden ({made.kind})"
    return f"{came} {name}, {how}, and sees its content"


def _came(process: ProcessModel, party: str, name: str) -> str:
    senders = [send for send in process.sends if send.what == name and send.receiver == party]
    return f"receives from {senders[0].sender}" if senders else "reads"


def _others(process: ProcessModel, party: str, row: tuple[str, ...], name: str) -> str:
    more = [f"{other}: {process.cell(party, other)}" for other in row if other != name]
    return f" ({'; '.join(more)})" if more else ""


def _channel(process: ProcessModel, row: tuple[str, ...]) -> FlowCell:
    sent = [send for send in process.sends if send.what in row]
    told = "; ".join(f"{one.what} from {one.sender} to {one.receiver}, {one.over}" for one in sent)
    if any(one.over == "plain" for one in sent):
        return FlowCell("MF", f"Sent over a plain channel: {told}.")
    return FlowCell("S", f"Sent over a secure channel: {told}.") if sent else FlowCell("-", "Never sent.")
