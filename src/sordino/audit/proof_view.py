"""How a Proof looks in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sordino.display.html import join_html, render_facts, render_heading, render_note

if TYPE_CHECKING:
    from sordino.audit.prove import Proof


def render_proof(proof: Proof) -> str:
    """The verdict, what was claimed and found, and the worst pair."""
    claim = f"ε = {proof.epsilon:.6g}" + (f", δ = {proof.delta:.3g}" if proof.delta else "")
    verdict = (
        render_heading(f"holds: {claim}")
        if proof.holds
        else render_note(f"REFUTED: {claim} does not hold", warning=True)
    )
    return join_html(
        verdict,
        render_facts(
            [
                ("worst ε", f"{proof.worst_epsilon:.9g}"),
                ("worst δ at the claimed ε", f"{proof.worst_delta:.3g}" if proof.delta else None),
                ("slack", f"{proof.slack:.3g} (tolerance {proof.tolerance:g})"),
                ("looked at", f"{proof.pairs:,} ordered pairs of {proof.databases:,} databases"),
                ("outcomes", proof.outcomes),
                ("mass not looked at", f"{proof.unseen:.2g}" if proof.unseen else None),
                ("worst pair", proof.witness),
            ]
        ),
    )
