"""What a policy makes public and what it protects, for its owner to look at."""

from __future__ import annotations

from typing import Any

from sordino.curator.dataset import DataSet
from sordino.curator.description import describe_data
from sordino.sql.policy import DeclaredBudget


def describe_policy(data: DataSet) -> dict[str, Any]:
    """Every table with its columns, hidden ones by name too, and the declared budgets; no rows are read."""
    policy = data.policy
    shown = describe_data(data).to_dict()
    for table in shown["tables"]:
        declared = policy.tables[table["name"]]
        told = {column["name"] for column in table["columns"]}
        table["hidden"] = sorted(name for name in declared.columns if name not in told)
    return shown | {
        "protects": policy.protects,
        "users": [str(entity) for entity in policy.users],
        "answer_every": policy.answer_every,
        "most_pairs": policy.most_pairs if policy.protects == "values" else None,
        "budgets": {name: _budget(budget) for name, budget in policy.budgets.items()},
        "cap": None if policy.cap is None else _budget(policy.cap),
    }


def _budget(budget: DeclaredBudget) -> dict[str, Any]:
    names = ("epsilon", "delta", "rho", "at_delta", "advantage", "prior")
    return {name: getattr(budget, name) for name in names if getattr(budget, name) is not None}
