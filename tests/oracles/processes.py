"""Disclosure, dependencies and leaks of processes by walking every way, and random processes to walk in.

A process is plain data here: parties, tasks (name, by, kind, {input: filters}, outputs), sends (what, from, to, over).
"""

from __future__ import annotations

import random
from typing import Any

Plain = dict[str, Any]


def all_ways(process: Plain, source: str, target: str) -> list[set[str]]:
    """The filters on each way from an input to an object, one set per way."""
    if source == target:
        return [set()]
    found = []
    for task in process["tasks"]:
        if target in task["to"]:
            for name, filters in task["from"].items():
                found += [way | set(filters) for way in all_ways(process, source, name)]
    return found


def leak_word(process: Plain, source: str, target: str) -> tuple[str, set[frozenset[str]]]:
    ways = {frozenset(way) for way in all_ways(process, source, target)}
    if not ways:
        return "never", set()
    smallest = {way for way in ways if not any(other < way for other in ways)}
    return ("always" if frozenset() in ways else "if"), smallest


def objects(process: Plain) -> set[str]:
    return {name for task in process["tasks"] for name in (*task["from"], *task["to"])}


def disclosure(process: Plain, party: str, name: str) -> str:
    holds = any(
        task["by"] == party and (name in task["from"] or name in task["to"]) for task in process["tasks"]
    ) or any(send["what"] == name and send["to"] == party for send in process["sends"])
    if not holds:
        return "-"
    makers = [task for task in process["tasks"] if name in task["to"]]
    if not makers:
        return "O"
    return "H" if makers[0]["kind"] in ("protect", "compute_protected") else "V"


def dependency(process: Plain, party: str, source: str) -> str:
    if disclosure(process, party, source) in "VO":
        return "D"
    letters = {
        disclosure(process, party, name) for name in objects(process) if all_ways(process, source, name)
    }
    return "I" if letters & {"V", "O"} else "H" if "H" in letters else "-"


def random_process(seed: int) -> Plain:
    """Inputs x0 … x2, then tasks in order, each of objects that its party has been given."""
    dice = random.Random(seed)
    parties = ["P", "Q", "R"]
    made = {f"x{number}": dice.choice(parties) for number in range(3)}
    holders = {name: {party} for name, party in made.items()}
    hidden: set[str] = set()
    tasks, sends = [], []
    for number in range(dice.randint(3, 7)):
        party = dice.choice(parties)
        usable = [name for name in holders if party in holders[name]]
        if not usable:
            continue
        chosen = dice.sample(usable, dice.randint(1, min(3, len(usable))))
        if any(name in hidden for name in chosen):
            kind = dice.choice(["compute_protected", "open"])
            if kind == "open":
                chosen = [name for name in chosen if name in hidden]
        else:
            kind = dice.choice(["plain", "plain", "protect"])
        names = [f"y{number}{letter}" for letter in "ab"[: dice.randint(1, 2)]]
        filters = {name: dice.sample(["f", "g", "h"], dice.choice([0, 0, 1, 1, 2])) for name in chosen}
        tasks.append({"name": f"t{number}", "by": party, "kind": kind, "from": filters, "to": names})
        for name in names:
            holders[name] = {party}
            if kind in ("protect", "compute_protected"):
                hidden.add(name)
            for other in parties:
                if other != party and dice.random() < 0.5:
                    over = dice.choice(["secure", "plain"])
                    sends.append({"what": name, "from": party, "to": other, "over": over})
                    holders[name].add(other)
    return {"parties": parties, "tasks": tasks, "sends": sends}
