"""How an Account looks: as HTML and as a bar of what is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sordino.core.errors import missing_package
from sordino.display.charts import draw_share
from sordino.display.html import Html, join_html, render_bar, render_facts, render_note

if TYPE_CHECKING:
    from sordino.ledger.account import Account

_SUSPENDED = "suspended until the owner resumes it"


def render_account(account: Account) -> str:
    """Whose it is, a bar of what is spent, and the limit."""
    limit = account.limit
    spent, left = limit.shown(account.spent), limit.shown(account.left, left=True)
    epsilon, delta = limit.statement(account.spent)
    parts: list[Html] = [render_note(_SUSPENDED, warning=True)] if account.suspended else []
    parts.append(render_bar(_share(account), f"{spent} spent, {left} left"))
    parts.append(
        render_facts(
            [
                ("data set", account.dataset),
                ("analyst", account.analyst or "all together (the cap)"),
                ("limit", limit),
                ("loss so far", f"ε = {epsilon:.6g}" + (f", δ = {delta:.3g}" if delta else "")),
            ]
        )
    )
    return join_html(*parts)


def plot_account(account: Account) -> Any:
    """One bar, as long as the limit and filled as far as it is spent."""
    limit = account.limit
    spent, left = limit.shown(account.spent), limit.shown(account.left, left=True)
    title = f"{account.analyst or 'all analysts'} on {account.dataset}: {spent} spent, {left} left"
    if account.suspended:
        title += f" ({_SUSPENDED})"
    try:
        return draw_share(float(account.spent.loss), float(limit.amount.loss), title=title, label=str(limit))
    except ModuleNotFoundError as error:
        raise missing_package(error) from None


def _share(account: Account) -> float:
    """How much is spent, of the measure or of δ, whichever is nearer to its limit."""
    limit, spent = account.limit.amount, account.spent
    parts = [
        float(used / most) for used, most in ((spent.loss, limit.loss), (spent.delta, limit.delta)) if most
    ]
    return max(parts, default=1.0)
