"""SQL: private counts and sums over joins; and what the text of a query tells without any data.

`ranges`: what its answers can be at all. `sensitivity`: what one row can change in them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sordino.sql.constraints import ranges as ranges
    from sordino.sql.solver import Sensitivity as Sensitivity
    from sordino.sql.solver import sensitivity as sensitivity
    from sordino.sql.solver import workflow_sensitivity as workflow_sensitivity

__all__ = ["Sensitivity", "ranges", "sensitivity", "workflow_sensitivity"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sordino.sql' has no attribute {name!r}")
    home = "sordino.sql.constraints" if name == "ranges" else "sordino.sql.solver"
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return __all__
