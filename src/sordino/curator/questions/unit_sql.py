"""A SELECT where whole users are protected: the quote of a `UnitPlan`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from sordino.core import Guarantee, Release
from sordino.engines import Snapshot
from sordino.sampling.source import is_private
from sordino.sql.answering.answer_table import make_answer, make_plain, restore_cells, store_cells
from sordino.sql.answering.forecast import Forecast
from sordino.sql.identity import identify_numbers
from sordino.sql.question import Statement
from sordino.sql.reading.ordering import list_notes
from sordino.sql.units.forecast import forecast_units
from sordino.sql.units.plan import UnitPlan


@dataclass(frozen=True, slots=True)
class UnitQuote:
    """How owners are clipped and what is added. Groups that were not public are part of what is released."""

    plan: UnitPlan

    @property
    def text(self) -> str:
        """The SELECT."""
        return self.plan.statement.text

    @property
    def identity(self) -> str:
        """What is measured, whatever is shown of it."""
        return identify_numbers(self.plan.statement)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The options."""
        return self.plan.options.parameters()

    @property
    def guarantee(self) -> Guarantee:
        """Of all numbers, limits and groups together."""
        return self.plan.guarantee

    @property
    def mechanism(self) -> str:
        """Truncation and noise."""
        return self.plan.mechanism

    def forecast(self) -> Forecast:
        """What the plan tells."""
        return forecast_units(self.plan)

    def measure(self, snapshot: Snapshot) -> Snapshot:
        """Nothing yet: what is read depends on the groups and limits that are drawn."""
        return snapshot

    def draw(self, snapshot: Snapshot) -> dict[str, Any]:
        """Groups, limits and numbers."""
        drawn = self.plan.draw(snapshot)
        content: dict[str, Any] = {"private": is_private()}
        if self.plan.keys is not None:
            content["groups"] = [[make_plain(value) for value in group] for group in drawn.statement.groups()]
        content["cells"] = store_cells(replace(self.plan, statement=drawn.statement), drawn.cells)
        return self.present(content).to_dict() | content

    def present(self, stored: Mapping[str, Any]) -> Release:
        """What was asked to be seen of the stored numbers."""
        plan = self.plan
        if plan.keys is not None:
            plan = plan.with_groups(_restore_groups(plan.statement, stored["groups"]))
        cells = restore_cells(plan, stored["cells"])
        answer = make_answer(plan, cells)
        return Release(
            answer.value,
            self.guarantee,
            self.mechanism,
            error=answer.error,
            errors=answer.errors,
            notes=(*list_notes(plan.statement), *plan.list_notes(cells)),
            private=stored["private"],
        )


def _restore_groups(statement: Statement, groups: list[list[Any]]) -> list[tuple[Any, ...]]:
    """Dates are stored as texts."""
    dates = [key.kind == "date" for key in statement.keys]
    return [
        tuple(
            date.fromisoformat(value) if is_date and value is not None else value
            for value, is_date in zip(group, dates, strict=True)
        )
        for group in groups
    ]
