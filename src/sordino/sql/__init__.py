"""SQL: private counts and sums over joins; and what the text of a query tells without any data.

`ranges`: what its answers can be at all. `sensitivity`: what one row can change in them. `advise_precision`: how steep
filters on protected columns should be.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sordino.sql.constraints import ranges as ranges
    from sordino.sql.solver import Sensitivity as Sensitivity
    from sordino.sql.solver import sensitivity as sensitivity
    from sordino.sql.solver import workflow_sensitivity as workflow_sensitivity
    from sordino.sql.values.precision import FilterPrecision as FilterPrecision
    from sordino.sql.values.precision import advise_precision as advise_precision

__all__ = [
    "FilterPrecision",
    "Sensitivity",
    "advise_precision",
    "ranges",
    "sensitivity",
    "workflow_sensitivity",
]
_HOMES = {
    "ranges": "sordino.sql.constraints",
    "FilterPrecision": "sordino.sql.values.precision",
    "advise_precision": "sordino.sql.values.precision",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sordino.sql' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES.get(name, "sordino.sql.solver")), name)


def __dir__() -> list[str]:
    return __all__
