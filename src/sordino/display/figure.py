"""A figure that shows itself in notebooks. Importing this imports matplotlib: import it where a figure is drawn."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A matplotlib figure without pyplot: nothing keeps it open, and a notebook shows it as its cell's result."""

    def _repr_png_(self) -> bytes:
        image = io.BytesIO()
        self.savefig(image, format="png", dpi=100)
        return image.getvalue()
