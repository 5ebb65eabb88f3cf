"""Brief: the ten lines of an explanation that a person reads first. Confidential, as all of it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

USEFUL_ERROR = 0.05
_LONGEST_SQL = 100
_USUAL, _SURE = "50%", "95%"
_HARDLY_ANYTHING = "at this budget the answer says hardly anything"


@dataclass(frozen=True, slots=True)
class Brief:
    """What decides whether a question is worth its ε or ρ; of several noisy numbers, of the one that is least certain.

    ``number`` names it and ``exact`` is its value; ``approximation``: how far that is from the answer, where a question
    is answered in a continuous version. ``relative_error``: the 95 % error over that value, None where it is
    0. ``table`` and ``analysis``: whose rows the noise is made for, and what bounded their effect; None where one table
    alone is asked, whose rows have a bound of their own. ``useful_budget``: where the 95 % error would be 5 % of the
    exact number, read off the errors at other budgets; None where that is beyond the largest of them.
    """

    sql: str
    answer: Any
    number: str
    numbers: int
    exact: float
    measure: str
    budget: float
    delta: float
    mechanism: str
    usual_error: float
    error: float
    relative_error: float | None
    one_row: float
    smooth_bound: float
    table: str | None
    analysis: str | None
    useful_budget: float | None
    largest_budget: float
    warnings: tuple[str, ...]
    unit: str = "one row"
    approximation: float = 0.0

    def lines(self) -> list[str]:
        """At most nine lines, so that with the warning that they are confidential there are ten."""
        delta = f", delta {self.delta:g}" if self.delta else ""
        share = "" if self.relative_error is None else f", {_share(self.relative_error)}"
        said = [
            f"asked:    {_shortened(self.sql)}",
            f"exact:    {self._exact()}",
            f"noise:    {self.mechanism} for {self.measure} {self.budget:g}{delta}",
            f"error:    with 95 % at most {_number(self.error)}{share}",
            f"          with 50 % at most {_number(self.usual_error)}",
            f"bound:    {self._bound()}",
            f"{self.measure + ':':<9} {self._advice()}",
        ]
        return said + [f"warning:  {warning}" for warning in self.warnings]

    def _exact(self) -> str:
        if self.numbers == 1:
            if self.approximation:
                return (
                    f"{_number(self.answer)}; its continuous version, to which the noise is added, is "
                    f"{_number(self.exact)}"
                )
            return _number(self.exact)
        rows = f"{len(self.answer)} rows" if isinstance(self.answer, list) else _number(self.answer)
        return f"{rows}; least certain of {self.numbers} noisy numbers: {self.number} = {_number(self.exact)}"

    def _bound(self) -> str:
        if self.table is None:
            return f"{self.unit} changes it by at most {_number(self.one_row)}"
        return (
            f"one row of {self.table} changes it by at most {_number(self.one_row)} in these data; the noise is made "
            f"for {_number(self.smooth_bound)} (analysis {self.analysis})"
        )

    def _advice(self) -> str:
        goal = f"an error of {USEFUL_ERROR * 100:g} % of the exact number"
        if self.exact == 0:
            return "none makes the error small beside an exact number of 0"
        if self.useful_budget is None:
            return f"more than {self.largest_budget:g} would be needed for {goal}"
        return f"about {self.useful_budget:.2g} would give {goal}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        told = {"budget": "", "useful_budget": "useful_", "largest_budget": "largest_"}
        return {
            told[name] + self.measure if name in told else name: getattr(self, name)
            for name in self.__slots__
            if name != "measure"
        }


def summarize(facts: Mapping[str, Any]) -> Brief:
    """The brief of an explanation (`explain.py`)."""
    numbers = facts["numbers"]
    least = max(numbers, key=_relative_error)
    exact, error = least["exact"], least["error"][_SURE]
    row = _decisive_bound(least)
    measure = "rho" if "rho" in facts else "epsilon"
    against = {row[measure]: row["error"][_SURE] for row in facts["error_against_epsilon"]}
    # The errors of all numbers fall alike, and only the largest is known at other budgets.
    at_this = against.get(facts[measure]) or error
    goal = USEFUL_ERROR * abs(exact) * at_this / error if error else 0.0
    return Brief(
        sql=facts["sql"],
        answer=facts["exact"],
        number=_name(least),
        numbers=len(numbers),
        exact=exact,
        measure=measure,
        budget=facts[measure],
        delta=facts["delta"],
        mechanism=facts["mechanism"],
        usual_error=least["error"][_USUAL],
        error=error,
        relative_error=error / abs(exact) if exact else None,
        one_row=row.get("local", least["smooth_bound"]),
        smooth_bound=row.get("smooth", least["smooth_bound"]),
        table=row.get("table"),
        analysis=row.get("analysis"),
        useful_budget=_budget_of_error(against, goal),
        largest_budget=max(against, default=facts[measure]),
        warnings=tuple(_warnings(numbers, facts["files"])),
        unit="one unit of the norm" if "bounds_by_beta" in least else "one row",
        approximation=least.get("approximation", 0.0),
    )


def _relative_error(number: Mapping[str, Any]) -> float:
    return float(number["error"][_SURE] / abs(number["exact"])) if number["exact"] else math.inf


def _name(number: Mapping[str, Any]) -> str:
    group = ", ".join(f"{key} = {value}" for key, value in number["group"].items())
    return f"{number['aggregate']} where {group}" if group else str(number["aggregate"])


def _decisive_bound(number: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table whose least bound over the analyses is the largest, with that analysis; empty for a single table."""
    best: dict[str, Mapping[str, Any]] = {}
    for row in number.get("bounds", ()):
        if row["table"] not in best or row["smooth"] < best[row["table"]]["smooth"]:
            best[row["table"]] = row
    return max(best.values(), key=lambda row: row["smooth"], default={})


def _budget_of_error(against: Mapping[float, float], goal: float) -> float | None:
    """Where the error falls to the goal, straight between two known points on a logarithmic scale."""
    before: tuple[float, float] | None = None
    for budget, error in sorted(against.items()):
        if error <= goal:
            if before is None or error <= 0:
                return budget
            fallen = math.log(before[1] / goal) / math.log(before[1] / error)
            return before[0] * math.exp(fallen * math.log(budget / before[0]))
        before = budget, error
    return None


def _warnings(numbers: Sequence[Mapping[str, Any]], files: Sequence[Mapping[str, Any]]) -> list[str]:
    found = []
    lost = sum(number["error"][_SURE] >= abs(number["exact"]) for number in numbers)
    if lost:
        which = "the exact answer" if len(numbers) == 1 else f"{lost} of the {len(numbers)} exact numbers"
        found.append(f"the 95 % error is not below {which}: {_HARDLY_ANYTHING}")
    torn = [file["table"] for file in files if file["rows"] != file["lines"]]
    if torn:
        found.append(f"not every line of the file became a row in table {', '.join(torn)}")
    return found


def _number(value: float | None) -> str:
    """Six digits; whole and large numbers without a point."""
    if value is None:
        return "NULL"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.6g}"


def _share(relative: float) -> str:
    return f"{relative * 100:.2g} % of it" if relative < 2 else f"{relative:,.0f} times as much"


def _shortened(sql: str) -> str:
    line = " ".join(sql.split())
    return line if len(line) <= _LONGEST_SQL else line[: _LONGEST_SQL - 1] + "…"
