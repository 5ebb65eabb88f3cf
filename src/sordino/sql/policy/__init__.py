"""What the owner declares about a data set: the policy, its fields, and the text that it is written in."""

from sordino.sql.policy.measured import describe_moves, find_granule, find_least_move
from sordino.sql.policy.ownership import ColumnName, ForeignKey, OwnerPath, name_unit
from sordino.sql.policy.policy import (
    MOST_ROWS,
    ColumnPolicy,
    DeclaredBudget,
    Policy,
    TablePolicy,
    match_name,
    suggest_name,
)
from sordino.sql.policy.promises import describe_promises, find_promised_checks, find_promised_key

__all__ = [
    "MOST_ROWS",
    "ColumnName",
    "ColumnPolicy",
    "DeclaredBudget",
    "ForeignKey",
    "OwnerPath",
    "Policy",
    "TablePolicy",
    "describe_moves",
    "describe_promises",
    "find_granule",
    "find_least_move",
    "find_promised_checks",
    "find_promised_key",
    "match_name",
    "name_unit",
    "suggest_name",
]
