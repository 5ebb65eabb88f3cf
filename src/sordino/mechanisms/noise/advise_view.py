"""How a ranking of noises looks: as HTML and as a chart. Public parameters only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sordino.core.errors import missing_package
from sordino.display.charts import Bars, draw_bars
from sordino.display.html import join_html, render_table

if TYPE_CHECKING:
    from sordino.mechanisms.noise.advise import NoiseRanking


def render_ranking(ranking: NoiseRanking) -> str:
    """The radius of every noise, or why it is not available."""
    rows = [
        (
            advice.noise,
            "" if advice.radius is None else f"{advice.radius:.4g}",
            advice.guarantee,
            advice.reason,
        )
        for advice in ranking
    ]
    return join_html(render_table(["noise", "radius", "guarantee", "meaning"], rows))


def plot_ranking(ranking: NoiseRanking) -> Any:
    """Bars of the radii that are available."""
    known = [advice for advice in ranking if advice.radius is not None]
    bars = Bars(
        "radius for a bound of 1", [advice.noise for advice in known], [advice.radius for advice in known]
    )
    try:
        return draw_bars([bars])
    except ModuleNotFoundError as error:
        raise missing_package(error) from None
