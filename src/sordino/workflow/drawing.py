"""The drawing of a process: parties as lanes, tasks from left to right, arrows for what flows; SVG as text."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from sordino.workflow.process_model import ProcessModel, Task

_WIDTH, _GAP, _LEFT, _TOP = 236, 56, 128, 12
_LINE, _PAD, _SPACE = 15, 9, 16
_LONGEST = 30


@dataclass(frozen=True, slots=True)
class Box:
    """A task, an input or something received, with its place; ``objects``: what arrows may leave it with."""

    id: str
    kind: str
    party: str
    column: int
    title: str
    lines: tuple[str, ...]
    objects: tuple[str, ...]
    why: str

    @property
    def height(self) -> int:
        """In pixels."""
        return 2 * _PAD + _LINE * (1 + len(self.lines))


def list_boxes(process: ProcessModel) -> list[Box]:
    """Boxes of tasks in order, of inputs in the lanes that read them, and of what is received and not read."""
    depth: dict[str, int] = {}
    boxes: list[Box] = []
    for number, task in enumerate(process.in_order):
        column = 1 + max((depth.get(one.name, 0) for one in task.inputs), default=0)
        depth.update(dict.fromkeys(task.outputs, column))
        boxes.append(_task_box(f"task-{number}", task, column))
    stores = [
        Box(
            f"input-{number}-{place}",
            "input",
            party,
            max(0, min(_columns_reading(process, party, name, depth)) - 1),
            name,
            (),
            (name,),
            f"{name}: an input of {party}; no task makes it.",
        )
        for number, name in enumerate(process.inputs)
        for place, party in enumerate(process.parties)
        if any(task.by == party and name in _reads(task) for task in process.tasks)
    ]
    received = [
        Box(
            f"received-{number}",
            "received",
            send.receiver,
            depth.get(send.what, 0) + 1,
            send.what,
            (),
            (),
            f"{send.receiver} receives {send.what} from {send.sender}, over a {send.over} channel.",
        )
        for number, send in enumerate(process.sends)
        if not any(task.by == send.receiver and send.what in _reads(task) for task in process.tasks)
    ]
    return [*stores, *boxes, *received]


def draw_process(process: ProcessModel, boxes: list[Box]) -> str:
    """The SVG of a process; every text in it is escaped, every box can be focused."""
    places, lanes, width, height = _place(process, boxes)
    parts = [
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group" '
        f'aria-label="{escape(process.title or "The process")}, drawn with a lane for each party">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" class="tip"></path></marker></defs>',
    ]
    for party, (top, tall) in lanes.items():
        parts.append(
            f'<g class="lane"><rect x="1" y="{top}" width="{width - 2}" height="{tall}" rx="6"></rect>'
            f'<text x="14" y="{top + tall // 2}" class="party">{escape(_short(party, 11))}'
            f"<title>{escape(party)}</title></text></g>"
        )
    parts += _arrows(process, boxes, places, lanes)
    for box in boxes:
        x, y = places[box.id]
        texts = "".join(
            f'<text x="{x + _PAD}" y="{y + _PAD + _LINE * (number + 2) - 4}" class="made">{escape(_short(line))}</text>'
            for number, line in enumerate(box.lines)
        )
        parts.append(
            f'<g class="box {box.kind}" id="{box.id}" tabindex="0" role="img" aria-label="{escape(box.why)}" '
            f'data-why="{escape(box.why)}"><rect x="{x}" y="{y}" width="{_WIDTH}" height="{box.height}" rx="5"></rect>'
            f'<text x="{x + _PAD}" y="{y + _PAD + _LINE - 4}" class="name">{escape(_short(box.title))}</text>'
            f"{texts}</g>"
        )
    return "".join([*parts, "</svg>"])


def boxes_between(process: ProcessModel, boxes: list[Box], source: str, target: str) -> list[str]:
    """The boxes on the ways from an input to an object."""
    before = {target}
    for task in reversed(process.in_order):
        if before & set(task.outputs):
            before.update(_reads(task))
    after = {source}
    on_the_way = []
    for number, task in enumerate(process.in_order):
        if after & _reads(task):
            after.update(task.outputs)
            if before & set(task.outputs):
                on_the_way.append(f"task-{number}")
    stores = [box.id for box in boxes if box.kind == "input" and box.title == source]
    return [*stores, *on_the_way] if target in after else []


def boxes_about(
    process: ProcessModel, boxes: list[Box], names: tuple[str, ...], party: str | None
) -> list[str]:
    """The boxes that read, make or receive an object, of one party or of all."""
    tasks = {f"task-{number}": task for number, task in enumerate(process.in_order)}
    found = []
    for box in boxes:
        task = tasks.get(box.id)
        touched = {box.title} if task is None else {*_reads(task), *task.outputs}
        if touched & set(names) and party in (None, box.party):
            found.append(box.id)
    return found


def _task_box(name: str, task: Task, column: int) -> Box:
    filters = sorted({text for one in task.inputs for text in one.filters})
    lines = [f"only {text}" for text in filters] + [f"→ {made}" for made in task.outputs]
    if task.epsilon is not None:
        lines.append(f"ε = {float(task.epsilon):g}")
    reads = ", ".join(
        f"{one.name} ({', '.join(sorted(one.filters))})" if one.filters else one.name for one in task.inputs
    )
    why = (
        f"{task.by}: {task.name}. Reads {reads or 'nothing'}; makes {', '.join(task.outputs)}."
        f"{'' if task.kind == 'plain' else f' Kind: {task.kind}.'}"
    )
    return Box(name, task.kind, task.by, column, task.name, tuple(lines), task.outputs, why)


def _place(
    process: ProcessModel, boxes: list[Box]
) -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]], int, int]:
    places: dict[str, tuple[int, int]] = {}
    lanes: dict[str, tuple[int, int]] = {}
    top = _TOP
    for party in process.parties:
        own = [box for box in boxes if box.party == party]
        stacked = dict[int, int]()
        for box in own:
            y = top + _SPACE + stacked.get(box.column, 0)
            places[box.id] = (_LEFT + box.column * (_WIDTH + _GAP), y)
            stacked[box.column] = stacked.get(box.column, 0) + box.height + _SPACE
        tall = max(stacked.values(), default=60) + 2 * _SPACE
        lanes[party] = (top, tall)
        top += tall + 8
    last = max((box.column for box in boxes), default=0)
    return places, lanes, _LEFT + last * (_WIDTH + _GAP) + _WIDTH + 20, top + 4


def _arrows(
    process: ProcessModel,
    boxes: list[Box],
    places: dict[str, tuple[int, int]],
    lanes: dict[str, tuple[int, int]],
) -> list[str]:
    tasks = {f"task-{number}": task for number, task in enumerate(process.in_order)}
    arrows = []
    long = 0  # arrows past other boxes run along the foot of their lane, each on its own line
    for end in boxes:
        task = tasks.get(end.id)
        read = _reads(task) if task is not None else {end.title} if end.kind == "received" else set()
        for start in boxes:
            flowing = sorted(read & set(start.objects))
            if not flowing or start is end or (start.kind == "input" and start.party != end.party):
                continue
            over = {
                send.over for send in process.sends if send.what in flowing and send.receiver == end.party
            }
            crossing = start.party != end.party
            kind = "inside" if not crossing else "open-channel" if "plain" in over else "secure-channel"
            foot = None
            if not crossing and end.column - start.column > 1:
                top, tall = lanes[start.party]
                foot = top + tall - 6 - 6 * (long % 3)
                long += 1
            arrows.append(
                _arrow(places[start.id], start.height, places[end.id], end.height, kind, flowing, foot)
            )
    return arrows


def _arrow(
    start: tuple[int, int],
    tall: int,
    end: tuple[int, int],
    end_tall: int,
    kind: str,
    flowing: list[str],
    foot: int | None,
) -> str:
    x, y = start[0] + _WIDTH, start[1] + tall // 2
    to_x, to_y = end[0], end[1] + end_tall // 2
    if foot is None:
        bend = max(24, (to_x - x) // 2)
        way = f"C{x + bend} {y} {to_x - bend} {to_y} {to_x - 2} {to_y}"
    else:
        half = _GAP // 2
        way = (
            f"C{x + half} {y} {x} {foot} {x + half} {foot}L{to_x - half} {foot}"
            f"C{to_x} {foot} {to_x - half} {to_y} {to_x - 2} {to_y}"
        )
    return (
        f'<path class="arrow {kind}" d="M{x} {y}{way}" marker-end="url(#tip)">'
        f"<title>{escape(', '.join(flowing))}</title></path>"
    )


def _columns_reading(process: ProcessModel, party: str, name: str, depth: dict[str, int]) -> list[int]:
    return [
        min(depth[made] for made in task.outputs)
        for task in process.tasks
        if task.by == party and name in _reads(task)
    ]


def _reads(task: Task) -> set[str]:
    return {one.name for one in task.inputs}


def _short(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
