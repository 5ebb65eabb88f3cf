"""How a Comparison looks: as HTML and as a chart. It depends on the data, and says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sordino.core.errors import missing_package
from sordino.display.charts import Bars, draw_bars
from sordino.display.html import join_html, render_note, render_table

if TYPE_CHECKING:
    from sordino.mechanisms.selection.compare import Comparison

CONFIDENTIAL = "computed from the data and not private: to study, not to publish"


def render_comparison(comparison: Comparison) -> str:
    """The errors of all mechanisms, and why some do not apply."""
    rows = [
        (
            entry.mechanism,
            entry.options,
            *(
                "" if value is None else f"{value:.6g}"
                for value in (entry.expected_error, entry.error_95, entry.best_probability)
            ),
            entry.guarantee or "",
            entry.reason or "",
        )
        for entry in comparison
    ]
    names = ["mechanism", "options", "expected error", "95 % error", "P(best)", "guarantee", "does not apply"]
    return join_html(render_table(names, rows), render_note(CONFIDENTIAL, warning=True))


def plot_comparison(comparison: Comparison) -> Any:
    """Bars of the expected errors, and of those that 95 % of draws do not exceed."""
    known = [entry for entry in comparison if entry.expected_error is not None]
    names = [f"{entry.mechanism} ({entry.options})" if entry.options else entry.mechanism for entry in known]
    charts = [
        Bars("expected error", names, [entry.expected_error for entry in known]),
        Bars("error that 95 % of draws do not exceed", names, [entry.error_95 for entry in known]),
    ]
    try:
        return draw_bars(charts, warning=CONFIDENTIAL)
    except ModuleNotFoundError as error:
        raise missing_package(error) from None
