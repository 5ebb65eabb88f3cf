"""Preview: what a question would cost and how far off its answer would be, as far as that is public."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sordino.core import Guarantee
from sordino.curator.answer import quote_question
from sordino.curator.dataset import DataSet
from sordino.curator.quote import Foreseen, Question, Quote
from sordino.curator.risk_words import PublicNoise, find_membership_advantage, find_trade_off, say_risk
from sordino.display.html import join_html, render_facts, render_note
from sordino.ledger import Account
from sordino.risk import TradeOff
from sordino.sql.answering.forecast import NumberForecast


@dataclass(frozen=True, slots=True)
class Preview:
    """A question that was read and planned, and not asked: nothing is spent, and no private row was read.

    ``before`` and ``after``: the account now, and as it would be. ``numbers``: what is measured and gets noise, where
    the workload can tell. ``composition``: how the budget is divided. ``noises``: of all
    numbers that one unit moves, where their laws are public (`list_public_noises`).
    """

    question: str
    mechanism: str
    guarantee: Guarantee
    before: Account
    after: Account
    composition: str = ""
    groups: int | None = None
    numbers: tuple[NumberForecast, ...] = ()
    noises: tuple[PublicNoise, ...] = ()

    @property
    def affordable(self) -> bool:
        """Whether the account allows it; the cap over all analysts is not looked at."""
        return not self.before.suspended and self.after.spent.within(self.after.limit.amount)

    @property
    def trade_off(self) -> TradeOff | None:
        """How well anybody can tell from the answer whether a unit is in the data, at every rate of false alarms.

        From the law of the noise where it is public, else what the loss alone allows; None where units cost different
        losses.
        """
        return find_trade_off(self.guarantee, self.noises)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against asking, by public parameters alone."""
        said = [
            f"the noise of {number.name} is larger than the answer can be: {_say_least(number)} against at most "
            f"{number.most:g}"
            for number in self.numbers
            if number.drowned
        ]
        if not self.affordable:
            said.append(
                "the account is suspended" if self.before.suspended else "the budget does not allow it"
            )
        return tuple(said)

    def __str__(self) -> str:
        return "\n".join(
            [
                *(f"{name}: {value}" for name, value in self._facts()),
                *(f"warning: {text}" for text in self.warnings),
            ]
        )

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return join_html(
            *(render_note(text, warning=True) for text in self.warnings), render_facts(self._facts())
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "question": self.question,
            "mechanism": self.mechanism,
            "guarantee": self.guarantee.to_dict(),
            "membership_advantage": find_membership_advantage(self.guarantee, self.noises),
            "composition": self.composition,
            "groups": self.groups,
            "numbers": [number.to_dict() for number in self.numbers],
            "affordable": self.affordable,
            "warnings": list(self.warnings),
            "budget": self.before.to_dict(),
            "budget_after": self.after.to_dict(),
        }

    def _facts(self) -> list[tuple[str, str]]:
        facts = [("cost", str(self.guarantee)), ("mechanism", self.mechanism)]
        if (risk := say_risk(self.guarantee, self.noises)) is not None:
            facts.insert(1, ("risk", risk))
        if self.composition:
            facts.append(("budget", self.composition))
        if self.groups is not None and self.groups != 1:
            facts.append(("groups", str(self.groups)))
        facts += [(f"error of {number.name}", _say(number)) for number in self.numbers]
        left = self.after if self.affordable else self.before
        return [*facts, ("left afterwards" if self.affordable else "left", str(left))]


def preview_question(data: DataSet, analyst: str, question: Question[Quote]) -> Preview:
    """Quote a question without asking it."""
    before = data.accounts.account(analyst)
    quote = quote_question(data, question)
    after = replace(before, spent=before.spent + before.limit.cost(quote.guarantee.loss))
    preview = Preview(quote.text, quote.mechanism, quote.guarantee, before, after)
    if not isinstance(quote, Foreseen):
        return preview
    forecast = quote.forecast()
    return replace(
        preview,
        composition=forecast.composition,
        groups=forecast.groups,
        numbers=forecast.numbers,
        noises=forecast.noises,
    )


def _say_least(number: NumberForecast) -> str:
    return f"at least ±{number.least_error:g}" if number.error is None else f"±{number.error:g}"


def _say(number: NumberForecast) -> str:
    few = (number.least_units or 0) > 1
    units = f"; fewer than {number.least_units} {number.unit}s cannot make the answer as large" if few else ""
    if number.note is not None:
        return number.note.removeprefix(f"{number.name}: ") + units
    if number.error is None:
        return "not known before: the noise follows the rows (error_share buys a radius)"
    few = (number.least_rows or 0) > 1
    rows = f"; fewer than {number.least_rows} rows cannot make the answer as large" if few else ""
    return f"±{number.error:g} with 95 %{rows}{units}"
