"""A randomised map beside an identity, on distributions: only where the rule is true."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sordino.core import UnsupportedError
from sordino.core.parameters import choice
from sordino.workflow.distance_map import DistanceMap

METRICS = ("emd", "set-of-sets", "dp")
Pairs = set[tuple[Any, Any]]


def parallel_with_identity(
    C: DistanceMap | Callable[[Any], Any], metrics: tuple[str, str]
) -> Callable[[Iterable[tuple[Any, Any]]], Pairs]:
    """The sensitivity of f × identity on joint distributions: (v, u) ↦ (C(v), u).

    ``metrics``: of the distributions that f takes and of those that it makes: "emd" (earth mover's distance), "set-of-
    sets", or "dp" (the privacy loss). ``C``: the sensitivity of f between them.

    **Guarantee**: in two cases. Both metrics of one kind, "emd" with a concave C or "set-of-sets": for each coupling of
    the inputs, f's outputs are coupled pair by pair, and the identity's part stays coupled as it was. Or the target
    "dp", which sees marginals only, so that any coupling will do. **Source**: NAPLES report, Prop. 3.51, which claims
    it for all normal metrics and is wrong there: uniform on {(0,0), (1,1)} and on {(0,1), (1,0)} have privacy loss 0 in
    each coordinate, are not equal, and no map keeps their earth mover's distance at 0.
    """
    source, target = metrics
    choice("the first metric", source, METRICS)
    choice("the second metric", target, METRICS)
    if target != "dp":
        if source != target:
            raise UnsupportedError(
                f"a map from {source} to {target} beside an identity has no sound rule (Prop. 3.51 is refuted): "
                "take one metric for both, or 'dp' as the target"
            )
        if target == "emd":
            if not isinstance(C, DistanceMap):
                raise UnsupportedError(
                    "from emd to emd C must be a DistanceMap that is concave: linear(…), for one"
                )
            C.require("concave", "a map beside an identity, from emd to emd,")
    return lambda pairs: {(C(v), u) for v, u in pairs}
