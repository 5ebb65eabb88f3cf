"""What tests of mechanisms need and releases must never have: seeds, and the shipped check suites."""

from sordino.testing.check_backend import check_backend
from sordino.testing.check_mechanism import check_mechanism, prove_mechanism
from sordino.testing.check_noise import check_noise, prove_noise
from sordino.testing.seeds import seeded

__all__ = ["check_backend", "check_mechanism", "check_noise", "prove_mechanism", "prove_noise", "seeded"]
