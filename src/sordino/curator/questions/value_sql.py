"""A SELECT where what cells contain is protected: the quote of a `ValuePlan`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sordino.core import Guarantee, Release
from sordino.engines import Snapshot
from sordino.sampling.source import is_private
from sordino.sql.answering.answer_table import make_answer, restore_cells, store_cells
from sordino.sql.identity import identify_numbers
from sordino.sql.reading.ordering import list_notes
from sordino.sql.values.plan import ValueCell, ValuePlan


@dataclass(frozen=True, slots=True)
class ValueQuote:
    """How each number is measured and drawn, and that it may answer a continuous version of the question."""

    plan: ValuePlan

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
        """The options, and how filters are made continuous."""
        return self.plan.options.parameters() | {"filters": str(self.plan.question.filters)}

    @property
    def guarantee(self) -> Guarantee:
        """Of all numbers together."""
        return self.plan.guarantee

    @property
    def mechanism(self) -> str:
        """The noise."""
        return self.plan.mechanism

    def measure(self, snapshot: Snapshot) -> list[ValueCell]:
        """The exact number of every cell and what its noise follows."""
        return self.plan.measure(snapshot)

    def draw(self, measured: list[ValueCell]) -> dict[str, Any]:
        """Every cell by itself."""
        content = {"private": is_private(), "cells": store_cells(self.plan, self.plan.draw(measured))}
        return self.present(content).to_dict() | content

    def present(self, stored: Mapping[str, Any]) -> Release:
        """What was asked to be seen of the stored cells."""
        answer = make_answer(self.plan, restore_cells(self.plan, stored["cells"]))
        return Release(
            answer.value,
            self.guarantee,
            self.mechanism,
            error=answer.error,
            errors=answer.errors,
            notes=(*list_notes(self.plan.statement), *self.plan.list_notes()),
            private=stored["private"],
        )
