"""The graphs of the benchmarks, if they are at hand."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = {
    "GrQc": "ca-GrQc.txt",
    "Facebook": "facebook_combined.txt",
    "Enron": "email-Enron.txt",
    "GitHub": "musae-github.txt",
}


def graph_files() -> dict[str, Path]:
    """Name and file of every graph that is there: under ``SORDINO_DATA``, or in ``../shared/data``."""
    folder = Path(os.environ.get("SORDINO_DATA", ROOT.parent / "shared" / "data")) / "graphs"
    return {name: folder / file for name, file in FILES.items() if (folder / file).is_file()}
