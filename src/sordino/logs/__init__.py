"""Event logs of several owners correlated into chains: in the clear, or secret-shared among three parties."""

from sordino.logs.chains import Chains
from sordino.logs.correlation import correlate
from sordino.logs.known_chains import KnownChains
from sordino.logs.operations import Operations
from sordino.logs.pipeline import PipelineResult, run_pipeline
from sordino.logs.raw_lines import parse_lines
from sordino.logs.secret_correlation import correlate_secret
from sordino.logs.secret_program import count_operations

__all__ = [
    "Chains",
    "KnownChains",
    "Operations",
    "PipelineResult",
    "correlate",
    "correlate_secret",
    "count_operations",
    "parse_lines",
    "run_pipeline",
]
