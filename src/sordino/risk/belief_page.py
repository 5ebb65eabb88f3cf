"""The belief page: one HTML file that shows how far a belief can rise, with ε on a slider."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files

from sordino.core.parameters import positive

_LEAST, _MOST = 0.01, 10.0


def write_belief_page(epsilon: float, *, title: str = "What one release can reveal", units: int = 1) -> str:
    """A self-contained page: belief before against belief after, for any ε around the given one.

    The bound is 1/(1 + e^{-ε·units}(1 - p)/p): it holds for every ε-private release and every attacker. Nothing
    on the page comes from data.
    """
    start = min(max(positive("epsilon", epsilon), _LEAST), _MOST)
    settings = json.dumps({"epsilon": start, "least": _LEAST, "most": _MOST, "units": units})
    page = files("sordino.risk").joinpath("belief_page.html").read_text(encoding="utf-8")
    return page.replace("__TITLE__", escape(title)).replace("__SETTINGS__", settings)
