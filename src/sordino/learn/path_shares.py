"""PathShares: how ε is divided along a path from the root to a leaf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sordino.core import ParameterError
from sordino.core.parameters import as_written, did_you_mean, exact, positive

# What the samplers of counts can draw at; nothing is learnt from less.
LEAST_SHARE = Fraction(1, 1 << 40)

# Measured on Adult and NLTCS (docs/benchmarks/reproduction-trees.md); the paper's is a half each of ε/(d+1) for
# selection and count.
DEFAULT_SHARES: Mapping[str, float] = {"selection": 0.6, "count": 0.1, "leaf": 0.3}


@dataclass(frozen=True, slots=True)
class PathShares:
    """What one selection, one stopping count and (at least) one leaf may spend.

    Nodes of one level hold disjoint rows, so what is spent on all of them counts once (parallel composition, one row
    added or removed), and a row pays for the nodes on its own path: d selections, d − 1 counts (the root is not
    counted, nor where the depth is exhausted) and one leaf. A path that ends early gives what it has left to its leaf.
    """

    total: Fraction
    selection: Fraction
    count: Fraction
    leaf: Fraction


def divide_epsilon(epsilon: Any, max_depth: int, shares: Mapping[str, float] | None) -> PathShares:
    """ε by public shares: {"selection": …, "count": …, "leaf": …}, each relative to their sum."""
    positive("epsilon", epsilon)
    total = exact("epsilon", epsilon)
    weight = _checked(shares)
    counts = max_depth - 1
    if counts == 0:
        weight = weight | {"leaf": weight["leaf"] + weight["count"], "count": Fraction(0)}
    whole = sum(weight.values())
    selection = total * weight["selection"] / whole / max_depth
    count = total * weight["count"] / whole / counts if counts else Fraction(0)
    leaf = total - max_depth * selection - counts * count
    for name, share in (("selection", selection), ("count", count), ("leaf", leaf)):
        if share or name != "count":
            require_share(share, f"one {name}", epsilon)
    return PathShares(total, selection, count, leaf)


def require_share(share: Fraction, purpose: str, epsilon: Any) -> Fraction:
    """A share of ε that can be drawn at, or an error; before any data is looked at."""
    if share < LEAST_SHARE:
        raise ParameterError(
            f"epsilon = {float(epsilon):g} leaves less than 2^-40 (about 1e-12) for {purpose}: give a larger epsilon"
        )
    return share


def _checked(shares: Mapping[str, float] | None) -> dict[str, Fraction]:
    if shares is None:
        shares = DEFAULT_SHARES
    if not isinstance(shares, Mapping):
        raise ParameterError(f"shares must be a mapping such as {dict(DEFAULT_SHARES)}, got {shares!r}")
    for name in shares:
        if name not in DEFAULT_SHARES:
            hint = did_you_mean(name, DEFAULT_SHARES, before="; ")
            raise ParameterError(f"there are shares for {', '.join(DEFAULT_SHARES)}, got {name!r}{hint}")
    for name in DEFAULT_SHARES:
        if name not in shares:
            raise ParameterError(f"shares must say the share of {name!r}, such as {dict(DEFAULT_SHARES)}")
        positive(f"share of {name}", shares[name])
    return {name: as_written(f"share of {name}", share) for name, share in shares.items()}
