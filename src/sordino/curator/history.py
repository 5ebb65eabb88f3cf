"""The questions of an analyst that were paid for, with their answers, newest first; all of it is the analyst's own."""

from __future__ import annotations

from typing import Any

from sordino.ledger import Ledger


def list_questions(ledger: Ledger, dataset: str, analyst: str, limit: int) -> list[dict[str, Any]]:
    """Number, time, question, cost and release of the latest payments; a release is None where there is none."""
    events = ledger.history(dataset, analyst)
    ends = {event.reservation: event for event in events if event.reservation is not None}
    paid = [event for event in events if event.kind == "reserve"][-limit:]
    listed = []
    for event in reversed(paid):
        end = ends.get(event.number)
        told = event.to_dict()
        listed.append(
            {
                "number": event.number,
                "time": event.time,
                "question": (event.parameters or {}).get("question", event.question),
                "mechanism": event.mechanism,
                "cost": {name: told[name] for name in ("epsilon", "delta", "rho") if name in told},
                "outcome": "under way" if end is None else end.kind,
                "release": None if end is None else end.release,
            }
        )
    return listed
