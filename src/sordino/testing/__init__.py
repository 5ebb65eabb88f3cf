"""What tests of mechanisms need and releases must never have: seeds, and the shipped check suites."""

from sordino.testing.seeds import seeded

__all__ = ["seeded"]
