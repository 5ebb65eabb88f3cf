"""From zCDP to (ε, δ) in closed form, for the compositions of selection."""

from __future__ import annotations

import math


def largest_root_rho(epsilon: float, delta: float) -> float:
    """√ρ for the largest ρ with ρ + 2√(ρ ln(1/δ)) ≤ ε (Bun and Steinke 2016).

    √(ln(1/δ) + ε) − √ln(1/δ), written without its cancellation: that would grant too much at a small ε.
    """
    log_inverse = -math.log(delta)
    return epsilon / (math.sqrt(log_inverse + epsilon) + math.sqrt(log_inverse))
