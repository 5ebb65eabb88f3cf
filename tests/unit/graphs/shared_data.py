"""Public graphs beside the repository, where they are present; SORDINO_DATA names another place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def shared_file(name: str) -> Path:
    """The path of a shared data file; the test is skipped where it is absent."""
    root = Path(os.environ.get("SORDINO_DATA", Path(__file__).parents[4] / "shared" / "data"))
    path = root / name
    if not path.exists():
        pytest.skip(f"public data not found: {name} (set SORDINO_DATA to the folder that holds it)")
    return path
