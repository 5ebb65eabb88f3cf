"""Closed forms of P(Z₁ − Z₂ > g): which of two noisy scores is the larger, from characteristic functions."""

from __future__ import annotations

import flint

_BITS = 1200


def log_laplace_behind(gap: float) -> flint.arb:
    """ln of ½e^{-g}(1 + g/2): the density of the difference of two Laplace variables is (1 + |x|)e^{-|x|}/4."""
    with flint.ctx.workprec(_BITS):
        g = flint.arb(gap)
        return ((-g).exp() * (1 + g / 2) / 2).log()


def student_behind(gap: float) -> flint.arb:
    """P(Z₁ − Z₂ > g) for two Student-t variables with ν = 3.

    The characteristic function of one is (1 + √3|s|)e^{-√3|s|}, and P = ½ − (1/π)∫₀^∞ sin(gs)/s·φ(s)² ds, in which
    every term of (1 + √3 s)² = 1 + 2√3 s + 3s² has an elementary integral against e^{-as} sin(gs)/s, a = 2√3.
    """
    with flint.ctx.workprec(_BITS):
        g, root = flint.arb(gap), flint.arb(3).sqrt()
        a = 2 * root
        square = a * a + g * g
        inside = flint.arb.atan2(g, a) + 2 * root * g / square + 6 * a * g / square**2
        return flint.arb(1) / 2 - inside / flint.arb.pi()
