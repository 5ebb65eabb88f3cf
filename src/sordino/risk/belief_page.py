"""The belief page: one HTML file that shows how far a belief can rise, with ε on a slider."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files

from sordino.core.parameters import positive, whole

_LEAST, _MOST = 0.01, 10.0


def write_belief_page(epsilon: float, *, title: str = "What one release can reveal", units: int = 2) -> str:
    """A self-contained page: belief before against belief after, for any ε around the given one.

    ``units``: how far apart two databases are in which one record differs: 2 where records are added and removed, 1
    where they are replaced. Whether a record is there at all is one unit.

    **Guarantee**: the bound 1/(1 + e^{-ε·units}(1 - p)/p) holds for every ε-private release and every output, for
    beliefs about one record that do not hang together with beliefs about the others. Nothing on the page comes from
    data.
    """
    epsilon, units = positive("epsilon", epsilon), whole("units", units, least=1)
    settings = {
        "epsilon": epsilon,
        "least": min(_LEAST, epsilon),
        "most": max(_MOST, epsilon),
        "units": {"presence": 1, "contents": units},
    }
    page = files("sordino.risk").joinpath("belief_page.html").read_text(encoding="utf-8")
    return page.replace("__TITLE__", escape(title)).replace("__SETTINGS__", json.dumps(settings))
